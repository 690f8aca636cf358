// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of every kind that a router must tell apart, and what comes out, in a form that can be compared.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use linerate_wire::udp;

use crate::net::{DEVICE, LEFT, Net, RIGHT, RIGHT_MTU, TESTER, ip, tester_mac};

/// A frame, and the port that it is sent to.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) from: usize,
    pub(crate) frame: Vec<u8>,
}

/// A frame that the device sent, without what differs from time to time, and where.
pub(crate) type Out = (usize, Vec<u8>);

pub(crate) fn all(net: &Net) -> Vec<Sent> {
    let mut mix = usual(net);
    mix.extend(odd_4(net));
    mix.extend(odd_addresses_4(net));
    mix.extend(odd_6(net));
    mix
}

/// Forwarded in any case: sizes, types of service, TTLs, protocols, numbers that make every kind of checksum.
fn usual(net: &Net) -> Vec<Sent> {
    let (mut random, mut mix) = (Random(7), Vec::new());
    for number in 0..600_u32 {
        let from = if number % 3 == 0 { RIGHT } else { LEFT };
        let bytes = match number % 5 {
            0 => 28 + random.below(20),
            1 => RIGHT_MTU - random.below(3),
            _ => 48 + random.below(1300),
        };
        let mut one = if number % 4 == 3 {
            ip_6(net, from, bytes.max(48) as usize)
        } else {
            ip_4(net, from, bytes as usize)
        };
        let at = IP + if number % 4 == 3 { 7 } else { 8 };
        one.frame[at] = 2 + random.below(254) as u8;
        one.frame[IP + 1] = random.below(256) as u8;
        if number % 4 == 3 {
            one.frame[IP + 2] = random.below(256) as u8;
        } else {
            let id = random.below(65536) as u16;
            one.frame[IP + 4..IP + 6].copy_from_slice(&id.to_be_bytes());
            one.frame[IP + 6] = if random.below(2) == 0 { 0x40 } else { 0 };
            one.frame[IP + 9] = [17, 6, 47, 132][random.below(4) as usize];
            seal(&mut one.frame);
        }
        mix.push(one);
    }
    mix
}

fn odd_4(net: &Net) -> Vec<Sent> {
    let with = |bytes, change: &dyn Fn(&mut Vec<u8>)| {
        let mut one = ip_4(net, LEFT, bytes);
        change(&mut one.frame);
        seal(&mut one.frame);
        one
    };
    let mut mix: Vec<Sent> = [0, 1]
        .map(|ttl| with(100, &|frame| frame[IP + 8] = ttl))
        .into();
    for bits in [0x20, 0x80] {
        mix.push(with(200, &|frame| frame[IP + 6] = bits));
    }
    mix.push(with(200, &|frame| frame[IP + 7] = 5));
    // Too long for the way out: cut, or refused.
    mix.push(with(RIGHT_MTU as usize + 1, &|_| {}));
    mix.push(with(1500, &|_| {}));
    mix.push(with(1500, &|frame| frame[IP + 6] = 0x40));
    for (at, value) in [(IP, 0x55), (IP, 0x44), (IP + 2, 0x7f)] {
        mix.push(with(100, &|frame| frame[at] = value));
    }
    mix.push(with(100, &|frame| {
        frame[IP + 2..IP + 4].copy_from_slice(&19_u16.to_be_bytes());
    }));
    // Bytes behind the packet.
    mix.push(with(100, &|frame| frame.extend([7; 9])));
    mix.push(with_options(net, LEFT));
    for at in [IP + 10, IP + 11] {
        let mut wrong = ip_4(net, LEFT, 100);
        wrong.frame[at] ^= 0x11;
        mix.push(wrong);
    }
    mix.push(Sent {
        from: LEFT,
        frame: tagged(ip_4(net, LEFT, 100).frame),
    });
    for mac in [[2, 1, 1, 1, 1, 1], [0xff; 6], [1, 0, 0x5e, 1, 1, 1]] {
        mix.push(with(100, &|frame| frame[..6].copy_from_slice(&mac)));
    }
    mix
}

fn odd_addresses_4(net: &Net) -> Vec<Sent> {
    let with = |at: usize, address: &str| {
        let mut one = ip_4(net, LEFT, 100);
        let address: Ipv4Addr = address.parse().unwrap();
        one.frame[at..at + 4].copy_from_slice(&address.octets());
        seal(&mut one.frame);
        one
    };
    let destinations = [
        // Local, no neighbour, no route, back to where it came from.
        DEVICE[LEFT][0],
        DEVICE[RIGHT][0],
        "198.19.0.77",
        "203.0.113.1",
        TESTER[LEFT][0],
        "198.19.0.255",
        "255.255.255.255",
        "239.1.1.1",
        "127.0.0.1",
        "0.0.0.1",
    ];
    let sources = [
        "127.0.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        DEVICE[LEFT][0],
        DEVICE[RIGHT][0],
        "198.19.0.9",
        "203.0.113.9",
        "198.18.0.255",
    ];
    let destinations = destinations.map(|address| with(IP + 16, address));
    let sources = sources.map(|address| with(IP + 12, address));
    destinations.into_iter().chain(sources).collect()
}

