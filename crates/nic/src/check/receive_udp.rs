// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datagrams that the other end sends with good and bad checksums, and what the sockets of this host deliver of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use linerate_model::output::{NicCheck, NicExample, NicState};
use linerate_wire::checksum::Checksum;
use linerate_wire::udp;

use super::RECEIVE;
use super::refusal::Refusal;
use super::transmit_udp::{is_from, missing};
use crate::bench::{Bench, Family};
use crate::craft::{self, Marks, Path};
use crate::far::End;
use crate::message::Ask;
use crate::packet::{Packet, UDP, UDP_SUM_AT, shown};
use crate::tally::{Property, Tally};
use crate::vectors;

/// Good ones are delivered, bad ones are not, and are counted.
pub(super) fn sums(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let path = bench.inward(family, FROM_PORT, family.near_udp);
    let sizes = vectors::sizes(bench.largest_payload(family));
    let good = good(bench, family, &path, &sizes)?;
    let [bad, counted] = bad(bench, family, &path, &sizes, good.state)?;
    Ok(vec![good, bad, counted])
}

fn property(bench: &Bench, family: &Family, of: &str, what: &str) -> Property {
    let n = family.number;
    let id = format!("rx-udp{n}-{of}");
    bench.property(id, RECEIVE, format!("UDP over IPv{n}: {what}"), RX_SUMS)
}

fn good(bench: &mut Bench, family: &Family, path: &Path, sizes: &[usize]) -> io::Result<NicCheck> {
    let mut open: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for size in sizes {
        let payload = vectors::payload(*size, 5);
        open.insert(
            payload.clone(),
            craft::udp(path, Marks::default(), &payload),
        );
    }
    // RFC 768: a checksum of zero says that there is none.
    if family.number == 4 {
        let payload = vectors::payload(33, 6);
        let mut frame = craft::udp(path, Marks::default(), &payload);
        set_sum(&mut frame, |_| 0);
        open.insert(payload, frame);
    }
    let mut tally = Tally::default();
    for _ in 0..ROUNDS {
        let frames: Vec<Vec<u8>> = open.values().cloned().collect();
        bench.send_inward(&frames)?;
        bench.delivered(family, |payload| {
            if let Some(frame) = open.remove(&payload) {
                tally.case(carried(&frame), None);
            }
            open.is_empty()
        })?;
        if open.is_empty() {
            break;
        }
    }
    for (payload, frame) in open {
        let never = missing("datagram", payload.len(), "at the socket");
        let frame_text = Some(shown(&frame));
        tally.case(
            carried(&frame),
            Some(NicExample {
                frame: frame_text,
                ..never
            }),
        );
    }
    Ok(tally.check(property(
        bench,
        family,
        "good",
        "good checksums are accepted, padding is not counted",
    )))
}

/// Length of a frame without its padding.
fn carried(frame: &[u8]) -> usize {
    Packet::parse(frame).map_or(frame.len(), |packet| packet.end)
}

fn bad(
    bench: &mut Bench,
    family: &Family,
    path: &Path,
    sizes: &[usize],
    good: NicState,
) -> io::Result<[NicCheck; 2]> {
    let frames = spoiled(path, sizes);
    let name = match family.number {
        4 => "UdpInCsumErrors",
        _ => "Udp6InCsumErrors",
    };
    bench.forget()?;
    let before = counted(bench, name)?;
    let came = come(bench, family, &frames)?;
    let grown = counted(bench, name)?.saturating_sub(before);
    let mut refusal = Refusal::default();
    for (payload, frame) in &frames {
        let accepted = came.passed.contains(payload).then(|| delivered(frame));
        refusal.case(carried(frame), came.seen.contains(payload), accepted);
    }
    let properties = [
        property(bench, family, "bad", "bad checksums are refused"),
        property(bench, family, "bad-counted", "those refused are counted"),
    ];
    Ok(refusal.checks(properties, good, name, grown))
}

/// The payloads that a packet socket saw, and those that a socket delivered.
#[derive(Default)]
struct Came {
    seen: BTreeSet<Vec<u8>>,
    passed: BTreeSet<Vec<u8>>,
}

