// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cards at the ends of the wire do what the kernel leaves to them, and their faults do what they say.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, SocketAddrV4, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use linerate_lab::{Host, Isolation, Lab, LabPlan, Nic, WireSpec};
use linerate_linux::ethtool_features::{self, Offload};
use linerate_linux::nic;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_linux::udp::{Sender, TxMode};
use linerate_linux::vlan_push::VlanPush;
use linerate_wire::offload::Upper;

use super::Test;
use super::frames::udp_frame;
use super::traffic::{DEADLINE, SILENCE, counter, eventually, lab_with, open, tcp};
use super::verdict::{Outcome, Verdict, ensure};

pub(crate) const TESTS: &[Test] = &[
    ("nic_completes_every_checksum", nic_completes_every_checksum),
    (
        "nic_cuts_what_tcp_leaves_to_it",
        nic_cuts_what_tcp_leaves_to_it,
    ),
    (
        "nic_cuts_what_udp_leaves_to_it",
        nic_cuts_what_udp_leaves_to_it,
    ),
    (
        "nic_short_checksum_spoils_short_frames",
        nic_short_checksum_spoils_short_frames,
    ),
    ("nic_udp_zero_sends_none", nic_udp_zero_sends_none),
    ("nic_tso_flags_repeats_psh", nic_tso_flags_repeats_psh),
    ("nic_miscounts_adds_frames", nic_miscounts_adds_frames),
    ("nic_one_queue_gets_all_flows", nic_one_queue_gets_all_flows),
    (
        "nic_unstable_rss_spreads_a_flow",
        nic_unstable_rss_spreads_a_flow,
    ),
    ("nic_merges_datagrams", nic_merges_datagrams),
    (
        "nic_passes_wrong_to_the_socket",
        nic_passes_wrong_to_the_socket,
    ),
    ("nic_drops_short_frames_only", nic_drops_short_frames_only),
    ("nic_vlan_faults_spoil_what_they_insert", nic_vlan_faults),
];

/// A pair whose cards have no fault.
fn healthy(isolation: &Isolation) -> Outcome<Lab> {
    let spec = WireSpec {
        nic: Some(Nic::default()),
        ..WireSpec::default()
    };
    let plan = LabPlan {
        wire: Some(spec),
        ..LabPlan::default()
    };
    open(isolation, &plan)
}

fn capture(host: &Host) -> Outcome<PacketReceiver> {
    Ok(host.enter(|| PacketReceiver::open(host.interface, 2048, 8 << 20))??)
}

/// The frames to a port, until this many have arrived.
fn frames_to(receiver: &mut PacketReceiver, port: u16, count: usize) -> Outcome<Vec<Vec<u8>>> {
    let mut frames = Vec::new();
    let end = Instant::now() + DEADLINE;
    while frames.len() < count && Instant::now() < end {
        receiver.receive(64, |frame| {
            if destination_port(frame) == Some(port) {
                frames.push(frame.to_vec());
            }
        });
        receiver.wait(10_000_000)?;
    }
    ensure(frames.len() >= count, || {
        format!("{} of {count} frames arrived", frames.len())
    })?;
    Ok(frames)
}

fn destination_port(frame: &[u8]) -> Option<u16> {
    let [_, to] = Upper::of(frame)?.ports(frame)?;
    Some(to)
}

fn is_right(frame: &[u8]) -> bool {
    Upper::of(frame).and_then(|upper| upper.sum(frame)) == Some(0)
}

/// The value of the checksum's field.
fn field(frame: &[u8]) -> Outcome<[u8; 2]> {
    let upper = Upper::of(frame);
    let field = upper.and_then(|upper| frame.get(upper.checksum.field..)?.first_chunk().copied());
    field.ok_or_else(|| Verdict::Failed("no checksum".to_owned()))
}

/// A socket of host A connected to one of host B.
fn between([a, b]: &[Host; 2], (from, to): (IpAddr, IpAddr)) -> Outcome<(UdpSocket, UdpSocket)> {
    let far = b.enter(|| UdpSocket::bind((to, 0)))??;
    let near = a.enter(|| UdpSocket::bind((from, 0)))??;
    near.connect(far.local_addr()?)?;
    far.connect(near.local_addr()?)?;
    far.set_read_timeout(Some(DEADLINE))?;
    near.set_read_timeout(Some(DEADLINE))?;
    Ok((near, far))
}

