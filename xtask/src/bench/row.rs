// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of the bench: what is asked, of whom.

use super::bare::CUT;
use super::contender::{Contender, Program, Tool};
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
pub(crate) fn all(ours: &Program, peers: &[Program]) -> Vec<Row> {
    let mut rows = tcp(ours, peers);
    rows.extend(cubic(ours, peers));
    rows.extend(udp(ours, peers));
    rows.extend(knees(ours, peers));
    rows.extend(paced(ours, peers));
    rows
}

/// Sets of options.
type Choices = &'static [&'static [&'static str]];

/// Ours, then each peer with each of its sets of options.
fn against(
    ours: Vec<Contender>,
    peers: &[Program],
    choices: fn(&Program) -> Choices,
) -> Vec<Contender> {
    let of_peer = |peer: &Program| {
        let peer = peer.clone();
        choices(&peer).iter().map(move |options| peer.with(options))
    };
    ours.into_iter()
        .chain(peers.iter().flat_map(of_peer))
        .collect()
}

fn tcp(ours: &Program, peers: &[Program]) -> Vec<Row> {
    let rows = [
        ("tcp-1", "TCP, 1 stream", 1),
        ("tcp-2", "TCP, 2 streams", 2),
    ];
    let row = |(name, title, streams)| Row {
        name,
        title,
        method: Method::Rate(Kind::Tcp { streams }),
        contenders: against(vec![ours.with(&[]), ours.with(&["-Z"])], peers, tcp_choices),
    };
    rows.map(row).to_vec()
}

fn tcp_choices(peer: &Program) -> Choices {
    match peer.tool {
        Tool::Linerate | Tool::Bare => &[],
        Tool::Iperf3 => &[&[], &["-Z"], &["-l", "1M"]],
        Tool::Iperf2 => &[&[], &["-l", "1M"]],
        Tool::Nuttcp => &[&[], &["-l1m"]],
    }
}

/// The host's default may be another.
fn cubic(ours: &Program, peers: &[Program]) -> Vec<Row> {
    let rows = [
        ("tcp-1-cubic", "TCP with CUBIC, 1 stream", 1),
        ("tcp-2-cubic", "TCP with CUBIC, 2 streams", 2),
    ];
    let first = || {
        vec![
            ours.with(&["-C", "cubic"]),
            ours.with(&["-C", "cubic", "-Z"]),
        ]
    };
    let row = |(name, title, streams)| Row {
        name,
        title,
        method: Method::Rate(Kind::Tcp { streams }),
        contenders: against(first(), peers, cubic_choices),
    };
    rows.map(row).to_vec()
}

/// Those that can be asked for it.
fn cubic_choices(peer: &Program) -> Choices {
    match peer.tool {
        Tool::Linerate | Tool::Nuttcp | Tool::Bare => &[],
        Tool::Iperf3 => &[&["-C", "cubic"], &["-C", "cubic", "-Z"]],
        Tool::Iperf2 => &[&["-Z", "cubic"]],
    }
}

fn udp(ours: &Program, peers: &[Program]) -> Vec<Row> {
    let kind = |payload_bytes| {
        Method::Rate(Kind::Udp {
            payload_bytes,
            bits_per_second: None,
        })
    };
    let row = |name: &'static str, title, payload_bytes, first: Contender| {
        // A loop that does nothing else is the ceiling of these system calls.
        let ceiling = |options| Some(Program::bare().with(options));
        let (choices, ceiling): (fn(&Program) -> Choices, _) = match name {
            _ if name.ends_with("gso") => (segmenting_udp_choices, ceiling(&[CUT])),
            _ if name.ends_with("mmsg") => (best_udp_choices, None),
            _ => (udp_choices, ceiling(&[])),
        };
        let mut contenders = against(vec![first], peers, choices);
        contenders.extend(ceiling);
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

fn knees(ours: &Program, peers: &[Program]) -> Vec<Row> {
    let rows = [
        ("knee-1448", "UDP 1448 B, highest rate without loss", 1448),
        ("knee-64", "UDP 64 B, highest rate without loss", 64),
    ];
    let row = |(name, title, payload_bytes)| Row {
        name,
        title,
        method: Method::Knee { payload_bytes },
        contenders: against(
            vec![ours.with(&[]), ours.with(&["--mode", "plain/plain"])],
            peers,
            udp_choices,
        ),
    };
    let mut rows = rows.map(row).to_vec();
    rows.extend(batched_knees(ours, peers));
    rows
}

/// Ours by segmentation, the peers with their best options.
fn batched_knees(ours: &Program, peers: &[Program]) -> [Row; 2] {
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
        contenders: against(vec![first()], peers, segmenting_udp_choices),
    })
}

fn paced(ours: &Program, peers: &[Program]) -> Vec<Row> {
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
        contenders: against(vec![ours.with(&[]), ours.with(&["-R"])], peers, udp_choices),
    };
    rows.map(row).to_vec()
}

/// Their defaults (but the payload), and their best options: the buffer that ours asks for.
fn udp_choices(peer: &Program) -> Choices {
    match peer.tool {
        Tool::Linerate | Tool::Bare => &[],
        Tool::Iperf3 | Tool::Iperf2 => &[&[], &["-w", "4M"]],
        Tool::Nuttcp => &[&[], &["-w4m"]],
    }
}

fn best_udp_choices(peer: &Program) -> Choices {
    let all = udp_choices(peer);
    all.split_first().map_or(all, |(_defaults, best)| best)
}

/// With segmentation where they have it (iperf3 3.20 and later).
fn segmenting_udp_choices(peer: &Program) -> Choices {
    if peer.tool == Tool::Iperf3 && peer.offers("--gsro") {
        &[&["-w", "4M"], &["--gsro", "-w", "4M"]]
    } else {
        best_udp_choices(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_peers_every_row_is_ours_alone() {
        for row in all(&Program::ours("linerate".into()), &[]) {
            assert!(!row.contenders.is_empty(), "{}", row.name);
            assert!(
                row.contenders
                    .iter()
                    .all(|one| one.is_ours() || one.program.tool == Tool::Bare),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn each_set_of_options_of_a_peer_is_a_contender() {
        let peers = [Program::ours("peer".into())];
        let all = against(Vec::new(), &peers, |_| &[&["-w", "4M"], &[]]);
        let labels: Vec<String> = all.iter().map(Contender::label).collect();
        assert_eq!(labels, ["linerate -w 4M", "linerate"]);
    }
}
