// SPDX-License-Identifier: MIT OR Apache-2.0
//! `serve --metrics`: what it counts, who may ask for it, and that asking changes nothing.

mod dashboard;
mod hostile;
mod readers;
mod workflow;

use crate::support::{Server, free_port, have_iperf3, our_client, stock_client, until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

/// A server and the port of its metrics.
pub(crate) struct Measured {
    pub(crate) server: Server,
    pub(crate) metrics: u16,
}

impl Measured {
    /// `linerate serve --metrics` with more arguments.
    pub(crate) fn ours(arguments: &str) -> Self {
        let metrics = free_port();
        let server = Server::ours(&format!("--metrics 127.0.0.1:{metrics} {arguments}"));
        until("the metrics are served", || {
            TcpStream::connect(("127.0.0.1", metrics)).is_ok()
        });
        Self { server, metrics }
    }

    /// The page as it is now.
    pub(crate) fn page(&self) -> String {
        let answer = ask(self.metrics, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
        let (head, page) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        page.to_owned()
    }

    /// The value of one series of the page.
    pub(crate) fn value(&self, series: &str) -> f64 {
        let page = self.page();
        let line = page.lines().find_map(|line| line.strip_prefix(series));
        let value = line.unwrap_or_else(|| panic!("no {series} in:\n{page}"));
        value.trim().parse().unwrap()
    }

    /// The same, of a whole number.
    pub(crate) fn count(&self, series: &str) -> u64 {
        let value = self.value(series);
        assert!(value.fract() == 0.0 && value >= 0.0, "{series} {value}");
        value as u64
    }
}

/// What the server answers to `request`, until it closes the connection.
pub(crate) fn ask(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn tests_are_counted_by_protocol_and_direction() {
    let measured = Measured::ours("");
    let port = measured.server.port;
    let up = our_client(port, "udp", "-t 1 -b 5M -l 1000");
    assert!(up.success, "{}", up.text);
    let down = our_client(port, "tcp", "-t 1 -b 5M -R");
    assert!(down.success, "{}", down.text);
    let ended = |labels| measured.count(&format!("linerate_server_tests_ended_total{{{labels}}}"));
    until("both are logged", || measured.server.lines(": done: ") == 2);
    assert_eq!(
        ended("protocol=\"udp\",direction=\"up\",outcome=\"done\""),
        1
    );
    assert_eq!(
        ended("protocol=\"tcp\",direction=\"down\",outcome=\"done\""),
        1
    );
    assert_eq!(
        ended("protocol=\"tcp\",direction=\"up\",outcome=\"done\""),
        0
    );
    let received = measured.count("linerate_server_received_datagrams_total{protocol=\"udp\"}");
    let lost = measured.count("linerate_server_lost_datagrams_total{protocol=\"udp\"}");
    assert_eq!(received, up.number("/tests/0/received_packets"));
    assert_eq!(lost, up.number("/tests/0/lost_packets"));
    assert_eq!(
        measured.count("linerate_server_received_bytes_total{protocol=\"udp\"}"),
        received * 1000
    );
    assert!(measured.count("linerate_server_sent_bytes_total{protocol=\"tcp\"}") > 100_000);
    let last = "linerate_server_last_test_bits_per_second{protocol=\"tcp\",direction=\"down\"}";
    assert!(measured.value(last) > 0.0);
    let udp = measured.server.await_line("done: UDP");
    assert!(
        udp.contains("1 stream, received ") && udp.contains("bit/s, "),
        "{udp}"
    );
    assert!(
        !measured.page().contains("127.0.0.1"),
        "no client's address"
    );
}

#[test]
fn a_running_test_is_shown_and_a_refused_one_counted() {
    if !have_iperf3() {
        return;
    }
    let measured = Measured::ours("--max-time 20 --max-tests 1");
    let port = measured.server.port;
    let running = "linerate_server_tests_running{protocol=\"udp\",direction=\"down\"}";
    assert_eq!(measured.count(running), 0);
    std::thread::scope(|scope| {
        let client = scope.spawn(|| stock_client(port, "-u -R -t 3 -b 1M"));
        until("the test runs", || measured.count(running) == 1);
        let refused = stock_client(port, "-t 1");
        assert!(!refused.success, "{}", refused.text);
        until("it is counted", || {
            measured.count("linerate_server_refusals_total{reason=\"busy\"}") == 1
        });
        assert!(client.join().unwrap().success);
    });
    until("the test is over", || measured.count(running) == 0);
    assert!(!stock_client(port, "-t 30").success);
    until("that is counted, too", || {
        measured.count("linerate_server_refusals_total{reason=\"limit\"}") == 1
    });
    let mut stray = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = b"GET / HTTP/1.1\r\nHost: a port of another protocol\r\n\r\n";
    stray.write_all(request).unwrap();
    until("so is a stray", || {
        measured.count("linerate_server_refusals_total{reason=\"protocol\"}") == 1
    });
}

/// What a server with metrics holds while it serves nobody: a thread and a socket more than one without.
fn at_rest() -> (usize, usize) {
    let without = Server::ours("").holds_at_rest();
    (without.0 + 1, without.1 + 1)
}

#[test]
fn without_the_flag_nothing_more_listens() {
    let measured = Measured::ours("");
    let at_rest = at_rest();
    until("a thread and a socket more", || {
        measured.server.holds() == at_rest
    });
    assert!(measured.server.log().contains(&format!(
        "; metrics: http://127.0.0.1:{}/metrics",
        measured.metrics
    )));
}

/// Runs `serve` with an argument that it refuses; its exit code and what it said.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args(["serve", "-p", &free_port().to_string()])
        .args(arguments);
    let output = command.output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn what_cannot_be_listened_on_is_refused() {
    let measured = Measured::ours("");
    let taken = format!("127.0.0.1:{}", measured.metrics);
    let (code, text) = refused(&["--metrics", &taken]);
    assert_eq!(code, Some(3), "{text}");
    let port = measured.metrics;
    let parts: [&str; 3] = [
        &format!("cannot listen for metrics on TCP {taken}"),
        "in use",
        &format!("ss -ltnp 'sport = :{port}'   or another port with --metrics"),
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (code, text) = refused(&["--metrics", "192.0.2.1:9101"]);
    assert!(
        code == Some(3) && text.contains("an address of this host"),
        "{text}"
    );
    for wrong in [
        "localhost:9101",
        ":9101",
        "127.0.0.1",
        "127.0.0.1:0",
        "70000",
    ] {
        let (code, text) = refused(&["--metrics", wrong]);
        assert!(
            code == Some(2) && text.contains("such as 127.0.0.1:9101"),
            "{text}"
        );
    }
}

#[test]
fn it_is_served_over_ipv6_and_for_iperf2_too() {
    let port = free_port();
    let server = Server::ours(&format!("--iperf2 --metrics [::1]:{port}"));
    until("it is served", || TcpStream::connect(("::1", port)).is_ok());
    let mut stream = TcpStream::connect(("::1", port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\n# EOF\n"), "{answer}");
    drop(server);
}

#[test]
fn streams_of_iperf2_are_counted() {
    let measured = Measured::ours("--iperf2");
    let port = measured.server.port;
    for protocol in ["tcp", "udp"] {
        let said = our_client(port, protocol, "--iperf2 -t 1 -b 2M");
        assert!(said.success, "{}", said.text);
        until("it is counted", || {
            let labels = format!("protocol=\"{protocol}\",direction=\"up\",outcome=\"done\"");
            measured.count(&format!("linerate_server_tests_ended_total{{{labels}}}")) == 1
        });
        let bytes = format!("linerate_server_received_bytes_total{{protocol=\"{protocol}\"}}");
        assert!(measured.count(&bytes) > 10_000);
    }
    let lines = measured.server.log();
    assert!(
        lines.contains(" bytes received in ") && lines.contains("bit/s"),
        "{lines}"
    );
}
