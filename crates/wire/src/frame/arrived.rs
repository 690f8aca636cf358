// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a frame that arrived is.
//!
//! Hot path: [`read`] neither allocates nor panics, and looks at every byte of a frame of ours once.

use std::net::IpAddr;

use super::address::is_benchmark_address;
use super::complaint::Complaint;
use super::foreign::Foreign;
use super::internet::{self, Packet};
use super::signature::{Mark, Signature};
use super::{learning, pattern};
use crate::ether::{self, Frame};
use crate::udp::Datagram;
use crate::{arp, ipv4, ipv6, nd, udp};

/// A frame as [`read`] understood it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A test frame whose signature is proven; the rest of it may still be damaged.
    Ours(Ours),
    /// A test frame whose signature is damaged or cut.
    Corrupted,
    /// A learning frame of ours.
    Learning {
        /// The address to be learnt.
        source_mac: [u8; 6],
    },
    /// ARP.
    Arp(arp::Packet),
    /// A solicitation or advertisement of IPv6.
    Neighbour(nd::Message),
    /// A piece of a test packet: a link of the device takes less.
    Fragment,
    /// The device could not forward something.
    Complaint(Complaint),
    /// Not of the test.
    Foreign(Foreign),
}

/// A test frame. What a device may rewrite is reported, not judged: Ethernet addresses, tags, TTL, traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ours {
    /// Which one.
    pub signature: Signature,
    /// Whom Ethernet brought it to.
    pub destination_mac: [u8; 6],
    /// VLAN numbers, outer first.
    pub vlans: [Option<u16>; 2],
    /// IP address.
    pub source: IpAddr,
    /// IP address.
    pub destination: IpAddr,
    /// UDP port.
    pub source_port: u16,
    /// UDP port.
    pub destination_port: u16,
    /// Hops left.
    pub ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Whether all lengths agree: of the frame, IP's and UDP's.
    pub length_ok: bool,
    /// Whether the checksums are right: of the IPv4 header, and UDP's where there is one.
    pub checksum_ok: bool,
    /// Whether the payload after the signature is as sent, as far as it arrived.
    pub payload_ok: bool,
}

impl Ours {
    /// Whether nothing of what the frame carries is damaged.
    #[must_use]
    pub const fn is_intact(&self) -> bool {
        self.length_ok && self.checksum_ok && self.payload_ok
    }
}

/// Reads a frame without FCS, as it came from the wire (tags included).
#[must_use]
pub fn read(bytes: &[u8]) -> Arrived {
    let Some(frame) = Frame::parse(bytes) else {
        return Arrived::Foreign(Foreign::Malformed);
    };
    let packet = match frame.ethertype {
        ether::IPV4 => internet::ipv4(frame.payload),
        ether::IPV6 => internet::ipv6(frame.payload),
        _ => None,
    };
    let Some(packet) = packet else {
        return other(&frame);
    };
    let Some(datagram) = Datagram::parse(packet.segment) else {
        return other(&frame);
    };
    let ports = [datagram.source_port, datagram.destination_port];
    match Signature::mark(datagram.payload, ports) {
        Mark::Right(signature) => Arrived::Ours(ours(&frame, &packet, &datagram, signature)),
        Mark::Damaged => Arrived::Corrupted,
        Mark::Absent => other(&frame),
    }
}

#[inline]
fn ours(
    frame: &Frame<'_>,
    packet: &Packet<'_>,
    datagram: &Datagram<'_>,
    signature: Signature,
) -> Ours {
    let tail = datagram.payload.get(Signature::LEN..);
    let payload_ok = tail.is_some_and(pattern::is_intact);
    Ours {
        signature,
        destination_mac: frame.destination,
        vlans: frame.vlans,
        source: packet.source,
        destination: packet.destination,
        source_port: datagram.source_port,
        destination_port: datagram.destination_port,
        ttl: packet.ttl,
        traffic_class: packet.traffic_class,
        length_ok: packet.length_ok && usize::from(datagram.length) == packet.segment.len(),
        checksum_ok: packet.header_ok && internet::udp_intact(packet, datagram, payload_ok),
        payload_ok,
    }
}

#[cold]
fn other(frame: &Frame<'_>) -> Arrived {
    match frame.ethertype {
        ether::IPV4 => other_ipv4(frame.payload),
        ether::IPV6 => other_ipv6(frame.payload),
        ether::ARP => arp::Packet::parse(frame.payload).map_or(foreign(frame), Arrived::Arp),
        learning::ETHERTYPE if learning::is_ours(frame.payload) => Arrived::Learning {
            source_mac: frame.source,
        },
        _ => foreign(frame),
    }
}

fn foreign(frame: &Frame<'_>) -> Arrived {
    Arrived::Foreign(Foreign::of(frame))
}

fn other_ipv4(payload: &[u8]) -> Arrived {
    let Some(packet) = ipv4::Packet::parse(payload) else {
        return Arrived::Foreign(Foreign::Malformed);
    };
    let addresses = [packet.source.into(), packet.destination.into()];
    if packet.is_fragment() && packet.header_intact && is_of_test(packet.protocol, addresses) {
        return Arrived::Fragment;
    }
    let foreign = Foreign::Ip {
        protocol: packet.protocol,
    };
    Complaint::of_ipv4(&packet).map_or(Arrived::Foreign(foreign), Arrived::Complaint)
}

/// The contents of a fragment: all but the first have no signature.
fn is_of_test(protocol: u8, addresses: [IpAddr; 2]) -> bool {
    protocol == udp::PROTOCOL && addresses.into_iter().all(is_benchmark_address)
}

fn other_ipv6(payload: &[u8]) -> Arrived {
    let Some(packet) = ipv6::Packet::parse(payload) else {
        return Arrived::Foreign(Foreign::Malformed);
    };
    let addresses = [packet.source.into(), packet.destination.into()];
    if packet.is_fragment() && is_of_test(packet.protocol, addresses) {
        return Arrived::Fragment;
    }
    let neighbour = nd::Message::parse(&packet).map(Arrived::Neighbour);
    neighbour
        .or_else(|| Complaint::of_ipv6(&packet).map(Arrived::Complaint))
        .unwrap_or_else(|| Arrived::Foreign(Foreign::of_ipv6(&packet)))
}
