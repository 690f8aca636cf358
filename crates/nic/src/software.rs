// SPDX-License-Identifier: MIT OR Apache-2.0
//! What software makes of the packets that this host's kernel gives to the interface: the frames of the wire, byte for byte
//! (net/core/gso.c; [`linerate_wire::offload`]). A packet socket of this host shows the headers of each packet before it is cut.

use linerate_model::output::NicExample;
use linerate_wire::checksum::Checksum;
use linerate_wire::offload::{Kind, Request, Segmentation, Segments, Upper, put};

use crate::hex;
use crate::message::Seen;
use crate::packet::{Packet, TCP, UDP, shown};

/// The frames that software would have sent.
#[derive(Debug, Default)]
pub(crate) struct Software {
    frames: Vec<Vec<u8>>,
    any_identification: bool,
}

impl Software {
    /// `any_identification`: the driver may write any (`tx-tcp-mangleid-segmentation`).
    pub(crate) fn new(any_identification: bool) -> Self {
        Self {
            any_identification,
            ..Self::default()
        }
    }

    /// Cuts a packet that this host sends into payloads of at most `size` bytes. What the packet socket did not show of it
    /// is in `payload`.
    pub(crate) fn cut(&mut self, seen: &Seen, frame: &[u8], payload: &[u8], size: u16) {
        let Some(upper) = Upper::of_beginning(frame) else {
            return;
        };
        let Some((headers, rest)) = frame.split_at_checked(upper.payload.start) else {
            return;
        };
        let bytes = (seen.length as usize).saturating_sub(headers.len());
        let shown = Some(rest).filter(|all| all.len() == bytes);
        let Some(payload) = shown.or_else(|| payload.get(..bytes)) else {
            return;
        };
        let mut whole = headers.to_vec();
        whole.extend(payload);
        self.frames.extend(segments(whole, &upper, size));
    }

    /// What differs in a frame from what software would have sent with the same payload; nothing to say of one of which
    /// this host's packet socket showed nothing.
    pub(crate) fn difference(&self, packet: &Packet<'_>) -> Option<NicExample> {
        let frame = packet.frame.get(..packet.end)?;
        let mut nearest = None;
        for expected in &self.frames {
            let of_same = Packet::parse(expected).filter(|other| is_same_place(packet, other));
            let Some(at) = of_same.map(|other| self.differs(frame, expected, other.ip_at)) else {
                continue;
            };
            let at = at?;
            if nearest.is_none_or(|(nearest, _)| nearest < at) {
                nearest = Some((at, expected));
            }
        }
        nearest.map(|(at, expected)| example(packet, expected, at))
    }

    /// The first byte that differs.
    fn differs(&self, frame: &[u8], expected: &[u8], ip_at: usize) -> Option<usize> {
        let is_free = |at: usize| {
            let field = at.checked_sub(ip_at);
            self.any_identification && field.is_some_and(|at| [4, 5, 10, 11].contains(&at))
        };
        let differ = |at: &usize| frame.get(*at) != expected.get(*at) && !is_free(*at);
        (0..frame.len().max(expected.len())).find(differ)
    }
}

/// Both carry the same part of a stream, or the same datagram.
fn is_same_place(one: &Packet<'_>, other: &Packet<'_>) -> bool {
    let sequence = |packet: &Packet<'_>| packet.tcp().map(|(sequence, _)| sequence);
    one.protocol == other.protocol
        && match one.protocol {
            TCP => sequence(one) == sequence(other) && one.payload().len() == other.payload().len(),
            _ => one.payload() == other.payload(),
        }
}

/// The frames of a whole packet.
fn segments(mut packet: Vec<u8>, upper: &Upper, size: u16) -> Vec<Vec<u8>> {
    let Some(request) = begun(&mut packet, upper, size) else {
        return Vec::new();
    };
    let Some(mut segments) = Segments::of(&packet, &request) else {
        return Vec::new();
    };
    let mut out = vec![0; packet.len()];
    let mut frames = Vec::new();
    while let Some(bytes) = segments.write_next(&mut out) {
        frames.extend(out.get(..bytes).map(<[u8]>::to_vec));
    }
    frames
}

/// Writes the sum of the pseudo-header, as the kernel does for an interface.
fn begun(packet: &mut [u8], upper: &Upper, size: u16) -> Option<Request> {
    let (from, to) = (upper.source, upper.destination);
    let (kind, protocol) = match (upper.is_tcp, from.is_ipv4()) {
        (false, _) => (Kind::Udp, UDP),
        (true, true) => (Kind::Tcp4, TCP),
        (true, false) => (Kind::Tcp6, TCP),
    };
    let length = u32::try_from(packet.len().checked_sub(upper.checksum.start)?).ok()?;
    let sum = Checksum::pseudo_header(from, to, protocol, length)?;
    put(packet, upper.checksum.field, !sum.finish());
    Some(Request {
        checksum: Some(upper.checksum),
        segmentation: Some(Segmentation {
            kind,
            payload_bytes: size,
        }),
    })
}

fn example(packet: &Packet<'_>, expected: &[u8], at: usize) -> NicExample {
    let (name, from, bytes) = field(packet, at);
    let some = |frame: &[u8]| {
        let end = (from + bytes).min(frame.len());
        hex::of(frame.get(from..end).unwrap_or_default())
    };
    let protocol = if packet.protocol == TCP {
        "TCP segment"
    } else {
        "UDP datagram"
    };
    NicExample {
        what: format!("{name} of a {protocol}"),
        offset: u32::try_from(from).ok(),
        expected: some(expected),
        seen: some(packet.frame.get(..packet.end).unwrap_or_default()),
        frame: Some(shown(packet.frame)),
    }
}

