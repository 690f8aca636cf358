// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames with an 802.1Q tag that the other end sends: the interface leaves it in the frame, or gives it to the kernel apart.

use std::io;

use linerate_model::output::{NicCheck, NicExample};

use super::transmit_udp::{is_from, missing};
use super::{RECEIVE, tag};
use crate::bench::{Bench, Family};
use crate::craft::{self, Marks};
use crate::packet::{Packet, UDP, shown};
use crate::tally::Tally;
use crate::{hex, vectors};

/// It arrives with its number, and nothing else changes.
pub(super) fn tags(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let id = "rx-vlan-tag".to_owned();
    let what = "802.1Q tags arrive with their numbers, and the rest as sent".to_owned();
    let property = bench.property(id, RECEIVE, what, "rx-vlan-offload");
    let Some(family) = bench.families.first().copied() else {
        return Ok(Vec::new());
    };
    let tally = bench.seeing_every_vlan(|bench| tried(bench, &family))?;
    let is_dropped = tally.tried() == 0 && bench.filters_tags();
    Ok(vec![match is_dropped {
        true => property.impossible(FILTERED),
        false => tally.check(property),
    }])
}

fn tried(bench: &mut Bench, family: &Family) -> io::Result<Tally> {
    let path = bench.inward(family, FROM_PORT, family.near_udp);
    let room = bench.largest_payload(family);
    let mut open: Vec<Vec<u8>> = Vec::new();
    for size in vectors::sizes(room)
        .into_iter()
        .filter(|size| size + 4 <= room)
    {
        let marks = Marks {
            vlan: Some(tag::of_size(size)),
            ..Marks::default()
        };
        open.push(craft::udp(&path, marks, &vectors::payload(size, 9)));
    }
    let mut tally = Tally::default();
    let mut others: Vec<Vec<u8>> = Vec::new();
    for _ in 0..ROUNDS {
        bench.send_inward(&open)?;
        bench.arrived(family, |seen, bytes| {
            match open.iter().position(|one| one == bytes) {
                _ if seen.is_outgoing => {}
                Some(at) => tally.case(open.swap_remove(at).len(), None),
                None if is_from(bytes, UDP, FROM_PORT) => others.push(bytes.to_vec()),
                None => {}
            }
            open.is_empty()
        })?;
        if open.is_empty() {
            break;
        }
    }
    if tally.tried() + others.len() as u64 > 0 {
        for frame in open {
            tally.case(frame.len(), Some(untagged(&frame, &others)));
        }
    }
    Ok(tally)
}

/// A tagged frame that did not come as it was sent: with another tag, or not at all.
fn untagged(sent: &[u8], others: &[Vec<u8>]) -> NicExample {
    let payload = |frame| Packet::parse(frame).map(|packet| packet.payload());
    let came = others.iter().find(|other| payload(other) == payload(sent));
    match came {
        Some(came) => {
            let expected = hex::of(sent.get(tag::TAG).unwrap_or_default());
            tag::example(expected, tag::TAG, came)
        }
        None => NicExample {
            frame: Some(shown(sent)),
            ..missing("frame", sent.len(), "at the interface")
        },
    }
}

const FILTERED: &str =
    "the interface drops the frames of VLANs that it has no device of (rx-vlan-filter on)";
/// Nobody else's.
const FROM_PORT: u16 = 40_012;
const ROUNDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_came_otherwise_is_named() {
        let frame = |vlan| {
            let marks = Marks {
                vlan,
                ..Marks::default()
            };
            craft::udp(&craft::tests::path(false), marks, &vectors::payload(80, 9))
        };
        let sent = frame(Some(0x6007));
        for (came, seen) in [(frame(Some(0x0007)), "81000007"), (frame(None), "08004500")] {
            let fault = untagged(&sent, &[came]);
            assert_eq!(
                (fault.expected.as_str(), fault.seen.as_str()),
                ("81006007", seen)
            );
        }
        assert_eq!(untagged(&sent, &[]).seen, "nothing");
    }
}
