// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this host's stack leaves to the interface to cut: each frame at the other end is as software would have made it,
//! and together they are the bytes that were sent.

use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, UdpSocket};

use linerate_linux::udp as linux_udp;
use linerate_model::output::{NicCheck, NicExample};

use super::transmit_tcp::connected;
use super::transmit_udp::{is_from, missing};
use crate::bench::{Bench, Family};
use crate::packet::{Packet, TCP, UDP, shown};
use crate::services::SINK;
use crate::tally::Tally;
use crate::{hex, vectors};

/// One long write.
pub(super) fn tcp(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let port = TcpListener::bind(bench.near_end(family, 0))?
        .local_addr()?
        .port();
    let mut bytes = vectors::payload(STREAM_BYTES, 21);
    if let Some(first) = bytes.first_mut() {
        *first = SINK;
    }
    let written = connected(bench, family, port).and_then(|mut stream| {
        stream.write_all(&bytes)?;
        stream.shutdown(Shutdown::Write)
    });
    let mut tally = Tally::default();
    let mut stream = Stream::new(&bytes);
    let mut unlike = None;
    let mut frames = Vec::new();
    Bench::frames(&mut bench.far, |seen, frame| {
        if is_from(frame, TCP, port) && !seen.is_outgoing {
            frames.push((seen.clone(), frame.to_vec()));
        }
        false
    })?;
    for (seen, frame) in &frames {
        unlike = unlike.or(bench.unlike_a_wire(seen));
        if let Some(packet) = Packet::parse(frame) {
            tally.case(packet.end, stream.fault(&packet));
        }
    }
    unlike.into_iter().for_each(|why| tally.not_a_wire(why));
    if tally.tried() > 0 && unlike.is_none() {
        tally.case(0, stream.gap());
    }
    let n = family.number;
    let what = format!("TCP segments over IPv{n} of one write of {STREAM_BYTES} bytes");
    let property = bench.property(
        format!("tx-tcp{n}-segments"),
        SEGMENTATION,
        what,
        "tcp-segmentation-offload",
    );
    Ok(vec![match written {
        Err(why) if tally.tried() == 0 => property.impossible(why.to_string()),
        _ => tally.check(property),
    }])
}

/// The bytes of a connection, and how far frames have shown them.
struct Stream<'a> {
    bytes: &'a [u8],
    /// Sequence number of the first.
    first: Option<u32>,
    shown: Vec<bool>,
    /// Segments in succession that ask to be delivered at once.
    pushed: u32,
}

impl<'a> Stream<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            first: None,
            shown: vec![false; bytes.len()],
            pushed: 0,
        }
    }

    fn fault(&mut self, packet: &Packet<'_>) -> Option<NicExample> {
        let (sequence, flags) = packet.tcp()?;
        if flags & crate::craft::SYN != 0 {
            self.first = Some(sequence.wrapping_add(1));
        }
        let first = *self.first.get_or_insert(sequence);
        let at = sequence.wrapping_sub(first) as usize;
        let carried = packet.payload();
        let expected = self.bytes.get(at..at + carried.len());
        if !carried.is_empty() && expected != Some(carried) {
            return Some(not_sent(packet, expected));
        }
        if let Some(shown) = self.shown.get_mut(at..at + carried.len()) {
            shown.fill(true);
        }
        // The stack asks for it at the end of what it gives to the interface, of which this is a small part.
        self.pushed = match flags & PSH {
            0 => 0,
            _ if carried.is_empty() => self.pushed,
            _ => self.pushed + 1,
        };
        if self.pushed > PUSHED_MOST {
            return Some(flagged(
                packet,
                flags,
                "PSH in the last one of a write only",
            ));
        }
        let ends_early = flags & FIN != 0 && at + carried.len() < self.bytes.len();
        if ends_early || flags & (URG | crate::craft::RST) != 0 {
            let right = "FIN in the last one only, no URG, no RST";
            return Some(flagged(packet, flags, right));
        }
        packet.fault()
    }

    /// The first byte that no frame had.
    fn gap(&self) -> Option<NicExample> {
        let at = self.shown.iter().position(|shown| !shown)?;
        Some(NicExample {
            what: "the frames together".to_owned(),
            expected: format!("{} bytes", self.bytes.len()),
            seen: format!("byte {at} is in none"),
            ..NicExample::default()
        })
    }
}

