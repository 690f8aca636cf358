// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our ARP, neighbour discovery and test frames against the kernel's: a router in its own namespace between two ports.
//!
//! Its own harness, because a process with threads cannot enter a user namespace.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod router;
#[path = "../sandboxed/mod.rs"]
mod sandboxed;

use std::net::{IpAddr, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use linerate_wire::ether;
use linerate_wire::frame::{self, Arrived, ComplaintKind, Family, Flow, Side, Signature, Template};

use router::Router;

const TESTS: &[(&str, fn())] = &[
    (
        "the_kernel_answers_our_questions",
        the_kernel_answers_our_questions,
    ),
    (
        "our_answers_satisfy_the_kernel",
        our_answers_satisfy_the_kernel,
    ),
    (
        "an_announcement_moves_a_neighbour",
        an_announcement_moves_a_neighbour,
    ),
    (
        "a_routed_frame_is_intact_and_one_hop_older",
        a_routed_frame_is_intact_and_one_hop_older,
    ),
    (
        "the_kernel_takes_our_frames_for_itself",
        the_kernel_takes_our_frames_for_itself,
    ),
    (
        "the_kernels_complaints_are_understood",
        the_kernels_complaints_are_understood,
    ),
];

const FAMILIES: [Family; 2] = [Family::Ipv4, Family::Ipv6];

const SIGNATURE: Signature = Signature {
    run: 0x5A5A,
    stream: 1,
    sequence: 77,
    sent_ns: 123_456_789,
};

fn main() -> ExitCode {
    sandboxed::enter(TESTS, None, |privilege| sandboxed::run(TESTS, privilege))
}

fn the_kernel_answers_our_questions() {
    let mut router = Router::new();
    for (family, side) in FAMILIES
        .into_iter()
        .flat_map(|family| [(family, Side::A), (family, Side::B)])
    {
        let mac = router.resolve(side, family);
        assert_eq!(mac, router.mac(side), "{family:?} {side:?}");
    }
}

fn our_answers_satisfy_the_kernel() {
    let mut router = Router::new();
    for (family, side) in FAMILIES
        .into_iter()
        .flat_map(|family| [(family, Side::A), (family, Side::B)])
    {
        // On the link itself, and behind the tester's port.
        for to in [side.tester(family), side.behind(family, 5)] {
            let mac = router.where_kernel_sends(side, to);
            assert_eq!(mac, router.port(side).neighbours.mac, "{to}");
        }
    }
}

fn an_announcement_moves_a_neighbour() {
    let mut router = Router::new();
    for family in FAMILIES {
        let own = Side::A.tester(family);
        let first = router.where_kernel_sends(Side::A, own);
        let moved = [2, 0, 0, 0, 0, 0x77];
        assert_ne!(first, moved);
        let mut neighbours = router.port(Side::A).neighbours.clone();
        neighbours.mac = moved;
        // The kernel takes no news of a neighbour for a second after the last (net.ipv4.neigh.*.locktime).
        let announcement = neighbours.announcement(own);
        let socket = router.inside(|| UdpSocket::bind((Side::A.device(family), 0)).unwrap());
        router.exchange(
            |router| {
                router.port(Side::A).send(&announcement);
                socket.send_to(b"?", (own, 9)).unwrap();
            },
            |side, bytes| (side == Side::A && bytes[..6] == moved).then_some(()),
        );
    }
}

fn a_routed_frame_is_intact_and_one_hop_older() {
    let mut router = Router::new();
    for (family, from) in FAMILIES
        .into_iter()
        .flat_map(|family| [(family, Side::A), (family, Side::B)])
    {
        let flow = router.flow(from, family);
        let networks = frame::flows(flow, frame::Spread::Networks(from), 3);
        for (flow, size) in networks.zip([flow.smallest_size_bytes(), 500, 1514]) {
            let (side, ours) = router.forward(&flow, size);
            assert_eq!(side, from.opposite());
            assert!(ours.is_intact(), "{ours:?}");
            assert_eq!((ours.signature, ours.ttl), (SIGNATURE, frame::TTL - 1));
            assert_eq!(
                (ours.source, ours.destination),
                (flow.source, flow.destination)
            );
            assert_eq!(ours.destination_mac, router.port(side).neighbours.mac);
        }
    }
}

/// A socket gets what has right checksums and lengths only.
fn the_kernel_takes_our_frames_for_itself() {
    let router = Router::new();
    for family in FAMILIES {
        let device = Side::A.device(family);
        let socket = router.inside(|| UdpSocket::bind((device, frame::DESTINATION_PORT)).unwrap());
        socket
            .set_read_timeout(Some(Duration::from_millis(100)))
            .unwrap();
        let flow = Flow {
            destination: device,
            ..router.flow(Side::A, family)
        };
        for size in [84, 85, 600, 1518] {
            let bytes = stamped(&flow, size);
            let payload = payload_until_it_comes(&router, &bytes, &socket);
            assert_eq!(
                payload,
                bytes[bytes.len() - payload.len()..],
                "{family:?} {size}"
            );
        }
    }
}

/// Of a datagram as long as the frame; an earlier one may have been sent more than once.
fn payload_until_it_comes(router: &Router, frame: &[u8], socket: &UdpSocket) -> Vec<u8> {
    let headers_bytes = if socket.local_addr().unwrap().is_ipv4() {
        42
    } else {
        62
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut room = [0; 2000];
    while Instant::now() < deadline {
        router.port(Side::A).send(frame);
        while let Ok(length) = socket.recv(&mut room) {
            if length + headers_bytes == frame.len() {
                return room[..length].to_vec();
            }
        }
    }
    panic!("{} bytes did not come", frame.len());
}

fn the_kernels_complaints_are_understood() {
    let mut router = Router::new();
    for family in FAMILIES {
        let good = router.flow(Side::A, family);
        let nowhere: IpAddr = match family {
            Family::Ipv4 => "203.0.113.1".parse().unwrap(),
            Family::Ipv6 => "2001:db8::1".parse().unwrap(),
        };
        let last_hop = Flow { ttl: 1, ..good };
        let unrouted = Flow {
            destination: nowhere,
            ..good
        };
        for (flow, expected) in [
            (last_hop, ComplaintKind::TimeExceeded),
            (unrouted, ComplaintKind::Unreachable { code: 0 }),
        ] {
            let frame = stamped(&flow, 128);
            let complaint = router.exchange(
                |router| router.port(Side::A).send(&frame),
                |_, bytes| match frame::read(bytes) {
                    Arrived::Complaint(complaint) => Some(complaint),
                    _ => None,
                },
            );
            assert_eq!(complaint.kind, expected);
            assert_eq!(complaint.from, Side::A.device(family));
            assert_eq!(complaint.about_source, Some(flow.source));
            assert_eq!(complaint.about_destination, Some(flow.destination));
        }
    }
}

fn stamped(flow: &Flow, size_bytes: u16) -> Vec<u8> {
    let template = Template::new(flow, size_bytes).unwrap();
    let mut bytes = template.bytes().to_vec();
    template.stamp(&mut bytes, &SIGNATURE);
    bytes
}

/// The IP destination of a frame.
fn destination(bytes: &[u8]) -> Option<IpAddr> {
    let frame = ether::Frame::parse(bytes)?;
    match frame.ethertype {
        ether::IPV4 => Some(
            linerate_wire::ipv4::Packet::parse(frame.payload)?
                .destination
                .into(),
        ),
        ether::IPV6 => Some(
            linerate_wire::ipv6::Packet::parse(frame.payload)?
                .destination
                .into(),
        ),
        _ => None,
    }
}
