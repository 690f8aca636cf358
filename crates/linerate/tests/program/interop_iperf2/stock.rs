// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stock iperf as a child process, and the lines that it prints.

use crate::support::{free_port, until};
use std::cell::RefCell;
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// Whether the stock program is there; says so if not.
pub(crate) fn have_iperf() -> bool {
    let found = Command::new("iperf")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !found {
        eprintln!("skipped: no iperf in PATH");
    }
    found
}

/// A stock server that ends by itself after this many streams: what it prints is complete then.
/// (2.1.8 dies now and then when a second UDP test follows the first, so each serves one.)
pub(crate) struct Stock {
    pub(crate) port: u16,
    child: RefCell<Child>,
}

impl Stock {
    /// `arguments` such as `-u` or `-V`.
    pub(crate) fn serve(streams: u32, arguments: &str) -> Self {
        let port = free_port();
        let child = Command::new("iperf")
            .args(["-s", "-f", "b", "-P", &streams.to_string()])
            .args(["-p", &port.to_string()])
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the stock server listens", || listens(port));
        Self {
            port,
            child: RefCell::new(child),
        }
    }

    /// Waits for its end; all that it printed.
    pub(crate) fn said(self) -> String {
        let over = || self.child.borrow_mut().try_wait().unwrap().is_some();
        until("the stock server ends", over);
        let mut text = String::new();
        let mut stdout = self.child.borrow_mut().stdout.take().unwrap();
        stdout.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        let mut child = self.child.borrow_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A stock client's output against `port`; its host is the first argument.
pub(crate) fn client(port: u16, arguments: &str) -> String {
    let child = command(port, arguments).spawn().unwrap();
    ended(RefCell::new(child))
}

/// The command of a stock client, nothing started.
pub(crate) fn command(port: u16, arguments: &str) -> Command {
    let mut command = Command::new("iperf");
    command
        .arg("-c")
        .args(arguments.split_whitespace())
        .args(["-f", "b", "-p", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Waits for the end of a process; all that it printed. One that hangs is killed.
fn ended(child: RefCell<Child>) -> String {
    let kill = Kill(&child);
    until("iperf ends", || {
        child.borrow_mut().try_wait().unwrap().is_some()
    });
    drop(kill);
    let mut text = String::new();
    let mut stdout = child.borrow_mut().stdout.take().unwrap();
    stdout.read_to_string(&mut text).unwrap();
    text
}

/// Ends a process with its test.
pub(crate) struct Kill<'a>(pub(crate) &'a RefCell<Child>);

impl Drop for Kill<'_> {
    fn drop(&mut self) {
        let mut child = self.0.borrow_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// One printed result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) bytes: u64,
    /// Lost and total datagrams, in reports of UDP receivers.
    pub(crate) lost: Option<(u64, u64)>,
}

/// The results of single streams (`[  1] 0.0000-1.0003 sec  12502350 Bytes … 0/8505 (0%)`).
pub(crate) fn rows(text: &str) -> Vec<Row> {
    text.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row> {
    let inside = line.trim().strip_prefix('[')?;
    let (id, rest) = inside.split_once(']')?;
    id.trim().parse::<u32>().ok()?;
    let words: Vec<_> = rest.split_whitespace().collect();
    let place = words.iter().position(|word| *word == "Bytes")?;
    let lost = words.iter().find_map(|word| {
        let (lost, total) = word.split_once('/')?;
        Some((lost.parse().ok()?, total.parse().ok()?))
    });
    Some(Row {
        bytes: words.get(place.checked_sub(1)?)?.parse().ok()?,
        lost,
    })
}

/// Whether any socket is bound to the port, read from the kernel's tables.
fn listens(port: u16) -> bool {
    let bound = |path: &str| {
        let table = std::fs::read_to_string(path).unwrap_or_default();
        table.lines().any(|line| {
            let local = line.split_whitespace().nth(1).unwrap_or_default();
            local.ends_with(&format!(":{port:04X}"))
        })
    };
    ["tcp", "tcp6", "udp", "udp6"]
        .iter()
        .any(|table| bound(&format!("/proc/net/{table}")))
}
