// SPDX-License-Identifier: MIT OR Apache-2.0
//! Neighbour discovery for IPv6 (RFC 4861): solicitations and advertisements, as ICMPv6 messages.

use std::net::Ipv6Addr;

use crate::checksum::Checksum;
use crate::ipv6;

/// A solicitation or an advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it says.
    pub operation: Operation,
    /// Source of the packet; unspecified while an address is being checked for duplicates.
    pub source: Ipv6Addr,
    /// Destination of the packet: unicast or multicast.
    pub destination: Ipv6Addr,
    /// The address to resolve, or that is resolved.
    pub target: Ipv6Addr,
    /// The link-layer address option: the sender's in a solicitation, the target's in an advertisement.
    pub mac: Option<[u8; 6]>,
}

/// The two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Who has the target address?
    Solicitation,
    /// The target address is at this hardware address.
    Advertisement {
        /// Whether it answers a solicitation.
        solicited: bool,
        /// Whether it takes the place of what is known.
        overrides: bool,
    },
}

/// IP protocol number of ICMPv6.
pub const ICMPV6: u8 = 58;

impl Message {
    /// Bytes of a packet with the link-layer address option.
    pub const LEN: usize = 72;

    /// Reads an IPv6 packet; `None` if it is neither message or not valid (RFC 4861 section 7.1).
    #[must_use]
    pub fn parse(packet: &ipv6::Packet<'_>) -> Option<Self> {
        let (fixed, rest) = packet.payload.split_first_chunk::<8>()?;
        let (target, options) = rest.split_first_chunk::<16>()?;
        let (operation, option) = match (fixed[0], fixed[1]) {
            (SOLICITATION, 0) => (Operation::Solicitation, SOURCE_MAC),
            (ADVERTISEMENT, 0) => (advertisement(fixed[4]), TARGET_MAC),
            _ => return None,
        };
        let message = Self {
            operation,
            source: packet.source,
            destination: packet.destination,
            target: Ipv6Addr::from(*target),
            mac: mac_option(options, option)?,
        };
        let from_this_link = packet.protocol == ICMPV6 && packet.hop_limit == 255;
        (from_this_link && is_intact(packet) && message.is_valid()).then_some(message)
    }

    fn is_valid(&self) -> bool {
        let addressed = match self.operation {
            Operation::Solicitation if self.source.is_unspecified() => {
                self.mac.is_none() && self.destination == solicited_node(self.target)
            }
            Operation::Solicitation => true,
            Operation::Advertisement { solicited, .. } => {
                !(solicited && self.destination.is_multicast())
            }
        };
        addressed && !self.source.is_multicast() && !self.target.is_multicast()
    }

    /// Writes the whole IPv6 packet; how many of the bytes it has depends on whether there is a hardware address.
    #[must_use]
    pub fn encode(&self) -> ([u8; Self::LEN], usize) {
        let mut packet = [0; Self::LEN];
        let length = if self.mac.is_some() {
            Self::LEN
        } else {
            Self::LEN - OPTION_BYTES
        };
        let body_bytes = length - IP_BYTES;
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&(body_bytes as u16).to_be_bytes());
        (packet[6], packet[7]) = (ICMPV6, 255);
        packet[8..24].copy_from_slice(&self.source.octets());
        packet[24..40].copy_from_slice(&self.destination.octets());
        let (kind, flags, option) = self.operation.codes();
        (packet[40], packet[44]) = (kind, flags);
        packet[48..64].copy_from_slice(&self.target.octets());
        if let Some(mac) = self.mac {
            (packet[64], packet[65]) = (option, 1);
            packet[66..].copy_from_slice(&mac);
        }
        let sum = sum(self.source, self.destination, &packet[IP_BYTES..length]).finish();
        packet[42..44].copy_from_slice(&sum.to_be_bytes());
        (packet, length)
    }
}

impl Operation {
    /// Type, flags, option that holds the hardware address. Who advertises here stands for networks behind it: a router.
    const fn codes(self) -> (u8, u8, u8) {
        match self {
            Self::Solicitation => (SOLICITATION, 0, SOURCE_MAC),
            Self::Advertisement {
                solicited,
                overrides,
            } => {
                let flags = ROUTER | (solicited as u8 * SOLICITED) | (overrides as u8 * OVERRIDE);
                (ADVERTISEMENT, flags, TARGET_MAC)
            }
        }
    }
}