fn ipv4(lab: &Lab) -> Outcome<(UdpSocket, UdpSocket)> {
    let [a, b] = lab.hosts();
    between(lab.hosts(), (a.ipv4.into(), b.ipv4.into()))
}

/// The addresses of both, of each family that they have.
fn families<'a>([a, b]: &'a [Host; 2]) -> impl Iterator<Item = (IpAddr, IpAddr)> + use<'a> {
    let pairs = [false, true].map(|ipv6| a.address(ipv6).zip(b.address(ipv6)));
    pairs.into_iter().flatten()
}

/// What host B sees of datagrams of 0 … 64 bytes, of one family.
fn short_datagrams(hosts: &[Host; 2], family: (IpAddr, IpAddr)) -> Outcome<Vec<Vec<u8>>> {
    let (near, far) = between(hosts, family)?;
    let mut seen = capture(&hosts[1])?;
    for length in 0..=64 {
        near.send(&vec![length; length.into()])?;
        // One at a time, so that they arrive in order whichever processor sends.
        if length % 16 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    frames_to(&mut seen, far.local_addr()?.port(), 65)
}

fn payload_bytes(frame: &[u8]) -> usize {
    Upper::of(frame).map_or(0, |upper| upper.payload.len())
}

fn nic_completes_every_checksum(isolation: &Isolation) -> Outcome {
    let lab = healthy(isolation)?;
    let feature = lab.hosts()[0].enter(|| nic::settings::read("eth0"))?;
    let is_on = |(name, value): &(String, String)| name == "tx-checksumming" && value == "on";
    let mut values = feature.into_iter().flat_map(|(_, values)| values);
    ensure(values.any(|value| is_on(&value)), || {
        "host A computes checksums itself".to_owned()
    })?;
    for family in families(lab.hosts()) {
        for frame in short_datagrams(lab.hosts(), family)? {
            let (length, right) = (payload_bytes(&frame), is_right(&frame));
            ensure(right && frame.len() >= 60, || {
                format!("{length} bytes to {}: {frame:02x?}", family.1)
            })?;
        }
    }
    Ok(())
}

/// What the host counts as one packet is several frames of the wire, and the bytes are the same.
fn nic_cuts_what_tcp_leaves_to_it(isolation: &Isolation) -> Outcome {
    let (packets, frames) = a_stream(&healthy(isolation)?)?;
    let wrong = frames
        .iter()
        .find(|frame| !is_right(frame) || frame.len() > 1514);
    ensure(wrong.is_none(), || format!("{wrong:02x?}"))?;
    ensure(packets * 2 < frames.len(), || {
        format!("{packets} packets are {} frames", frames.len())
    })
}

/// Sends 400 000 bytes from host A to host B: how many packets left A, and the frames at B.
fn a_stream(lab: &Lab) -> Outcome<(usize, Vec<Vec<u8>>)> {
    let [a, b] = lab.hosts();
    let mut seen = capture(b)?;
    let (mut near, mut far) = tcp(a, b)?;
    far.set_read_timeout(Some(DEADLINE))?;
    let port = far.local_addr()?.port();
    let payload: Vec<u8> = (0..400_000_u32)
        .map(|at| (at * 7 + at / 251) as u8)
        .collect();
    let before = counter(a, "tx_packets")?;
    let mut received = vec![0; payload.len()];
    thread::scope(|scope| {
        let sender = scope.spawn(|| near.write_all(&payload));
        let read = far.read_exact(&mut received);
        let _sent = sender.join();
        read
    })?;
    let packets = (counter(a, "tx_packets")? - before) as usize;
    let frames = frames_to(&mut seen, port, payload.len() / 1448)?;
    ensure(received == payload, || "other bytes arrived".to_owned())?;
    Ok((packets, frames))
}

/// The kernel sets PSH at the end of what a program writes, and twice a window (net/ipv4/tcp.c).
fn nic_tso_flags_repeats_psh(isolation: &Isolation) -> Outcome {
    let pushed = |lab: &Lab| -> Outcome<usize> {
        let (_, frames) = a_stream(lab)?;
        let wrong = frames.iter().find(|frame| !is_right(frame));
        ensure(wrong.is_none(), || format!("{wrong:02x?}"))?;
        Ok(frames.iter().filter(|frame| has_psh(frame)).count())
    };
    let right = pushed(&healthy(isolation)?)?;
    let faulty = pushed(&lab_with(isolation, &["nic-tso-flags"])?)?;
    ensure(right * 2 < faulty, || {
        format!("PSH in {right} segments, with the fault in {faulty}")
    })
}

fn has_psh(frame: &[u8]) -> bool {
    let flags = Upper::of(frame).and_then(|upper| frame.get(upper.checksum.start + 13).copied());
    flags.is_some_and(|flags| flags & 0x08 != 0)
}

/// One datagram of the socket for each frame (udp(7), `UDP_SEGMENT`).
fn nic_cuts_what_udp_leaves_to_it(isolation: &Isolation) -> Outcome {
    let lab = healthy(isolation)?;
    let [a, b] = lab.hosts();
    for family in families(lab.hosts()) {
        let mut seen = capture(b)?;
        let (near, far) = between(lab.hosts(), family)?;
        let before = counter(a, "tx_packets")?;
        let mut sender = Sender::new(near.into(), 100, 11, TxMode::Gso)?;
        if sender.mode() != TxMode::Gso {
            return Err(Verdict::Skipped("no UDP_SEGMENT here".to_owned()));
        }
        sender.send(0..11);
        let frames = frames_to(&mut seen, far.local_addr()?.port(), 11)?;
        let lengths: Vec<usize> = frames.iter().map(|frame| payload_bytes(frame)).collect();
        let packets = counter(a, "tx_packets")? - before;
        ensure(lengths == [100; 11], || format!("{lengths:?}"))?;
        ensure(frames.iter().all(|frame| is_right(frame)), || {
            format!("{frames:02x?}")
        })?;
        ensure(packets < 11, || format!("{packets} packets left host A"))?;
    }
    Ok(())
}

fn nic_short_checksum_spoils_short_frames(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["nic-short-checksum"])?;
    for (family, headers) in families(lab.hosts()).zip([42, 62]) {
        for frame in short_datagrams(lab.hosts(), family)? {
            let length = payload_bytes(&frame);
            ensure(is_right(&frame) == (headers + length >= 64), || {
                format!("{length} bytes to {}: {frame:02x?}", family.1)
            })?;
        }
    }
    Ok(())
}

