// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device says of frames that it did not forward: ICMP errors (RFC 792, RFC 4443) and redirects.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::address::Family;
use crate::checksum::Checksum;
use crate::{ipv4, ipv6, nd};

/// An ICMP error or a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong.
    pub kind: Kind,
    /// Who says so.
    pub from: IpAddr,
    /// Where the packet came from that it is about, if it is quoted.
    pub about_source: Option<IpAddr>,
    /// Where the packet was to go that it is about, if it is quoted.
    pub about_destination: Option<IpAddr>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The TTL ended: a loop, or more routers than hops.
    TimeExceeded,
    /// There is no way to the destination.
    Unreachable {
        /// Of ICMP or ICMPv6.
        code: u8,
    },
    /// A link on the way takes less.
    TooBig {
        /// What it takes: an IP packet, bytes.
        mtu_bytes: u32,
    },
    /// There is a shorter way: source and destination are on one side of the device.
    Redirect {
        /// The better next hop.
        gateway: IpAddr,
    },
}

impl Complaint {
    /// Reads an IPv4 packet; `None` if it carries no such error or is damaged.
    pub(super) fn of_ipv4(packet: &ipv4::Packet<'_>) -> Option<Self> {
        let (header, quoted) = packet.payload.split_first_chunk::<8>()?;
        let intact = Checksum::new().with(packet.payload).finish() == 0;
        if packet.protocol != ICMP || packet.is_fragment() || !packet.header_intact || !intact {
            return None;
        }
        let kind = match (header[0], header[1]) {
            (3, 4) => Kind::TooBig {
                mtu_bytes: u16::from_be_bytes([header[6], header[7]]).into(),
            },
            (3, code) => Kind::Unreachable { code },
            (5, _) => Kind::Redirect {
                gateway: Ipv4Addr::new(header[4], header[5], header[6], header[7]).into(),
            },
            (11, _) => Kind::TimeExceeded,
            _ => return None,
        };
        let about =
            quoted
                .get(12..20)
                .and_then(<[u8]>::first_chunk)
                .map(|&[a, b, c, d, e, f, g, h]| {
                    [Ipv4Addr::new(a, b, c, d), Ipv4Addr::new(e, f, g, h)]
                });
        Some(Self::new(kind, packet.source, about))
    }

    /// Reads an IPv6 packet; `None` if it carries no such error or is damaged.
    pub(super) fn of_ipv6(packet: &ipv6::Packet<'_>) -> Option<Self> {
        let (header, body) = packet.payload.split_first_chunk::<8>()?;
        if packet.protocol != nd::ICMPV6 || packet.is_fragment() || !nd::is_intact(packet) {
            return None;
        }
        let word = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let kind = match (header[0], header[1]) {
            (1, code) => Kind::Unreachable { code },
            (2, _) => Kind::TooBig { mtu_bytes: word },
            (3, _) => Kind::TimeExceeded,
            (137, _) => return Self::of_redirect(packet.source, body),
            _ => return None,
        };
        let about = body.get(8..40).and_then(addresses);
        Some(Self::new(kind, packet.source, about))
    }

    /// What it means, in a few words.
    #[must_use]
    pub const fn meaning(&self) -> &'static str {
        match (self.kind, Family::of(self.from)) {
            (Kind::TimeExceeded, _) => "hop limit exceeded",
            (Kind::TooBig { .. }, _) => "too big for a link on the way",
            (Kind::Redirect { .. }, _) => "another router is nearer",
            (Kind::Unreachable { code }, Family::Ipv4) => unreachable_over_ipv4(code),
            (Kind::Unreachable { code }, Family::Ipv6) => unreachable_over_ipv6(code),
        }
    }

    /// RFC 4861 section 4.5: better hop, destination, options.
    fn of_redirect(from: Ipv6Addr, body: &[u8]) -> Option<Self> {
        let [gateway, destination] = addresses(body)?;
        let kind = Kind::Redirect {
            gateway: gateway.into(),
        };
        Some(Self {
            kind,
            from: from.into(),
            about_source: None,
            about_destination: Some(destination.into()),
        })
    }

    fn new<A: Into<IpAddr>>(kind: Kind, from: A, about: Option<[A; 2]>) -> Self {
        let about = about.map(|about| about.map(Into::into));
        Self {
            kind,
            from: from.into(),
            about_source: about.map(|[source, _]| source),
            about_destination: about.map(|[_, destination]| destination),
        }
    }
}

/// RFC 792, RFC 1122 section 3.2.2.1, RFC 1812 section 5.2.7.1.
const fn unreachable_over_ipv4(code: u8) -> &'static str {
    match code {
        0 | 6 | 11 => "no route to the network",
        1 | 7 | 12 => "the host does not answer ARP",
        2 => "protocol unreachable",
        3 => "port unreachable",
        9 | 10 | 13 => "forbidden by a filter",
        _ => "unreachable",
    }
}

/// RFC 4443 section 3.1.
const fn unreachable_over_ipv6(code: u8) -> &'static str {
    match code {
        0 => "no route to the network",
        1 | 5 => "forbidden by a filter",
        2 => "beyond the scope of the source",
        3 => "the host does not answer neighbour discovery",
        4 => "port unreachable",
        6 => "a route says to reject it",
        _ => "unreachable",
    }
}

fn addresses(bytes: &[u8]) -> Option<[Ipv6Addr; 2]> {
    let (first, rest) = bytes.split_first_chunk::<16>()?;
    let second = rest.first_chunk::<16>()?;
    Some([Ipv6Addr::from(*first), Ipv6Addr::from(*second)])
}

const ICMP: u8 = 1;
