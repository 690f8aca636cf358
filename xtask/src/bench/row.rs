// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of the bench: what is asked, of whom.

use super::contender::{Contender, Program};
use super::load::Kind;

/// One row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it measures.
    pub(crate) title: &'static str,
    /// How.
    pub(crate) method: Method,
    /// Of whom; the first is the one that ratios are taken of.
    pub(crate) contenders: Vec<Contender>,
}

/// How a row is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Method {
    /// One load, as it comes.
    Rate(Kind),
    /// Search for the highest rate that loses nothing.
    Knee {
        /// Payload of each datagram.
        payload_bytes: u32,
    },
    /// A paced load that must lose nothing.
    Paced {
        /// Payload of each datagram.
        payload_bytes: u32,
        /// Asked payload rate.
        bits_per_second: u64,
    },
}

/// Every row, with `ours` as linerate.
pub(crate) fn all(ours: &Program) -> Vec<Row> {
    let mut rows = tcp(ours);
    rows.extend(udp(ours));
    rows.extend(knees(ours));
    rows.extend(paced(ours));
    rows
}

fn tcp(ours: &Program) -> Vec<Row> {
    let rows = [
        ("tcp-1", "TCP, 1 stream", 1),
        ("tcp-2", "TCP, 2 streams", 2),
    ];
    let row = |(name, title, streams)| Row {
        name,
        title,
        method: Method::Rate(Kind::Tcp { streams }),
        contenders: vec![
            ours.with(&[]),
            ours.with(&["-Z"]),
            Program::Iperf3.with(&[]),
            Program::Iperf3.with(&["-Z"]),
            Program::Iperf3.with(&["-l", "1M"]),
            Program::Iperf2.with(&[]),
            Program::Iperf2.with(&["-l", "1M"]),
            Program::Nuttcp.with(&[]),
            Program::Nuttcp.with(&["-l1m"]),
        ],
    };
    rows.map(row).to_vec()
}

fn udp(ours: &Program) -> Vec<Row> {
    let kind = |payload_bytes| {
        Method::Rate(Kind::Udp {
            payload_bytes,
            bits_per_second: None,
        })
    };
    let row = |name: &'static str, title, payload_bytes, first: Contender| {
        let plain = !name.ends_with("mmsg") && !name.ends_with("gso");
        let peers = if plain { udp_peers() } else { best_udp_peers() };
        let contenders = [vec![first], peers].concat();
        Row {
            name,
            title,
            method: kind(payload_bytes),
            contenders,
        }
    };
    let plain = || ours.with(&["--mode", "plain/plain"]);
    let mmsg = || ours.with(&["--mode", "mmsg/mmsg"]);
    let gso = || ours.with(&["--mode", "gso/gro"]);
    vec![
        row(
            "udp-1448",
            "UDP 1448 B, no limit, a system call a datagram",
            1448,
            plain(),
        ),
        row(
            "udp-64",
            "UDP 64 B, no limit, a system call a datagram",
            64,
            plain(),
        ),
        row(
            "udp-1448-mmsg",
            "UDP 1448 B, no limit, batched system calls",
            1448,
            mmsg(),
        ),
        row(
            "udp-64-mmsg",
            "UDP 64 B, no limit, batched system calls",
            64,
            mmsg(),
        ),
        row(
            "udp-1448-gso",
            "UDP 1448 B, no limit, GSO/GRO (host stack only)",
            1448,
            gso(),
        ),
        row(
            "udp-64-gso",
            "UDP 64 B, no limit, GSO/GRO (host stack only)",
            64,
            gso(),
        ),
    ]
}

fn knees(ours: &Program) -> Vec<Row> {
    let rows = [
        ("knee-1448", "UDP 1448 B, highest rate without loss", 1448),
        ("knee-64", "UDP 64 B, highest rate without loss", 64),
    ];
    let row = |(name, title, payload_bytes)| Row {
        name,
        title,
        method: Method::Knee { payload_bytes },
        contenders: [
            vec![ours.with(&[]), ours.with(&["--mode", "plain/plain"])],
            udp_peers(),
        ]
        .concat(),
    };
    let mut rows = rows.map(row).to_vec();
    rows.extend(batched_knees(ours));
    rows
}

/// Ours by segmentation, the peers with their best options.
fn batched_knees(ours: &Program) -> [Row; 2] {
    let rows = [
        (
            "knee-1448-batched",
            "UDP 1448 B, highest rate without loss, GSO/GRO (host stack only)",
            1448,
        ),
        (
            "knee-64-batched",
            "UDP 64 B, highest rate without loss, GSO/GRO (host stack only)",
            64,
        ),
    ];
    let first = || ours.with(&["--mode", "gso/gro"]);
    rows.map(|(name, title, payload_bytes)| Row {
        name,
        title,
        method: Method::Knee { payload_bytes },
        contenders: [vec![first()], best_udp_peers()].concat(),
    })
}

fn paced(ours: &Program) -> Vec<Row> {
    let rows = [
        ("paced-400M", "UDP 1470 B at 400 Mbit/s", 1470, 400_000_000),
        (
            "paced-1000M",
            "UDP 1470 B at 1000 Mbit/s",
            1470,
            1_000_000_000,
        ),
        (
            "paced-2000M",
            "UDP 1470 B at 2000 Mbit/s",
            1470,
            2_000_000_000,
        ),
        ("paced-300k", "UDP 64 B at 300 kpps", 64, 300_000 * 64 * 8),
    ];
    let row = |(name, title, payload_bytes, bits_per_second)| Row {
        name,
        title,
        method: Method::Paced {
            payload_bytes,
            bits_per_second,
        },
        contenders: [vec![ours.with(&[]), ours.with(&["-R"])], udp_peers()].concat(),
    };
    rows.map(row).to_vec()
}

/// With their defaults (but the payload), and with their best options.
fn udp_peers() -> Vec<Contender> {
    let defaults = [Program::Iperf3, Program::Iperf2, Program::Nuttcp].map(|peer| peer.with(&[]));
    [defaults.to_vec(), best_udp_peers()].concat()
}

/// With the buffer that ours asks for.
fn best_udp_peers() -> Vec<Contender> {
    vec![
        Program::Iperf3.with(&["-w", "4M"]),
        Program::Iperf2.with(&["-w", "4M"]),
        Program::Nuttcp.with(&["-w4m"]),
    ]
}
