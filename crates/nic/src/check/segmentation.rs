// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this host's stack leaves to the interface to cut: each frame at the other end is as software would have made it,
//! and together they are the bytes that were sent.

use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, UdpSocket};

use linerate_linux::udp as linux_udp;
use linerate_linux::vlan_push::VlanPush;
use linerate_model::output::{NicCheck, NicExample};
use linerate_wire::offload::Upper;

use super::tag;
use super::transmit_tcp::{connected, until_its_end};
use super::transmit_udp::{is_from, missing};
use crate::bench::{Bench, Family};
use crate::message::Seen;
use crate::packet::{Packet, TCP, UDP, shown};
use crate::services::SINK;
use crate::software::Software;
use crate::tally::Tally;
use crate::{hex, vectors};

/// One long write.
pub(super) fn tcp(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let mut tally = Tally::default();
    let written = stream(bench, family, None, &mut tally)?;
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

/// Writes to a connection, with a tag on its frames; whether that was possible.
pub(super) fn stream(
    bench: &mut Bench,
    family: &Family,
    tag: Option<u16>,
    tally: &mut Tally,
) -> io::Result<io::Result<()>> {
    let port = TcpListener::bind(bench.near_end(family, 0))?
        .local_addr()?
        .port();
    let mut bytes = vectors::payload(STREAM_BYTES, 21);
    if let Some(first) = bytes.first_mut() {
        *first = SINK;
    }
    let written = connected(bench, family, port).and_then(|mut stream| {
        tag.map_or(Ok(()), |tag| VlanPush::tag(&stream, tag))?;
        stream.write_all(&bytes)?;
        stream.shutdown(Shutdown::Write)
    });
    let mut stream = Stream::new(&bytes);
    let mut unlike = None;
    let frames = until_its_end(bench, port, |packet| {
        stream.begin(packet);
        // It is judged below.
        let _noted = stream.note(packet);
        stream.gap().is_none()
    })?;
    let whole = frames.iter().filter(|(_, frame)| is_from(frame, TCP, port));
    let packets = whole.filter_map(|(_, frame)| Packet::parse(frame));
    let size = packets.map(|packet| packet.payload().len()).max();
    let software = software(bench, port, &stream, size.unwrap_or(0))?;
    for (seen, frame) in &frames {
        unlike = unlike.or(bench.unlike_a_wire(seen, frame));
        if let Some(packet) = Packet::parse(frame) {
            let tag = tag.filter(|_| !packet.payload().is_empty());
            let untagged = tag.and_then(|tag| tag::fault(&packet, tag));
            let fault = match is_from(frame, TCP, port) {
                true => untagged.or_else(|| stream.fault(&packet, &software)),
                false => Some(torn(&packet, seen)),
            };
            tally.case(packet.end, fault);
        }
    }
    unlike.into_iter().for_each(|why| tally.not_a_wire(why));
    if tally.tried() > 0 && unlike.is_none() {
        tally.case(0, stream.gap());
    }
    Ok(written)
}

/// What this host gave to the interface, cut in software. The longest segment that came has the size of all but the last.
fn software(
    bench: &mut Bench,
    port: u16,
    stream: &Stream<'_>,
    size: usize,
) -> io::Result<Software> {
    let mut software = bench.software();
    let size = u16::try_from(size).unwrap_or(u16::MAX);
    Bench::frames_so_far(&mut bench.near, |seen, frame| {
        if seen.is_outgoing && is_beginning_from(frame, TCP, port) {
            software.cut(seen, frame, stream.from(frame), size);
        }
    })?;
    Ok(software)
}

/// The bytes of a connection, and how far frames have shown them.
struct Stream<'a> {
    bytes: &'a [u8],
    /// Sequence number of the first.
    first: Option<u32>,
    shown: Vec<bool>,
}