fn odd_6(net: &Net) -> Vec<Sent> {
    let with = |bytes, change: &dyn Fn(&mut Vec<u8>)| {
        let mut one = ip_6(net, LEFT, bytes);
        change(&mut one.frame);
        one
    };
    let mut mix: Vec<Sent> = [0, 1]
        .map(|hops| with(100, &|frame| frame[IP + 7] = hops))
        .into();
    mix.push(with(RIGHT_MTU as usize + 1, &|_| {}));
    mix.push(with(100, &|frame| frame[IP] = 0x50));
    mix.push(with(100, &|frame| frame[IP + 5] = 200));
    mix.push(with(100, &|frame| frame.extend([7; 9])));
    // Fragments and other extensions are for the last host.
    mix.push(with(100, &|frame| {
        frame[IP + 6] = 44;
        frame[IP + 40..IP + 48].copy_from_slice(&[17, 0, 0, 1, 0, 0, 0, 9]);
    }));
    mix.push(with(100, &|frame| frame[IP + 6] = 59));
    for (at, address) in [
        (24, "2001:db8::1"),
        (24, "2001:2:0:2::77"),
        (24, DEVICE[LEFT][1]),
        (24, DEVICE[RIGHT][1]),
        (24, "::1"),
        (24, "ff0e::1"),
        (8, "::"),
        (8, "::1"),
        (8, "ff02::1"),
        (8, "2001:2:0:2::9"),
    ] {
        let address: Ipv6Addr = address.parse().unwrap();
        mix.push(with(100, &|frame| {
            frame[IP + at..IP + at + 16].copy_from_slice(&address.octets());
            sum_6(frame);
        }));
    }
    mix
}

/// On every way that a frame may take: redirected, through the kernel, and back from the kernel itself.
pub(crate) fn marks(net: &Net) -> Vec<Sent> {
    let mut marks = Vec::new();
    for from in [LEFT, RIGHT] {
        let mut fast = ip_4(net, from, 100);
        mark(&mut fast.frame);
        let mut slow = with_options(net, from);
        mark(&mut slow.frame);
        marks.extend([fast, slow, echo(net, from)]);
    }
    marks
}

fn mark(frame: &mut [u8]) {
    let from = frame.len() - MARK.len();
    frame[from..].copy_from_slice(MARK);
}

pub(crate) fn is_mark((_, frame): &Out) -> bool {
    frame.ends_with(MARK)
}

/// What is to be compared: not what the device asks its neighbours, nor errors that wait for them.
pub(crate) fn out(side: usize, frame: &[u8]) -> Option<Out> {
    let mut frame = frame.to_vec();
    let kind = u16::from_be_bytes([*frame.get(12)?, *frame.get(13)?]);
    match kind {
        0x0800 if frame.len() > IP + 22 => out_4(&mut frame)?,
        0x86dd if frame.len() > IP + 42 => out_6(&mut frame)?,
        0x0806 => return None,
        _ => {}
    }
    Some((side, frame))
}

fn out_4(frame: &mut Vec<u8>) -> Option<()> {
    let header = 4 * usize::from(frame[IP] & 15);
    if frame[IP + 9] == 1 && frame.get(IP + header..IP + header + 2) == Some(&[3, 1]) {
        return None;
    }
    let source: [u8; 4] = frame[IP + 12..IP + 16].try_into().ok()?;
    if is_device(source.into()) {
        frame[IP + 4..IP + 6].fill(0);
        frame[IP + 10..IP + 12].fill(0);
    }
    as_on_a_wire(frame, usize::from(half(frame, IP + 2)));
    Some(())
}

fn out_6(frame: &mut Vec<u8>) -> Option<()> {
    let control = frame[IP + 6] == 58;
    if frame[IP + 24] == 0xff || control && (130..=143).contains(&frame[IP + 40]) {
        return None;
    }
    if control && frame[IP + 40..IP + 42] == [1, 3] {
        return None;
    }
    let source: [u8; 16] = frame[IP + 8..IP + 24].try_into().ok()?;
    if is_device(source.into()) {
        // The flow label.
        frame[IP + 1..IP + 4].fill(0);
    }
    as_on_a_wire(frame, 40 + usize::from(half(frame, IP + 4)));
    Some(())
}

/// The kernel drops padding, and a veth adds none.
fn as_on_a_wire(frame: &mut Vec<u8>, packet_bytes: usize) {
    if frame.len() >= IP + packet_bytes && frame.len() <= SHORTEST {
        frame.resize(SHORTEST, 0);
    }
}

