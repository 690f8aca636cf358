// SPDX-License-Identifier: MIT OR Apache-2.0
//! What captures show together: what leaves and does not arrive, answers by another way or of another address, repeats.

mod headers;
mod places;

use std::collections::BTreeSet;
use std::net::IpAddr;

use linerate_model::map::Map;

use super::packets::{Capture, Packet, captures, identity};
use super::shown::{Shown, is_one_of, is_public, word_after};
use super::{Fact, number_after};
use crate::weigh::observed::Line;
use headers::{first_fragments, multicast_ttl, options, resets, segment_sizes};
use places::{arrives_only, leaves_only, overlay_leaves_only, syn_leaves_only};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let all = captures(shown.lines);
    if all.is_empty() {
        return Vec::new();
    }
    let of_captures: [Read; 12] = [
        leaves_only,
        syn_leaves_only,
        overlay_leaves_only,
        arrives_only,
        one_direction,
        without_answer,
        other_interface,
        inner_answer,
        duplicates,
        first_fragments,
        full_repeated,
        multicast_ttl,
    ];
    let mut facts: Vec<Fact> = of_captures.iter().filter_map(|read| read(&all)).collect();
    facts.extend(private_outside(&all, shown));
    facts.extend(not_own(&all, shown));
    facts.extend(resets(&all));
    facts.extend(options(&all));
    facts.extend(segment_sizes(&all));
    facts.extend(queries(shown.lines));
    facts.extend(sender(&all, shown));
    facts
}

type Read = fn(&[Capture<'_>]) -> Option<Fact>;

fn packets<'c, 't>(all: &'c [Capture<'t>]) -> impl Iterator<Item = &'c Packet<'t>> {
    all.iter().flat_map(|capture| &capture.packets)
}

/// Whether a connection that stands has packets of one direction only.
fn one_direction(all: &[Capture<'_>]) -> Option<Fact> {
    let of_all = all
        .iter()
        .filter(|capture| !capture.selects(&["src", "dst"]) && !capture.command.contains("tcp["));
    let found = of_all.into_iter().find_map(|capture| {
        let stands = |packet: &&Packet<'_>| {
            packet.is_tcp() && !packet.is_syn() && !packet.is_syn_answer() && !packet.is_reset()
        };
        let mut flows: Map<Flow<'_>, (u32, u64)> = Map::new();
        for packet in capture.packets.iter().filter(|packet| packet.is_tcp()) {
            flows.entry(flow(packet)).or_insert((0, packet.line)).0 += u32::from(stands(&packet));
        }
        let alone = |((from, from_port, to, to_port), (count, _)): &(&Flow<'_>, &(u32, u64))| {
            *count >= PACKETS_LEAST && !flows.contains_key(&(*to, *to_port, *from, *from_port))
        };
        flows.iter().find(alone).map(|(_, (_, line))| *line)
    })?;
    Some(Fact::new("capture_one_direction_only", true, found))
}

type Flow<'t> = (IpAddr, &'t str, IpAddr, &'t str);

fn flow<'t>(packet: &Packet<'t>) -> Flow<'t> {
    (packet.from, packet.from_port, packet.to, packet.to_port)
}

/// Requests that come in, again and again, and are not forwarded and not answered.
fn without_answer(all: &[Capture<'_>]) -> Option<Fact> {
    let asked = |capture: &Capture<'_>| {
        let of_flow = |one: &Packet<'_>| {
            capture
                .packets
                .iter()
                .filter(|other| other.is_same_flow(one))
                .take(PACKETS_COMPARED)
                .count()
        };
        let requests = capture
            .packets
            .iter()
            .filter(|packet| packet.is_in == Some(true) && packet.is_request())
            .take(FLOWS_MOST);
        requests
            .into_iter()
            .find(|one| {
                let handled = |other: &Packet<'_>| {
                    other.is_answer_of(one)
                        || (other.is_same_flow(one) && other.is_in == Some(false))
                };
                of_flow(one) > 1 && !capture.packets.iter().any(handled)
            })
            .map(|one| one.line)
    };
    let line = all.iter().find_map(asked)?;
    Some(Fact::new(
        "capture_requests_without_answer_on_host",
        true,
        line,
    ))
}