fn nic_udp_zero_sends_none(isolation: &Isolation) -> Outcome {
    for (lab, expected) in [
        (healthy(isolation)?, [0xFF, 0xFF]),
        (lab_with(isolation, &["nic-udp-zero"])?, [0, 0]),
    ] {
        for family in families(lab.hosts()) {
            let (near, far) = between(lab.hosts(), family)?;
            let (mut seen, port) = (capture(&lab.hosts()[1])?, far.local_addr()?.port());
            near.send(&[0, 0])?;
            let first = frames_to(&mut seen, port, 1)?;
            // Added to itself, a sum is that of nothing.
            near.send(&field(&first[0])?)?;
            let second = field(&frames_to(&mut seen, port, 1)?[0])?;
            ensure(second == expected, || {
                format!("{second:02x?} to {}", family.1)
            })?;
        }
    }
    Ok(())
}

/// Sends datagrams from host B to host A; by how much A's counter of packets grew.
fn counted(lab: &Lab, count: u64) -> Outcome<u64> {
    let a = &lab.hosts()[0];
    let (near, far) = ipv4(lab)?;
    // Both know their neighbour before the count begins.
    far.send(b"first")?;
    near.recv(&mut [0; 16])?;
    let before = counter(a, "rx_packets")?;
    for _ in 0..count {
        far.send(b"counted")?;
        near.recv(&mut [0; 16])?;
    }
    Ok(counter(a, "rx_packets")? - before)
}

/// A few packets of neighbour discovery may come in between.
fn nic_miscounts_adds_frames(isolation: &Isolation) -> Outcome {
    let right = counted(&healthy(isolation)?, 100)?;
    ensure((100..120).contains(&right), || format!("{right} of 100"))?;
    let wrong = counted(&lab_with(isolation, &["nic-miscounts=2"])?, 100)?;
    ensure((150..180).contains(&wrong), || {
        format!("{wrong} of 100 and 50 more")
    })
}

/// Packets that each receive queue of host A got.
fn queues(a: &Host) -> Outcome<Vec<u64>> {
    let counters = a.enter(|| nic::ethtool_stats(a.interface))??;
    let is_queue = |name: &str| name.starts_with("rx_queue_") && name.ends_with("_xdp_packets");
    let counts = counters.into_iter().filter(|(name, _)| is_queue(name));
    Ok(counts.map(|(_, count)| count).collect())
}

