// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time Exceeded, for a packet whose TTL ended (RFC 792, RFC 4443 section 3.3).

use std::net::IpAddr;

use linerate_wire::checksum::Checksum;
use linerate_wire::ether::{self, Header};
use linerate_wire::frame::Neighbours;
use linerate_wire::nd;

/// Returns the frame that reports to the sender of `packet` (which begins at its IP header) that its TTL ended.
pub(super) fn time_exceeded(
    router: &Neighbours,
    to_mac: [u8; 6],
    (own, to): (IpAddr, IpAddr),
    packet: &[u8],
) -> Vec<u8> {
    let ethertype = if own.is_ipv4() {
        ether::IPV4
    } else {
        ether::IPV6
    };
    let header = Header {
        destination: to_mac,
        source: router.mac,
        vlan: router.vlan,
        ethertype,
    };
    let (header, header_bytes) = header.encode();
    let mut frame = header[..header_bytes].to_vec();
    match (own, to) {
        (IpAddr::V4(own), IpAddr::V4(to)) => {
            let quoted = &packet[..packet.len().min(QUOTED_IPV4_BYTES)];
            let message = message(TIME_EXCEEDED_IPV4, quoted, Checksum::new());
            let total = (20 + message.len()) as u16;
            let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0, 0, TTL, ICMP, 0, 0];
            ip[2..4].copy_from_slice(&total.to_be_bytes());
            ip.extend(own.octets());
            ip.extend(to.octets());
            let sum = Checksum::new().with(&ip).finish();
            ip[10..12].copy_from_slice(&sum.to_be_bytes());
            frame.extend(ip);
            frame.extend(message);
        }
        (IpAddr::V6(v6), IpAddr::V6(to_v6)) => {
            let quoted = &packet[..packet.len().min(QUOTED_IPV6_BYTES)];
            let length = (8 + quoted.len()) as u32;
            let sum = Checksum::pseudo_header(own, to, nd::ICMPV6, length).unwrap_or_default();
            let message = message(TIME_EXCEEDED_IPV6, quoted, sum);
            frame.extend([0x60, 0, 0, 0]);
            frame.extend((message.len() as u16).to_be_bytes());
            frame.extend([nd::ICMPV6, TTL]);
            frame.extend(v6.octets());
            frame.extend(to_v6.octets());
            frame.extend(message);
        }
        _ => {}
    }
    frame
}

fn message(kind: u8, quoted: &[u8], sum: Checksum) -> Vec<u8> {
    let mut message = [&[kind, 0, 0, 0, 0, 0, 0, 0], quoted].concat();
    let sum = sum.with(&message).finish();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

const ICMP: u8 = 1;
const TTL: u8 = 64;
const TIME_EXCEEDED_IPV4: u8 = 11;
const TIME_EXCEEDED_IPV6: u8 = 3;
/// The header and 8 bytes.
const QUOTED_IPV4_BYTES: usize = 28;
const QUOTED_IPV6_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::frame::{self, Arrived, ComplaintKind, Family, Flow, Side, Template};

    #[test]
    fn the_tester_understands_it() {
        for family in [Family::Ipv4, Family::Ipv6] {
            for vlan in [None, Some(7)] {
                let flow = Flow {
                    vlan,
                    ..Flow::first(Side::A, family, [2; 6], [4; 6])
                };
                let template = Template::new(&flow, 128).unwrap();
                let at = if vlan.is_some() { 18 } else { 14 };
                let router = Neighbours {
                    mac: [4; 6],
                    vlan,
                    own: Vec::new(),
                    except: Vec::new(),
                };
                let (own, to) = (Side::A.device(family), Side::A.tester(family));
                let said = time_exceeded(&router, [2; 6], (own, to), &template.bytes()[at..]);
                let Arrived::Complaint(complaint) = frame::read(&said) else {
                    panic!("{:?}", frame::read(&said));
                };
                assert_eq!(complaint.kind, ComplaintKind::TimeExceeded);
                assert_eq!(complaint.from, own);
                assert_eq!(complaint.about_destination, Some(flow.destination));
            }
        }
    }
}
