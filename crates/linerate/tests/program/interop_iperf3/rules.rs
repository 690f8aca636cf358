// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules whose breach a stock peer shows only in some version or at some moment: by hand.

use super::raw::{Fake, TEST_END, ask, byte, data, expect};
use crate::support::{PATIENCE, Server, our_client};
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant, SystemTime};

#[test]
fn s3_a_client_that_leaves_before_its_streams_is_noticed() {
    let server = Server::ours("");
    drop(ask(
        server.port,
        'a',
        r#"{"tcp":true,"time":1,"parallel":2}"#,
    ));
    server.await_line("ended: the client disconnected while this end was waiting for the streams");
    let params = r#"{"udp":true,"time":1,"parallel":2,"len":1000}"#;
    let mut control = ask(server.port, 'b', params);
    control.write_all(&[99]).unwrap();
    server.await_line("refused: ");
}

#[test]
fn s4_streams_are_numbered_as_accepted() {
    let server = Server::ours("");
    let params = r#"{"tcp":true,"bidirectional":true,"parallel":1,"time":5,"len":1000}"#;
    let mut control = ask(server.port, 'a', params);
    let mut first = super::raw::connect(server.port);
    let mut second = data(server.port, 'a');
    first.write_all(&super::raw::cookie('a')).unwrap();
    expect(&mut control, 1);
    expect(&mut control, 2);
    // The second one carries what the server sends; on the first nothing comes until it is closed.
    second.read_exact(&mut [0; 1000]).unwrap();
    std::thread::spawn(move || while second.read(&mut [0; 65536]).is_ok_and(|count| count > 0) {});
    control.write_all(&[TEST_END]).unwrap();
    let mut rest = Vec::new();
    let _ = first.read_to_end(&mut rest);
    assert_eq!(rest.len(), 0);
}

#[test]
fn s5_datagrams_carry_wall_clock_stamps() {
    let server = Server::ours("");
    let params =
        r#"{"udp":true,"reverse":true,"time":5,"len":1000,"bandwidth":1000000,"parallel":1}"#;
    let mut control = ask(server.port, 'a', params);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.connect(("127.0.0.1", server.port)).unwrap();
    socket.send(b"9876").unwrap();
    let mut bytes = [0; 2000];
    assert_eq!(socket.recv(&mut bytes).unwrap(), 4);
    assert_eq!(&bytes[..4], b"6789");
    expect(&mut control, 1);
    expect(&mut control, 2);
    assert_eq!(socket.recv(&mut bytes).unwrap(), 1000);
    let seconds = u64::from(u32::from_be_bytes(bytes[..4].try_into().unwrap()));
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    assert!(now.as_secs().abs_diff(seconds) < 60, "{seconds} at {now:?}");
    assert_eq!(&bytes[8..12], &[0, 0, 0, 1], "the first sequence number");
}

