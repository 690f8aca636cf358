// SPDX-License-Identifier: MIT OR Apache-2.0
//! All that is done with one machine in the middle.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::guest::Guest;
use super::super::image::Image;
use super::super::nic::Nic;
use super::agent::{self, Line};
use super::ground::{self, PORTS};
use super::mode::{self, Mode};
use crate::process;

/// Boots, measures, and keeps what the guest and linerate say in `directory`.
///
/// # Errors
/// The machine cannot be booted or set up, or answers no more.
pub(crate) fn run(
    nic: &Nic,
    mode: &Mode,
    image: &Image,
    linerate: &Path,
    directory: &Path,
) -> Result<(), String> {
    ground::open()?;
    let mut hardware = ground::hardware(nic);
    if mode.line == mode::Line::Serial {
        hardware.emulator_words.extend(agent::port(directory));
    }
    let mut guest = Guest::boot_with(nic, image, &hardware, directory)?;
    println!("  ready {}", guest.ready);
    let ended = measured(mode, &mut guest, linerate, directory);
    // Also of what did not work.
    let fetched = guest.fetch(directory);
    ended.and(fetched)
}

fn measured(
    mode: &Mode,
    guest: &mut Guest,
    linerate: &Path,
    directory: &Path,
) -> Result<(), String> {
    in_guest(guest, "names", NAMES)?;
    in_guest(guest, "setup", mode.setup)?;
    in_guest(guest, "links", LINKS)?;
    let line = agent::prepare(mode.line, guest, directory)?;
    let host = Host {
        linerate: linerate.to_owned(),
        directory: directory.to_owned(),
        line,
    };
    in_guest(guest, "before", COUNTS)?;
    host.forward(mode)?;
    in_guest(guest, "after", COUNTS)?;
    in_guest(guest, "state", STATE)?;
    host.shown()
}

fn in_guest(guest: &mut Guest, name: &str, command: &str) -> Result<(), String> {
    match guest.run(name, command, SOON)? {
        0 => Ok(()),
        status => Err(format!("{name}: status {status}")),
    }
}

/// The tester's side.
struct Host {
    linerate: PathBuf,
    directory: PathBuf,
    line: Line,
}

impl Host {
    fn forward(&self, mode: &Mode) -> Result<(), String> {
        let mut words = vec!["forward", PORTS[0], PORTS[1], "--quick", "--json"];
        words.extend(["-o", "forward.run"]);
        words.extend(mode.options);
        words.extend(self.line.options.iter().map(String::as_str));
        self.ours("forward", &words)
    }

    /// What a person sees of it.
    fn shown(&self) -> Result<(), String> {
        self.ours("text", &["report", "forward.run"])?;
        self.ours("explained", &["explain", "forward.run"])?;
        self.ours("page", &["report", "forward.run", "-o", "forward.html"])
    }

    /// Runs linerate; its outputs are kept, and its exit status.
    fn ours(&self, name: &str, words: &[&str]) -> Result<(), String> {
        let start = Instant::now();
        let path = std::env::var("PATH").unwrap_or_default();
        // Before the emulator and all else: a tester that waits for its processor measures nothing.
        let mut command = Command::new("chrt");
        command
            .args(["--rr", "10"])
            .arg(&self.linerate)
            .args(words)
            .current_dir(&self.directory)
            .env("XDG_STATE_HOME", self.directory.join("state"))
            .env("COLUMNS", "80")
            .env("PATH", format!("{}:{path}", self.line.path.display()));
        let ended = process::run(&mut command, LIMIT)?;
        let status = ended.status.code().unwrap_or(-1);
        let seconds = start.elapsed().as_secs_f64();
        println!("  {name:<10} {status:>3} after {seconds:4.1} s");
        let kept = [
            ("stdout", ended.stdout),
            ("stderr", ended.stderr),
            ("status", format!("{status}\n")),
        ];
        for (kind, text) in kept {
            let path = self.directory.join(format!("{name}.{kind}"));
            fs::write(path, text).map_err(|why| why.to_string())?;
        }
        Ok(())
    }
}

/// The first NIC is eth0, whichever was found first: QEMU numbers them by their hardware addresses.
const NAMES: &str = "case $(cat /sys/class/net/eth0/address) in *:56) ;; *) ip link set eth0 down; ip link set eth1 down; \
                     ip link set eth0 name other && ip link set eth1 name eth0 && ip link set other name eth1 ;; esac";
/// An agent reports the interfaces that have a link when it starts.
const LINKS: &str = "for port in eth0 eth1; do until [ \"$(cat /sys/class/net/$port/carrier)\" = 1 ]; do sleep 0.1; done; done";
/// What the guest itself counts, read without linerate.
const COUNTS: &str = "cat /proc/net/dev; for port in eth0 eth1; do echo \"[$port]\"; ethtool -S $port 2>&1; done; true";
/// How it is set up.
const STATE: &str = "ip -d address; bridge vlan; nft list ruleset; cat /proc/net/softnet_stat; cat /proc/interrupts; true";
const SOON: Duration = Duration::from_secs(60);
/// Two sizes take at most 40 s each, and as long again for what the agent reads.
const LIMIT: Duration = Duration::from_secs(400);
