// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was stamped is read, by us and by etherparse.

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use linerate_wire::frame::{self, Arrived, Flow, Ours, Signature, Template};
use proptest::prelude::*;

use crate::{SIGNATURE, flows, stamped};

#[test]
fn every_size_of_every_kind_is_read_as_it_was_stamped() {
    for flow in flows() {
        for size in flow.smallest_size_bytes()..2000 {
            is_read_as_it_was_stamped(&flow, size);
        }
    }
    // Every remainder of the payload's cycle, in every kind.
    for (size, flow) in (2000..9216)
        .step_by(13)
        .chain([9216])
        .zip(flows().iter().cycle())
    {
        is_read_as_it_was_stamped(flow, size);
    }
}

fn is_read_as_it_was_stamped(flow: &Flow, size_bytes: u16) {
    let bytes = stamped(flow, size_bytes, &SIGNATURE);
    assert_eq!(bytes.len(), usize::from(size_bytes) - 4);
    let read = frame::read(&bytes);
    assert_eq!(
        read,
        Arrived::Ours(expected(flow, SIGNATURE)),
        "{flow:?} {size_bytes}"
    );
}

#[test]
fn another_implementation_reads_the_same_and_finds_the_checksums_right() {
    for flow in flows() {
        for size in (flow.smallest_size_bytes()..1600).chain([9215, 9216]) {
            let bytes = stamped(&flow, size, &SIGNATURE);
            let packet = SlicedPacket::from_ethernet(&bytes).unwrap();
            let vlans: Vec<u16> = packet.vlan_ids().iter().map(|id| id.value()).collect();
            assert_eq!(vlans, flow.vlan.into_iter().collect::<Vec<_>>());
            let Some(TransportSlice::Udp(udp)) = &packet.transport else {
                panic!("{packet:?}");
            };
            assert_eq!((udp.source_port(), udp.destination_port()), (0xC020, 7));
            let (source, destination, sum) = match packet.net.as_ref().unwrap() {
                NetSlice::Ipv4(ip) => {
                    let header = ip.header().to_header();
                    assert_eq!(header.header_checksum, header.calc_header_checksum());
                    let ip = ip.header();
                    (ip.source_addr().into(), ip.destination_addr().into(), 0)
                }
                NetSlice::Ipv6(ip) => {
                    let ip = ip.header();
                    let sum = udp
                        .to_header()
                        .calc_checksum_ipv6_raw(ip.source(), ip.destination(), udp.payload())
                        .unwrap();
                    (ip.source_addr().into(), ip.destination_addr().into(), sum)
                }
                NetSlice::Arp(arp) => panic!("{arp:?}"),
            };
            assert_eq!((source, destination), (flow.source, flow.destination));
            assert_eq!(udp.checksum(), sum, "{flow:?} {size}");
        }
    }
}

proptest! {
    #[test]
    fn any_signature_on_any_flow_is_read(
        kind in 0..4usize,
        more in 0..9000u16,
        signatures in [any::<(u16, u8, u64, u64)>(), any::<(u16, u8, u64, u64)>()],
        ports in any::<(u16, u16)>(),
        ttl: u8,
    ) {
        let flow = Flow {
            source_port: ports.0,
            destination_port: ports.1,
            ttl,
            ..flows()[kind]
        };
        let template = Template::new(&flow, flow.smallest_size_bytes() + more).unwrap();
        let mut bytes = template.bytes().to_vec();
        // A buffer that is used again has an earlier signature in it.
        for (run, stream, sequence, sent_ns) in signatures {
            let (sequence, sent_ns) = (sequence & ((1 << 40) - 1), sent_ns & ((1 << 48) - 1));
            let signature = Signature { run, stream, sequence, sent_ns };
            template.stamp(&mut bytes, &signature);
            prop_assert_eq!(frame::read(&bytes), Arrived::Ours(expected(&flow, signature)));
        }
    }
}

const fn expected(flow: &Flow, signature: Signature) -> Ours {
    Ours {
        signature,
        destination_mac: flow.destination_mac,
        vlans: [flow.vlan, None],
        source: flow.source,
        destination: flow.destination,
        source_port: flow.source_port,
        destination_port: flow.destination_port,
        ttl: flow.ttl,
        traffic_class: 0,
        length_ok: true,
        checksum_ok: true,
        payload_ok: true,
    }
}
