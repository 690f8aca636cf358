// SPDX-License-Identifier: MIT OR Apache-2.0
//! The neighbours that a device sees behind a port of the tester: answers to ARP (RFC 826) and neighbour discovery
//! (RFC 4861) for any number of addresses, and the questions that find the device's own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::address::AddressRange;
use super::control::ControlFrame;
use crate::arp::{self, Operation};
use crate::ether::{self, Frame, Header};
use crate::ipv6;
use crate::nd::{self, Message};

/// Everyone behind one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// The port's Ethernet address: that of everyone.
    pub mac: [u8; 6],
    /// Frames of other VLANs are not answered.
    pub vlan: Option<u16>,
    /// Their addresses.
    pub own: Vec<AddressRange>,
    /// Addresses in `own` that belong to the device.
    pub except: Vec<IpAddr>,
}

impl Neighbours {
    /// The answer to a frame, if it asks for one of the addresses.
    #[must_use]
    pub fn answer(&self, bytes: &[u8]) -> Option<ControlFrame> {
        let frame = Frame::parse(bytes)?;
        match frame.ethertype {
            ether::ARP if self.is_for_us(&frame) => self.answer_arp(&frame),
            ether::IPV6 if self.is_for_us(&frame) => self.answer_solicitation(&frame),
            _ => None,
        }
    }

    /// Asks, in the name of one of the addresses, who has another one; `None` if they are not of one family.
    #[must_use]
    pub fn request(&self, from: IpAddr, target: IpAddr) -> Option<ControlFrame> {
        match (from, target) {
            (IpAddr::V4(from), IpAddr::V4(target)) => {
                Some(self.arp(BROADCAST, Operation::Request, from, UNKNOWN, target))
            }
            (IpAddr::V6(source), IpAddr::V6(target)) => Some(self.discovery(
                nd::multicast_mac(nd::solicited_node(target)),
                &Message {
                    operation: nd::Operation::Solicitation,
                    source,
                    destination: nd::solicited_node(target),
                    target,
                    mac: (!source.is_unspecified()).then_some(self.mac),
                },
            )),
            _ => None,
        }
    }

    /// Announces an address: gratuitous ARP (RFC 5227), unsolicited advertisement. It renews
    /// what a device knows, but most do not learn from it.
    #[must_use]
    pub fn announcement(&self, address: IpAddr) -> ControlFrame {
        match address {
            IpAddr::V4(own) => self.arp(BROADCAST, Operation::Request, own, UNKNOWN, own),
            IpAddr::V6(own) => {
                let everyone = nd::multicast_mac(nd::ALL_NODES);
                self.discovery(everyone, &self.advertisement(own, nd::ALL_NODES, false))
            }
        }
    }

    /// Of our VLAN, and to us or to a group. A tag of VLAN 0 has a priority only.
    fn is_for_us(&self, frame: &Frame<'_>) -> bool {
        let [outer, inner] = frame.vlans;
        let to_us = frame.destination == self.mac || frame.destination[0] & 1 == 1;
        to_us && inner.is_none() && outer.filter(|vlan| *vlan != 0) == self.vlan
    }

    fn has(&self, address: IpAddr) -> bool {
        self.own.iter().any(|range| range.contains(address)) && !self.except.contains(&address)
    }

    fn answer_arp(&self, frame: &Frame<'_>) -> Option<ControlFrame> {
        let asked = arp::Packet::parse(frame.payload)?;
        let is_question = asked.operation == Operation::Request
            && asked.sender_ip != asked.target_ip
            && self.is_another_station(asked.sender_mac);
        (is_question && self.has(asked.target_ip.into())).then(|| {
            let (to, own) = (asked.sender_mac, asked.target_ip);
            self.arp(to, Operation::Reply, own, to, asked.sender_ip)
        })
    }

    fn answer_solicitation(&self, frame: &Frame<'_>) -> Option<ControlFrame> {
        let asked = Message::parse(&ipv6::Packet::parse(frame.payload)?)?;
        let to = asked.mac.unwrap_or(frame.source);
        let is_question =
            asked.operation == nd::Operation::Solicitation && self.is_another_station(to);
        if !is_question || !self.has(asked.target.into()) {
            return None;
        }
        // A host without an address cannot be answered: the answer is multicast (RFC 4861 section 7.2.4).
        if asked.source.is_unspecified() {
            return Some(self.announcement(asked.target.into()));
        }
        Some(self.discovery(to, &self.advertisement(asked.target, asked.source, true)))
    }

    /// No group, which would be answered by everyone that hears it, and not ourselves.
    fn is_another_station(&self, mac: [u8; 6]) -> bool {
        mac[0] & 1 == 0 && mac != self.mac
    }

    const fn advertisement(&self, own: Ipv6Addr, to: Ipv6Addr, solicited: bool) -> Message {
        Message {
            operation: nd::Operation::Advertisement {
                solicited,
                overrides: true,
            },
            source: own,
            destination: to,
            target: own,
            mac: Some(self.mac),
        }
    }

    fn arp(
        &self,
        to: [u8; 6],
        operation: Operation,
        sender_ip: Ipv4Addr,
        target_mac: [u8; 6],
        target_ip: Ipv4Addr,
    ) -> ControlFrame {
        let packet = arp::Packet {
            operation,
            sender_mac: self.mac,
            sender_ip,
            target_mac,
            target_ip,
        };
        ControlFrame::new(&self.header(to, ether::ARP), &[&packet.encode()])
    }

    fn discovery(&self, to: [u8; 6], message: &Message) -> ControlFrame {
        let (packet, length) = message.encode();
        ControlFrame::new(&self.header(to, ether::IPV6), &[&packet[..length]])
    }

    const fn header(&self, to: [u8; 6], ethertype: u16) -> Header {
        Header {
            destination: to,
            source: self.mac,
            vlan: self.vlan,
            ethertype,
        }
    }
}

/// Returns the address that an ARP reply or an advertisement resolves.
#[must_use]
pub fn resolved(bytes: &[u8]) -> Option<(IpAddr, [u8; 6])> {
    let frame = Frame::parse(bytes)?;
    match frame.ethertype {
        ether::ARP => arp::Packet::parse(frame.payload)
            .filter(|packet| packet.operation == Operation::Reply)
            .map(|packet| (packet.sender_ip.into(), packet.sender_mac)),
        ether::IPV6 => Message::parse(&ipv6::Packet::parse(frame.payload)?)
            .filter(|message| message.operation != nd::Operation::Solicitation)
            // An answer to a unicast question may leave the address out (RFC 4861 section 4.4).
            .map(|message| (message.target.into(), message.mac.unwrap_or(frame.source))),
        _ => None,
    }
}

const BROADCAST: [u8; 6] = [0xFF; 6];
const UNKNOWN: [u8; 6] = [0; 6];
