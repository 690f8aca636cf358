// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers UDP hellos: each peer of a waiting test gets a connected socket on the same port. Nothing is
//! sent to an address that no test waits for.

use super::Server;
use super::log::RateLimited;
use super::metrics::Refusal;
use super::registry::Arrival;
use linerate_linux::udp::{Acceptor, Greeting, Load};
use linerate_wire::iperf3::hello as stock;
use linerate_wire::linerate::hello::{Hello, Kind, Reply};
use std::collections::VecDeque;
use std::time::Duration;

/// Serves hellos until the server stops.
pub(super) fn serve(mut acceptor: Acceptor, server: &Server<'_>) {
    let mut strays = VecDeque::new();
    let mut ignored = RateLimited::new(
        "refused: a UDP hello of an unknown test, or of a test whose streams are all connected",
    );
    while !server.stop.is_set() {
        let next = strays
            .pop_front()
            .map_or_else(|| acceptor.receive(WAIT).ok().flatten(), Some);
        match next.map(|greeting| (answer_hello(&acceptor, server, &greeting), greeting.source)) {
            Some((Some(others), _)) => strays.extend(others),
            Some((None, source)) => {
                server.metrics.refuse(Refusal::Hello);
                ignored.note(source, &server.log);
            }
            None => {}
        }
    }
}

/// Answers one hello; returns datagrams of other peers that arrived in the new socket meanwhile. `None`:
/// the hello belongs to no test, or to one that has all that it can use.
fn answer_hello(
    acceptor: &Acceptor,
    server: &Server<'_>,
    greeting: &Greeting,
) -> Option<Vec<Greeting>> {
    let hello = Hello::decode(&greeting.bytes);
    if hello.is_none() && greeting.length != stock::HELLO.len() {
        // Data that outlived its test, most likely.
        return Some(Vec::new());
    }
    let test = server.registry.find(
        hello.as_ref().map(|hello| &hello.cookie),
        greeting.source.ip(),
    )?;
    if !test.takes_one() {
        return None;
    }
    let kind = hello.as_ref().map_or(Kind::Data, |hello| hello.kind);
    let load = match kind {
        Kind::Data => Load::Heavy,
        Kind::Probe => Load::Light,
    };
    let (local, peer) = (greeting.local, greeting.source);
    let Ok((opened, strays)) = acceptor.connected_twin(local, peer, &test.udp_options, load) else {
        return Some(Vec::new());
    };
    let index = hello.as_ref().map(|hello| hello.index);
    let sent = match index {
        Some(index) => opened.socket.send(&Reply { index, kind }.encode()),
        None => opened.socket.send(&stock::REPLY),
    };
    if sent.is_ok() {
        // The test may just have ended.
        let _ = test.deliver.send(Arrival::Udp {
            index,
            kind,
            opened,
        });
    }
    Some(strays)
}

/// The stop flag is checked this often.
const WAIT: Duration = Duration::from_millis(100);
