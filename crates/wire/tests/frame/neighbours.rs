// SPDX-License-Identifier: MIT OR Apache-2.0
//! ARP and neighbour discovery: who is answered, and how etherparse reads the answer.

use std::net::{IpAddr, Ipv6Addr};

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use linerate_wire::frame::{self, AddressRange, Arrived, Family, Neighbours, Side};
use linerate_wire::{arp, nd};

use crate::{DEVICE, OURS};

/// The device's port: it asks.
fn device(vlan: Option<u16>) -> Neighbours {
    Neighbours {
        mac: DEVICE,
        vlan,
        own: [Family::Ipv4, Family::Ipv6]
            .map(|family| Side::A.device(family).into())
            .into(),
        except: vec![],
    }
}

/// The tester's port: everyone on side A but the device.
fn tester(vlan: Option<u16>) -> Neighbours {
    let families = [Family::Ipv4, Family::Ipv6];
    Neighbours {
        mac: OURS,
        vlan,
        own: families.map(|family| half(Side::A, family)).into(),
        except: families.map(|family| Side::A.device(family)).into(),
    }
}

fn half(side: Side, family: Family) -> AddressRange {
    let (address, prefix_bits) = side.half(family);
    AddressRange::network(address, prefix_bits)
}

#[test]
fn every_address_of_the_side_is_answered_for_but_the_devices() {
    for vlan in [None, Some(7)] {
        let (device, tester) = (device(vlan), tester(vlan));
        for family in [Family::Ipv4, Family::Ipv6] {
            let asker = Side::A.device(family);
            for number in (0..1000).chain([u32::MAX]) {
                let wanted = Side::A.behind(family, number);
                let question = device.request(asker, wanted).unwrap();
                let answer = tester.answer(&question).unwrap();
                assert_eq!(answer[..6], DEVICE);
                assert_eq!(frame::resolved(&answer), Some((wanted, OURS)));
                let elsewhere = device
                    .request(asker, Side::B.behind(family, number))
                    .unwrap();
                assert_eq!(tester.answer(&elsewhere), None);
            }
            let other_way = tester.request(Side::A.tester(family), asker).unwrap();
            assert_eq!(tester.answer(&other_way), None, "its own question");
            assert!(device.answer(&other_way).is_some());
            let duplicate = device.request(Side::A.tester(family), asker).unwrap();
            assert_eq!(tester.answer(&duplicate), None, "the device's own address");
        }
    }
}

#[test]
fn other_vlans_and_frames_to_others_are_not_answered() {
    let asker = Side::A.device(Family::Ipv4);
    let wanted = Side::A.tester(Family::Ipv4);
    let question = |vlan| device(vlan).request(asker, wanted).unwrap();
    assert_eq!(tester(None).answer(&question(Some(7))), None);
    assert_eq!(tester(Some(7)).answer(&question(None)), None);
    assert_eq!(tester(Some(7)).answer(&question(Some(8))), None);
    assert!(
        tester(None).answer(&question(Some(0))).is_some(),
        "a priority tag is no VLAN"
    );
    let mut to_another = question(None).to_vec();
    to_another[..6].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    assert_eq!(tester(None).answer(&to_another), None);
    to_another[..6].copy_from_slice(&OURS);
    assert!(
        tester(None).answer(&to_another).is_some(),
        "a question to us alone"
    );
}

#[test]
fn another_implementation_reads_arp_the_same() {
    let (asker, wanted) = (Side::A.device(Family::Ipv4), Side::A.tester(Family::Ipv4));
    for vlan in [None, Some(7)] {
        let question = device(vlan).request(asker, wanted).unwrap();
        let answer = tester(vlan).answer(&question).unwrap();
        for (bytes, operation, sender, target) in [
            (&question, 1, (DEVICE, asker), ([0; 6], wanted)),
            (&answer, 2, (OURS, wanted), (DEVICE, asker)),
            (
                &tester(vlan).announcement(wanted),
                1,
                (OURS, wanted),
                ([0; 6], wanted),
            ),
        ] {
            assert_eq!(bytes.len(), 60);
            let packet = SlicedPacket::from_ethernet(bytes).unwrap();
            assert_eq!(packet.vlan_ids().first().map(|id| id.value()), vlan);
            let Some(NetSlice::Arp(arp)) = &packet.net else {
                panic!("{packet:?}");
            };
            assert_eq!(arp.operation().0, operation);
            let ip = |bytes: &[u8]| IpAddr::from(<[u8; 4]>::try_from(bytes).unwrap());
            assert_eq!(
                (arp.sender_hw_addr(), ip(arp.sender_protocol_addr())),
                (&sender.0[..], sender.1)
            );
            assert_eq!(
                (arp.target_hw_addr(), ip(arp.target_protocol_addr())),
                (&target.0[..], target.1)
            );
        }
    }
}

