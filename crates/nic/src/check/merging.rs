// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs of frames that GRO and LRO must not merge (net/core/gro.c, net/ipv4/tcp_offload.c): this host must see both as
//! they were sent.

use std::collections::BTreeMap;
use std::io;

use linerate_model::output::{NicCheck, NicExample};
use linerate_wire::ether;

use super::transmit_udp::missing;
use crate::bench::{Bench, Family};
use crate::craft::{self, ACK, Marks, Path, Tcp};
use crate::packet::{Packet, TCP_SUM_AT, shown};
use crate::tally::Tally;
use crate::vectors;

/// TCP segments that differ, and datagrams.
pub(super) fn kept_apart(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let n = family.number;
    let segments = tcp_pairs(bench, family);
    let tcp = seen_apart(bench, family, &segments)?;
    let datagrams = udp_pairs(bench, family);
    let udp = seen_apart(bench, family, &datagrams)?;
    let offload = merger(bench);
    let check = |tally: Tally, id: String, what: String| {
        tally.check(bench.property(id, "merging", what, offload))
    };
    Ok(vec![
        check(
            tcp,
            format!("rx-tcp{n}-apart"),
            format!("TCP segments over IPv{n} that differ are not merged"),
        ),
        check(
            udp,
            format!("rx-udp{n}-apart"),
            format!("UDP datagrams over IPv{n} are not merged"),
        ),
    ])
}

/// Two frames of one flow, and why they are two.
struct Pair {
    why: &'static str,
    frames: [Vec<u8>; 2],
}

/// The one that is on.
fn merger(bench: &Bench) -> &'static str {
    let is_on = |name: &&&str| {
        bench
            .here
            .features
            .get(**name)
            .is_some_and(|value| value.starts_with("on"))
    };
    let all = ["large-receive-offload", "generic-receive-offload"];
    all.iter()
        .find(is_on)
        .copied()
        .unwrap_or("generic-receive-offload")
}

/// The second segment of a pair.
#[derive(Clone, Copy)]
struct Second {
    why: &'static str,
    marks: Marks,
    skipped: i32,
    acknowledged: u32,
    flags: u8,
    stamp: u8,
    size: usize,
    is_bad: bool,
}

/// As the first, whose place in the stream it follows.
const USUAL: Second = Second {
    why: "",
    marks: Marks {
        tos: 0,
        ttl: 64,
        vlan: None,
        id: 2,
    },
    skipped: 0,
    acknowledged: 1,
    flags: ACK,
    stamp: 1,
    size: SIZE,
    is_bad: false,
};

fn seconds() -> Vec<Second> {
    let usual = USUAL;
    let marks = usual.marks;
    vec![
        Second {
            why: "another TOS",
            marks: Marks { tos: 0x10, ..marks },
            ..usual
        },
        Second {
            why: "another TTL",
            marks: Marks { ttl: 63, ..marks },
            ..usual
        },
        Second {
            why: "another VLAN",
            marks: Marks {
                vlan: Some(7),
                ..marks
            },
            ..usual
        },
        Second {
            why: "a gap in the sequence",
            skipped: 50,
            ..usual
        },
        Second {
            why: "the same sequence number",
            skipped: -(SIZE as i32),
            ..usual
        },
        Second {
            why: "another acknowledgement",
            acknowledged: 2,
            ..usual
        },
        Second {
            why: "the flag ECE",
            flags: ACK | ECE,
            ..usual
        },
        Second {
            why: "another time stamp",
            stamp: 2,
            ..usual
        },
        Second {
            why: "more bytes than the first",
            size: 2 * SIZE,
            ..usual
        },
        Second {
            why: "a bad checksum",
            is_bad: true,
            ..usual
        },
    ]
}

fn tcp_pairs(bench: &Bench, family: &Family) -> Vec<Pair> {
    let pair = |(port, second): (u16, Second)| {
        let path = bench.inward(family, port, CLOSED_PORT);
        let marks = Marks {
            id: 1,
            ..USUAL.marks
        };
        let first = segment(&path, &Second { marks, ..USUAL }, 1000);
        let sequence = 1000_u32
            .wrapping_add(SIZE as u32)
            .wrapping_add_signed(second.skipped);
        Pair {
            why: second.why,
            frames: [first, segment(&path, &second, sequence)],
        }
    };
    (FIRST_PORT..).zip(seconds()).map(pair).collect()
}

fn segment(path: &Path, of: &Second, sequence: u32) -> Vec<u8> {
    // Two no-operations, then the time stamps option (RFC 7323).
    let options = [1, 1, 8, 10, 0, 0, 0, of.stamp, 0, 0, 0, 0];
    let head = Tcp {
        sequence,
        acknowledged: of.acknowledged,
        flags: of.flags,
        options: &options,
    };
    let payload = vectors::payload(of.size, sequence.into());
    let mut frame = craft::tcp(path, of.marks, head, &payload);
    let sum_at = Packet::parse(&frame).map(|packet| packet.upper_at + TCP_SUM_AT);
    if let Some(byte) = sum_at
        .filter(|_| of.is_bad)
        .and_then(|at| frame.get_mut(at))
    {
        *byte ^= 0x55;
    }
    frame
}

