// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP clients of the iperf2 server: a thread each, that reads to the end and counts.

use super::limits::{self, Wish};
use super::seats::Seat;
use super::server::Server;
use super::source;
use crate::engine::server::plain;
use crate::error::Failure;
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_linux::tcp::{self, Mover, RxMode, TxMode};
use linerate_wire::iperf2::client_header::{ClientHeader, EXTENDED};
use std::io::{self, Read};
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
                server.log.line(None, &format!("accept failed: {error}"));
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
    let admitted = server.seats.take(peer.ip()).and_then(|seat| {
        let thread = Builder::new()
            .name("client".to_owned())
            .stack_size(STACK_BYTES);
        thread
            .spawn_scoped(scope, move || meet(server, stream, peer, &seat))
            .map_err(|error| error.to_string())
    });
    if let Err(reason) = admitted {
        server.log.line(Some(peer), &format!("refused: {reason}"));
    }
}

fn meet(server: &Server<'_>, stream: TcpStream, peer: SocketAddr, seat: &Seat<'_>) {
    let line = match converse(server, stream) {
        Ok(summary) => {
            seat.finish();
            format!("done: TCP, {summary}")
        }
        Err(reason) => reason,
    };
    server.log.line(Some(peer), &line);
}

fn converse(server: &Server<'_>, stream: TcpStream) -> Result<String, String> {
    let front = Front::read(server, &stream).map_err(|reason| format!("refused: {reason}"))?;
    let wish = limits::check(server.options, &front.header)
        .map_err(|reason| format!("refused: {reason}"))?;
    match wish {
        Wish::Receive => source::send(server, stream, &front.header),
        Wish::Send => sink(server, stream, &front),
    }
}

/// The first bytes of a client. Old ones send no header: then they are data like the rest.
struct Front {
    header: ClientHeader,
    bytes: u64,
    begun_ns: u64,
}

impl Front {
    fn read(server: &Server<'_>, stream: &TcpStream) -> Result<Self, String> {
        let deadline_ns = monotonic_ns() + HEADER_NS;
        let mut bytes = [0; ClientHeader::EXTENDED_LEN];
        let (short, long) = bytes.split_at_mut(ClientHeader::LEN);
        let begun_ns = fill(server, stream, short, deadline_ns)?;
        let more = ClientHeader::decode(short).is_none_or(|header| header.flags & EXTENDED != 0);
        if more {
            fill(server, stream, long, deadline_ns)?;
        }
        let length = if more { bytes.len() } else { ClientHeader::LEN };
        Ok(Self {
            header: ClientHeader::decode(&bytes[..length]).unwrap_or_default(),
            bytes: length as u64,
            begun_ns,
        })
    }
}

/// Fills `bytes` within the deadline, whatever their spacing; the time of the first.
fn fill(
    server: &Server<'_>,
    mut stream: &TcpStream,
    bytes: &mut [u8],
    deadline_ns: u64,
) -> Result<u64, String> {
    tcp::set_wait(stream, WAIT).map_err(|error| error.to_string())?;
    let (mut filled, mut first_ns) = (0, None);
    while filled < bytes.len() {
        if server.is_stopped() || monotonic_ns() >= deadline_ns {
            return Err(format!(
                "no iperf2 header within {} s",
                HEADER_NS / 1_000_000_000
            ));
        }
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err("closed within its header".to_owned()),
            Ok(count) => {
                filled += count;
                first_ns.get_or_insert_with(monotonic_ns);
            }
            Err(error) if is_nothing_yet(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(first_ns.unwrap_or(deadline_ns))
}

fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Reads to the end of the stream; the header counts as data, as in iperf.
fn sink(server: &Server<'_>, stream: TcpStream, front: &Front) -> Result<String, String> {
    let mover = Mover::new(stream, BLOCK_BYTES, TxMode::Copy, RxMode::Copy, |_| {});
    let mut mover = mover.map_err(|error| format!("ended: {error}"))?;
    let mut bytes = front.bytes;
    let mut heard_ns = monotonic_ns();
    let begun_ns = front.begun_ns;
    let so_far = |bytes: u64, now_ns: u64| received(bytes, now_ns.saturating_sub(begun_ns));
    let ended = |why: &str, bytes: u64, now_ns: u64| {
        Err(format!("ended: {why}: TCP, {}", so_far(bytes, now_ns)))
    };
    let limit_ns = longest_ns(server);
    loop {
        let taken = mover.receive_block();
        let now_ns = monotonic_ns();
        match taken {
            Ok(None) if is_short(front, now_ns) => {
                return ended("the client left before its time", bytes, now_ns);
            }
            Ok(None) => return Ok(so_far(bytes, heard_ns)),
            Ok(Some(0)) if now_ns >= heard_ns + SILENCE_NS => {
                return ended("the client fell silent", bytes, now_ns);
            }
            Ok(Some(0)) => {}
            Ok(Some(count)) => {
                bytes += count as u64;
                heard_ns = now_ns;
            }
            Err(error) => return ended(&error.to_string(), bytes, now_ns),
        }
        if server.is_stopped() {
            return ended("this server was stopped", bytes, now_ns);
        }
        if now_ns >= begun_ns.saturating_add(limit_ns) {
            return ended(
                "longer than it asked for and --max-time serves",
                bytes,
                now_ns,
            );
        }
    }
}

fn received(bytes: u64, duration_ns: u64) -> String {
    format!(
        "{bytes} bytes received in {:.3} s",
        duration_ns as f64 / 1e9
    )
}

/// A client by time that ends well before it was killed or interrupted.
fn is_short(front: &Front, now_ns: u64) -> bool {
    let took_ms = now_ns.saturating_sub(front.begun_ns) / 1_000_000;
    front
        .header
        .duration_ms()
        .is_some_and(|asked_ms| took_ms + asked_ms / 10 + SLACK_MS < asked_ms)
}

fn longest_ns(server: &Server<'_>) -> u64 {
    let seconds = server.options.max_duration_s;
    seconds.map_or(u64::MAX, |limit| {
        limit.saturating_mul(1_000_000_000) + LATE_NS
    })
}

/// The longest wait before the stop sign is looked at again.
const POLL: Duration = Duration::from_millis(100);
const WAIT: Duration = Duration::from_millis(100);
/// After a failed accept.
const PAUSE_NS: u64 = 50_000_000;
/// Time for the header.
const HEADER_NS: u64 = 5_000_000_000;
/// A client that lives (a dead one is found by keep-alive probes) but sends nothing for so long.
const SILENCE_NS: u64 = 60_000_000_000;
/// What queues on the way may come after the time.
const LATE_NS: u64 = 10_000_000_000;
const SLACK_MS: u64 = 200;
const BLOCK_BYTES: usize = 128 * 1024;
const STACK_BYTES: usize = 256 * 1024;