/// By how much each queue grows by 20 datagrams of each of these flows from host B.
fn by_flows(lab: &Lab, flows: usize) -> Outcome<Vec<u64>> {
    let [a, b] = lab.hosts();
    let near = a.enter(|| UdpSocket::bind((a.ipv4, 0)))??;
    near.set_read_timeout(Some(DEADLINE))?;
    let before = queues(a)?;
    for _ in 0..flows {
        let far = b.enter(|| UdpSocket::bind((b.ipv4, 0)))??;
        far.connect(near.local_addr()?)?;
        for _ in 0..20 {
            far.send(b"flow")?;
            near.recv(&mut [0; 16])?;
        }
    }
    let after = queues(a)?;
    Ok(after
        .iter()
        .zip(&before)
        .map(|(new, old)| new - old)
        .collect())
}

fn nic_one_queue_gets_all_flows(isolation: &Isolation) -> Outcome {
    let lab = healthy(isolation)?;
    let one = by_flows(&lab, 1)?;
    let others = one.iter().filter(|count| **count >= 10).count();
    ensure(one.len() == 4 && has_all(&one, 20) && others == 1, || {
        format!("one flow: {one:?}")
    })?;
    // All in two of the four queues is as likely as 1 to 10⁹.
    let many = by_flows(&lab, 32)?;
    let used = many.iter().filter(|count| **count >= 20).count();
    ensure(used > 2, || format!("32 flows: {many:?}"))?;
    let faulty = by_flows(&lab_with(isolation, &["nic-one-queue"])?, 32)?;
    ensure(faulty.len() == 4 && has_all(&faulty, 640), || {
        format!("32 flows with the fault: {faulty:?}")
    })
}

/// Whether one queue got that many.
fn has_all(counts: &[u64], all: u64) -> bool {
    counts.iter().any(|count| *count >= all)
}

/// The test above has the same of a card without the fault.
fn nic_unstable_rss_spreads_a_flow(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["nic-unstable-rss"])?;
    let one = by_flows(&lab, 1)?;
    let all: u64 = one.iter().sum();
    ensure(one.len() == 4 && all >= 20 && !has_all(&one, 20), || {
        format!("one flow: {one:?}")
    })
}

/// What host A's socket gets of two datagrams of host B that follow each other, of different TTL.
fn two_datagrams(lab: &Lab) -> Outcome<Vec<Vec<u8>>> {
    let (near, far) = ipv4(lab)?;
    far.send(b"first")?;
    let mut buffer = [0; 64];
    near.recv(&mut buffer)?;
    far.send(b"one")?;
    far.set_ttl(9)?;
    far.send(b"other")?;
    let mut got: Vec<Vec<u8>> = Vec::new();
    while got.concat().len() < 8 {
        let length = near.recv(&mut buffer)?;
        got.push(buffer[..length].to_vec());
    }
    Ok(got)
}

fn nic_merges_datagrams(isolation: &Isolation) -> Outcome {
    let apart = two_datagrams(&healthy(isolation)?)?;
    ensure(apart == [&b"one"[..], b"other"], || format!("{apart:?}"))?;
    let lab = lab_with(isolation, &["nic-merges"])?;
    // On a busy machine the second may come too late.
    let mut merged = Vec::new();
    for _ in 0..50 {
        merged = two_datagrams(&lab)?;
        if merged.len() == 1 {
            break;
        }
    }
    ensure(merged == [b"oneother"], || format!("{merged:?}"))?;
    switch_off(&lab, Offload::GenericReceive)?;
    let apart = two_datagrams(&lab)?;
    ensure(apart.len() == 2, || format!("{apart:?} without GRO"))
}

fn switch_off(lab: &Lab, offload: Offload) -> Outcome {
    let a = &lab.hosts()[0];
    Ok(a.enter(|| ethtool_features::switch(a.interface, offload, false))??)
}

