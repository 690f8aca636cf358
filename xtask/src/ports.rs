// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports of the loopback, and waiting for a server without speaking to it.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// A TCP port without a listener now.
pub(crate) fn free() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Until `server` listens on `port` in the namespace of process `pid`.
///
/// # Errors
/// It ended, or does not listen after 20 s.
pub(crate) fn wait_for_listener(server: &mut Child, pid: u32, port: u16) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if is_listening(pid, port) {
            return Ok(());
        }
        if let Ok(Some(status)) = server.try_wait() {
            return Err(format!("the server ended with {status}"));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(format!("the server does not listen on port {port}"))
}

/// TCP in state LISTEN, or a bound UDP socket.
fn is_listening(pid: u32, port: u16) -> bool {
    let in_table = |table: &str, state: &str| {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        let port = format!(":{port:04X}");
        text.lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            fields.next().is_some_and(|local| local.ends_with(&port))
                && fields.nth(1) == Some(state)
        })
    };
    [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")]
        .iter()
        .any(|(table, state)| in_table(table, state))
}
