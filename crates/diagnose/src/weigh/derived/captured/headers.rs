// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the headers of packets show: flags, options, lifetimes, fragments.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::{FLOWS_MOST, PACKETS_COMPARED, packets};
use crate::weigh::derived::packets::{Capture, Packet};
use crate::weigh::derived::shown::word_after;
use crate::weigh::derived::{Fact, number_after};

/// Whether a reset has another TTL than the other packets of its sender.
pub(super) fn resets(all: &[Capture<'_>]) -> Option<Fact> {
    let of_sender = |reset: &Packet<'_>| {
        let others = packets(all).filter(|packet| {
            packet.from == reset.from
                && packet.is_in == reset.is_in
                && packet.is_tcp()
                && !packet.is_reset()
        });
        others.take(PACKETS_COMPARED).find_map(Packet::ttl)
    };
    let judged = packets(all)
        .filter(|packet| packet.is_reset())
        .take(FLOWS_MOST);
    let judged = judged.filter_map(|reset| {
        Some((
            (reset.ttl()? - of_sender(reset)?).abs() > TTL_NEAR,
            reset.line,
        ))
    });
    let all: Vec<(bool, u64)> = judged.collect();
    let (value, line) = all.iter().find(|(differs, _)| *differs).or(all.first())?;
    Some(Fact::new("reset_ttl_differs", value, *line))
}

/// Whether one SYN has other options at a second place.
pub(super) fn options(all: &[Capture<'_>]) -> Option<Fact> {
    let mut seen: Map<(&str, &str), BTreeSet<&str>> = Map::new();
    let mut judged = None;
    for packet in packets(all).filter(|packet| packet.is_syn() || packet.is_syn_answer()) {
        let sequence = word_after(packet.rest, " seq ");
        let options = packet
            .rest
            .split_once("options [")
            .and_then(|(_, rest)| rest.split(']').next());
        let (Some(sequence), Some(options)) = (sequence, options) else {
            continue;
        };
        let kinds: BTreeSet<&str> = options
            .split(',')
            .filter_map(|option| option.split_whitespace().next())
            .filter(|kind| !["nop", "eol"].contains(kind))
            .gather();
        let key = (sequence, packet.to_port);
        if let Some(first) = seen.get(&key) {
            let differs = *first != kinds;
            judged = if differs {
                Some((true, packet.line))
            } else {
                judged.or(Some((false, packet.line)))
            };
        }
        seen.insert(key, kinds);
    }
    let (value, line) = judged?;
    Some(Fact::new("tcp_options_differ", value, line))
}

/// What both ends offer as the largest segment: jumbo frames at both, or at one only.
pub(super) fn segment_sizes(all: &[Capture<'_>]) -> Option<Fact> {
    let size = |packet: &Packet<'_>| {
        number_after(packet.rest, "mss ").or_else(|| number_after(packet.rest, "MSS="))
    };
    let asked = packets(all)
        .filter(|packet| packet.is_syn())
        .take(FLOWS_MOST);
    let pairs = asked.filter_map(|syn| {
        let answer = packets(all)
            .filter(|packet| packet.is_syn_answer())
            .find(|packet| packet.is_answer_of(syn))?;
        Some((size(syn)?, size(answer)?, answer.line))
    });
    let found =
        pairs
            .into_iter()
            .find_map(|(one, other, line)| match (one >= JUMBO, other >= JUMBO) {
                (true, true) => Some(("both_ends_jumbo", line)),
                (false, false) => None,
                _ => Some(("peer_mtu_larger", line)),
            });
    found.map(|(name, line)| Fact::new(name, true, line))
}

/// Whether datagrams to a group that routers forward have a TTL of 1.
pub(super) fn multicast_ttl(all: &[Capture<'_>]) -> Option<Fact> {
    let is_routed = |packet: &&Packet<'_>| {
        let IpAddr::V4(to) = packet.to else {
            return false;
        };
        let is_local = to.octets()[..3] == [224, 0, 0] || to == Ipv4Addr::new(239, 255, 255, 250);
        to.is_multicast()
            && !is_local
            && !packet.rest.contains("igmp")
            && !packet.to_port.is_empty()
    };
    let known = packets(all)
        .filter(is_routed)
        .filter_map(|packet| Some((packet.ttl()? == 1.0, packet.line)));
    let known: Vec<(bool, u64)> = known.collect();
    let (value, line) = known.iter().find(|(is_one, _)| *is_one).or(known.first())?;
    Some(Fact::new("capture_multicast_ttl_1", value, *line))
}

/// Whether fragments with ports come, and never those that follow.
pub(super) fn first_fragments(all: &[Capture<'_>]) -> Option<Fact> {
    // A filter of ports does not see the others.
    let judged = |capture: &Capture<'_>| {
        let is_known =
            !capture.command.is_empty() && !capture.selects(&["port", "udp", "tcp", "portrange"]);
        let offset = |packet: &Packet<'_>| number_after(packet.header, "offset ");
        let mut firsts = capture
            .packets
            .iter()
            .filter(|packet| packet.header.contains("flags [+") && offset(packet) == Some(0.0));
        let others = capture
            .packets
            .iter()
            .any(|packet| offset(packet) > Some(0.0));
        let count = firsts.clone().count();
        (is_known && count > 1)
            .then(|| (!others, firsts.next_back().map_or(0, |packet| packet.line)))
    };
    let (value, line) = all.iter().find_map(judged)?;
    Some(Fact::new("capture_only_first_fragments", value, line))
}

const TTL_NEAR: f64 = 3.0;
const JUMBO: f64 = 4000.0;