#[test]
fn s6_data_sockets_close_before_results() {
    let server = Server::ours("");
    let mut control = ask(
        server.port,
        'a',
        r#"{"tcp":true,"reverse":true,"time":5,"len":1000,"parallel":1}"#,
    );
    let mut stream = data(server.port, 'a');
    expect(&mut control, 1);
    expect(&mut control, 2);
    stream.read_exact(&mut [0; 10_000]).unwrap();
    control.write_all(&[TEST_END]).unwrap();
    // Nothing is answered on the control connection until the data connection has ended.
    let mut bytes = [0; 65536];
    let ended = loop {
        match stream.read(&mut bytes) {
            Ok(0) => break true,
            Ok(_) => {}
            Err(error) => break error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    };
    assert!(ended, "the data connection stayed open");
    expect(&mut control, 13);
}

#[test]
fn s7_a_reverse_test_is_whole_blocks() {
    let server = Server::ours("");
    for params in [
        r#"{"tcp":true,"reverse":true,"time":0,"blockcount":7,"len":1000,"parallel":1}"#,
        r#"{"tcp":true,"reverse":true,"time":0,"num":6001,"len":1000,"parallel":1}"#,
    ] {
        let mut control = ask(server.port, 'a', params);
        let mut stream = data(server.port, 'a');
        expect(&mut control, 1);
        expect(&mut control, 2);
        stream.read_exact(&mut [0; 7000]).unwrap();
        control.write_all(&[TEST_END]).unwrap();
        assert_eq!(stream.read(&mut [0; 1000]).unwrap(), 0, "{params}");
    }
}

#[test]
fn c3_time_counts_from_test_running() {
    let fake = Fake::new();
    let port = fake.port;
    let client = std::thread::spawn(move || our_client(port, "tcp", "-t 1 -b 1M"));
    let mut control = fake.meet();
    let mut stream = fake.accept();
    std::thread::spawn(move || while stream.read(&mut [0; 65536]).is_ok_and(|count| count > 0) {});
    control.write_all(&[1]).unwrap();
    control
        .set_read_timeout(Some(Duration::from_millis(600)))
        .unwrap();
    assert!(control.read(&mut [0]).is_err(), "not before TEST_RUNNING");
    control.set_read_timeout(Some(PATIENCE)).unwrap();
    let start = Instant::now();
    control.write_all(&[2]).unwrap();
    expect(&mut control, TEST_END);
    assert!(start.elapsed() >= Duration::from_secs(1));
    Fake::part(control);
    let said = client.join().unwrap();
    assert!(said.success, "{}", said.text);
}

#[test]
fn c4_a_server_that_resets_after_the_end_is_fine() {
    let fake = Fake::new();
    let port = fake.port;
    let client = std::thread::spawn(move || our_client(port, "tcp", "-t 1 -b 1M"));
    let mut control = fake.meet();
    let stream = fake.accept();
    control.write_all(&[1, 2]).unwrap();
    expect(&mut control, TEST_END);
    // Closed with data unread: a reset.
    drop(stream);
    Fake::part(control);
    let said = client.join().unwrap();
    assert!(said.success, "{}", said.text);
}

#[test]
fn c5_a_busy_server_is_tried_again() {
    let fake = Fake::new();
    let port = fake.port;
    let client = std::thread::spawn(move || our_client(port, "tcp", "-t 1 -b 1M"));
    fake.accept().write_all(&[0xff]).unwrap();
    let mut control = fake.meet();
    let _stream = fake.accept();
    control.write_all(&[1, 2]).unwrap();
    expect(&mut control, TEST_END);
    Fake::part(control);
    let said = client.join().unwrap();
    assert!(said.success, "{}", said.text);
}

#[test]
fn c6_data_before_a_reply_is_skipped() {
    let fake = Fake::new();
    let port = fake.port;
    let client = std::thread::spawn(move || our_client(port, "udp", "-R -t 1 -l 1000"));
    let mut control = fake.meet();
    let mut bytes = [0; 2000];
    let (count, peer) = fake.udp.recv_from(&mut bytes).unwrap();
    assert_eq!(&bytes[..count], b"9876");
    let mut datagram = [0; 1000];
    datagram[11] = 1;
    fake.udp.send_to(&datagram, peer).unwrap();
    fake.udp.send_to(b"6789", peer).unwrap();
    control.write_all(&[1, 2]).unwrap();
    fake.udp.send_to(&datagram, peer).unwrap();
    expect(&mut control, TEST_END);
    Fake::part(control);
    let said = client.join().unwrap();
    assert!(said.success, "{}", said.text);
    assert_eq!(
        said.json["tests"][0]["received_packets"], 1,
        "{}",
        said.text
    );
}

#[test]
fn c7_a_silent_server_is_an_error() {
    let fake = Fake::new();
    let port = fake.port;
    let client = std::thread::spawn(move || our_client(port, "tcp", "-t 1 --connect-timeout 1s"));
    let mut control = fake.accept();
    let said = client.join().unwrap();
    assert!(!said.success);
    assert!(
        said.text.contains("no message from the server"),
        "{}",
        said.text
    );
    // The client has hung up, whether or not with a goodbye.
    control.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(control.read(&mut [0]).unwrap_or(0) == 0 || byte(&mut control) > 0);
}
