// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers UDP hellos: gives each peer of a waiting test a socket of its own on the same port.
//! Nothing is ever sent to an address that no test waits for.

use super::registry::{Arrival, Registry};
use linerate_linux::udp::{Greeter, Greeting};
use linerate_wire::iperf3::hello as stock;
use linerate_wire::linerate::hello::{Hello, Kind, Reply};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Serves hellos until `stop`.
pub(super) fn serve(mut greeter: Greeter, registry: &Arc<Registry>, stop: &AtomicBool) {
    let mut strays = VecDeque::new();
    while !stop.load(Ordering::Relaxed) {
        let next = strays
            .pop_front()
            .map_or_else(|| greeter.receive(WAIT).ok().flatten(), Some);
        if let Some(greeting) = next {
            strays.extend(welcome(&greeter, registry, &greeting));
        }
    }
}

/// Answers one hello; returns datagrams of others that landed in the new socket meanwhile.
fn welcome(greeter: &Greeter, registry: &Registry, greeting: &Greeting) -> Vec<Greeting> {
    let hello = Hello::decode(&greeting.bytes);
    let Some(test) = registry.find(
        hello.as_ref().map(|hello| &hello.cookie),
        greeting.source.ip(),
    ) else {
        return Vec::new();
    };
    let Ok((opened, strays)) =
        greeter.connected_twin(greeting.local, greeting.source, &test.udp_options)
    else {
        return Vec::new();
    };
    let kind = hello.as_ref().map_or(Kind::Data, |hello| hello.kind);
    let index = hello.as_ref().map(|hello| hello.index);
    let sent = match index {
        Some(index) => opened.socket.send(&Reply { index, kind }.encode()),
        None => opened.socket.send(&stock::REPLY),
    };
    if sent.is_ok() {
        // A test that has just ended takes nothing any more.
        let _ = test.deliver.send(Arrival::Udp {
            index,
            kind,
            opened,
        });
    }
    strays
}

/// The longest wait before the stop sign is looked at again.
const WAIT: Duration = Duration::from_millis(100);
