// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP clients of the iperf2 server: a thread each, that reads to the end and counts.

use super::limits::{self, ClientRole};
use super::preamble::Preamble;
use super::shared::Shared;
use super::sink::Sink;
use super::slots::Slot;
use super::source;
use crate::server;
use linerate_model::failure::Failure;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{Builder, Scope};

/// Accepts clients until the server is over; does not wait for those that are connected.
pub(super) fn accept_all<'scope>(
    shared: &'scope Shared<'_>,
    scope: &'scope Scope<'scope, '_>,
    listener: &TcpListener,
) -> Result<(), Failure> {
    let is_over = || shared.is_over();
    server::accept_all(listener, &shared.log, is_over, |stream, peer| {
        admit(shared, scope, stream, peer);
    })
}

fn admit<'scope>(
    shared: &'scope Shared<'_>,
    scope: &'scope Scope<'scope, '_>,
    stream: TcpStream,
    peer: SocketAddr,
) {
    let slot = shared.slots.take(peer.ip());
    let admitted = slot.map_err(|full| full.to_string()).and_then(|slot| {
        let thread = Builder::new()
            .name("client".to_owned())
            .stack_size(STACK_BYTES);
        thread
            .spawn_scoped(scope, move || serve(shared, stream, peer, &slot))
            .map_err(|error| error.to_string())
    });
    if let Err(reason) = admitted {
        shared
            .log
            .limited(Some(peer), &format!("refused: {reason}"));
    }
}

fn serve(shared: &Shared<'_>, stream: TcpStream, peer: SocketAddr, slot: &Slot<'_>) {
    let line = match run_test(shared, stream) {
        Ok(summary) => {
            slot.finish();
            format!("done: TCP, {summary}")
        }
        Err(reason) => reason,
    };
    shared.log.line(Some(peer), &line);
}

fn run_test(shared: &Shared<'_>, stream: TcpStream) -> Result<String, String> {
    let refused = |reason| format!("refused: {reason}");
    let preamble = Preamble::read(&shared.stop, &stream).map_err(refused)?;
    match limits::check(shared.options, &preamble.header).map_err(refused)? {
        ClientRole::Receives => source::send(&shared.stop, stream, &preamble.header),
        ClientRole::Sends => {
            let most = shared.options.max_duration_s;
            Sink::new(&shared.stop, most, stream, &preamble)?.read()
        }
    }
}

const STACK_BYTES: usize = 256 * 1024;
