// SPDX-License-Identifier: MIT OR Apache-2.0
//! The UDP client: paced like every other test, ended by iperf2's final datagram, counted by the
//! server's report.

use super::finish::{self, Answer, Ending};
use super::load::{FarEnd, Load};
use super::server_report::{self, sent};
use crate::account::{SideAccount, StreamAccount};
use crate::stream::Stamp;
use crate::stream_config::StreamConfig;
use crate::streams::Work;
use crate::{Observer, TestOutcome, TestPlan, connect};
use linerate_linux::clock::wall_ns;
use linerate_linux::signal::Interrupt;
use linerate_linux::udp;
use linerate_model::failure::Failure;
use linerate_wire::iperf2::client_header::{ClientHeader, SEQUENCE_64_BIT};
use linerate_wire::iperf2::datagram::Header;
use std::net::{SocketAddr, UdpSocket};

/// Runs one test.
pub(super) fn run(
    plan: &TestPlan,
    observer: &mut dyn Observer,
    interrupt: &Interrupt,
) -> Result<TestOutcome, Failure> {
    let server = *super::addresses(plan)?
        .first()
        .ok_or_else(|| Failure::measuring("find the server", "it has no address"))?;
    let config = config(plan, server);
    let mut sockets = Vec::new();
    let mut works = Vec::new();
    for index in 0..config.streams {
        let place = (index, config.streams);
        let (socket, work) = open(plan, &config, server, index)
            .map_err(|error| connect::stream_failure(plan, server, place, &error))?;
        sockets.push(socket);
        works.push(work);
    }
    let local = sockets.first().and_then(|socket| socket.local_addr().ok());
    let mut load = Load::new(plan, config, (server, local), observer, interrupt);
    for ((index, work), socket) in (0..).zip(works).zip(&sockets) {
        load.follow(socket);
        let port = socket.local_addr().ok().map(|address| address.port());
        load.spawn(index, port, Ok(work))?;
    }
    load.run();
    let own = load.account();
    let far = reports(&load, &own, sockets);
    Ok(load.close(&own, far))
}

fn config(plan: &TestPlan, server: SocketAddr) -> StreamConfig {
    let default_bytes = if server.is_ipv4() {
        PAYLOAD_V4_BYTES
    } else {
        PAYLOAD_V6_BYTES
    };
    StreamConfig {
        stamp: Stamp::Iperf2,
        ..StreamConfig::of_plan(plan, false, default_bytes)
    }
}

/// A stream: its socket once more for the end, and its worker.
fn open(
    plan: &TestPlan,
    config: &StreamConfig,
    server: SocketAddr,
    index: u32,
) -> std::io::Result<(UdpSocket, Work)> {
    let local = connect::local(plan, server, index);
    let opened = udp::connect(server, local, &config.udp_options(true))?;
    let socket = opened.socket.try_clone()?;
    let mut work = config.udp_work(true, index, opened)?;
    if let Work::UdpTx(tx) = &mut work {
        tx.delay_ns = u64::from(index) * APART_NS;
        tx.errors_most = MOST_ERRORS;
        let header = header(plan, config, server.port());
        for slot in 0..tx.sender.slots() {
            put(&header, tx.sender.slot(slot));
        }
    }
    Ok((socket, work))
}

/// The header after the sequence in every datagram; the short form where the long does not fit.
fn header(plan: &TestPlan, config: &StreamConfig, port: u16) -> Vec<u8> {
    let duration_ms = u32::try_from(plan.duration_ms).unwrap_or(u32::MAX);
    let rate = config.bits_per_second.unwrap_or(0);
    let mut header = ClientHeader::udp(port, config.payload_bytes, rate, duration_ms);
    let limit = config.share(0);
    let blocks = |packets: u64| packets.saturating_mul(config.payload_bytes.into());
    if let Some(bytes) = limit.bytes.or(limit.packets.map(blocks)) {
        header.amount = i32::try_from(bytes).unwrap_or(i32::MAX);
    }
    if (config.payload_bytes as usize) < Header::LEN + ClientHeader::EXTENDED_LEN {
        header.flags = SEQUENCE_64_BIT;
        header.extension = None;
    }
    header.encode()
}

fn put(header: &[u8], payload: &mut [u8]) {
    if let Some(place) = payload.get_mut(Header::LEN..Header::LEN + header.len()) {
        place.copy_from_slice(header);
    }
}

fn reports(load: &Load<'_>, own: &SideAccount, sockets: Vec<UdpSocket>) -> FarEnd {
    let header = header(load.plan, &load.config, load.server.port());
    let ending = |(stream, socket): (&StreamAccount, UdpSocket)| Ending {
        socket,
        datagram: last(load.config.payload_bytes, &header, sent(stream)),
        answer: Answer::default(),
    };
    let mut endings: Vec<_> = own.streams.iter().zip(sockets).map(ending).collect();
    finish::request_reports(&mut endings, || load.interrupt.impatient());
    let answers: Vec<_> = endings.iter().map(|ending| ending.answer).collect();
    server_report::judge((load.server, load.config.payload_bytes), own, &answers)
}

/// A final datagram: as long as the data, its sequence the next one, negative.
fn last(payload_bytes: u32, header: &[u8], sent: u64) -> Vec<u8> {
    let mut datagram = vec![0; payload_bytes as usize];
    put(header, &mut datagram);
    let written = Header::at(wall_ns(), -(sent + 1).cast_signed()).encode(&mut datagram);
    debug_assert!(written, "payload shorter than its sequence");
    datagram
}

/// Between the starts of two streams: iperf's server mixes up the datagrams of clients that start
/// at the same time.
const APART_NS: u64 = 10_000_000;
/// Hosts report a closed port once a second: after this many the server is taken to be absent.
const MOST_ERRORS: u64 = 3;
/// iperf2's default payloads: an Ethernet frame's, of either family.
const PAYLOAD_V4_BYTES: u32 = 1470;
const PAYLOAD_V6_BYTES: u32 = 1450;
