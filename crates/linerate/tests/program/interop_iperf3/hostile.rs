// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other programs on the server's port: each is refused with a logged reason, and a normal test works
//! meanwhile and afterwards.

use super::raw::{
    TEST_END, ask, byte, connect, cookie, data, expect, open, read_block, send_block,
};
use crate::support::{Server, our_client, until};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn works(server: &Server) {
    let said = our_client(server.port, "tcp", "-n 100K");
    assert!(said.success, "{}\n{}", said.text, server.log());
    let said = our_client(server.port, "udp", "-k 20 -l 500 -b 1M --bidir");
    assert!(said.success, "{}\n{}", said.text, server.log());
}

#[test]
fn s3_silence_and_slow_loris() {
    let server = Server::ours("--max-tests 1");
    let quiet = connect(server.port);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| drip(connect(server.port), &cookie('a'), &done));
        scope.spawn(|| {
            let mut control = open(server.port, 'b');
            control.write_all(&[0, 0, 1, 0]).unwrap();
            drip(control, &[b' '; 256], &done);
        });
        let silent = open(server.port, 'c');
        works(&server);
        until("both cookies are given up", || {
            server.lines("refused: no cookie within 5 s") == 2
        });
        works(&server);
        until("both parameters are given up", || {
            server.lines("refused: no parameters in time") == 2
        });
        done.store(true, Ordering::Relaxed);
        drop(silent);
    });
    drop(quiet);
    works(&server);
}