/// Sends a datagram with a wrong checksum from host B; whether host A's socket gets it.
fn gets_wrong(lab: &Lab) -> Outcome<bool> {
    let [a, b] = lab.hosts();
    let near = a.enter(|| UdpSocket::bind((a.ipv4, 0)))??;
    let link = a.enter(|| nic::link(a.interface))??;
    let hardware = link.address.try_into().unwrap_or([0xFF; 6]);
    let SocketAddr::V4(to) = near.local_addr()? else {
        return Err(Verdict::Failed("not of IPv4".to_owned()));
    };
    let from = SocketAddrV4::new(b.ipv4, 4000);
    let mut frame = udp_frame(hardware, from, to, b"wrong or right");
    let sender = b.enter(|| PacketSender::open(b.interface))??;
    near.set_read_timeout(Some(DEADLINE))?;
    sender.send(&frame)?;
    near.recv(&mut [0; 64])?;
    if let Some(last) = frame.last_mut() {
        *last ^= 1;
    }
    let errors = || checksum_errors(a).unwrap_or(0);
    let before = errors();
    sender.send(&frame)?;
    near.set_read_timeout(Some(Duration::from_millis(5)))?;
    let mut got = false;
    eventually(|| {
        got = near.recv(&mut [0; 64]).is_ok();
        got || errors() > before
    });
    Ok(got)
}

fn checksum_errors(host: &Host) -> Outcome<u64> {
    let text = host.enter(|| std::fs::read_to_string("/proc/thread-self/net/snmp"))??;
    let count = super::wire::udp_counter(&text, "InCsumErrors");
    count.ok_or_else(|| Verdict::Failed("no counter InCsumErrors".to_owned()))
}

fn nic_passes_wrong_to_the_socket(isolation: &Isolation) -> Outcome {
    let right = gets_wrong(&healthy(isolation)?)?;
    let lab = lab_with(isolation, &["nic-passes-wrong"])?;
    let faulty = gets_wrong(&lab)?;
    switch_off(&lab, Offload::ReceiveChecksum)?;
    let remedied = gets_wrong(&lab)?;
    ensure((right, faulty, remedied) == (false, true, false), || {
        format!("got it: {right}, with the fault {faulty}, without the offload {remedied}")
    })
}

fn nic_drops_short_frames_only(isolation: &Isolation) -> Outcome {
    let lab = lab_with(isolation, &["nic-drops-short"])?;
    let (near, far) = ipv4(&lab)?;
    let mut buffer = [0; 64];
    far.send(&[1; 21])?;
    far.send(&[2; 22])?;
    let length = near.recv(&mut buffer)?;
    ensure(length == 22, || format!("{length} bytes arrived"))?;
    near.set_read_timeout(Some(SILENCE))?;
    let more = near.recv(&mut buffer);
    ensure(more.is_err(), || format!("{more:?}"))
}

/// The tag of a datagram from host A that asks for one, as host B sees it, and whether its checksum is right.
fn tagged(lab: &Lab) -> Outcome<([u8; 4], bool)> {
    let [a, b] = lab.hosts();
    let index = a.enter(|| nic::link(a.interface))??.index;
    let push = a.enter(|| VlanPush::attach(index))?;
    let _push = push.map_err(|why| Verdict::Skipped(why.to_string()))?;
    let (near, far) = ipv4(lab)?;
    let mut seen = capture(b)?;
    VlanPush::tag(&near, 0xA007)?;
    near.send(&[7; 30])?;
    let frame = &frames_to(&mut seen, far.local_addr()?.port(), 1)?[0];
    let tag = frame.get(12..).and_then(|rest| rest.first_chunk());
    Ok((tag.copied().unwrap_or_default(), is_right(frame)))
}

/// They act while the interface inserts the tags, and not where the kernel does.
fn nic_vlan_faults(isolation: &Isolation) -> Outcome {
    let asked = [0x81, 0, 0xA0, 7];
    let right = tagged(&healthy(isolation)?)?;
    ensure(right == (asked, true), || format!("{right:02x?}"))?;
    for (fault, expected) in [
        ("nic-vlan-tag", ([0x81, 0, 0, 7], true)),
        ("nic-vlan-checksum", (asked, false)),
    ] {
        let lab = lab_with(isolation, &[fault])?;
        let faulty = tagged(&lab)?;
        ensure(faulty == expected, || format!("{fault}: {faulty:02x?}"))?;
        let a = &lab.hosts()[0];
        a.enter(|| {
            let card = nic::Ethtool::of(a.interface)?;
            nic::feature::write(&card, "tx-vlan-offload", "off")
        })??;
        let remedied = tagged(&lab)?;
        ensure(remedied == right, || {
            format!("{fault}, txvlan off: {remedied:02x?}")
        })?;
    }
    Ok(())
}