#[test]
fn another_implementation_reads_discovery_the_same() {
    let (asker, wanted) = (Side::A.device(Family::Ipv6), Side::A.tester(Family::Ipv6));
    for vlan in [None, Some(7)] {
        let question = device(vlan).request(asker, wanted).unwrap();
        let answer = tester(vlan).answer(&question).unwrap();
        let announcement = tester(vlan).announcement(wanted);
        let group: IpAddr = "ff02::1:ff00:2".parse().unwrap();
        let everyone: IpAddr = "ff02::1".parse().unwrap();
        for (bytes, kind, flags, from, to, to_mac, option) in [
            (
                &question,
                135,
                0,
                asker,
                group,
                [0x33, 0x33, 0xFF, 0, 0, 2],
                (1, DEVICE),
            ),
            (&answer, 136, 0xE0, wanted, asker, DEVICE, (2, OURS)),
            (
                &announcement,
                136,
                0xA0,
                wanted,
                everyone,
                [0x33, 0x33, 0, 0, 0, 1],
                (2, OURS),
            ),
        ] {
            let packet = SlicedPacket::from_ethernet(bytes).unwrap();
            let (Some(NetSlice::Ipv6(ip)), Some(TransportSlice::Icmpv6(icmp))) =
                (&packet.net, &packet.transport)
            else {
                panic!("{packet:?}");
            };
            assert_eq!(bytes[..6], to_mac);
            let header = ip.header();
            assert_eq!(
                (
                    IpAddr::from(header.source_addr()),
                    IpAddr::from(header.destination_addr())
                ),
                (from, to)
            );
            assert_eq!(header.hop_limit(), 255);
            assert!(icmp.is_checksum_valid(header.source(), header.destination()));
            assert_eq!(
                (icmp.type_u8(), icmp.code_u8(), icmp.bytes5to8()),
                (kind, 0, [flags, 0, 0, 0])
            );
            let target = Ipv6Addr::from(<[u8; 16]>::try_from(&icmp.payload()[..16]).unwrap());
            assert_eq!(IpAddr::from(target), wanted);
            assert_eq!(
                icmp.payload()[16..],
                [&[option.0, 1][..], &option.1].concat()
            );
        }
    }
}

#[test]
fn a_host_that_checks_for_duplicates_is_answered_by_multicast() {
    let (target, everyone) = (Side::A.tester(Family::Ipv6), nd::ALL_NODES);
    let probe = device(None).request("::".parse().unwrap(), target).unwrap();
    let answer = tester(None).answer(&probe).unwrap();
    let Arrived::Neighbour(message) = frame::read(&answer) else {
        panic!("{answer:?}");
    };
    assert_eq!((message.destination, message.mac), (everyone, Some(OURS)));
    let unasked = nd::Operation::Advertisement {
        solicited: false,
        overrides: true,
    };
    assert_eq!(message.operation, unasked);
    let arp_probe = device(None)
        .request("0.0.0.0".parse().unwrap(), Side::A.tester(Family::Ipv4))
        .unwrap();
    assert!(tester(None).answer(&arp_probe).is_some());
}

#[test]
fn questions_and_answers_are_read_as_what_they_are() {
    let (device, tester) = (device(None), tester(None));
    let v4 = Family::Ipv4;
    let question = device
        .request(Side::A.device(v4), Side::A.tester(v4))
        .unwrap();
    assert!(
        matches!(frame::read(&question), Arrived::Arp(arp) if arp.operation == arp::Operation::Request)
    );
    assert_eq!(frame::resolved(&question), None);
    let v6 = Family::Ipv6;
    let question = device
        .request(Side::A.device(v6), Side::A.tester(v6))
        .unwrap();
    assert!(
        matches!(frame::read(&question), Arrived::Neighbour(nd) if nd.operation == nd::Operation::Solicitation)
    );
    assert_eq!(frame::resolved(&question), None);
    assert_eq!(device.request(Side::A.device(v4), Side::A.tester(v6)), None);
    let announced = tester.announcement(Side::A.tester(v6));
    assert_eq!(
        frame::resolved(&announced),
        Some((Side::A.tester(v6), OURS))
    );
}

#[test]
fn a_group_that_asks_is_not_answered() {
    for family in [Family::Ipv4, Family::Ipv6] {
        let (asker, wanted) = (Side::A.device(family), Side::A.tester(family));
        let group = Neighbours {
            mac: [1, 0, 0, 0, 0, 2],
            ..device(None)
        };
        assert_eq!(
            tester(None).answer(&group.request(asker, wanted).unwrap()),
            None
        );
        let itself = tester(None).request(asker, wanted).unwrap();
        assert_eq!(tester(None).answer(&itself), None);
    }
}

/// RFC 4861 section 7.1: each of these makes a message invalid.
#[test]
fn forged_and_damaged_solicitations_are_not_answered() {
    let (asker, wanted) = (Side::A.device(Family::Ipv6), Side::A.tester(Family::Ipv6));
    let question = device(None).request(asker, wanted).unwrap();
    assert!(tester(None).answer(&question).is_some());
    let damages = [
        (21, 64),
        (55, 1),
        (56, 0),
        (57, 0),
        (79, 0),
        (79, 2),
        (70, 9),
    ];
    for (at, value) in damages {
        let mut bytes = question.to_vec();
        assert_ne!(bytes[at], value);
        bytes[at] = value;
        assert_eq!(tester(None).answer(&bytes), None, "byte {at}");
    }
    for length in 0..question.len() {
        assert_eq!(tester(None).answer(&question[..length]), None);
    }
}
