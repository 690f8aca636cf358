// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forged datagrams: iperf2 has no handshake, so any source address may be another's. What they cost is bounded.

use super::old;
use crate::support::{Server, our_client, until};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

/// A datagram as short as an attacker can make it: two headers.
fn short(sequence: i32) -> Vec<u8> {
    old::datagram(sequence)[..36].to_vec()
}

/// Payload bytes that come back within a second of silence.
fn answered(socket: &UdpSocket) -> usize {
    socket
        .set_read_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    let mut bytes = [0; 2048];
    std::iter::from_fn(|| socket.recv(&mut bytes).ok()).sum()
}

#[test]
fn no_address_gets_more_than_it_sent() {
    let server = Server::ours("--iperf2");
    let socket = old::connected(server.port);
    let mut sent = 0;
    for sequence in [0, 1].into_iter().chain([-2; 100]) {
        sent += socket.send(&short(sequence)).unwrap();
    }
    server.await_line("done: UDP");
    let answered = answered(&socket);
    assert!(
        (1..=sent).contains(&answered),
        "{answered} bytes for {sent}"
    );
}

#[test]
fn a_flood_of_flows_fills_no_log() {
    let started = Instant::now();
    let server = Server::ours("--iperf2");
    let socket = old::connected(server.port);
    let flow = || {
        socket.send(&short(0)).unwrap();
        socket.send(&short(-1)).unwrap();
    };
    (0..2000).for_each(|_| flow());
    server.await_line("done: UDP");
    let said = our_client(server.port, "udp", "--iperf2 -k 20");
    assert!(said.success, "{}", said.text);
    until("a later period names the number of lines left out", || {
        flow();
        server.lines("lines before") > 0
    });
    let lines = server.log().lines().count();
    // A hundred in each period of 10 s, and what the server says of itself.
    let most = 100 * (started.elapsed().as_secs() as usize / 10 + 1) + 10;
    assert!(lines <= most, "{lines} lines, {most} at most");
}

#[test]
fn flows_that_say_nothing_keep_nobody_out() {
    let server = Server::ours("--iperf2 --max-streams 8");
    let forged: Vec<_> = (0..40).map(|_| old::connected(server.port)).collect();
    for socket in &forged {
        socket.send(&short(0)).unwrap();
    }
    server.await_line("refused: already serving 8 streams");
    until(
        "a client is served within the silence of the others",
        || our_client(server.port, "udp", "--iperf2 -k 20").success,
    );
    assert_eq!(server.lines("no final datagram"), 0, "{}", server.log());
    server.await_line("ended: silent for 2 s while other clients wait");
}

/// One eviction frees one of its address's two streams, and no test.
#[test]
fn two_silent_flows_of_an_address_keep_nobody_out() {
    let server = Server::ours("--iperf2 --max-tests 2");
    let forged: Vec<_> = [2, 2, 3, 3]
        .map(|host| UdpSocket::bind((Ipv4Addr::new(127, 0, 0, host), 0)).unwrap())
        .into();
    for socket in &forged {
        socket.connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
        socket.send(&short(0)).unwrap();
    }
    let late = old::connected(server.port);
    late.send(&short(0)).unwrap();
    server.await_line("refused: already running 2 tests");
    std::thread::sleep(Duration::from_millis(2500));
    let said = our_client(server.port, "udp", "--iperf2 -k 20");
    assert!(said.success, "{}\n{}", said.text, server.log());
    drop(late);
}