fn udp_pairs(bench: &Bench, family: &Family) -> Vec<Pair> {
    let sizes = [
        ("as many bytes", SIZE, SIZE),
        ("more bytes", SIZE, 2 * SIZE),
        ("fewer bytes", SIZE, 9),
    ];
    let pair = |(port, (why, one, other)): (u16, (&'static str, usize, usize))| {
        let path = bench.inward(family, port, family.near_udp);
        let datagram = |size: usize, seed: u64| {
            craft::udp(&path, Marks::default(), &vectors::payload(size, seed))
        };
        Pair {
            why,
            frames: [datagram(one, 31), datagram(other, 32)],
        }
    };
    (FIRST_PORT..).zip(sizes).map(pair).collect()
}

/// Every frame must be there as it was sent. One that is merged with another is not, however often it is sent.
fn seen_apart(bench: &mut Bench, family: &Family, pairs: &[Pair]) -> io::Result<Tally> {
    let mut open: BTreeMap<Vec<u8>, &'static str> = BTreeMap::new();
    for pair in pairs {
        open.extend(pair.frames.iter().map(|frame| (frame.clone(), pair.why)));
    }
    let all = open.clone();
    let mut tally = Tally::default();
    let mut others: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        let again = pairs
            .iter()
            .filter(|pair| pair.frames.iter().any(|frame| open.contains_key(frame)));
        let again: Vec<Vec<u8>> = again.flat_map(|pair| pair.frames.clone()).collect();
        if again.is_empty() {
            break;
        }
        bench.send_inward(&again)?;
        bench.arrived(family, |seen, bytes| {
            if !seen.is_outgoing && open.remove(bytes).is_some() {
                tally.case(bytes.len(), None);
            } else if !seen.is_outgoing && !all.contains_key(bytes) {
                others.extend(from_port(bytes).map(|port| (port, bytes.to_vec())));
            }
            open.is_empty()
        })?;
    }
    let filters_tags = bench.filters_tags();
    let gone = open
        .iter()
        .filter_map(|(frame, why)| gone(frame, why, &others, filters_tags));
    gone.for_each(|fault| tally.case(0, Some(fault)));
    Ok(tally)
}

/// What is wrong with a frame that did not come as it was sent; nothing to say of one that a filter of VLANs may have dropped.
fn gone(
    frame: &[u8],
    why: &str,
    others: &BTreeMap<u16, Vec<u8>>,
    filters_tags: bool,
) -> Option<NicExample> {
    match from_port(frame).and_then(|port| others.get(&port)) {
        Some(merged) => Some(fault(why, frame, merged)),
        None if filters_tags && is_tagged(frame) => None,
        None => Some(missing("frame", frame.len(), "at the interface")),
    }
}

fn fault(why: &str, sent: &[u8], merged: &[u8]) -> NicExample {
    NicExample {
        what: format!("two frames, the second with {why}"),
        offset: None,
        expected: format!("a frame of {} bytes", sent.len()),
        seen: match merged.len() == sent.len() {
            true => format!("another of {} bytes", merged.len()),
            false => format!("one of {} bytes", merged.len()),
        },
        frame: Some(shown(merged)),
    }
}

fn is_tagged(frame: &[u8]) -> bool {
    ether::Frame::parse(frame).is_some_and(|frame| frame.vlans[0].is_some())
}

fn from_port(frame: &[u8]) -> Option<u16> {
    Packet::parse(frame)?.ports().map(|(from, _)| from)
}

/// Where nobody listens: the kernel refuses what comes.
const CLOSED_PORT: u16 = 9;
const FIRST_PORT: u16 = 30_000;
const SIZE: usize = 100;
const ECE: u8 = 0x40;
const ROUNDS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tagged_frame_that_a_filter_drops_was_not_merged() {
        let frame = |vlan| {
            let marks = Marks {
                vlan,
                ..Marks::default()
            };
            craft::udp(&craft::tests::path(false), marks, &[7; 80])
        };
        let (plain, tagged) = (frame(None), frame(Some(7)));
        let none = BTreeMap::new();
        let merged = BTreeMap::from([(1000, frame(None))]);
        for (frame, others, filters_tags, is_wrong) in [
            (&tagged, &none, true, false),
            (&tagged, &none, false, true),
            (&tagged, &merged, true, true),
            (&plain, &none, true, true),
        ] {
            let fault = gone(frame, "another VLAN", others, filters_tags);
            assert_eq!(fault.is_some(), is_wrong, "{filters_tags} {others:?}");
        }
    }
}