/// Where all who may have an address listen (RFC 4291 section 2.7.1).
#[must_use]
pub const fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [_, _, _, _, _, _, a, b] = address.segments();
    Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 1, 0xFF00 | a & 0xFF, b)
}

/// Every node of the link.
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 1);

/// The Ethernet address of a multicast group (RFC 2464 section 7).
#[must_use]
pub const fn multicast_mac(group: Ipv6Addr) -> [u8; 6] {
    let [.., a, b, c, d] = group.octets();
    [0x33, 0x33, a, b, c, d]
}

/// Whether the ICMPv6 checksum of a packet is right.
pub(crate) fn is_intact(packet: &ipv6::Packet<'_>) -> bool {
    sum(packet.source, packet.destination, packet.payload).finish() == 0
}

fn sum(source: Ipv6Addr, destination: Ipv6Addr, body: &[u8]) -> Checksum {
    Checksum::new()
        .with(&source.octets())
        .with(&destination.octets())
        .with(&(body.len() as u32).to_be_bytes())
        .with(&[0, ICMPV6])
        .with(body)
}

const fn advertisement(flags: u8) -> Operation {
    Operation::Advertisement {
        solicited: flags & SOLICITED != 0,
        overrides: flags & OVERRIDE != 0,
    }
}

/// The Ethernet address among options; the outer `None` if they are malformed.
fn mac_option(mut options: &[u8], wanted: u8) -> Option<Option<[u8; 6]>> {
    let mut found = None;
    while let Some((&[kind, eighths], _)) = options.split_first_chunk() {
        let (option, rest) = options.split_at_checked(usize::from(eighths) * 8)?;
        let body = option.get(2..)?;
        if kind == wanted && found.is_none() {
            found = body.first_chunk().copied();
        }
        options = rest;
    }
    options.is_empty().then_some(found)
}

const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
const SOURCE_MAC: u8 = 1;
const TARGET_MAC: u8 = 2;
const ROUTER: u8 = 0x80;
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;
const IP_BYTES: usize = 40;
const OPTION_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn solicitation() -> Message {
        let target = "2001:2:0:1::1:2".parse().unwrap();
        Message {
            operation: Operation::Solicitation,
            source: "2001:2:0:1::1".parse().unwrap(),
            destination: solicited_node(target),
            target,
            mac: Some([2, 0, 0, 0, 0, 1]),
        }
    }

    fn read(message: &Message) -> Option<Message> {
        let (bytes, length) = message.encode();
        Message::parse(&ipv6::Packet::parse(&bytes[..length])?)
    }

    #[test]
    fn what_was_written_is_read() {
        let asked = solicitation();
        let unaddressed = Message {
            source: Ipv6Addr::UNSPECIFIED,
            mac: None,
            ..asked
        };
        for solicited in [false, true] {
            let sent = Message {
                operation: Operation::Advertisement {
                    solicited,
                    overrides: !solicited,
                },
                destination: asked.source,
                ..asked
            };
            assert_eq!(read(&sent), Some(sent));
        }
        assert_eq!(
            (read(&asked), read(&unaddressed)),
            (Some(asked), Some(unaddressed))
        );
    }

    #[test]
    fn what_rfc_4861_forbids_is_none() {
        let asked = solicitation();
        let everyone = Operation::Advertisement {
            solicited: true,
            overrides: true,
        };
        let forbidden = [
            Message {
                target: ALL_NODES,
                ..asked
            },
            Message {
                source: ALL_NODES,
                ..asked
            },
            Message {
                source: Ipv6Addr::UNSPECIFIED,
                ..asked
            },
            Message {
                source: Ipv6Addr::UNSPECIFIED,
                mac: None,
                destination: ALL_NODES,
                ..asked
            },
            Message {
                operation: everyone,
                destination: ALL_NODES,
                ..asked
            },
        ];
        forbidden
            .iter()
            .for_each(|message| assert_eq!(read(message), None, "{message:?}"));
    }

    #[test]
    fn groups_are_those_of_the_rfcs() {
        let group = solicited_node("2001:2::1234:5678".parse().unwrap());
        assert_eq!(group, "ff02::1:ff34:5678".parse::<Ipv6Addr>().unwrap());
        assert_eq!(multicast_mac(group), [0x33, 0x33, 0xFF, 0x34, 0x56, 0x78]);
    }
}