/// Whether answers go out of another interface than the requests came by.
fn other_interface(all: &[Capture<'_>]) -> Option<Fact> {
    let mut ways: Map<Flow<'_>, [BTreeSet<&str>; 2]> = Map::new();
    let mut line = 0;
    for packet in packets(all) {
        let (Some(interface), Some(is_in)) =
            (packet.interface.filter(|name| *name != "lo"), packet.is_in)
        else {
            continue;
        };
        let [arrived, left] = ways.entry(flow(packet)).or_default();
        if is_in {
            arrived.insert(interface)
        } else {
            left.insert(interface)
        };
        line = packet.line;
    }
    let judged =
        |((from, from_port, to, to_port), [arrived, _]): (&Flow<'_>, &[BTreeSet<&str>; 2])| {
            let [_, left] = ways.get(&(*to, *to_port, *from, *from_port))?;
            let is_known = !arrived.is_empty() && !left.is_empty();
            is_known.then(|| arrived.is_disjoint(left))
        };
    let differs = ways.iter().any(|way| judged(way) == Some(true));
    differs.then(|| Fact::new("capture_answers_leave_other_interface", true, line))
}

/// Whether a host answers that was not asked, under the port that was asked: the answer was not translated back.
fn inner_answer(all: &[Capture<'_>]) -> Option<Fact> {
    let asked: Vec<&Packet<'_>> = packets(all)
        .filter(|packet| packet.is_syn())
        .take(FLOWS_MOST)
        .collect();
    let mut answers = packets(all).filter(|packet| packet.is_syn_answer());
    let is_other = |answer: &Packet<'_>| {
        let mine = |syn: &&&Packet<'_>| syn.from == answer.to && syn.from_port == answer.to_port;
        let mut own = asked.iter().filter(mine).peekable();
        own.peek().is_some() && own.all(|syn| syn.to != answer.from)
    };
    let found = answers.find(|answer| is_other(answer))?;
    Some(Fact::new(
        "capture_answer_from_inner_address",
        true,
        found.line,
    ))
}

/// How many packets one interface saw twice; nothing where none was.
fn duplicates(all: &[Capture<'_>]) -> Option<Fact> {
    let mut seen = BTreeSet::new();
    let mut twice = 0;
    let mut line = 0;
    for (at, capture) in all
        .iter()
        .enumerate()
        .filter(|(_, capture)| !capture.is_of_all())
    {
        for packet in &capture.packets {
            let is_echo = packet.rest.contains("echo re") && packet.rest.contains(", seq ");
            let key = if is_echo {
                Some(packet.rest)
            } else {
                identity(packet).filter(|_| packet.header.contains("offset 0,"))
            };
            let Some(key) = key else {
                continue;
            };
            // A forwarded packet that is seen again has another TTL.
            if !seen.insert((at, flow(packet), key, packet.ttl().map(f64::to_bits))) {
                twice += 1;
                line = packet.line;
            }
        }
    }
    (twice > 0).then(|| Fact::new("capture_duplicates", twice, line))
}

/// Whether a full segment is sent three times.
fn full_repeated(all: &[Capture<'_>]) -> Option<Fact> {
    let mut seen: Map<(usize, Flow<'_>, Option<&str>, &str), u32> = Map::new();
    for (at, capture) in all.iter().enumerate() {
        for packet in capture.packets.iter().filter(|packet| packet.is_tcp()) {
            let length = number_after(packet.rest, ", length ")
                .or_else(|| number_after(packet.rest, "Len="));
            let range = word_after(packet.rest, " seq ").or_else(|| {
                packet
                    .rest
                    .split_whitespace()
                    .find(|word| word.starts_with("Seq="))
            });
            let Some(range) = range.filter(|_| length >= Some(SEGMENT_FULL)) else {
                continue;
            };
            let count = seen
                .entry((at, flow(packet), packet.interface, range))
                .or_default();
            *count += 1;
            if *count >= REPEATED {
                return Some(Fact::new(
                    "capture_full_segments_repeated",
                    true,
                    packet.line,
                ));
            }
        }
    }
    None
}

/// Whether packets with a private source go to the Internet at the interface that has a public address.
fn private_outside(all: &[Capture<'_>], shown: &Shown<'_>) -> Option<Fact> {
    let has_public = |name: &str| {
        shown.ports.iter().any(|port| {
            port.name == name
                && port
                    .addresses
                    .iter()
                    .any(|(address, _)| is_public(*address))
        })
    };
    let is_outside = |name: Option<&str>, label: &str| {
        let label = label.to_ascii_lowercase();
        let says = [
            "outer", "outside", "wan", "public", "internet", "external", "uplink",
        ]
        .iter()
        .any(|word| {
            label
                .split(|letter: char| !letter.is_alphabetic())
                .any(|one| one == *word)
        });
        says || name.is_some_and(|name| is_one_of(name, &["ppp", "wan"]) || has_public(name))
    };
    let leaving = |packet: &Packet<'_>| match (packet.from, packet.to) {
        (IpAddr::V4(from), IpAddr::V4(to)) if is_public(to) && packet.is_in != Some(true) => {
            Some(from.is_private())
        }
        _ => None,
    };
    let judged = all.iter().flat_map(|capture| {
        let outside = capture.packets.iter().filter(move |packet| {
            is_outside(packet.interface.or(capture.interface), capture.label)
                || is_outside(None, capture.command)
        });
        outside.filter_map(move |packet| Some((leaving(packet)?, packet.line)))
    });
    let all: Vec<(bool, u64)> = judged.collect();
    let (value, line) = all
        .iter()
        .find(|(is_private, _)| *is_private)
        .or(all.first())?;
    Some(Fact::new(
        "capture_source_private_on_public_side",
        value,
        *line,
    ))
}

/// Whether packets leave by an interface with a source that no interface has.
fn not_own(all: &[Capture<'_>], shown: &Shown<'_>) -> Option<Fact> {
    let is_listed = |name: &str| {
        shown
            .ports
            .iter()
            .any(|port| port.name == name && !port.addresses.is_empty())
    };
    let judged = packets(all)
        .filter(|packet| packet.is_in == Some(false))
        .filter_map(|packet| {
            let IpAddr::V4(from) = packet.from else {
                return None;
            };
            packet.interface.filter(|name| is_listed(name))?;
            Some((shown.owner(from).is_none(), packet.line))
        });
    let all: Vec<(bool, u64)> = judged.collect();
    let (value, line) = all.iter().find(|(is_other, _)| *is_other).or(all.first())?;
    Some(Fact::new("capture_source_not_own", value, *line))
}

/// Whether a querier asks for group members, where membership was captured for longer than the usual interval.
fn queries(lines: &[Line<'_>]) -> Option<Fact> {
    let about =
        |line: &&Line<'_>| line.text.contains("igmp ") || line.text.contains("multicast listener");
    let all: Vec<&Line<'_>> = lines
        .iter()
        .filter(about)
        .filter(|line| line.text.contains(" > "))
        .collect();
    let query = all
        .iter()
        .find(|line| line.text.contains("igmp query") || line.text.contains("listener query"));
    if let Some(query) = query {
        return Some(Fact::new("igmp_queries_seen", true, query.number));
    }
    let (first, last) = (all.first()?, all.last()?);
    let span = time(last.text)? - time(first.text)?;
    (span > QUERY_S).then(|| Fact::new("igmp_queries_seen", false, last.number))
}

/// `12:34:56.789` at the start of a line, seconds.
fn time(text: &str) -> Option<f64> {
    let mut parts = text
        .split_whitespace()
        .find(|word| word.matches(':').count() == 2)?
        .split(':');
    let mut next = || parts.next()?.parse::<f64>().ok();
    Some(next()? * 3600.0 + next()? * 60.0 + next()?)
}

/// Whether packets with wrong checksums were captured where they were sent.
fn sender(all: &[Capture<'_>], shown: &Shown<'_>) -> Option<Fact> {
    let judged = all
        .iter()
        .flat_map(|capture| capture.packets.iter().map(move |packet| (capture, packet)));
    let wrong = judged.filter(|(_, packet)| {
        packet.rest.contains("(incorrect") || packet.rest.contains("bad udp cksum")
    });
    let own = |address: IpAddr| match address {
        IpAddr::V4(address) => shown.owner(address).is_some(),
        IpAddr::V6(_) => false,
    };
    let judged = wrong.filter_map(|(capture, packet)| {
        let says = |words: &[&str]| {
            capture
                .label
                .split(|letter: char| !letter.is_alphabetic())
                .any(|word| words.contains(&word.to_ascii_lowercase().as_str()))
        };
        let is_joined = number_after(packet.rest, ", length ") > Some(SEGMENT_MOST);
        let value = match packet.is_in {
            Some(is_in) => !is_in,
            None if says(&["sender", "sending"]) || is_joined => true,
            None if says(&["receiver", "receiving"]) => false,
            None => own(packet.from)
                .then_some(true)
                .or_else(|| own(packet.to).then_some(false))?,
        };
        Some((value, packet.line))
    });
    let (value, line) = judged.into_iter().next()?;
    Some(Fact::new("captured_on_sender", value, line))
}

const PACKETS_LEAST: u32 = 3;
const PACKETS_COMPARED: usize = 1000;
const FLOWS_MOST: usize = 50;
const SEGMENT_FULL: f64 = 1000.0;
/// No Ethernet carries more: it was captured before it was cut.
const SEGMENT_MOST: f64 = 9000.0;
const REPEATED: u32 = 3;
/// Queriers ask every 125 s.
const QUERY_S: f64 = 140.0;

#[cfg(test)]
mod tests;
