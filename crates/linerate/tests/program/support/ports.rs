// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports for servers of tests. Read from the kernel's tables, never tried with a socket: a child
//! that another thread is just starting would inherit it for a moment, and seem to be the server.

use std::sync::atomic::{AtomicU16, Ordering};

/// A port of which no TCP or UDP socket is bound, below those that the kernel gives to clients,
/// and given to nobody else in this process.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let base = u64::from(std::process::id()) * 131;
    loop {
        let step = u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = (10_000 + (base + step) % 20_000) as u16;
        let bound = |table| !states(table, port).is_empty();
        if !["tcp", "tcp6", "udp", "udp6"].into_iter().any(bound) {
            return port;
        }
    }
}

/// The states (`include/net/tcp_states.h`, in hexadecimal) of the sockets bound to a port.
pub(crate) fn states(table: &str, port: u16) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
    let wanted = format!(":{port:04X}");
    let state = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let bound = fields.len() > 3 && fields[1].ends_with(&wanted);
        bound.then(|| fields[3].to_owned())
    };
    text.lines().filter_map(state).collect()
}
