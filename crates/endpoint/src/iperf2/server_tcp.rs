// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP clients of the iperf2 server: a thread each, that reads to the end and counts.

use super::limits::{self, ClientRole};
use super::preamble::Preamble;
use super::server::Server;
use super::sink::Sink;
use super::slots::Slot;
use super::source;
use crate::server::plain;
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_linux::tcp;
use linerate_model::failure::Failure;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{Builder, Scope};
use std::time::Duration;

/// Lets clients in until the server is over; waits for no one.
pub(super) fn accept_all<'scope>(
    server: &'scope Server<'_>,
    scope: &'scope Scope<'scope, '_>,
    listener: &TcpListener,
) -> Result<(), Failure> {
    while !server.is_over() {
        let waiting = tcp::wait_acceptable(listener, POLL)
            .map_err(|error| Failure::measuring("accept clients", error))?;
        if !waiting {
            continue;
        }
        match listener.accept() {
            Ok((stream, peer)) => admit(server, scope, stream, plain(peer)),
            Err(error) => {
                server.log.refusal(None, &format!("accept failed: {error}"));
                // Out of descriptors, most likely: until some are free again.
                sleep_until_ns(monotonic_ns() + PAUSE_NS, 0);
            }
        }
    }
    Ok(())
}

fn admit<'scope>(
    server: &'scope Server<'_>,
    scope: &'scope Scope<'scope, '_>,
    stream: TcpStream,
    peer: SocketAddr,
) {
    let admitted = server.slots.take(peer.ip()).and_then(|slot| {
        let thread = Builder::new()
            .name("client".to_owned())
            .stack_size(STACK_BYTES);
        thread
            .spawn_scoped(scope, move || meet(server, stream, peer, &slot))
            .map_err(|error| error.to_string())
    });
    if let Err(reason) = admitted {
        server
            .log
            .refusal(Some(peer), &format!("refused: {reason}"));
    }
}

fn meet(server: &Server<'_>, stream: TcpStream, peer: SocketAddr, slot: &Slot<'_>) {
    let line = match converse(server, stream) {
        Ok(summary) => {
            slot.finish();
            format!("done: TCP, {summary}")
        }
        Err(reason) => reason,
    };
    server.log.line(Some(peer), &line);
}

fn converse(server: &Server<'_>, stream: TcpStream) -> Result<String, String> {
    let preamble =
        Preamble::read(server, &stream).map_err(|reason| format!("refused: {reason}"))?;
    let wish = limits::check(server.options, &preamble.header)
        .map_err(|reason| format!("refused: {reason}"))?;
    match wish {
        ClientRole::Receives => source::send(server, stream, &preamble.header),
        ClientRole::Sends => Sink::new(server, stream, &preamble)?.read(),
    }
}

/// The longest wait before the stop sign is looked at again.
const POLL: Duration = Duration::from_millis(100);
/// After a failed accept.
const PAUSE_NS: u64 = 50_000_000;
const STACK_BYTES: usize = 256 * 1024;
