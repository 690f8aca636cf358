// SPDX-License-Identifier: MIT OR Apache-2.0
//! What else devices send: complaints of routers as etherparse writes them, bridges' own protocols, learning frames.

use std::net::IpAddr;

use etherparse::{Icmpv4Header, Icmpv6Header, PacketBuilder, PacketBuilderStep};
use linerate_wire::frame::{self, Arrived, Complaint, ComplaintKind, Family, Foreign, Side};

use crate::{DEVICE, OURS, SIGNATURE, flow, stamped};

fn icmp4(kind: u8, code: u8, word: [u8; 4], quoted: &[u8]) -> Vec<u8> {
    let IpAddr::V4(from) = Side::A.device(Family::Ipv4) else {
        unreachable!()
    };
    let step: PacketBuilderStep<Icmpv4Header> = PacketBuilder::ethernet2(DEVICE, OURS)
        .ipv4(from.octets(), [198, 18, 1, 2], 64)
        .icmpv4_raw(kind, code, word);
    let mut bytes = Vec::new();
    step.write(&mut bytes, quoted).unwrap();
    bytes
}

fn icmp6(kind: u8, code: u8, word: [u8; 4], body: &[u8]) -> Vec<u8> {
    let (IpAddr::V6(from), IpAddr::V6(to)) =
        (Side::A.device(Family::Ipv6), Side::A.tester(Family::Ipv6))
    else {
        unreachable!()
    };
    let step: PacketBuilderStep<Icmpv6Header> = PacketBuilder::ethernet2(DEVICE, OURS)
        .ipv6(from.octets(), to.octets(), 255)
        .icmpv6_raw(kind, code, word);
    let mut bytes = Vec::new();
    step.write(&mut bytes, body).unwrap();
    bytes
}

#[test]
fn complaints_of_routers_name_what_they_are_about() {
    let gateway4: IpAddr = "198.18.1.10".parse().unwrap();
    let cases = [
        (11, 0, [0; 4], ComplaintKind::TimeExceeded),
        (3, 0, [0; 4], ComplaintKind::Unreachable { code: 0 }),
        (3, 13, [0; 4], ComplaintKind::Unreachable { code: 13 }),
        (
            3,
            4,
            [0, 0, 5, 0xDC],
            ComplaintKind::TooBig { mtu_bytes: 1500 },
        ),
        (
            5,
            1,
            [198, 18, 1, 10],
            ComplaintKind::Redirect { gateway: gateway4 },
        ),
    ];
    let about = flow(Family::Ipv4, None);
    // Routers quote the header and eight bytes, or all that fits.
    let ours = stamped(&about, 128, &SIGNATURE);
    for (kind, code, word, expected) in cases {
        for quoted in [&ours[14..42], &ours[14..]] {
            let read = frame::read(&icmp4(kind, code, word, quoted));
            assert_eq!(
                read,
                complaint(
                    expected,
                    Family::Ipv4,
                    Some(about.source),
                    Some(about.destination)
                )
            );
        }
        let unquoted = frame::read(&icmp4(kind, code, word, &[]));
        assert_eq!(unquoted, complaint(expected, Family::Ipv4, None, None));
    }
}

#[test]
fn complaints_of_ipv6_routers_too() {
    let about = flow(Family::Ipv6, None);
    let ours = stamped(&about, 128, &SIGNATURE);
    let cases = [
        (3, 0, [0; 4], ComplaintKind::TimeExceeded),
        (1, 3, [0; 4], ComplaintKind::Unreachable { code: 3 }),
        (
            2,
            0,
            [0, 0, 5, 0],
            ComplaintKind::TooBig { mtu_bytes: 1280 },
        ),
    ];
    for (kind, code, word, expected) in cases {
        let read = frame::read(&icmp6(kind, code, word, &ours[14..]));
        assert_eq!(
            read,
            complaint(
                expected,
                Family::Ipv6,
                Some(about.source),
                Some(about.destination)
            )
        );
    }
    let (IpAddr::V6(gateway), IpAddr::V6(destination)) =
        (Side::A.tester(Family::Ipv6), about.destination)
    else {
        unreachable!()
    };
    let body = [gateway.octets(), destination.octets()].concat();
    let redirect = ComplaintKind::Redirect {
        gateway: gateway.into(),
    };
    let read = frame::read(&icmp6(137, 0, [0; 4], &body));
    assert_eq!(
        read,
        complaint(redirect, Family::Ipv6, None, Some(about.destination))
    );
}

fn complaint(
    kind: ComplaintKind,
    family: Family,
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
) -> Arrived {
    Arrived::Complaint(Complaint {
        kind,
        from: Side::A.device(family),
        about_source: source,
        about_destination: destination,
    })
}

