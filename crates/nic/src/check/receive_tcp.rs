// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYNs with data of each size that the other end sends with good and bad checksums: this host answers the good ones only.
//! Its answers are short frames without time stamps, whose checksums are judged as well.

use std::collections::BTreeMap;
use std::io;

use linerate_model::output::{NicCheck, NicExample};

use super::refusal::Refusal;
use super::transmit_udp::TX_SUMS;
use super::{RECEIVE, TRANSMIT};
use crate::bench::{Bench, Family, GRACE_MS};
use crate::craft::{self, ACK, Marks, SYN, Tcp};
use crate::far::End;
use crate::message::{Ask, Seen};
use crate::packet::{Packet, TCP, shown};
use crate::tally::Tally;
use crate::vectors;

/// A SYN of every size, good and bad.
pub(super) fn sums(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let n = family.number;
    let mut answers = Tally::default();
    let sizes = vectors::sizes(SYN_DATA_MOST);
    let good = opened(bench, family, &sizes, false, &mut answers)?;
    bench.forget()?;
    let before = counted(bench)?;
    let bad = opened(bench, family, &sizes, true, &mut answers)?;
    let grown = counted(bench)?.saturating_sub(before);
    let mut accepted = Tally::default();
    for (frame, tried) in good.values().map(|tried| (&tried.frame, tried)) {
        let fault = (!tried.is_answered)
            .then(|| fault("SYN with a good TCP checksum", "answered", "dropped", frame));
        accepted.case(frame.len(), fault);
    }
    let mut refusal = Refusal::default();
    for (frame, tried) in bad.values().map(|tried| (&tried.frame, tried)) {
        let fault = tried
            .is_answered
            .then(|| fault("SYN with a bad TCP checksum", "dropped", "answered", frame));
        refusal.case(frame.len(), tried.is_seen, fault);
    }
    let property = |of: &str, what: &str| {
        let id = format!("rx-tcp{n}-{of}");
        bench.property(
            id,
            RECEIVE,
            format!("TCP over IPv{n}: {what}"),
            "rx-checksumming",
        )
    };
    let id = format!("tx-tcp{n}-syn-ack");
    let what = format!("TCP checksums over IPv{n} of short answers without time stamps");
    let good = accepted.check(property("good", "good checksums are accepted"));
    let properties = [
        property("bad", "bad checksums are refused"),
        property("bad-counted", "those refused are counted"),
    ];
    let [bad, counted] = refusal.checks(properties, good.state, "TcpInCsumErrors", grown);
    let answers = answers.check(bench.property(id, TRANSMIT, what, TX_SUMS));
    Ok(vec![good, bad, counted, answers])
}

/// By the port that it is sent from.
type Opened = BTreeMap<u16, Tried>;

/// A SYN, and what came of it.
struct Tried {
    frame: Vec<u8>,
    is_answered: bool,
    /// By a packet socket of this host; only bad ones are looked for.
    is_seen: bool,
}

impl Tried {
    fn new(frame: Vec<u8>) -> Self {
        Self {
            frame,
            is_answered: false,
            is_seen: false,
        }
    }
}

fn opened(
    bench: &mut Bench,
    family: &Family,
    sizes: &[usize],
    is_bad: bool,
    answers: &mut Tally,
) -> io::Result<Opened> {
    let mut all = Opened::new();
    for size in sizes {
        // What another family or an earlier check left half open is answered again.
        let port = bench.fresh_port();
        let path = bench.inward(family, port, family.near_tcp);
        let mut frame = craft::tcp(&path, Marks::default(), HEAD, &vectors::payload(*size, 15));
        if let Some(byte) = sum_of(&frame)
            .filter(|_| is_bad)
            .and_then(|at| frame.get_mut(at))
        {
            *byte ^= 0x55;
        }
        all.insert(port, Tried::new(frame));
    }
    // Half-open connections are few at a time; the other end's kernel, which knows nothing of them, ends each.
    let ports: Vec<u16> = all.keys().copied().collect();
    for some in ports.chunks(BATCH) {
        batch(bench, family, &mut all, (some, is_bad), answers)?;
    }
    Ok(all)
}

