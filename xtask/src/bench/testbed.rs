// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two network namespaces with a plain veth pair between them, for one bench run.
//!
//! Made by util-linux and iproute2, not by linerate's own lab: nobody measures on a testbed that
//! one of the measured has built. Each namespace is held by a process that ends when this one
//! does, whatever ends it.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build::has_program;
use crate::process::{self, Server};

/// Where clients run.
pub(crate) const CLIENT_ADDRESS: &str = "10.83.0.1";
/// Where servers run.
pub(crate) const SERVER_ADDRESS: &str = "10.83.0.2";

/// The two hosts.
#[derive(Debug)]
pub(crate) struct Testbed {
    client: Server,
    server: Server,
}

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The client's.
    Client,
    /// The server's.
    Server,
}

impl Testbed {
    /// Makes the hosts and connects them.
    ///
    /// # Errors
    /// What could not be made, as the tool that was to make it said it.
    pub(crate) fn open() -> Result<Self, String> {
        for program in ["unshare", "nsenter", "ip"] {
            if !has_program(program) {
                return Err(format!("{program} is not installed (util-linux, iproute2)"));
            }
        }
        let testbed = Self {
            client: holder()?,
            server: holder()?,
        };
        let [a, b] =
            [testbed.pid(Side::Client), testbed.pid(Side::Server)].map(|pid| pid.to_string());
        ip(&[
            "link", "add", "bench0", "netns", &a, "type", "veth", "peer", "name", "bench0",
            "netns", &b,
        ])?;
        for (side, address) in [
            (Side::Client, CLIENT_ADDRESS),
            (Side::Server, SERVER_ADDRESS),
        ] {
            for words in [
                &["addr", "add", &format!("{address}/24"), "dev", "bench0"][..],
                &["link", "set", "lo", "up"],
                &["link", "set", "bench0", "up"],
            ] {
                succeed(testbed.command(side, "ip").args(words))?;
            }
        }
        Ok(testbed)
    }

    /// `program` on one of the hosts.
    pub(crate) fn command(&self, side: Side, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        // No run is to be kept: linerate says "not stored" and goes on.
        command
            .env("XDG_STATE_HOME", "/dev/null")
            .arg(format!("--net=/proc/{}/ns/net", self.pid(side)))
            .arg(program);
        command
    }

    /// The process that holds the host's namespace.
    pub(crate) fn pid(&self, side: Side) -> u32 {
        match side {
            Side::Client => self.client.id(),
            Side::Server => self.server.id(),
        }
    }
}

/// Without root: this program again, as root of a user namespace of its own, with the binary
/// that was built. Returns only if that is not needed, or fails.
///
/// # Errors
/// It fails.
pub(crate) fn become_root(binary: &Path) -> Result<(), String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    if uids.and_then(|uids| uids.split_whitespace().nth(1)) == Some("0") {
        return Ok(());
    }
    let this = std::env::current_exe().map_err(|why| format!("find this program: {why}"))?;
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--user", "--map-root-user"])
        .arg(this)
        .args(std::env::args_os().skip(1));
    let why = unshare.arg("--binary").arg(binary).exec();
    Err(format!("start unshare: {why}"))
}

/// A process in a network namespace of its own; it ends when its input does.
fn holder() -> Result<Server, String> {
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", "echo ready; exec cat >/dev/null"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = Server(child.map_err(|why| format!("start unshare: {why}"))?);
    let mut word = [0; 6];
    let pipe = child.stdout.as_mut().ok_or("no pipe")?;
    pipe.read_exact(&mut word)
        .map_err(|_ended| "unshare --net: not permitted here".to_owned())?;
    Ok(child)
}

fn ip(words: &[&str]) -> Result<(), String> {
    succeed(Command::new("ip").args(words))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|why| format!("start {}: {why}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(());
    }
    let words: Vec<_> = command
        .get_args()
        .map(|word| word.to_string_lossy())
        .collect();
    Err(format!(
        "{}: {}",
        words.join(" "),
        process::last_line(&String::from_utf8_lossy(&output.stderr))
    ))
}
