// SPDX-License-Identifier: MIT OR Apache-2.0
//! All steps of one machine, in the namespaces that were made for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::guest::{Guest, Hardware};
use super::image::Image;
use super::network;
use super::nic::Nic;
use super::steps::{ACTIONS, Action, At, LIMIT, Step, addressed};
use crate::ports;
use crate::process::{self, Server};

/// Boots `nic` and does all steps; results and `steps.json` are in `directory`.
///
/// # Errors
/// The machine cannot be booted, or answers no more.
pub(crate) fn run(
    nic: &Nic,
    image: &Image,
    linerate: &Path,
    directory: &Path,
) -> Result<(), String> {
    network::open()?;
    let guest = Guest::boot(nic, image, directory)?;
    all_of(&ACTIONS, guest, linerate, directory)
}

/// The same for a guest that is up.
pub(super) fn all_of(
    actions: &[Action],
    guest: Guest,
    linerate: &Path,
    directory: &Path,
) -> Result<(), String> {
    let mut session = Session::of(guest, linerate, directory);
    let ended = session.all(actions);
    session.keep("steps.json")?;
    ended
}

/// A booted machine, and what was done with it.
pub(super) struct Session {
    guest: Guest,
    kernel_is_up: String,
    linerate: PathBuf,
    directory: PathBuf,
    /// The host's, while it serves.
    server: Option<Server>,
    pub(super) done: Vec<Value>,
}

impl Session {
    /// Boots `nic` in this hardware at the tap of this namespace.
    pub(super) fn boot(
        nic: &Nic,
        image: &Image,
        hardware: &Hardware,
        linerate: &Path,
        directory: &Path,
    ) -> Result<Self, String> {
        network::open_with(hardware.queues)?;
        let guest = Guest::boot_with(nic, image, hardware, directory)?;
        Ok(Self::of(guest, linerate, directory))
    }

    fn of(guest: Guest, linerate: &Path, directory: &Path) -> Self {
        Self {
            kernel_is_up: guest.ready.clone(),
            guest,
            linerate: linerate.to_owned(),
            directory: directory.to_owned(),
            server: None,
            done: Vec::new(),
        }
    }

    /// The status of a shell's command, its outputs in `NAME.stdout` and `NAME.stderr`.
    pub(super) fn shell(&mut self, at: At, name: &str, command: &str) -> Result<i32, String> {
        match at {
            At::Guest => self.guest.run(name, command, LIMIT),
            At::Host => {
                let mut shell = Command::new("sh");
                shell.args(["-c", command]).current_dir(&self.directory);
                self.kept(name, &mut shell)
            }
        }
    }

    /// The same in the guest, for as long as a slow emulator may need.
    pub(super) fn long(
        &mut self,
        name: &str,
        command: &str,
        limit: Duration,
    ) -> Result<i32, String> {
        self.guest.run(name, command, limit)
    }

    /// Takes the guest's files.
    pub(super) fn fetch(&mut self) -> Result<(), String> {
        self.guest.fetch(&self.directory)
    }

    fn all(&mut self, actions: &[Action]) -> Result<(), String> {
        for action in actions {
            match action {
                Action::Serve(At::Host, command) => self.serve_on_the_host(command)?,
                Action::Serve(At::Guest, command) => self.serve_in_the_guest(command)?,
                Action::Run(step) => self.step(step)?,
            }
        }
        self.fetch()
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let start = Instant::now();
        let command = step.command();
        let mut status = self.tried(step)?;
        let is_wrong = !step.right.is_empty() && !step.right.contains(&status);
        let reset = is_wrong && self.guest.is_reset()?;
        if reset {
            println!(
                "  {:<18} {status:>3}, the card had stopped: again",
                step.name
            );
            status = self.tried(step)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        println!("  {:<18} {status:>3} after {seconds:4.1} s", step.name);
        self.done.push(json!({
            "name": step.name,
            "at": step.at.name(),
            "command": command,
            "status": status,
            "after_reset": reset,
            "right": step.right,
            "seconds": (seconds * 10.0).round() / 10.0,
        }));
        Ok(())
    }

    fn tried(&mut self, step: &Step) -> Result<i32, String> {
        let command = step.command();
        match step.at {
            At::Guest => self.guest.run(step.name, &command, LIMIT),
            At::Host => self.on_the_host(step.name, &command),
        }
    }

    /// The status of `linerate …`.
    fn on_the_host(&self, name: &str, command: &str) -> Result<i32, String> {
        self.kept(name, &mut self.ours(command))
    }

    /// The status of a command whose outputs are kept.
    fn kept(&self, name: &str, command: &mut Command) -> Result<i32, String> {
        let ended = process::run(command, LIMIT)?;
        let file = |kind: &str| self.directory.join(format!("{name}.{kind}"));
        fs::write(file("stdout"), ended.stdout).map_err(|why| why.to_string())?;
        fs::write(file("stderr"), ended.stderr).map_err(|why| why.to_string())?;
        // Ended by a signal: no status.
        Ok(ended.status.code().unwrap_or(-1))
    }

    fn ours(&self, command: &str) -> Command {
        let mut words = command.split_whitespace();
        // Its first word is our own name.
        let _linerate = words.next();
        let mut command = Command::new(&self.linerate);
        command
            .args(words)
            .current_dir(&self.directory)
            .env("XDG_STATE_HOME", self.directory.join("state"));
        command
    }

    pub(super) fn serve_on_the_host(&mut self, command: &str) -> Result<(), String> {
        let log = fs::File::create(self.directory.join("serve-on-host"))
            .map_err(|why| why.to_string())?;
        let child = self
            .ours(&addressed(command))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|why| format!("{command}: {why}"))?;
        let mut server = Server(child);
        let id = server.id();
        ports::wait_for_listener(&mut server, id, 5201)?;
        self.server = Some(server);
        Ok(())
    }

    /// Ends the guest's former server, and waits until this one listens.
    fn serve_in_the_guest(&mut self, command: &str) -> Result<(), String> {
        let command = format!(
            "while kill $(cat $OUT/server) 2>/dev/null; do sleep 0.1; done; {} >$OUT/serve-in-guest 2>&1 & echo $! >$OUT/server; \
             until netstat -ltn | grep -q :5201; do sleep 0.1; done",
            addressed(command)
        );
        match self.guest.run("serve", &command, LIMIT)? {
            0 => Ok(()),
            status => Err(format!("no server in the guest: status {status}")),
        }
    }

    /// Writes what was done to `file`.
    pub(super) fn keep(&mut self, file: &str) -> Result<(), String> {
        let document = json!({
            "ready_after_s": self.kernel_is_up,
            "emulator_runs": self.guest.runs(),
            "steps": self.done,
        });
        let path = self.directory.join(file);
        fs::write(&path, format!("{document:#}\n")).map_err(|why| why.to_string())
    }
}