fn not_sent(packet: &Packet<'_>, expected: Option<&[u8]>) -> NicExample {
    let carried = packet.payload();
    let differs = |expected: &[u8]| {
        carried
            .iter()
            .zip(expected)
            .position(|(one, other)| one != other)
    };
    let at = expected.and_then(differs).unwrap_or(0);
    let some = |bytes: &[u8]| hex::of(bytes.get(at..(at + 8).min(bytes.len())).unwrap_or_default());
    NicExample {
        what: "bytes of a TCP segment".to_owned(),
        offset: u32::try_from(packet.end - carried.len() + at).ok(),
        expected: expected.map_or_else(|| "no such place in the stream".to_owned(), some),
        seen: some(carried),
        frame: Some(shown(packet.frame)),
    }
}

fn flagged(packet: &Packet<'_>, flags: u8, right: &str) -> NicExample {
    NicExample {
        what: "flags of a TCP segment".to_owned(),
        offset: u32::try_from(packet.upper_at + 13).ok(),
        expected: right.to_owned(),
        seen: hex::of(&[flags]),
        frame: Some(shown(packet.frame)),
    }
}

/// Datagrams that are given to the kernel as one (`UDP_SEGMENT`).
pub(super) fn udp(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let n = family.number;
    let what = format!("UDP datagrams over IPv{n} cut from one of up to 64");
    let property = bench.property(
        format!("tx-udp{n}-segments"),
        SEGMENTATION,
        what,
        "tx-udp-segmentation",
    );
    let socket = bench.socket(family)?;
    let largest = bench.largest_payload(family);
    let mut tally = Tally::default();
    for (size, count) in [(1, 64), (13, 40), (500, 20), (501, 3), (largest, 12)] {
        if let Some(why) = cut(bench, &socket, (size, count), &mut tally)? {
            return Ok(vec![property.impossible(why)]);
        }
    }
    Ok(vec![tally.check(property)])
}

/// The last one is shorter. Why it is not possible.
fn cut(
    bench: &mut Bench,
    socket: &UdpSocket,
    (size, count): (usize, usize),
    tally: &mut Tally,
) -> io::Result<Option<String>> {
    let own_port = socket.local_addr()?.port();
    if let Err(why) = linux_udp::cut(socket, size as u16) {
        return Ok(Some(format!("the kernel cuts no datagrams: {why}")));
    }
    let whole = vectors::payload(size * count - size / 2, 23 + size as u64);
    let mut open: Vec<&[u8]> = whole.chunks(size).collect();
    for _ in 0..ROUNDS {
        socket.send(&whole)?;
        let mut frames = Vec::new();
        let mut left = open.len();
        Bench::frames(&mut bench.far, |seen, frame| {
            if is_from(frame, UDP, own_port) {
                frames.push((seen.clone(), frame.to_vec()));
                left = left.saturating_sub(1);
            }
            left == 0
        })?;
        for (seen, frame) in &frames {
            bench
                .unlike_a_wire(seen)
                .into_iter()
                .for_each(|why| tally.not_a_wire(why));
            let Some(packet) = Packet::parse(frame) else {
                continue;
            };
            match open.iter().position(|one| *one == packet.payload()) {
                Some(at) => {
                    open.swap_remove(at);
                    tally.case(packet.end, packet.fault());
                }
                None if whole.chunks(size).any(|one| one == packet.payload()) => {}
                None => tally.case(packet.end, Some(not_sent(&packet, None))),
            }
        }
        if open.is_empty() || !tally.is_of_a_wire() {
            break;
        }
    }
    if tally.tried() > 0 {
        let never = open
            .iter()
            .map(|one| missing("at the other end", one.len()));
        never.for_each(|fault| tally.case(0, Some(fault)));
    }
    Ok(None)
}

const SEGMENTATION: &str = "segmentation";
const STREAM_BYTES: usize = 200_000;
const ROUNDS: usize = 4;
const FIN: u8 = 1;
const PSH: u8 = 8;
/// A small first window, or one sent again.
const PUSHED_MOST: u32 = 3;
const URG: u8 = 32;
