// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients of 2.0.9 and older, made by hand: 32-bit sequences from 0, a client header of 24 bytes
//! behind 12.

use crate::support::Server;
use linerate_wire::iperf2::client_header::ClientHeader;
use linerate_wire::iperf2::server_report::ServerReport;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

const PAYLOAD_BYTES: usize = 200;

pub(crate) fn datagram(sequence: i32) -> Vec<u8> {
    let header = ClientHeader {
        threads: 1,
        buffer_bytes: 200,
        amount: -100,
        ..ClientHeader::default()
    };
    let mut bytes = Vec::new();
    for word in [sequence, 1_600_000_000, 250_000] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend(header.encode());
    bytes.resize(PAYLOAD_BYTES, b'7');
    bytes
}

pub(crate) fn connected(port: u16) -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(250)))
        .unwrap();
    socket
}

/// Asks as iperf does, ten times.
pub(crate) fn report(socket: &UdpSocket, last: &[u8]) -> Option<ServerReport> {
    let mut bytes = [0; 2048];
    (0..40).find_map(|_| {
        socket.send(last).unwrap();
        let length = socket.recv(&mut bytes).ok()?;
        ServerReport::decode(&bytes[..length])
    })
}

#[test]
fn an_old_client_gets_its_report() {
    let server = Server::ours("--iperf2");
    let socket = connected(server.port);
    for sequence in (0..10).filter(|sequence| *sequence != 4) {
        socket.send(&datagram(sequence)).unwrap();
    }
    let reported = report(&socket, &datagram(-10)).unwrap();
    assert_eq!(
        (reported.lost, reported.datagrams),
        (1, 10),
        "{}",
        server.log()
    );
    assert_eq!(reported.bytes, 9 * PAYLOAD_BYTES as u64);
    assert_eq!(report(&socket, &datagram(-10)), Some(reported));
    server.await_line("1/10 datagrams lost");
}
