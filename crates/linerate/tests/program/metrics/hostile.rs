// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients of the metrics that send nonsense, nothing, or too much: each is answered or dropped, and the others are served.

use super::{Measured, ask, at_rest};
use crate::support::{our_client, until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[test]
fn only_get_and_head_of_one_page_are_answered() {
    let measured = Measured::ours("");
    let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(9000));
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "404 Not Found"),
        ("GET /metrics/ HTTP/1.1\r\nHost: a\r\n\r\n", "404 Not Found"),
        (
            "GET /../metrics HTTP/1.1\r\nHost: a\r\n\r\n",
            "404 Not Found",
        ),
        (
            "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
            "405 Method Not Allowed",
        ),
        (
            "DELETE /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
            "405 Method Not Allowed",
        ),
        (
            "GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
            "400 Bad Request",
        ),
        ("GET /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"),
        (
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "505 HTTP Version Not Supported",
        ),
        ("\u{16}\u{3}\u{1}", "400 Bad Request"),
        (long.as_str(), "431 Request Header Fields Too Large"),
        (
            "GET http://a/metrics?x HTTP/1.1\r\nHost: a\r\n\r\n",
            "200 OK",
        ),
    ] {
        let answer = ask(measured.metrics, request);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{request}: {answer}"
        );
        assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
        let allowed = answer.contains("\r\nAllow: GET, HEAD\r\n");
        assert_eq!(allowed, status.starts_with("405"), "{answer}");
    }
    let head = ask(
        measured.metrics,
        "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
    );
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
}

/// More connections than are kept, all without a request, and one byte at a time: the next client is served, a test
/// measures meanwhile, and in the end the server holds what it held.
#[test]
fn idle_connections_keep_nobody_out() {
    let measured = Measured::ours("");
    let at_rest = at_rest();
    until("the server is at rest", || {
        measured.server.holds() == at_rest
    });
    let mut crowd: Vec<_> = (0..30).map(|_| connect(measured.metrics)).collect();
    for (count, stream) in crowd.iter_mut().enumerate() {
        if count % 2 == 0 {
            // The server may have dropped it already.
            let _ = stream.write_all(b"G");
        }
    }
    assert!(measured.page().ends_with("\n# EOF\n"));
    let said = our_client(measured.server.port, "udp", "-t 1 -b 1M");
    assert!(said.success, "{}", said.text);
    assert!(measured.page().ends_with("\n# EOF\n"));
    until("they are dropped", || measured.server.holds() == at_rest);
    let late = crowd.iter_mut().filter_map(|stream| {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok().map(|_| answer)
    });
    let answers: Vec<_> = late.collect();
    let timed_out = |answer: &String| answer.starts_with("HTTP/1.1 408 Request Timeout\r\n");
    assert!(
        answers
            .iter()
            .all(|answer| answer.is_empty() || timed_out(answer)),
        "{answers:?}"
    );
    assert!(answers.iter().any(timed_out), "{answers:?}");
}

/// A client that never reads its answer is dropped.
#[test]
fn a_client_that_does_not_read_is_dropped() {
    let measured = Measured::ours("");
    let at_rest = at_rest();
    until("the server is at rest", || {
        measured.server.holds() == at_rest
    });
    let mut deaf = connect(measured.metrics);
    deaf.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        .unwrap();
    until("it is served", || measured.server.holds().1 > at_rest.1);
    until("it is dropped", || measured.server.holds() == at_rest);
    drop(deaf);
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    stream
}
