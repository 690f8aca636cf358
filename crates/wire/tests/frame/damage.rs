// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged, cut and arbitrary frames: distinguished from intact ones, and never a panic.

use linerate_wire::frame::{self, Arrived, Flow, Neighbours, Ours};
use proptest::prelude::*;

use crate::{OURS, SIGNATURE, flows, stamped};

/// The bits that a device may rewrite and that no checksum covers: a change shows in no field or in one that says
/// where the frame came by, but the frame counts as intact.
#[test]
fn every_flipped_bit_is_noticed_but_those_that_a_device_may_rewrite() {
    for flow in flows() {
        for more in [0, 1, 2, 15, 63, 449, 1430] {
            let mut bytes = stamped(&flow, flow.smallest_size_bytes() + more, &SIGNATURE);
            let Arrived::Ours(sent) = frame::read(&bytes) else {
                panic!("not ours");
            };
            for bit in 0..bytes.len() * 8 {
                let (at, mask) = (bit / 8, 0x80 >> (bit % 8));
                bytes[at] ^= mask;
                let unnoticed =
                    matches!(frame::read(&bytes), Arrived::Ours(ours) if passes(&ours, &sent));
                assert_eq!(
                    unnoticed,
                    is_rewritable(&flow, bit),
                    "{flow:?} +{more}: bit {bit}"
                );
                bytes[at] ^= mask;
            }
        }
    }
}

/// As a port judges a frame of the flow that it expects.
fn passes(ours: &Ours, sent: &Ours) -> bool {
    ours.is_intact()
        && ours.signature == sent.signature
        && (ours.destination_mac, ours.vlans) == (sent.destination_mac, sent.vlans)
        && (ours.ttl, ours.traffic_class) == (sent.ttl, sent.traffic_class)
        && (ours.source, ours.destination) == (sent.source, sent.destination)
}

/// Source address of Ethernet, priority of a tag, flow label.
fn is_rewritable(flow: &Flow, bit: usize) -> bool {
    let ip_at = if flow.vlan.is_some() { 18 * 8 } else { 14 * 8 };
    let in_tag = flow.vlan.is_some() && (14 * 8..14 * 8 + 4).contains(&bit);
    let in_label = flow.source.is_ipv6() && (ip_at + 12..ip_at + 32).contains(&bit);
    (6 * 8..12 * 8).contains(&bit) || in_tag || in_label
}

#[test]
fn a_cut_or_lengthened_frame_is_never_intact() {
    for flow in flows() {
        for size in [flow.smallest_size_bytes(), 600] {
            let whole = stamped(&flow, size, &SIGNATURE);
            let smallest = usize::from(flow.smallest_size_bytes() - 4);
            for length in 0..whole.len() {
                let read = frame::read(&whole[..length]);
                match read {
                    Arrived::Ours(ours) => {
                        assert!(length >= smallest && !ours.length_ok && ours.payload_ok)
                    }
                    _ => assert!(length < smallest, "{length}: {read:?}"),
                }
            }
            let longer = [&whole[..], &[0; 4]].concat();
            assert!(matches!(frame::read(&longer), Arrived::Ours(ours) if !ours.is_intact()));
        }
    }
}

#[test]
fn a_frame_of_which_only_the_payload_is_damaged_says_so() {
    for flow in flows() {
        let mut bytes = stamped(&flow, 512, &SIGNATURE);
        *bytes.last_mut().unwrap() ^= 1;
        let Arrived::Ours(ours) = frame::read(&bytes) else {
            panic!("not ours");
        };
        assert!(ours.length_ok && !ours.payload_ok);
        // RFC 2544's frames have no UDP checksum over IPv4.
        assert_eq!(ours.checksum_ok, flow.source.is_ipv4());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }

    #[test]
    fn any_bytes_behind_a_known_header_are_read(
        kind in 0..4usize,
        keep in 0..90usize,
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let flow = flows()[kind];
        let mut bytes = stamped(&flow, 128, &SIGNATURE);
        bytes.truncate(keep);
        bytes.extend(rest);
        read_all(&bytes);
    }

    #[test]
    fn any_few_changed_bytes_are_read(
        kind in 0..4usize,
        changes in prop::collection::vec((0..124usize, any::<u8>()), 1..8),
    ) {
        let mut bytes = stamped(&flows()[kind], 128, &SIGNATURE);
        changes.iter().for_each(|&(at, value)| bytes[at] = value);
        read_all(&bytes);
    }
}

fn read_all(bytes: &[u8]) {
    let everyone = Neighbours {
        mac: OURS,
        vlan: None,
        own: vec![],
        except: vec![],
    };
    let _read = (
        frame::read(bytes),
        frame::resolved(bytes),
        everyone.answer(bytes),
    );
}
