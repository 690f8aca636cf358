// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP clients of the iperf2 server: a thread each, that reads to the end and counts.

use super::limits::{self, ClientRole};
use super::preamble::Preamble;
use super::shared::Shared;
use super::sink::Sink;
use super::slots::{Full, Slot};
use super::source;
use crate::plan::Direction;
use crate::server;
use crate::server::metrics::Refusal;
use crate::totals::Totals;
use linerate_model::failure::Failure;
use linerate_model::output::Protocol;
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
    let busy = |full: Full| (Refusal::Busy, full.to_string());
    let admitted = slot.map_err(busy).and_then(|slot| {
        let thread = Builder::new()
            .name("client".to_owned())
            .stack_size(STACK_BYTES);
        thread
            .spawn_scoped(scope, move || serve(shared, stream, peer, &slot))
            .map_err(|error| (Refusal::System, error.to_string()))
    });
    if let Err((why, reason)) = admitted {
        shared.metrics.refuse(why);
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
    let refused = |why, reason| {
        shared.metrics.refuse(why);
        format!("refused: {reason}")
    };
    let preamble = Preamble::read(&shared.stop, &stream)
        .map_err(|reason| refused(Refusal::Protocol, reason))?;
    let role = limits::check(shared.options, &preamble.header)
        .map_err(|reason| refused(Refusal::Limit, reason))?;
    let direction = match role {
        ClientRole::Receives => Direction::Down,
        ClientRole::Sends => Direction::Up,
    };
    let kind = (Protocol::Tcp, direction);
    shared.metrics.begin(kind);
    let outcome = match role {
        ClientRole::Receives => source::send(&shared.stop, stream, &preamble.header),
        ClientRole::Sends => {
            let most = shared.options.max_duration_s;
            Sink::new(&shared.stop, most, stream, &preamble).and_then(Sink::read)
        }
    };
    shared.metrics.end(kind, outcome.is_ok());
    let (summary, amount) = outcome?;
    let totals = Totals::of_one(direction, amount, 0);
    shared.metrics.count(kind.0, &totals);
    Ok(summary)
}

const STACK_BYTES: usize = 256 * 1024;