fn half(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

fn is_device(address: IpAddr) -> bool {
    DEVICE.iter().flatten().any(|own| ip(own) == address)
}

pub(crate) fn assert_same(expected: &[Out], got: &[Out]) {
    let only = |these: &[Out], those: &[Out]| -> Vec<String> {
        let mut rest = those.to_vec();
        let missing = these.iter().filter(|one| {
            let found = rest.iter().position(|other| other == *one);
            found.map(|at| rest.swap_remove(at)).is_none()
        });
        missing
            .map(|(side, frame)| format!("{side}: {frame:02x?}"))
            .collect()
    };
    let (missing, more) = (only(expected, got), only(got, expected));
    assert!(
        missing.is_empty() && more.is_empty(),
        "only the kernel: {missing:#?}, only ours: {more:#?}"
    );
    assert!(expected.len() > 600, "{}", expected.len());
}

/// UDP to the tester's host behind the other port.
fn ip_4(net: &Net, from: usize, bytes: usize) -> Sent {
    let mut frame = ethernet(net, from, 0x0800);
    frame.extend([0x45, 0, 0, 0, 0x12, 0x34, 0, 0, 64, 17, 0, 0]);
    for address in [TESTER[from][0], TESTER[1 - from][0]] {
        frame.extend(address.parse::<Ipv4Addr>().unwrap().octets());
    }
    push_udp(&mut frame, bytes - 20);
    frame[IP + 2..IP + 4].copy_from_slice(&(bytes as u16).to_be_bytes());
    seal(&mut frame);
    frame.resize(frame.len().max(SHORTEST), 0);
    Sent { from, frame }
}

fn ip_6(net: &Net, from: usize, bytes: usize) -> Sent {
    let mut frame = ethernet(net, from, 0x86dd);
    frame.extend([0x60, 0, 0, 0]);
    frame.extend((bytes as u16 - 40).to_be_bytes());
    frame.extend([17, 64]);
    for address in [TESTER[from][1], TESTER[1 - from][1]] {
        frame.extend(address.parse::<Ipv6Addr>().unwrap().octets());
    }
    push_udp(&mut frame, bytes - 40);
    sum_6(&mut frame);
    frame.resize(frame.len().max(SHORTEST), 0);
    Sent { from, frame }
}

/// Without a checksum.
fn push_udp(frame: &mut Vec<u8>, bytes: usize) {
    frame.extend([0x30, 0x39, 0x75, 0x30]);
    frame.extend((bytes as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((8..bytes).map(|at| at as u8));
}

fn sum_6(frame: &mut [u8]) {
    let address = |at: usize| <[u8; 16]>::try_from(&frame[at..at + 16]).unwrap();
    let (source, destination) = (address(IP + 8), address(IP + 24));
    let end = IP + 40 + usize::from(half(frame, IP + 4));
    frame[IP + 46..IP + 48].fill(0);
    let segment = &frame[IP + 40..end];
    let sum = udp::checksum(source.into(), destination.into(), segment).unwrap();
    frame[IP + 46..IP + 48].copy_from_slice(&sum.to_be_bytes());
}

/// Four bytes of "no operation".
fn with_options(net: &Net, from: usize) -> Sent {
    let mut one = ip_4(net, from, 100);
    one.frame.splice(IP + 20..IP + 20, [1; 4]);
    one.frame[IP] = 0x46;
    one.frame[IP + 3] = 104;
    seal(&mut one.frame);
    one
}

fn echo(net: &Net, from: usize) -> Sent {
    let mut one = ip_4(net, from, 100);
    one.frame[IP + 9] = 1;
    let own: Ipv4Addr = DEVICE[from][0].parse().unwrap();
    one.frame[IP + 16..IP + 20].copy_from_slice(&own.octets());
    mark(&mut one.frame);
    one.frame[IP + 20..IP + 24].copy_from_slice(&[8, 0, 0, 0]);
    let sum = !ones_complement(&one.frame[IP + 20..]);
    one.frame[IP + 22..IP + 24].copy_from_slice(&sum.to_be_bytes());
    seal(&mut one.frame);
    one
}

fn ethernet(net: &Net, from: usize, kind: u16) -> Vec<u8> {
    let mut frame = net.macs[from].to_vec();
    frame.extend(tester_mac(from));
    frame.extend(kind.to_be_bytes());
    frame
}

/// The header's checksum, whatever else is wrong with it.
fn seal(frame: &mut [u8]) {
    frame[IP + 10..IP + 12].fill(0);
    let end = IP + (4 * usize::from(frame[IP] & 15)).max(20);
    let sum = !ones_complement(&frame[IP..end]);
    frame[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
}

fn ones_complement(bytes: &[u8]) -> u16 {
    let pair = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    let mut sum: u32 = bytes.chunks(2).map(pair).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A frame of a protocol that nobody has, for the bridge.
pub(crate) fn plain(to: [u8; 6], number: u8) -> Vec<u8> {
    let mut frame = to.to_vec();
    frame.extend([2, 0, 0, 0, 0xbb, number, 0x88, 0xb5]);
    frame.resize(60, number);
    frame
}

pub(crate) fn tagged(mut frame: Vec<u8>) -> Vec<u8> {
    frame.splice(12..12, [0x81, 0, 0, 5]);
    frame
}

/// A linear congruential generator: the same frames each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as u32 % end
    }
}

const IP: usize = 14;
/// Without the check sequence.
const SHORTEST: usize = 60;
const MARK: &[u8] = b"linerate's mark.";