/// The name of the field at this place of a frame, where it begins, and its bytes.
fn field(packet: &Packet<'_>, at: usize) -> (&'static str, usize, usize) {
    let of_network = match packet.source.is_ipv4() {
        true => IPV4,
        false => IPV6,
    };
    let (base, fields) = match at {
        at if at < packet.ip_at => return ("Ethernet header", at, 1),
        at if at < packet.upper_at => (packet.ip_at, of_network),
        _ if packet.protocol == TCP => (packet.upper_at, OF_TCP),
        _ => (packet.upper_at, OF_UDP),
    };
    let header_end = packet.end - packet.payload().len();
    let named = fields
        .iter()
        .find(|(_, from, bytes)| (base + from..base + from + bytes).contains(&at));
    match named {
        _ if at >= header_end => ("payload", at, 8),
        Some((name, from, bytes)) => (name, base + from, *bytes),
        None => ("header", at, 1),
    }
}

/// RFC 791 section 3.1: name, place, bytes.
const IPV4: &[(&str, usize, usize)] = &[
    ("TOS", 1, 1),
    ("IPv4 length", 2, 2),
    ("IPv4 identification", 4, 2),
    ("fragment field", 6, 2),
    ("TTL", 8, 1),
    ("IPv4 header checksum", 10, 2),
];
/// RFC 8200 section 3.
const IPV6: &[(&str, usize, usize)] = &[
    ("traffic class and flow label", 0, 4),
    ("IPv6 length", 4, 2),
];
/// RFC 9293 section 3.1.
const OF_TCP: &[(&str, usize, usize)] = &[
    ("acknowledgement number", 8, 4),
    ("flags", 13, 1),
    ("window", 14, 2),
    ("checksum", 16, 2),
    ("urgent pointer", 18, 2),
    ("options", 20, 12),
];
/// RFC 768.
const OF_UDP: &[(&str, usize, usize)] = &[("length", 4, 2), ("checksum", 6, 2)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::{self, ACK, Marks, Tcp};

    const PSH: u8 = 8;

    /// A long packet of 250 bytes as the kernel gives it, seen in part, and its three segments.
    fn long(is_ipv6: bool, is_tcp: bool) -> (Vec<u8>, Vec<u8>, Vec<Vec<u8>>) {
        let path = craft::tests::path(is_ipv6);
        let payload: Vec<u8> = (0..250).collect();
        let marks = |id| Marks {
            id,
            ..Marks::default()
        };
        let whole = |id, sequence, flags, payload: &[u8]| {
            let head = Tcp {
                sequence,
                acknowledged: 9,
                flags,
                options: &[],
            };
            match is_tcp {
                true => craft::tcp(&path, marks(id), head, payload),
                false => craft::udp(&path, marks(id), payload),
            }
        };
        let all = whole(7, 1000, ACK | PSH, &payload);
        let parts = (0..3_u16).zip(payload.chunks(100)).map(|(number, part)| {
            let flags = if number == 2 { ACK | PSH } else { ACK };
            whole(7 + number, 1000 + 100 * u32::from(number), flags, part)
        });
        (all, payload.clone(), parts.collect())
    }

    fn software((all, payload, _): &(Vec<u8>, Vec<u8>, Vec<Vec<u8>>)) -> Software {
        let seen = Seen {
            length: all.len() as u32,
            ..Seen::default()
        };
        let mut software = Software::default();
        software.cut(&seen, &all[..90], payload, 100);
        software
    }

    #[test]
    fn segments_are_as_software_cuts_them() {
        for (is_ipv6, is_tcp) in [(false, false), (false, true), (true, false), (true, true)] {
            let long = long(is_ipv6, is_tcp);
            let software = software(&long);
            for frame in &long.2 {
                let packet = Packet::parse(frame).unwrap();
                assert_eq!(software.difference(&packet), None);
                let mut other = frame.clone();
                other[15] ^= 0x04;
                assert!(
                    software
                        .difference(&Packet::parse(&other).unwrap())
                        .is_some()
                );
            }
        }
    }

    #[test]
    fn the_first_byte_that_differs_is_named() {
        let long = long(false, true);
        let mut software = software(&long);
        for (at, what, expected, seen) in [
            (
                14 + 5,
                "IPv4 identification of a TCP segment",
                "0008",
                "0009",
            ),
            (34 + 13, "flags of a TCP segment", "10", "11"),
            (34 + 15, "window of a TCP segment", "ffff", "fffe"),
            (
                54,
                "payload of a TCP segment",
                "6465666768696a6b",
                "6565666768696a6b",
            ),
        ] {
            let mut frame = long.2[1].clone();
            frame[at] ^= 1;
            let packet = Packet::parse(&frame).unwrap();
            let found = software.difference(&packet).unwrap();
            assert_eq!(
                (
                    found.what.as_str(),
                    found.expected.as_str(),
                    found.seen.as_str()
                ),
                (what, expected, seen)
            );
        }
        software.any_identification = true;
        let mut frame = long.2[1].clone();
        frame[19] ^= 1;
        assert_eq!(software.difference(&Packet::parse(&frame).unwrap()), None);
    }

    #[test]
    fn of_another_place_there_is_nothing_to_compare() {
        let software = software(&long(false, true));
        let mut frame = long(false, true).2[0].clone();
        frame[34 + 7] ^= 1;
        assert_eq!(software.difference(&Packet::parse(&frame).unwrap()), None);
    }
}