impl<'a> Stream<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            first: None,
            shown: vec![false; bytes.len()],
        }
    }

    /// Takes the beginning from a SYN; else from the first segment that came.
    fn begin(&mut self, packet: &Packet<'_>) {
        match packet.tcp() {
            Some((sequence, flags)) if flags & crate::craft::SYN != 0 => {
                self.first = Some(sequence.wrapping_add(1));
            }
            Some((sequence, _)) => _ = self.first.get_or_insert(sequence),
            None => {}
        }
    }

    /// Notes what a segment carries; whether it is what was sent.
    fn note(&mut self, packet: &Packet<'_>) -> Result<(), NicExample> {
        let (sequence, _) = packet.tcp().unwrap_or_default();
        let at = self.place(sequence);
        let carried = packet.payload();
        let expected = self.bytes.get(at..at + carried.len());
        if !carried.is_empty() && expected != Some(carried) {
            return Err(not_sent(packet, expected));
        }
        if let Some(shown) = self.shown.get_mut(at..at + carried.len()) {
            shown.fill(true);
        }
        Ok(())
    }

    fn place(&self, sequence: u32) -> usize {
        sequence.wrapping_sub(self.first.unwrap_or(sequence)) as usize
    }

    /// The bytes from the place of a segment on.
    fn from(&self, frame: &[u8]) -> &'a [u8] {
        let sequence = Upper::of_beginning(frame)
            .and_then(|upper| frame.get(upper.checksum.start + 4..)?.first_chunk());
        let at = sequence.map_or(0, |bytes| self.place(u32::from_be_bytes(*bytes)));
        self.bytes.get(at..).unwrap_or_default()
    }

    fn fault(&mut self, packet: &Packet<'_>, software: &Software) -> Option<NicExample> {
        let noted = self.note(packet).err();
        noted
            .or_else(|| packet.fault())
            .or_else(|| software.difference(packet))
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

/// A frame that TCP never sends: it sets "don't fragment", or cuts what it sends to the size of the path.
fn torn(packet: &Packet<'_>, seen: &Seen) -> NicExample {
    packet
        .length_fault(seen.length)
        .unwrap_or_else(|| NicExample {
            what: "parts of a long TCP packet".to_owned(),
            expected: "TCP segments".to_owned(),
            seen: "IP fragments".to_owned(),
            frame: Some(shown(packet.frame)),
            ..NicExample::default()
        })
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
    let mut tally = Tally::default();
    Ok(vec![match datagrams(bench, family, None, &mut tally)? {
        Some(why) => property.impossible(why),
        None => tally.check(property),
    }])
}

/// Several sizes, with a tag on their frames. Why it is not possible.
pub(super) fn datagrams(
    bench: &mut Bench,
    family: &Family,
    tag: Option<u16>,
    tally: &mut Tally,
) -> io::Result<Option<String>> {
    let socket = bench.socket(family)?;
    tag.map_or(Ok(()), |tag| VlanPush::tag(&socket, tag))?;
    let largest = bench.largest_payload(family);
    for (size, count) in [(1, 64), (13, 40), (500, 20), (501, 3), (largest, 12)] {
        if let Some(why) = cut(bench, &socket, (size, count), tag, tally)? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// The last one is shorter. Why it is not possible.
fn cut(
    bench: &mut Bench,
    socket: &UdpSocket,
    (size, count): (usize, usize),
    tag: Option<u16>,
    tally: &mut Tally,
) -> io::Result<Option<String>> {
    let own_port = socket.local_addr()?.port();
    if let Err(why) = linux_udp::cut(socket, size as u16) {
        return Ok(Some(format!("the kernel cuts no datagrams: {why}")));
    }
    let whole = vectors::payload(size * count - size / 2, 23 + size as u64);
    let mut open: Vec<&[u8]> = whole.chunks(size).collect();
    let mut software = bench.software();
    for _ in 0..ROUNDS {
        match socket.send(&whole) {
            Err(why) if why.raw_os_error() == Some(EIO) => return Ok(Some(NO_SUMS.to_owned())),
            sent => sent?,
        };
        let mut frames = Vec::new();
        let mut left = open.len();
        Bench::frames(&mut bench.far, |seen, frame| {
            if is_from(frame, UDP, own_port) {
                frames.push((seen.clone(), frame.to_vec()));
                left = left.saturating_sub(1);
            }
            left == 0
        })?;
        Bench::frames_so_far(&mut bench.near, |seen, frame| {
            if seen.is_outgoing && is_beginning_from(frame, UDP, own_port) {
                software.cut(seen, frame, &whole, size as u16);
            }
        })?;
        for (seen, frame) in &frames {
            bench
                .unlike_a_wire(seen, frame)
                .into_iter()
                .for_each(|why| tally.not_a_wire(why));
            let Some(packet) = Packet::parse(frame) else {
                continue;
            };
            match open.iter().position(|one| *one == packet.payload()) {
                Some(at) => {
                    open.swap_remove(at);
                    let fault = tag.and_then(|tag| tag::fault(&packet, tag));
                    let fault = fault.or_else(|| packet.fault());
                    tally.case(packet.end, fault.or_else(|| software.difference(&packet)));
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
            .map(|one| missing("datagram", one.len(), "at the other end"));
        never.for_each(|fault| tally.case(0, Some(fault)));
    }
    Ok(None)
}

/// As [`is_from`], also of a frame that is seen in part.
fn is_beginning_from(frame: &[u8], protocol: u8, port: u16) -> bool {
    Upper::of_beginning(frame).is_some_and(|upper| {
        upper.is_tcp == (protocol == TCP)
            && upper.ports(frame).is_some_and(|[from, _]| from == port)
    })
}

/// `udp_send_skb` of net/ipv4/udp.c, up to Linux 6.10.
const EIO: i32 = 5;
const NO_SUMS: &str = "the kernel cuts datagrams only for an interface that computes their checksums (UDP_SEGMENT: EIO)";
const SEGMENTATION: &str = "segmentation";
const STREAM_BYTES: usize = 200_000;
const ROUNDS: usize = 4;