/// A byte at a time, until the server has had enough.
fn drip(mut stream: TcpStream, bytes: &[u8], done: &AtomicBool) {
    for byte in bytes {
        if done.load(Ordering::Relaxed) || stream.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn garbage_is_no_cookie() {
    let server = Server::ours("");
    let request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:5201\r\nUser-Agent: none\r\n\r\n".to_vec();
    for (count, bytes) in [vec![0xff; 1_000_000], vec![0; 5000], request]
        .iter()
        .enumerate()
    {
        // The server may hang up before all is written.
        let _ = connect(server.port).write_all(bytes);
        until("it is refused", || {
            server.lines("refused: the first 37 bytes are not an iperf3 cookie") == count + 1
        });
    }
    let _ = connect(server.port).write_all(b"short");
    server.await_line("refused: closed after 5 of 37 bytes");
    works(&server);
}

#[test]
fn parameters_that_are_none() {
    let server = Server::ours("");
    let blocks: [(&[u8], &str); 4] = [
        (&[0, 0x80, 0, 0, b'{'], "of 8388608 bytes"),
        (&[0xff, 0xff, 0xff, 0xff, b'{'], "negative length"),
        (&[0, 0, 0, 4, b'n', b'o', b'n', b'e'], "refused: "),
        (&[0, 0, 0, 2, b'[', b']'], "refused: "),
    ];
    for (count, (bytes, words)) in blocks.iter().enumerate() {
        let mut control = open(server.port, 'a');
        control.write_all(bytes).unwrap();
        let mut rest = Vec::new();
        let _ = control.read_to_end(&mut rest);
        until("it is refused", || server.lines("refused: ") == count + 1);
        assert!(server.lines(words) > 0, "{words}: {}", server.log());
    }
    works(&server);
}

/// Nothing of the kind is needed, and reading it would take memory that a small board lacks.
#[test]
fn results_and_messages_beyond_need_are_refused() {
    let server = Server::ours("");
    let ours = |load| {
        format!(r#"{{"tcp":true,"time":1,"linerate":{{"load":{load},"duration_ns":1000000000}}}}"#)
    };
    let mut control = ask_agent(&server, 'a', &ours(false));
    control.write_all(&[TEST_END]).unwrap();
    await_state(&mut control, 13);
    control.write_all(&[0, 0, 0x80, 0]).unwrap();
    server.await_line("refused: results of 32768 bytes, the limit is 25856");

    let mut control = ask_agent(&server, 'b', &ours(false));
    control.write_all(&[AGENT, 0, 1, 0, 1]).unwrap();
    server.await_line("refused: agent message of 65537 bytes, the limit is 65536");

    let mut control = ask(server.port, 'c', r#"{"tcp":true,"time":1,"parallel":1}"#);
    let stream = data(server.port, 'c');
    expect(&mut control, 1);
    expect(&mut control, 2);
    control.write_all(&[TEST_END]).unwrap();
    expect(&mut control, 13);
    control.write_all(&[0, 0, 0x80, 0]).unwrap();
    server.await_line("refused: results of 32768 bytes, the limit is 16896");
    drop(stream);
    works(&server);
}

/// A linerate's test that runs; what the server says meanwhile is left unread.
fn ask_agent(server: &Server, letter: char, params: &str) -> TcpStream {
    let mut control = open(server.port, letter);
    send_block(&mut control, params);
    for state in [10, 1, 2] {
        await_state(&mut control, state);
    }
    control
}

/// The next state; a linerate's messages before it are skipped.
fn await_state(control: &mut TcpStream, state: u8) {
    loop {
        match byte(control) {
            AGENT => drop(read_block(control)),
            other => return assert_eq!(other, state),
        }
    }
}

#[test]
fn absurd_parameters_are_refused_by_number() {
    let server = Server::ours("");
    let most = u64::MAX;
    let absurd = [
        r#"{"tcp":true,"time":1,"parallel":1000000000}"#.to_owned(),
        r#"{"tcp":true,"time":1,"parallel":3000000000,"bidirectional":true}"#.to_owned(),
        r#"{"udp":true,"time":1,"len":1000000000000}"#.to_owned(),
        r#"{"udp":true,"time":1,"len":3}"#.to_owned(),
        r#"{"tcp":true,"time":1000000000000000}"#.to_owned(),
        format!(r#"{{"tcp":true,"time":1,"omit":{most}}}"#),
        format!(r#"{{"udp":true,"time":{most},"omit":{most}}}"#),
        r#"{"tcp":true,"time":1,"TOS":4096}"#.to_owned(),
        r#"{"tcp":true,"time":1,"window":1000000000000}"#.to_owned(),
        r#"{"udp":true,"time":1,"len":1000,"bandwidth":1000,"burst":1000000000}"#.to_owned(),
        r#"{"sctp":true,"time":1}"#.to_owned(),
        format!(
            r#"{{"udp":true,"time":1,"linerate":{{"v":1,"duration_ns":{most},"omit_ns":{most}}}}}"#
        ),
        r#"{"udp":true,"time":1,"linerate":{"v":1,"burst":4000000000}}"#.to_owned(),
    ];
    for (count, params) in absurd.iter().enumerate() {
        let mut control = open(server.port, 'a');
        send_block(&mut control, params);
        assert_eq!(byte(&mut control), 0xfe, "{params}");
        until(params, || server.lines("refused: ") == count + 1);
    }
    works(&server);
}

#[test]
fn absurd_numbers_that_are_served_do_no_harm() {
    let server = Server::ours("");
    let most = u64::MAX;
    for (letter, params) in [
        (
            'a',
            r#"{"tcp":true,"time":1e30,"omit":1e300,"parallel":1}"#.to_owned(),
        ),
        (
            'b',
            format!(
                r#"{{"tcp":true,"reverse":true,"time":1,"parallel":1,"num":{most},"blockcount":{most},"bandwidth":{most},"fqrate":{most},"server_affinity":{most},"pacing_timer":{most}}}"#
            ),
        ),
    ] {
        let mut control = open(server.port, letter);
        send_block(&mut control, &params);
        if byte(&mut control) == 10 {
            let stream = data(server.port, letter);
            expect(&mut control, 1);
            expect(&mut control, 2);
            drop((stream, control));
            server.await_line("ended: the client disconnected");
        }
    }
    works(&server);
}

#[test]
fn a_wrong_cookie_is_no_stream() {
    let server = Server::ours("");
    let mut control = ask(server.port, 'a', r#"{"tcp":true,"time":1,"parallel":1}"#);
    let mut other = data(server.port, 'b');
    // It is taken for a new client, and then for one that talks nonsense.
    expect(&mut other, 9);
    other.write_all(&[0xff; 1000]).unwrap();
    server.await_line("refused: ");
    let mut stream = data(server.port, 'a');
    expect(&mut control, 1);
    expect(&mut control, 2);
    stream.write_all(&[0; 1000]).unwrap();
    control.write_all(&[99]).unwrap();
    until("the unknown state is refused", || {
        server.lines("refused: ") == 2
    });
    works(&server);
}

#[test]
fn three_hundred_connections_at_once() {
    let server = Server::ours("");
    let before = server.holds_at_rest();
    let crowd: Vec<_> = (0..300).map(|_| connect(server.port)).collect();
    server.await_line("refused: idle, and too many pending connections");
    works(&server);
    drop(crowd);
    until("all is free", || server.holds() == before);
}

#[test]
fn udp_floods_are_not_answered() {
    let server = Server::ours("");
    let mut hello = b"LRUP".to_vec();
    hello.extend(cookie('z'));
    hello.extend([0, 0, 0]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", server.port)).unwrap();
    for round in 0..3000 {
        for datagram in [&hello[..], b"9876", &[0xff; 1000], b""] {
            socket.send(datagram).unwrap();
        }
        if round == 1000 {
            works(&server);
        }
    }
    server.await_line("refused: a UDP hello of an unknown test");
    works(&server);
    socket.set_nonblocking(true).unwrap();
    assert!(
        socket.recv(&mut [0; 100]).is_err(),
        "an unknown sender was answered"
    );
}

/// One test with one cookie, and hellos from ever more sockets: each would hold a descriptor.
#[test]
fn a_flood_of_hellos_of_one_test_takes_few_descriptors() {
    let server = Server::ours("");
    let (_, before) = server.holds_at_rest();
    let mut control = open(server.port, 'h');
    let params = r#"{"udp":true,"time":30,"parallel":1,"len":1000,"linerate":{"load":false,"duration_ns":30000000000}}"#;
    send_block(&mut control, params);
    let hello = |index: u16| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(("127.0.0.1", server.port)).unwrap();
        let mut bytes = b"LRUP".to_vec();
        bytes.extend(cookie('h'));
        bytes.extend(index.to_be_bytes());
        bytes.push(0);
        socket.send(&bytes).unwrap();
        socket
    };
    until("the test takes hellos", || {
        let socket = hello(0);
        socket
            .set_read_timeout(Some(Duration::from_millis(100)))
            .unwrap();
        socket.recv(&mut [0; 100]).is_ok()
    });
    let crowd: Vec<_> = (1..500).map(hello).collect();
    server.await_line("or of a test whose streams are all connected");
    let (_, during) = server.holds();
    assert!(
        during <= before + 100,
        "{during} descriptors, {before} at rest"
    );
    works(&server);
    drop(crowd);
}

const AGENT: u8 = 32;
