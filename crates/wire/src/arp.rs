// SPDX-License-Identifier: MIT OR Apache-2.0
//! ARP for IPv4 over Ethernet (RFC 826).

use std::net::Ipv4Addr;

/// A request or a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What it says.
    pub operation: Operation,
    /// Sender's hardware address.
    pub sender_mac: [u8; 6],
    /// Sender's protocol address.
    pub sender_ip: Ipv4Addr,
    /// Target's hardware address; zero in a request.
    pub target_mac: [u8; 6],
    /// Target's protocol address.
    pub target_ip: Ipv4Addr,
}

/// The two operations in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Who has the target address?
    Request,
    /// The sender has its address.
    Reply,
}

impl Packet {
    /// Bytes of a packet.
    pub const LEN: usize = 28;

    /// Reads the payload of a frame; `None` if it is not ARP for IPv4 over Ethernet.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let (fixed, rest) = payload.split_first_chunk::<8>()?;
        let operation = match *fixed {
            [0, 1, 8, 0, 6, 4, 0, 1] => Operation::Request,
            [0, 1, 8, 0, 6, 4, 0, 2] => Operation::Reply,
            _ => return None,
        };
        let (sender_mac, rest) = rest.split_first_chunk()?;
        let (sender_ip, rest) = rest.split_first_chunk::<4>()?;
        let (target_mac, rest) = rest.split_first_chunk()?;
        let (target_ip, _) = rest.split_first_chunk::<4>()?;
        Some(Self {
            operation,
            sender_mac: *sender_mac,
            sender_ip: Ipv4Addr::from(*sender_ip),
            target_mac: *target_mac,
            target_ip: Ipv4Addr::from(*target_ip),
        })
    }

    /// Writes the packet.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut packet = [0; Self::LEN];
        packet[..7].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0]);
        packet[7] = if self.operation == Operation::Request {
            1
        } else {
            2
        };
        packet[8..14].copy_from_slice(&self.sender_mac);
        packet[14..18].copy_from_slice(&self.sender_ip.octets());
        packet[18..24].copy_from_slice(&self.target_mac);
        packet[24..].copy_from_slice(&self.target_ip.octets());
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_ignores_padding() {
        for operation in [Operation::Request, Operation::Reply] {
            let packet = Packet {
                operation,
                sender_mac: [2, 0, 0, 0, 0, 1],
                sender_ip: Ipv4Addr::new(10, 0, 0, 1),
                target_mac: [0; 6],
                target_ip: Ipv4Addr::new(10, 0, 0, 2),
            };
            let padded = [&packet.encode()[..], &[0; 18]].concat();
            assert_eq!(Packet::parse(&padded), Some(packet));
            assert_eq!(Packet::parse(&padded[..27]), None);
        }
        assert_eq!(Packet::parse(&[0; 28]), None);
    }
}
