// SPDX-License-Identifier: MIT OR Apache-2.0
//! The TCP client: a header, then data. An iperf2 server reports nothing for TCP: delivered is what
//! its kernel acknowledged.

use super::load::{FarEnd, Load};
use crate::account::{RxAccount, SideAccount, StreamAccount};
use crate::stream_config::StreamConfig;
use crate::{Observer, TestOutcome, TestPlan, connect};
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_linux::signal::Interrupt;
use linerate_linux::tcp;
use linerate_model::failure::Failure;
use linerate_model::output::{IoMode, Warning};
use linerate_wire::iperf2::client_header::ClientHeader;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Runs one test.
pub(super) fn run(
    plan: &TestPlan,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    let config = config(plan);
    let (server, mut lines) = open_all(plan, &config, interrupt)?;
    let local = lines.first().and_then(|line| line.stream.local_addr().ok());
    let mut load = Load::new(plan, config, (server, local), observer, interrupt);
    let header = header(plan, &load.config);
    for (index, line) in (0..).zip(&mut lines) {
        load.follow(&line.stream);
        let port = line.stream.local_addr().ok().map(|address| address.port());
        let sent = line.stream.write_all(&header);
        let work = sent.and_then(|()| load.config.tcp_work(true, index, line.stream.try_clone()?));
        load.spawn(index, port, work)?;
    }
    load.run();
    let acknowledged_ns = settle(&load, &lines);
    let mut own = load.account();
    // Read now: the acknowledgement of the FIN counts as a byte.
    let acknowledged: Vec<_> = lines.iter().map(Line::acknowledged_bytes).collect();
    close_streams(&load, &mut own, &lines);
    let far = far(&load, &mut own, &acknowledged, acknowledged_ns);
    Ok(load.close(&own, far))
}

/// A connection, and what its peer had acknowledged of the handshake.
#[derive(Debug)]
struct Line {
    stream: TcpStream,
    before_bytes: Option<u64>,
}

impl Line {
    /// Header and data that the peer's kernel has.
    fn acknowledged_bytes(&self) -> Option<u64> {
        let now_bytes = tcp::info(&self.stream).ok()?.bytes_acked?;
        Some(now_bytes.saturating_sub(self.before_bytes?))
    }

    /// Whether nothing more will be acknowledged.
    fn is_settled(&self) -> bool {
        tcp::info(&self.stream).map_or(true, |info| {
            let waits = info.unacked > 0 || info.notsent_bytes.is_some_and(|bytes| bytes > 0);
            info.state != ESTABLISHED || !waits
        })
    }
}

/// The header is part of the amount, as in iperf.
fn config(plan: &TestPlan) -> StreamConfig {
    let mut config = StreamConfig::of_plan(plan, false, 0);
    let headers = HEADER_BYTES * u64::from(config.streams);
    config.limit.bytes = config
        .limit
        .bytes
        .map(|bytes| bytes.saturating_sub(headers));
    config
}

fn header(plan: &TestPlan, config: &StreamConfig) -> Vec<u8> {
    let duration_ms = u32::try_from(plan.duration_ms).unwrap_or(u32::MAX);
    let mut header = ClientHeader::tcp(plan.port, duration_ms);
    header.buffer_bytes = config.payload_bytes;
    let limit = config.share(0);
    let blocks = |writes: u64| writes.saturating_mul(config.payload_bytes.into());
    if let Some(bytes) = limit.bytes.or(limit.packets.map(blocks)) {
        header.amount = i32::try_from(bytes + HEADER_BYTES).unwrap_or(i32::MAX);
    }
    header.encode()
}

/// The first address that answers takes all streams.
fn open_all(
    plan: &TestPlan,
    config: &StreamConfig,
    interrupt: &Interrupt,
) -> Result<(SocketAddr, Vec<Line>), Failure> {
    let mut last = None;
    for server in super::addresses(plan)? {
        match open(plan, config, server, 0, interrupt) {
            Ok(line) => return complete(plan, config, (server, line), interrupt),
            Err(error) => last = Some(connect::explain(plan, server, &error)),
        }
    }
    Err(last.unwrap_or_else(|| Failure::measuring("find the server", "it has no address")))
}

fn complete(
    plan: &TestPlan,
    config: &StreamConfig,
    (server, first): (SocketAddr, Line),
    interrupt: &Interrupt,
) -> Result<(SocketAddr, Vec<Line>), Failure> {
    let mut lines = vec![first];
    for index in 1..config.streams {
        let place = (index, config.streams);
        let line = open(plan, config, server, index, interrupt)
            .map_err(|error| connect::stream_failure(plan, server, place, &error))?;
        lines.push(line);
    }
    Ok((server, lines))
}

