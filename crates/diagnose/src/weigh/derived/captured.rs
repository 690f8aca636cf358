// SPDX-License-Identifier: MIT OR Apache-2.0
//! What captures show together: what leaves and does not arrive, answers by another way or of another address, repeats.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use linerate_model::order::Gather as _;

use super::packets::{Capture, Packet, captures, identity};
use super::shown::{Shown, is_one_of, is_public, word_after};
use super::{Fact, number_after};
use crate::weigh::observed::Line;

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

fn leaves_only(all: &[Capture<'_>]) -> Option<Fact> {
    elsewhere(all, "capture_leaves_does_not_arrive", |packet| {
        packet.is_request() || !packet.to_port.is_empty()
    })
}

fn syn_leaves_only(all: &[Capture<'_>]) -> Option<Fact> {
    elsewhere(all, "capture_syn_does_not_arrive", |packet| packet.is_syn())
}

fn overlay_leaves_only(all: &[Capture<'_>]) -> Option<Fact> {
    elsewhere(all, "capture_overlay_leaves_does_not_arrive", |packet| {
        ["4789", "8472", "6081"].contains(&packet.to_port)
            || [" VXLAN, ", " OTV, ", " Geneve, "]
                .iter()
                .any(|mark| packet.rest.contains(mark))
    })
}

/// Packets that come in by one interface of this host and do not go out of the other.
fn arrives_only(all: &[Capture<'_>]) -> Option<Fact> {
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

/// Whether a connection that stands has packets of one direction only.
fn one_direction(all: &[Capture<'_>]) -> Option<Fact> {
    let of_all = all
        .iter()
        .filter(|capture| !capture.selects(&["src", "dst"]) && !capture.command.contains("tcp["));
    let found = of_all.into_iter().find_map(|capture| {
        let stands = |packet: &&Packet<'_>| {
            packet.is_tcp() && !packet.is_syn() && !packet.is_syn_answer() && !packet.is_reset()
        };
        let mut flows: BTreeMap<Flow<'_>, (u32, u64)> = BTreeMap::new();
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
    let mut ways: BTreeMap<Flow<'_>, [BTreeSet<&str>; 2]> = BTreeMap::new();
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

/// Whether fragments with ports come, and never those that follow.
fn first_fragments(all: &[Capture<'_>]) -> Option<Fact> {
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

/// Whether a full segment is sent three times.
fn full_repeated(all: &[Capture<'_>]) -> Option<Fact> {
    let mut seen: BTreeMap<(usize, Flow<'_>, Option<&str>, &str), u32> = BTreeMap::new();
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

/// Whether datagrams to a group that routers forward have a TTL of 1.
fn multicast_ttl(all: &[Capture<'_>]) -> Option<Fact> {
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

/// Whether a reset has another TTL than the other packets of its sender.
fn resets(all: &[Capture<'_>]) -> Option<Fact> {
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
fn options(all: &[Capture<'_>]) -> Option<Fact> {
    let mut seen: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
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
fn segment_sizes(all: &[Capture<'_>]) -> Option<Fact> {
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

/// Whether somebody asks for group members, where membership was captured for longer than the usual interval.
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
const TTL_NEAR: f64 = 3.0;
const JUMBO: f64 = 4000.0;
/// Queriers ask every 125 s.
const QUERY_S: f64 = 140.0;

#[cfg(test)]
mod tests {
    use super::super::shown::values;
    use super::*;

    fn has(text: &str, name: &str, value: &str) {
        let found = values(text, facts);
        let is_there = found.iter().any(|(one, is)| *one == name && is == value);
        assert!(is_there, "{name} {found:?}");
    }

    fn lacks(text: &str, name: &str) {
        let found = values(text, facts);
        assert!(!found.iter().any(|(one, _)| *one == name), "{found:?}");
    }

    #[test]
    fn what_does_not_arrive() {
        let text = "node 1: IP 192.0.2.11.40122 > 192.0.2.12.8472: OTV, flags [I] (0x08), overlay 0, instance 1\nnode 2: 0 packets captured\n";
        has(text, "capture_overlay_leaves_does_not_arrive", "true");
        has(text, "capture_leaves_does_not_arrive", "true");
        lacks(text, "capture_syn_does_not_arrive");
        lacks(
            &text.replace("2: 0", "2: 7"),
            "capture_leaves_does_not_arrive",
        );
        let syn = "On the client:\ntcpdump -ni eth0 port 8443\n12:00:01.1 IP 192.0.2.11.40122 > 198.51.100.9.8443: Flags [S], seq 1, win 64240, length 0\n1 packets captured\nOn the server:\ntcpdump -ni eth0 port 8443\n0 packets captured\n";
        has(syn, "capture_syn_does_not_arrive", "true");
        lacks(
            &syn.replace("eth0 port 8443\n0 ", "eth0 port 22\n0 "),
            "capture_syn_does_not_arrive",
        );
        let here = "tcpdump -ni eth0 icmp\nIP 192.168.1.7 > 10.0.3.5: ICMP echo request, id 7, seq 1, length 64\n1 packets captured\ntcpdump -ni lxdbr0 icmp\n0 packets captured\n";
        has(here, "capture_arrives_does_not_leave", "true");
        lacks(here, "capture_leaves_does_not_arrive");
    }

    #[test]
    fn ways_of_answers() {
        let syn = "eth1 In  IP 203.0.113.5.51022 > 198.51.100.10.443: Flags [S], seq 1, length 0\n";
        let answer = |interface: &str| {
            format!(
                "{interface} Out IP 198.51.100.10.443 > 203.0.113.5.51022: Flags [S.], seq 9, ack 2, length 0\n"
            )
        };
        has(
            &format!("{syn}{}", answer("eth0")),
            "capture_answers_leave_other_interface",
            "true",
        );
        lacks(
            &format!("{syn}{}", answer("eth1")),
            "capture_answers_leave_other_interface",
        );
        has(
            &format!("{syn}{syn}"),
            "capture_requests_without_answer_on_host",
            "true",
        );
        lacks(
            &format!("{syn}{syn}{}", answer("eth1")),
            "capture_requests_without_answer_on_host",
        );
        let inner = "IP 192.168.1.50.50211 > 203.0.113.7.443: Flags [S], seq 1\nIP 192.168.1.10.443 > 192.168.1.50.50211: Flags [S.], seq 9\n";
        has(inner, "capture_answer_from_inner_address", "true");
        lacks(
            &inner.replace("192.168.1.10.443", "203.0.113.7.443"),
            "capture_answer_from_inner_address",
        );
    }

    #[test]
    fn short_lines() {
        let text = "IP 192.168.1.50.50211 > 203.0.113.7.443: Flags [S]\nIP 192.168.1.10.443 > 192.168.1.50.50211: Flags [S.]\nIP 192.168.1.50.50211 > 192.168.1.10.443: Flags [R]\n";
        has(text, "capture_answer_from_inner_address", "true");
        // `[S]` is no markup.
        assert_eq!(linerate_paste::clean(text).text(), text);
    }

    #[test]
    fn one_direction_and_repeats() {
        let data = |seq: u32| {
            format!(
                "12:00:00.{seq} IP 192.0.2.1.443 > 192.0.2.2.5000: Flags [.], seq {seq}:{}, ack 1, win 59, length 1448\n",
                seq + 1448
            )
        };
        let text = data(1) + &data(1449) + &data(2897);
        has(&text, "capture_one_direction_only", "true");
        lacks(
            &format!(
                "{text}12:00:01.1 IP 192.0.2.2.5000 > 192.0.2.1.443: Flags [.], ack 99, win 59, length 0\n"
            ),
            "capture_one_direction_only",
        );
        lacks(&text, "capture_full_segments_repeated");
        has(
            &(data(1) + &data(1) + &data(1)),
            "capture_full_segments_repeated",
            "true",
        );
        let echo =
            "12:00:00.1 IP 192.0.2.1 > 192.0.2.2: ICMP echo request, id 7, seq 1, length 64\n";
        has(&format!("{echo}{echo}"), "capture_duplicates", "1");
        lacks(
            &echo.replace("IP ", "eth0 In  IP ").repeat(2),
            "capture_duplicates",
        );
    }

    #[test]
    fn lifetimes() {
        let text = |ttl: u32| {
            format!(
                "12:00:00.1 IP (tos 0x0, ttl {ttl}, id 8122, offset 0, flags [DF], proto UDP (17), length 1344)\n    192.0.2.10.50122 > 239.1.1.1.5004: UDP, length 1316\n"
            )
        };
        has(&text(1), "capture_multicast_ttl_1", "true");
        has(&text(16), "capture_multicast_ttl_1", "false");
        lacks(
            &text(1).replace("239.1.1.1", "224.0.0.251"),
            "capture_multicast_ttl_1",
        );
        let reset = |ttl: u32| {
            format!(
                "IP (ttl 52, id 8122) 203.0.113.5.443 > 192.0.2.10.50122: Flags [S.], seq 1\nIP (ttl {ttl}, id 0) 203.0.113.5.443 > 192.0.2.10.50122: Flags [R], seq 1\n"
            )
        };
        has(&reset(119), "reset_ttl_differs", "true");
        has(&reset(52), "reset_ttl_differs", "false");
    }

    #[test]
    fn sources() {
        let text = "tcpdump -ni eth0 (the outer interface):\nIP 192.168.50.20 > 8.8.8.8: ICMP echo request, id 7, seq 1, length 64\n";
        has(text, "capture_source_private_on_public_side", "true");
        has(
            &text.replace("192.168.50.20", "203.0.113.7"),
            "capture_source_private_on_public_side",
            "false",
        );
        lacks(
            &text.replace("the outer interface", "laptop"),
            "capture_source_private_on_public_side",
        );
        let own = "2: eth0    inet 172.31.0.7/20 scope global eth0\neth0 Out IP 10.8.0.6 > 172.31.5.20: ICMP echo request, id 7, seq 1\n";
        has(own, "capture_source_not_own", "true");
        has(
            &own.replace("10.8.0.6", "172.31.0.7"),
            "capture_source_not_own",
            "false",
        );
    }

    #[test]
    fn ends_and_groups() {
        let ends = |one: u32, other: u32| {
            format!(
                "IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 1, options [mss {one},sackOK], length 0\nIP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 5, options [mss {other}], length 0\n"
            )
        };
        has(&ends(8960, 8960), "both_ends_jumbo", "true");
        has(&ends(8960, 1460), "peer_mtu_larger", "true");
        lacks(&ends(1460, 1412), "peer_mtu_larger");
        let syn = |options: &str| {
            format!(
                "IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 812, options [{options}], length 0\n"
            )
        };
        has(
            &(syn("mss 1460,sackOK,nop,wscale 7") + &syn("mss 1460")),
            "tcp_options_differ",
            "true",
        );
        has(
            &(syn("mss 1460,sackOK") + &syn("mss 1412,sackOK")),
            "tcp_options_differ",
            "false",
        );
        let report =
            |at: &str| format!("{at} IP 192.0.2.1 > 239.1.1.1: igmp v2 report 239.1.1.1\n");
        has(
            &(report("12:00:00.1") + &report("12:05:00.1")),
            "igmp_queries_seen",
            "false",
        );
        lacks(&report("12:00:00.1"), "igmp_queries_seen");
        has(
            "12:00:00.1 IP 192.0.2.1 > 224.0.0.1: igmp query v2\n",
            "igmp_queries_seen",
            "true",
        );
        has(
            "captured on the sender: IP 192.0.2.7.22 > 192.0.2.9.51122: Flags [P.], cksum 0x8412 (incorrect -> 0x5a01), seq 1:64513, ack 1, length 64512\n",
            "captured_on_sender",
            "true",
        );
        assert_eq!(
            values("a > b: nothing of a capture, 1.2.3.4 > x\n", facts),
            []
        );
    }
}
