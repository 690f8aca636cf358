// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that has something of the kernel's until a test kills it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use linerate_linux::netns::NetNs;

/// Starts this program again in a host, and waits until it has what it is to have.
pub(crate) fn start_in(host: &NetNs) -> Child {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.env(TO_BE_KILLED, "1").stdout(Stdio::piped());
    host.start_inside(&mut again).unwrap();
    let mut child = again.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    child
}

/// Whether this process is that one.
pub(crate) fn is_this() -> bool {
    std::env::var_os(TO_BE_KILLED).is_some()
}

/// Keeps it.
pub(crate) fn with<T>(_had: T) -> ! {
    println!("ready");
    loop {
        thread::park();
    }
}

const TO_BE_KILLED: &str = "LINERATE_TEST_TO_BE_KILLED";
