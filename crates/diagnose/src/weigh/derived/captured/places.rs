// SPDX-License-Identifier: MIT OR Apache-2.0
//! What leaves at one place and does not arrive at another.

use std::net::IpAddr;

use crate::weigh::derived::Fact;
use crate::weigh::derived::packets::{Capture, Packet};

/// A capture with these packets, and one of another host that saw nothing at all.
fn elsewhere(all: &[Capture<'_>], name: &'static str, of: fn(&Packet<'_>) -> bool) -> Option<Fact> {
    let nothing = |other: &&Capture<'_>| other.counted == Some(0.0) && other.packets.is_empty();
    let sent = all.iter().filter(|one| {
        one.packets
            .iter()
            .any(|packet| of(packet) && packet.is_in != Some(true))
    });
    let other = |one: &Capture<'_>| {
        let others = all.iter().filter(nothing);
        others
            .into_iter()
            .find(|other| {
                other.label != one.label && !other.label.is_empty() && looks_for(other, one)
            })
            .map(|other| other.line)
    };
    let line = sent.into_iter().find_map(other)?;
    Some(Fact::new(name, true, line))
}

/// Whether the command would have shown the other's packets: its numbers are among their ports and addresses.
fn looks_for(one: &Capture<'_>, other: &Capture<'_>) -> bool {
    let mut words = one.command.split_whitespace();
    let mut asked = Vec::new();
    while let Some(word) = words.next() {
        if word == "port" || word == "host" {
            asked.extend(words.next().map(|word| word.trim_matches(['\'', '"', ')'])));
        }
    }
    let has = |word: &&str| {
        other.packets.iter().any(|packet| {
            [packet.from_port, packet.to_port].contains(word)
                || word
                    .parse::<IpAddr>()
                    .is_ok_and(|address| packet.from == address || packet.to == address)
        })
    };
    asked.iter().all(has)
}

pub(super) fn leaves_only(all: &[Capture<'_>]) -> Option<Fact> {
    elsewhere(all, "capture_leaves_does_not_arrive", |packet| {
        packet.is_request() || !packet.to_port.is_empty()
    })
}

pub(super) fn syn_leaves_only(all: &[Capture<'_>]) -> Option<Fact> {
    elsewhere(all, "capture_syn_does_not_arrive", |packet| packet.is_syn())
}

pub(super) fn overlay_leaves_only(all: &[Capture<'_>]) -> Option<Fact> {
    elsewhere(all, "capture_overlay_leaves_does_not_arrive", |packet| {
        ["4789", "8472", "6081"].contains(&packet.to_port)
            || [" VXLAN, ", " OTV, ", " Geneve, "]
                .iter()
                .any(|mark| packet.rest.contains(mark))
    })
}

/// Packets that come in by one interface of this host and do not go out of the other.
pub(super) fn arrives_only(all: &[Capture<'_>]) -> Option<Fact> {
    let pairs = all.windows(2).filter_map(|pair| {
        let [one, other] = pair else {
            return None;
        };
        let differ = one.interface? != other.interface?;
        let is_here = one.label == other.label || other.label.is_empty();
        let is_asked = one.packets.iter().any(Packet::is_request);
        let is_nothing = other.counted == Some(0.0) && other.packets.is_empty();
        (differ && is_here && is_asked && is_nothing && looks_for(other, one)).then_some(other.line)
    });
    let line = pairs.into_iter().next()?;
    Some(Fact::new("capture_arrives_does_not_leave", true, line))
}
