// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the server does with garbage, with the silent, the killed and the greedy: a logged reason,
//! everything freed, and the next client served.

use super::old;
use super::stock::{self, have_iperf};
use crate::support::{Server, our_client, until};
use linerate_wire::iperf2::client_header::ClientHeader;
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

fn served(server: &Server) {
    let before = server.lines("done: UDP");
    let said = our_client(server.port, "udp", "--iperf2 -k 20");
    assert!(said.success, "{}", said.text);
    assert_eq!(said.number("/tests/0/lost_packets"), 0);
    until("it is logged", || server.lines("done: UDP") > before);
}

#[test]
fn garbage_is_neither_answered_nor_counted() {
    let server = Server::ours("--iperf2");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", server.port)).unwrap();
    let mut random = 0x9e37_79b9_u32;
    for length in (0..200).chain([1400, 9000]) {
        let mut bytes = vec![0; length];
        for byte in &mut bytes {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (random >> 24) as u8;
        }
        socket.send(&bytes).unwrap();
        socket.send(&vec![0xff; length]).unwrap();
        socket.send(&vec![0; length]).unwrap();
    }
    // A final datagram of nobody.
    socket.send(&old::datagram(-10)).unwrap();
    server.await_line("does not begin an iperf2 test");
    served(&server);
    socket
        .set_read_timeout(Some(Duration::from_millis(1)))
        .unwrap();
    assert!(socket.recv(&mut [0; 2048]).is_err(), "garbage was answered");
    assert_eq!(server.lines("done: "), 1, "{}", server.log());
}

#[test]
fn a_silent_and_a_short_tcp_client_are_let_go() {
    let server = Server::ours("--iperf2");
    served(&server);
    let at_rest = server.holds_at_rest();
    let _silent = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let mut short = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    short.write_all(&[0x40, 1, 0, 0x78, 0, 0]).unwrap();
    drop(short);
    server.await_line("refused: connection closed within the header");
    server.await_line("refused: no iperf2 header within 5 s");
    until("both are freed", || server.holds() == at_rest);
    served(&server);
}

#[test]
fn a_killed_client_frees_its_thread_and_its_flow() {
    if !have_iperf() {
        return;
    }
    let server = Server::ours("--iperf2");
    served(&server);
    let at_rest = server.holds_at_rest();
    let mut tcp = stock::command(server.port, "127.0.0.1 -t 60 -b 1M")
        .spawn()
        .unwrap();
    until("a thread serves it", || server.holds() > at_rest);
    let udp = old::connected(server.port);
    for sequence in 0..5 {
        udp.send(&old::datagram(sequence)).unwrap();
    }
    drop(udp);
    tcp.kill().unwrap();
    tcp.wait().unwrap();
    let reported = || {
        server.lines("ended: the client disconnected") + server.lines("closed within the header")
    };
    until("its end is logged", || reported() == 1);
    until("it is freed", || server.holds() == at_rest);
    served(&server);
    let line = server.await_line("ended: silent for 15 s, no final datagram: UDP");
    assert!(line.contains("0/5 datagrams lost"), "{line}");
}

#[test]
fn a_client_that_leaves_early_is_reported() {
    let server = Server::ours("--iperf2");
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let header = ClientHeader::tcp(server.port, 60_000).encode();
    stream.write_all(&header).unwrap();
    stream.write_all(&[b'7'; 1000]).unwrap();
    drop(stream);
    let line = server.await_line("ended: the client disconnected early: TCP");
    assert!(line.contains(" 1060 bytes received"), "{line}");
    assert_eq!(server.lines("done: "), 0);
}

#[test]
fn what_asks_for_more_is_refused() {
    let server = Server::ours("--iperf2 --max-time 2s --max-rate 10M --max-streams 2");
    for (arguments, reason) in [
        ("udp --iperf2 -t 3 -b 1M", "3 s requested, at most 2 s"),
        ("udp --iperf2 -t 2 -b 11M", "11000000 bit/s requested"),
        ("tcp --iperf2 -n 1M", "a test without a time limit"),
        ("tcp --iperf2 -t 1", "an unlimited rate requested"),
    ] {
        let (protocol, arguments) = arguments.split_once(' ').unwrap();
        let said = our_client(server.port, protocol, arguments);
        assert!(!said.success, "{arguments}: {}", said.text);
        server.await_line(reason);
    }
    let said = our_client(server.port, "udp", "--iperf2 -t 500ms -b 1M");
    assert!(said.success, "{}", said.text);
    assert_eq!(server.lines("done: "), 1, "{}", server.log());
    let said = our_client(server.port, "udp", "--iperf2 -t 1 -b 1M -P 3");
    assert_eq!(said.number("/exit_code"), 4, "{}", said.text);
    server.await_line("already serving 2 streams");
}

#[test]
fn what_it_does_not_speak_is_refused_with_a_reason() {
    if !have_iperf() {
        return;
    }
    let server = Server::ours("--iperf2");
    for (arguments, reason) in [
        ("-u -R -t 1", "UDP to the client (-R) is not served"),
        ("--full-duplex -t 1", "a test in both directions"),
        ("-r -n 1M", "a test in both directions"),
        ("--bounceback -t 1", "--bounceback is not served"),
    ] {
        let mut client = stock::command(server.port, &format!("127.0.0.1 {arguments}"))
            .spawn()
            .unwrap();
        server.await_line(reason);
        client.kill().unwrap();
        client.wait().unwrap();
    }
    served(&server);
}

/// A thousand sources are a flood, whoever they say they are: the table has an end, and room again.
#[test]
fn a_crowd_of_udp_clients_is_turned_away() {
    let server = Server::ours("--iperf2 --max-streams 1");
    let first = old::datagram(0);
    until("the table is full", || {
        for _ in 0..100 {
            old::connected(server.port).send(&first).unwrap();
        }
        server.lines("refused: too many UDP clients") > 0
    });
    // The refused are forgotten after a while; the one stream must have fallen silent.
    server.await_line("ended: silent for 15 s");
    served(&server);
}
