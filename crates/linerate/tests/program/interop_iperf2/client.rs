// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our client against the stock server.

use super::stock::{Row, Stock, have_iperf, rows};
use crate::support::{Said, our_client};
use std::process::Command;

fn test(said: &Said) -> &serde_json::Value {
    &said.json["tests"][0]
}

/// One test and what the stock server printed of its streams.
fn against(protocol: &str, streams: u32, arguments: &str) -> (Said, Vec<Row>) {
    let mode = if protocol == "udp" { "-u" } else { "" };
    let served = || {
        let server = Stock::serve(streams, mode);
        let said = our_client(server.port, protocol, &format!("--iperf2 {arguments}"));
        (server, said)
    };
    let (mut server, mut said) = served();
    for _ in 0..2 {
        if test(&said)["invalid_reason"] != ENDED_EARLY {
            break;
        }
        (server, said) = served();
    }
    assert!(said.success, "{arguments}: {}", said.text);
    let text = server.said();
    let rows = rows(&text);
    assert_eq!(rows.len(), streams as usize, "{arguments}: {text}");
    (said, rows)
}

/// On a busy machine the stock server takes the repeated last datagram of a stream for a new
/// client, and ends one client early.
const ENDED_EARLY: &str = "the far end's counters did not arrive";

#[test]
fn udp_counts_are_the_servers() {
    if !have_iperf() {
        return;
    }
    for (arguments, streams) in [
        ("-t 1 -b 2M", 1),
        ("-n 300K -b 20M -l 100", 1),
        ("-n 300K -b 20M -l 40", 1),
        ("-k 500 -b 20M -l 1470 --mode gso", 1),
        ("-k 400 -b 10M --mode plain --dscp ef", 1),
        ("-k 900 -b 10M -P 3", 3),
    ] {
        let (said, rows) = against("udp", streams, arguments);
        let sum = |part: fn(&Row) -> u64| rows.iter().map(part).sum::<u64>();
        let (lost, total) = (
            sum(|row| row.lost.unwrap().0),
            sum(|row| row.lost.unwrap().1),
        );
        // The server counts each stream's final datagram.
        let sent = said.number("/tests/0/sent_packets");
        assert_eq!(sent + u64::from(streams), total, "{arguments}: {rows:?}");
        assert_eq!(
            said.number("/tests/0/lost_packets"),
            lost,
            "{arguments}: {rows:?}"
        );
        let payload = said.number("/tests/0/payload_bytes");
        let received = said.number("/tests/0/received_packets");
        // What arrives before iperf has connected its listening socket to the first stream is booked to
        // that stream, whichever it is of: its bytes agree with its losses for one stream only.
        if streams == 1 {
            assert_eq!((received + 1) * payload, sum(|row| row.bytes));
        }
        assert!(test(&said)["jitter_ns"].is_number(), "{}", said.text);
        assert_eq!(test(&said)["duplicate_packets"], serde_json::Value::Null);
    }
}

#[test]
fn an_amount_is_sent_exactly() {
    if !have_iperf() {
        return;
    }
    let (said, _) = against("udp", 1, "-n 147000 -b 50M -l 1470");
    assert_eq!(said.number("/tests/0/sent_packets"), 100);
    let (_, rows) = against("tcp", 1, "-n 1M");
    assert_eq!(rows[0].bytes, 1 << 20);
}

#[test]
fn tcp_bytes_are_the_servers() {
    if !have_iperf() {
        return;
    }
    for (arguments, streams) in [("-t 1 -b 50M", 1), ("-n 5M -P 3", 3), ("-k 77 -l 1000", 1)] {
        let (said, rows) = against("tcp", streams, arguments);
        let received: u64 = rows.iter().map(|row| row.bytes).sum();
        let duration_s = test(&said)["duration_s"].as_f64().unwrap();
        let bytes = |name: &str| {
            let rate = test(&said)[name].as_f64().unwrap();
            (rate * duration_s / 8.0).round() as u64
        };
        assert_eq!(bytes("offered_bits_per_second"), received, "{}", said.text);
        assert!(bytes("delivered_bits_per_second") <= received);
        assert_eq!(test(&said)["mode"]["rx"], "acknowledged");
        assert!(said.text.contains("delivered-is-acknowledged"));
    }
}

#[test]
fn over_ipv6() {
    if !have_iperf() {
        return;
    }
    let server = Stock::serve(1, "-u -V");
    let ended = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["udp", "::1", "--iperf2", "-k", "50", "-q", "--json"])
        .args(["-p", &server.port.to_string()])
        .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    let test = &json["tests"][0];
    assert_eq!(
        (&test["af"], &test["payload_bytes"]),
        (&6.into(), &1450.into())
    );
    let rows = rows(&server.said());
    assert_eq!(rows[0].lost.unwrap().1, 51, "{rows:?}");
    assert_eq!(test["lost_packets"], rows[0].lost.unwrap().0);
}

#[test]
fn a_closed_port_is_said_at_once() {
    let port = crate::support::free_port();
    for protocol in ["udp", "tcp"] {
        let said = our_client(port, protocol, "--iperf2 -t 1h");
        assert_eq!(said.number("/exit_code"), 3, "{}", said.text);
        let tried = said.json["error"]["try"].as_str().unwrap();
        assert!(tried.contains("iperf -s"), "{tried}");
    }
}
