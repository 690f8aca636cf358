// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stock clients against our server: what they print of its report is what it logs.

use super::stock::{Kill, Row, client, have_iperf, rows};
use crate::support::{Server, free_port, our_client, until};
use std::cell::RefCell;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// What our server logged of this many streams that ended well: bytes, and lost of all datagrams.
pub(crate) fn logged(server: &Server, streams: usize) -> Vec<Row> {
    until("every stream is logged", || {
        server.lines("done: ") >= streams
    });
    let log = server.log();
    log.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<Row> {
    let (_, done) = line.split_once(": done: ")?;
    let words: Vec<_> = done.split_whitespace().collect();
    let lost = words.iter().find_map(|word| {
        let (lost, total) = word.split_once('/')?;
        Some((lost.parse().ok()?, total.parse().ok()?))
    });
    Some(Row {
        bytes: words.get(1)?.parse().ok()?,
        lost,
    })
}

/// The reports that a UDP client got.
fn reports(text: &str) -> Vec<Row> {
    let mut rows = rows(text);
    rows.retain(|row| row.lost.is_some());
    rows
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| (row.bytes, row.lost));
    rows
}

#[test]
fn a_udp_clients_printed_report_is_our_log_line() {
    if !have_iperf() {
        return;
    }
    for (arguments, streams) in [
        ("-n 147000 -l 1470 -b 10M", 1),
        ("-n 20000 -l 100 -b 2M", 1),
        ("-t 1 -b 5M", 1),
        ("-t 1 -b 20M -P 2", 2),
        ("-n 1470", 1),
    ] {
        let server = Server::ours("--iperf2");
        let text = client(server.port, &format!("127.0.0.1 -u {arguments}"));
        let reported = reports(&text);
        assert_eq!(
            sorted(reported),
            sorted(logged(&server, streams)),
            "{arguments}: {text}"
        );
    }
}

#[test]
fn every_datagram_of_an_amount_is_counted() {
    if !have_iperf() {
        return;
    }
    let server = Server::ours("--iperf2");
    client(server.port, "127.0.0.1 -u -n 147000 -l 1470 -b 10M");
    // A hundred of data, and the final one.
    assert_eq!(
        logged(&server, 1),
        [Row {
            bytes: 101 * 1470,
            lost: Some((0, 101))
        }]
    );
}

#[test]
fn a_tcp_clients_bytes_are_ours() {
    if !have_iperf() {
        return;
    }
    for (arguments, streams) in [
        ("-n 1M", 1),
        ("-t 1 -b 20M", 1),
        ("-n 300K -P 3", 3),
        ("-n 1M -R", 1),
        ("-t 1 -b 20M -R", 1),
    ] {
        let server = Server::ours("--iperf2");
        let text = client(server.port, &format!("127.0.0.1 {arguments}"));
        // A reverse client prints its stream as `[ *1]`.
        let reported = rows(&text.replace('*', " "));
        assert_eq!(
            sorted(reported),
            sorted(logged(&server, streams)),
            "{arguments}: {text}"
        );
    }
}

#[test]
fn many_clients_at_once() {
    if !have_iperf() {
        return;
    }
    let server = Server::ours("--iperf2");
    let reported = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for arguments in ["-u -t 1 -b 5M", "-u -t 1 -b 2M -l 200", "-t 1 -b 5M"] {
            let (reported, port) = (&reported, server.port);
            scope.spawn(move || {
                let text = client(port, &format!("127.0.0.1 {arguments}"));
                // Of a UDP client, the report that it got.
                let udp = arguments.contains("-u");
                let counted = rows(&text)
                    .into_iter()
                    .filter(|row| row.lost.is_some() == udp);
                reported.lock().unwrap().extend(counted);
            });
        }
    });
    assert_eq!(
        sorted(reported.into_inner().unwrap()),
        sorted(logged(&server, 3))
    );
}

/// With one address more than routes would choose: the client hears only the one that it sent to.
#[test]
fn the_report_comes_from_the_address_that_was_asked() {
    if !have_iperf() {
        return;
    }
    let server = Server::ours("--iperf2");
    let text = client(server.port, "127.0.0.9 -u -n 50000 -b 10M -B 127.0.0.1");
    let reported = reports(&text);
    assert_eq!(reported, logged(&server, 1), "{text}");
}

#[test]
fn over_ipv6() {
    if !have_iperf() {
        return;
    }
    let server = Server::ours("--iperf2");
    let text = client(server.port, "::1 -V -u -n 50000 -b 10M");
    let line = server.await_line("done: UDP");
    assert!(line.contains("[::1]:"), "{line}");
    let reported = reports(&text);
    assert_eq!(reported, logged(&server, 1), "{text}");
}

#[test]
fn our_own_client_agrees() {
    let server = Server::ours("--iperf2");
    let said = our_client(server.port, "udp", "--iperf2 -k 500 -b 10M -P 3");
    assert!(said.success, "{}", said.text);
    let counted = logged(&server, 3);
    let sum = |part: fn(&Row) -> u64| counted.iter().map(part).sum::<u64>();
    assert_eq!(said.number("/tests/0/sent_packets"), 500);
    assert_eq!(sum(|row| row.lost.unwrap().1), 503);
    assert_eq!(
        said.number("/tests/0/lost_packets"),
        sum(|row| row.lost.unwrap().0)
    );
    let said = our_client(server.port, "tcp", "--iperf2 -n 1M -P 2");
    assert!(said.success, "{}", said.text);
    let all: u64 = logged(&server, 5)
        .iter()
        .filter(|row| row.lost.is_none())
        .map(|row| row.bytes)
        .sum();
    assert_eq!(all, 1 << 20);
}

/// The lines of docs/serving.md, to this host, and less of them.
#[test]
fn the_pages_examples_run() {
    let page = include_str!("../../../../../docs/serving.md");
    let (_, section) = page.split_once("## Stock iperf2").unwrap();
    let lines: Vec<_> = section
        .lines()
        .filter_map(|line| line.strip_prefix("linerate ")?.split('#').next())
        .filter_map(|line| line.split_once(" 192.0.2.7 "))
        .collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let server = Server::ours("--iperf2");
    for (protocol, arguments) in lines {
        let arguments = match protocol {
            "udp" => format!("{arguments} -n 1M"),
            _ => arguments.to_owned(),
        };
        let said = our_client(server.port, protocol, &arguments);
        assert!(said.success, "{arguments}: {}", said.text);
    }
    assert_eq!(logged(&server, 3).len(), 3);
}

#[test]
fn one_off_ends_after_one_test() {
    let port = free_port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command
        .args(["serve", "--iperf2", "--one-off", "-p", &port.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let server = RefCell::new(command.spawn().unwrap());
    let kill = Kill(&server);
    until("a client is served", || {
        our_client(port, "udp", "--iperf2 -k 10").success
    });
    until("the server ends", || {
        let ended = server.borrow_mut().try_wait().unwrap();
        ended.is_some_and(|status| status.success())
    });
    drop(kill);
}