fn batch(
    bench: &mut Bench,
    family: &Family,
    all: &mut Opened,
    (ports, is_bad): (&[u16], bool),
    answers: &mut Tally,
) -> io::Result<()> {
    for _ in 0..ROUNDS {
        let open = ports
            .iter()
            .filter_map(|port| all.get(port))
            .filter(|tried| !tried.is_answered && !tried.is_seen);
        let open: Vec<Vec<u8>> = open.map(|tried| tried.frame.clone()).collect();
        if open.is_empty() {
            break;
        }
        bench.send_inward(&open)?;
        for (seen, bytes) in &answered(bench, family, ports, open.len())? {
            bench
                .unlike_a_wire(seen, bytes)
                .into_iter()
                .for_each(|why| answers.not_a_wire(why));
            if let Some(packet) = Packet::parse(bytes) {
                answers.case(packet.end, packet.fault());
                if let Some(tried) = to_port(bytes).and_then(|port| all.get_mut(&port)) {
                    tried.is_answered = true;
                }
            }
        }
        if is_bad {
            come(bench, all)?;
        }
    }
    Ok(())
}

/// The answers to these ports, until all have come, or a good SYN that was sent last is answered.
fn answered(
    bench: &mut Bench,
    family: &Family,
    ports: &[u16],
    mut left: usize,
) -> io::Result<Vec<(Seen, Vec<u8>)>> {
    let last = bench.fresh_port();
    let path = bench.inward(family, last, family.near_tcp);
    let syn = craft::tcp(&path, Marks::default(), HEAD, &vectors::payload(100, 16));
    bench.send_inward(&[syn])?;
    let (mut frames, mut is_last) = (Vec::new(), false);
    let mut take = |seen: &Seen, bytes: &[u8]| {
        let port = to_port(bytes).filter(|_| !seen.is_outgoing);
        is_last |= port == Some(last);
        if port.is_some_and(|port| ports.contains(&port)) {
            frames.push((seen.clone(), bytes.to_vec()));
            left = left.saturating_sub(1);
        }
        left == 0 || is_last
    };
    Bench::frames(&mut bench.far, &mut take)?;
    Bench::frames_within(&mut bench.far, GRACE_MS, |seen, bytes| {
        take(seen, bytes);
        false
    })?;
    Ok(frames)
}

/// Which of the frames this host saw, and which it answered: the answer may be lost on the way.
fn come(bench: &mut Bench, all: &mut Opened) -> io::Result<()> {
    Bench::frames_so_far(&mut bench.near, |seen, bytes| {
        let packet = Packet::parse(bytes).filter(|packet| packet.protocol == TCP);
        let flags = packet.and_then(|packet| packet.tcp());
        let ports = packet.and_then(|packet| packet.ports());
        let (Some((_, flags)), Some((from, to))) = (flags, ports) else {
            return;
        };
        let (port, is_expected) = match seen.is_outgoing {
            true => (to, flags == SYN | ACK),
            false => (from, flags == SYN),
        };
        if let Some(tried) = all.get_mut(&port).filter(|_| is_expected) {
            tried.is_answered |= seen.is_outgoing;
            tried.is_seen |= !seen.is_outgoing;
        }
    })
}

/// Where a SYN's answer goes.
fn to_port(frame: &[u8]) -> Option<u16> {
    let packet = Packet::parse(frame).filter(|packet| packet.protocol == TCP)?;
    packet.ports().map(|(_, to)| to)
}

fn sum_of(frame: &[u8]) -> Option<usize> {
    Packet::parse(frame).map(|packet| packet.upper_at + crate::packet::TCP_SUM_AT)
}

fn counted(bench: &mut Bench) -> io::Result<u64> {
    let counters = bench.near.ask(&Ask::Counters { driver: false })?.counters;
    Ok(counters.get("TcpInCsumErrors").copied().unwrap_or(0))
}

fn fault(what: &str, expected: &str, seen: &str, frame: &[u8]) -> NicExample {
    NicExample {
        what: what.to_owned(),
        offset: None,
        expected: expected.to_owned(),
        seen: seen.to_owned(),
        frame: Some(shown(frame)),
    }
}

const HEAD: Tcp<'_> = Tcp {
    sequence: 1000,
    acknowledged: 0,
    flags: SYN,
    options: &[],
};
const BATCH: usize = 32;
const ROUNDS: usize = 4;
/// A kernel answers a SYN with data as one without.
const SYN_DATA_MOST: usize = 1_200;
