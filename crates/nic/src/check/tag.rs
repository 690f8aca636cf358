// SPDX-License-Identifier: MIT OR Apache-2.0
//! The 802.1Q tag of a frame (IEEE 802.1Q section 9.6): the EtherType 8100, then priority, DEI and number.

use std::ops::Range;

use linerate_model::output::NicExample;
use linerate_wire::ether;

use crate::hex;
use crate::packet::{Packet, shown};

/// Number and priority of a payload's size: each number is used, but for those that name no VLAN.
pub(super) const fn of_size(size: usize) -> u16 {
    (1 + (size % 4094) as u16) | (((size % 8) as u16) << 13)
}

/// What is wrong if the frame has not exactly this tag.
pub(super) fn fault(packet: &Packet<'_>, tag: u16) -> Option<NicExample> {
    let ethertype = match packet.source.is_ipv4() {
        true => ether::IPV4,
        false => ether::IPV6,
    };
    let expected = [0x8100, tag, ethertype].map(u16::to_be_bytes).concat();
    let differs =
        |place: &Range<usize>| packet.frame.get(place.clone()) != expected.get(..place.len());
    let place = [TAG, TAG_AND_TYPE].into_iter().find(differs)?;
    let expected = expected.get(..place.len()).unwrap_or_default();
    Some(example(hex::of(expected), place, packet.frame))
}

/// A frame that has something else there.
pub(super) fn example(expected: String, place: Range<usize>, frame: &[u8]) -> NicExample {
    NicExample {
        what: "802.1Q tag".to_owned(),
        offset: u32::try_from(place.start).ok(),
        expected,
        seen: hex::of(frame.get(place).unwrap_or_default()),
        frame: Some(shown(frame)),
    }
}

/// Where it is in a frame, and with the EtherType after it.
pub(super) const TAG: Range<usize> = 12..16;
const TAG_AND_TYPE: Range<usize> = 12..18;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::{self, Marks};

    #[test]
    fn a_tag_that_is_missing_altered_or_not_alone_is_named() {
        let frame = |vlan| {
            let marks = Marks {
                vlan,
                ..Marks::default()
            };
            craft::udp(&craft::tests::path(false), marks, &[7; 80])
        };
        let right = frame(Some(0x6007));
        let mut twice = right.clone();
        twice.splice(16..16, [0x81, 0, 0x60, 0x07]);
        for (sent, expected) in [
            (right, None),
            (frame(Some(0x0007)), Some(("81006007", "81000007"))),
            (frame(None), Some(("81006007", "08004500"))),
            (twice, Some(("810060070800", "810060078100"))),
        ] {
            let found = fault(&Packet::parse(&sent).unwrap(), 0x6007);
            let found = found.as_ref();
            let named = found.map(|one| (one.expected.as_str(), one.seen.as_str()));
            assert_eq!(named, expected);
        }
    }

    #[test]
    fn sizes_have_tags_of_every_priority_and_of_vlans() {
        for size in 0..10_000 {
            assert!((1..=4094).contains(&(of_size(size) & 0x0FFF)), "{size}");
            assert_eq!(usize::from(of_size(size) >> 13), size % 8);
        }
    }
}