/// Sends each frame until it has arrived, a few times at most.
fn come(
    bench: &mut Bench,
    family: &Family,
    frames: &BTreeMap<Vec<u8>, Vec<u8>>,
) -> io::Result<Came> {
    let mut came = Came::default();
    for _ in 0..ROUNDS {
        let open = frames.iter().filter(|(payload, _)| {
            !came.seen.contains(*payload) && !came.passed.contains(*payload)
        });
        let open: Vec<Vec<u8>> = open.map(|(_, frame)| frame.clone()).collect();
        if open.is_empty() {
            break;
        }
        bench.send_inward(&open)?;
        bench.delivered(family, |payload| {
            came.passed.insert(payload);
            false
        })?;
        Bench::frames_so_far(&mut bench.near, |seen, bytes| {
            if !seen.is_outgoing && is_from(bytes, UDP, FROM_PORT) {
                let packet = Packet::parse(bytes);
                came.seen
                    .extend(packet.map(|packet| packet.payload().to_vec()));
            }
        })?;
    }
    Ok(came)
}

/// What arrives of each frame → the frame.
fn spoiled(path: &Path, sizes: &[usize]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut frames = BTreeMap::new();
    for size in sizes {
        for (seed, spoil) in SPOILS {
            let payload = vectors::payload(*size, seed);
            let mut frame = craft::udp(path, Marks::default(), &payload);
            spoil(&mut frame);
            let arrives = Packet::parse(&frame).filter(is_bad);
            if let Some(payload) = arrives.map(|packet| packet.payload().to_vec()) {
                frames.insert(payload, frame);
            }
        }
    }
    frames
}

/// Not only unusual: over IPv4 a datagram may have no checksum.
fn is_bad(packet: &Packet<'_>) -> bool {
    let datagram = udp::Datagram::parse(packet.upper());
    let intact = datagram.and_then(|one| one.is_intact(packet.source, packet.destination));
    intact == Some(false)
}

fn delivered(frame: &[u8]) -> NicExample {
    NicExample {
        what: "datagram with a bad UDP checksum".to_owned(),
        expected: "dropped".to_owned(),
        seen: "delivered".to_owned(),
        frame: Some(shown(frame)),
        ..NicExample::default()
    }
}

fn counted(bench: &mut Bench, name: &str) -> io::Result<u64> {
    let counters = bench.near.ask(&Ask::Counters { driver: false })?.counters;
    Ok(counters.get(name).copied().unwrap_or(0))
}

type Spoil = fn(&mut [u8]);

/// Of each a payload of its own.
const SPOILS: [(u64, Spoil); 4] = [
    (11, |frame| set_sum(frame, |sum| sum ^ 0x5555)),
    (12, flip_last),
    (13, count_padding),
    // Over IPv6 there is always a checksum (RFC 8200, section 8.1).
    (14, |frame| set_sum(frame, |_| 0)),
];

fn set_sum(frame: &mut [u8], change: impl Fn(u16) -> u16) {
    let Some(at) = Packet::parse(frame).map(|packet| packet.upper_at + UDP_SUM_AT) else {
        return;
    };
    if let Some([high, low]) = frame.get_mut(at..at + 2) {
        let sum = change(u16::from_be_bytes([*high, *low]));
        [*high, *low] = sum.to_be_bytes();
    }
}

fn flip_last(frame: &mut [u8]) {
    let last = Packet::parse(frame).filter(|packet| !packet.payload().is_empty());
    let last = last.map(|packet| packet.end - 1);
    if let Some(byte) = last.and_then(|at| frame.get_mut(at)) {
        *byte ^= 1;
    }
}

/// The checksum of who takes the padding for payload.
fn count_padding(frame: &mut [u8]) {
    let Some(packet) = Packet::parse(frame) else {
        return;
    };
    let length = packet.upper().len() as u32;
    let begun = Checksum::pseudo_header(packet.source, packet.destination, UDP, length);
    let Some(padded) = frame.get(packet.upper_at..) else {
        return;
    };
    let (head, rest) = padded.split_at(UDP_SUM_AT);
    let sum = begun.unwrap_or_default().with(head).with(&[0, 0]);
    let sum = sum.with(rest.get(2..).unwrap_or_default()).finish();
    set_sum(frame, |_| sum);
}

/// Nobody else's.
const FROM_PORT: u16 = 40_009;
const ROUNDS: usize = 4;
const RX_SUMS: &str = "rx-checksumming";