fn open(
    plan: &TestPlan,
    config: &StreamConfig,
    server: SocketAddr,
    index: u32,
    interrupt: &Interrupt,
) -> io::Result<Line> {
    let options = tcp::Options {
        local: connect::local(plan, server, index),
        ..config.tcp_options()
    };
    let timeout = Duration::from_millis(plan.connect_timeout_ms);
    let give_up = || interrupt.requested().is_some();
    let stream = tcp::connect(server, &options, timeout, give_up)?.stream;
    let before_bytes = tcp::info(&stream).ok().and_then(|info| info.bytes_acked);
    Ok(Line {
        stream,
        before_bytes,
    })
}

/// Waits until the far end's kernel has all; the monotonic time of that.
fn settle(load: &Load<'_>, lines: &[Line]) -> u64 {
    let deadline_ns = monotonic_ns() + FLUSH_NS;
    while monotonic_ns() < deadline_ns
        && !load.interrupt.impatient()
        && !lines.iter().all(Line::is_settled)
    {
        sleep_until_ns(monotonic_ns() + STEP_NS, 0);
    }
    monotonic_ns()
}

fn far(
    load: &Load<'_>,
    own: &mut SideAccount,
    acknowledged: &[Option<u64>],
    acknowledged_ns: u64,
) -> FarEnd {
    let duration_ns = load.since_start_ns(acknowledged_ns);
    let mut streams = Vec::new();
    for (stream, &bytes) in own.streams.iter_mut().zip(acknowledged) {
        if let Some(tx) = &mut stream.tx {
            tx.bytes += HEADER_BYTES;
        }
        streams.push(StreamAccount {
            id: stream.id,
            rx: bytes.map(|bytes| RxAccount {
                bytes,
                duration_ns,
                mode: Some(IoMode::Acknowledged),
                ..RxAccount::default()
            }),
            ..StreamAccount::default()
        });
    }
    FarEnd {
        warnings: vec![only_acknowledged()],
        failure: broken(load, own),
        account: Some(SideAccount {
            streams,
            ..SideAccount::default()
        }),
    }
}

fn only_acknowledged() -> Warning {
    Warning {
        id: "delivered-is-acknowledged".to_owned(),
        text: "an iperf2 server reports nothing for TCP: delivered is what its kernel acknowledged (TCP_INFO tcpi_bytes_acked), not what the application read".to_owned(),
        try_: "the server's own output, or `linerate serve` there".to_owned(),
    }
}

fn broken(load: &Load<'_>, own: &SideAccount) -> Option<Failure> {
    let reasons: Vec<_> = own
        .streams
        .iter()
        .filter_map(|stream| stream.tx.as_ref()?.failure.as_ref())
        .collect();
    let reason = reasons
        .first()
        .filter(|_| reasons.len() == own.streams.len())?;
    let server = load.server;
    Some(
        Failure::measuring(
            format!("finish the test with {server}"),
            format!("the connection broke: {reason}"),
        )
        .hint(format!(
            "ping {}; is the server still running? its output says why",
            server.ip()
        )),
    )
}

/// Ends every stream, and waits until the server has read it to the end. One that resets it instead
/// did not: what it acknowledged is no result then.
fn close_streams(load: &Load<'_>, own: &mut SideAccount, lines: &[Line]) {
    let deadline_ns = monotonic_ns() + PART_NS;
    for Line { stream, .. } in lines {
        // Fails only on a connection that is gone already.
        let _ = stream.shutdown(Shutdown::Write);
    }
    let give_up = || monotonic_ns() >= deadline_ns || load.interrupt.impatient();
    for (stream, line) in own.streams.iter_mut().zip(lines) {
        if let (Some(tx), Err(error)) = (&mut stream.tx, read_out(&line.stream, give_up)) {
            let reason = format!("the server did not read to the end: {error}");
            tx.failure.get_or_insert(reason);
        }
    }
}

fn read_out(mut stream: &TcpStream, give_up: impl Fn() -> bool) -> io::Result<()> {
    while !give_up() {
        match stream.read(&mut [0; 256]) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The server counts the header as data.
const HEADER_BYTES: u64 = ClientHeader::EXTENDED_LEN as u64;
/// `TCP_ESTABLISHED` of include/net/tcp_states.h.
const ESTABLISHED: u8 = 1;
/// The longest wait for the acknowledgement of the last bytes.
const FLUSH_NS: u64 = 10_000_000_000;
/// The longest wait for a server that still reads.
const PART_NS: u64 = 3_000_000_000;
const STEP_NS: u64 = 1_000_000;