#[test]
fn what_is_unreachable_says_why_in_the_words_of_its_family() {
    let meaning = |bytes: &[u8]| match frame::read(bytes) {
        Arrived::Complaint(complaint) => complaint.meaning(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        meaning(&icmp4(3, 1, [0; 4], &[])),
        "the host does not answer ARP"
    );
    assert_eq!(meaning(&icmp6(1, 1, [0; 4], &[])), "forbidden by a filter");
    assert_eq!(
        meaning(&icmp4(3, 3, [0; 4], &[])),
        meaning(&icmp6(1, 4, [0; 4], &[]))
    );
}

#[test]
fn a_damaged_complaint_is_none() {
    let mut frames = [icmp4(11, 0, [0; 4], &[]), icmp6(3, 0, [0; 4], &[])];
    for (frame, protocol) in frames.iter_mut().zip([1, 58]) {
        *frame.last_mut().unwrap() ^= 1;
        assert_eq!(
            frame::read(frame),
            Arrived::Foreign(Foreign::Ip { protocol })
        );
    }
}

#[test]
fn other_protocols_are_named() {
    let ether =
        |destination: [u8; 6], rest: &[u8]| [&destination[..], &DEVICE, rest, &[0; 46]].concat();
    let bridges = [1, 0x80, 0xC2, 0, 0, 0];
    let cisco = [1, 0, 0x0C, 0xCC, 0xCC, 0xCD];
    let cases = [
        (
            ether([1, 0x80, 0xC2, 0, 0, 0x0E], &[0x88, 0xCC]),
            Foreign::Lldp,
        ),
        (
            ether(bridges, &[0, 38, 0x42, 0x42, 3]),
            Foreign::SpanningTree,
        ),
        (
            ether(cisco, &[0, 50, 0xAA, 0xAA, 3, 0, 0, 0x0C, 1, 0x0B]),
            Foreign::SpanningTree,
        ),
        (
            ether(bridges, &[0, 38, 0xE0, 0xE0, 3]),
            Foreign::Other { ethertype: 38 },
        ),
        (
            ether([1, 0x80, 0xC2, 0, 0, 1], &[0x88, 0x08]),
            Foreign::Pause,
        ),
        (
            ether([1, 0x80, 0xC2, 0, 0, 2], &[0x88, 0x09]),
            Foreign::SlowProtocol,
        ),
        (
            ether(OURS, &[0x88, 0x63]),
            Foreign::Other { ethertype: 0x8863 },
        ),
        (ether(OURS, &[8, 6]), Foreign::Other { ethertype: 0x0806 }),
        (ether(OURS, &[8, 0]), Foreign::Malformed),
        (icmp6(133, 0, [0; 4], &[]), Foreign::RouterSolicitation),
        (icmp6(134, 0, [0; 4], &[0; 8]), Foreign::RouterAdvertisement),
        (icmp6(143, 0, [0; 4], &[]), Foreign::MulticastListener),
        (icmp4(8, 0, [0; 4], &[]), Foreign::Ip { protocol: 1 }),
        (vec![0; 13], Foreign::Malformed),
    ];
    for (bytes, expected) in cases {
        assert_eq!(frame::read(&bytes), Arrived::Foreign(expected));
    }
}

#[test]
fn foreign_datagrams_are_not_ours() {
    let builder = || PacketBuilder::ethernet2(DEVICE, OURS);
    let udp4 = builder()
        .ipv4([198, 18, 1, 2], [198, 19, 1, 2], 10)
        .udp(0xC020, 7);
    let udp6 = builder().ipv6([1; 16], [2; 16], 10).udp(0xC020, 7);
    let (mut over4, mut over6) = (Vec::new(), Vec::new());
    udp4.write(&mut over4, &[0x55; 18]).unwrap();
    udp6.write(&mut over6, &[0x55; 18]).unwrap();
    let expected = Arrived::Foreign(Foreign::Ip { protocol: 17 });
    assert_eq!(
        (frame::read(&over4), frame::read(&over6)),
        (expected, expected)
    );
}

/// The UDP checksum is optional over IPv4: who adds one must add a right one.
#[test]
fn a_checksum_that_a_device_added_is_checked() {
    let ours = stamped(&flow(Family::Ipv4, None), 256, &SIGNATURE);
    let builder = PacketBuilder::ethernet2(OURS, DEVICE).ipv4([198, 18, 1, 2], [198, 19, 1, 2], 9);
    let mut summed = Vec::new();
    builder
        .udp(0xC020, 7)
        .write(&mut summed, &ours[42..])
        .unwrap();
    assert!(
        matches!(frame::read(&summed), Arrived::Ours(ours) if ours.is_intact() && ours.ttl == 9)
    );
    assert_ne!(summed[40..42], [0, 0]);
    summed[40] ^= 1;
    assert!(matches!(frame::read(&summed), Arrived::Ours(ours) if !ours.checksum_ok));
}

#[test]
fn learning_frames_are_known_again_wherever_they_come_out() {
    for vlan in [None, Some(7)] {
        let learning = frame::learning(OURS, DEVICE, vlan);
        assert_eq!(
            frame::read(&learning),
            Arrived::Learning { source_mac: OURS }
        );
        assert_eq!(
            (learning.len(), &learning[..6], &learning[6..12]),
            (60, &DEVICE[..], &OURS[..])
        );
    }
}
