// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware addresses of neighbours and interfaces: one for many, several for one, an old one; a table that is full.

use std::collections::BTreeSet;
use std::net::IpAddr;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::Fact;
use super::shown::{Neighbour, Shown, is_mac, is_public, word_after};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let answers = answers(shown);
    let mut facts = Vec::new();
    facts.extend(changes(shown, &answers));
    facts.extend(of_two_interfaces(shown, &answers));
    facts.extend(old(shown));
    facts.extend(one_for_many(&shown.neighbours));
    facts.extend(others_reachable(&shown.neighbours));
    facts.extend(fill(shown));
    facts.extend(remote(shown));
    facts
}

/// An address, who answers for it, and where that stands.
type Answers<'t> = Map<IpAddr, Vec<(String, u64)>>;

/// `Unicast reply from 192.0.2.7 [02:…]` of arping, `ARP, Reply 192.0.2.7 is-at 02:…`, tables of neighbours.
fn answers<'t>(shown: &Shown<'t>) -> Answers<'t> {
    let mut answers = Answers::new();
    let replies = shown.lines.iter().filter_map(|line| {
        let (address, mac) = reply(line.text)?;
        Some((address, mac, line.number))
    });
    let listed = shown
        .neighbours
        .iter()
        .filter_map(|one| Some((one.address, one.mac?, one.line)));
    let listed = listed.filter(|(address, ..)| address.is_ipv4());
    for (address, mac, line) in replies.chain(listed).take(ANSWERS_MOST) {
        let mac = mac.to_ascii_lowercase().replace('-', ":");
        answers.entry(address).or_default().push((mac, line));
    }
    answers
}

fn reply(text: &str) -> Option<(IpAddr, &str)> {
    let (address, mac) = if let Some((before, rest)) = text.split_once(" is-at ") {
        (
            before.split_whitespace().next_back()?,
            rest.split_whitespace().next()?,
        )
    } else if let Some((_, rest)) = text.split_once("reply from ") {
        let (address, rest) = rest.split_once(" [")?;
        (address, rest.split(']').next()?)
    } else {
        let (before, rest) = text.split_once(" bytes from ")?;
        let (mac, rest) = rest.split_once(" (")?;
        before.trim().parse::<u32>().ok()?;
        (rest.split(')').next()?, mac)
    };
    let mac = mac.trim_end_matches(',');
    is_mac(mac).then_some((address.parse().ok()?, mac))
}

/// Whether an address has had two hardware addresses.
fn changes(shown: &Shown<'_>, answers: &Answers<'_>) -> Option<Fact> {
    let logged = ["changed ethernet address", "flip flop", " moved from "];
    let is_logged = |text: &str| {
        logged.iter().any(|mark| text.contains(mark)) && text.split_whitespace().any(is_mac_like)
    };
    let of_log = || {
        shown
            .lines
            .iter()
            .find(|line| is_logged(line.text))
            .map(|line| line.number)
    };
    let line = answers
        .values()
        .find_map(|all| second(all))
        .or_else(of_log)?;
    Some(Fact::new("neighbour_mac_changes", true, line))
}

/// Where a second hardware address answers.
fn second(all: &[(String, u64)]) -> Option<u64> {
    let (first, _) = all.first()?;
    all.iter()
        .find(|(mac, _)| mac != first)
        .map(|(_, line)| *line)
}

/// Of arpwatch without leading zeros, too: `0:1b:21:a:b:c`.
fn is_mac_like(word: &str) -> bool {
    let parts: Vec<&str> = word.trim_matches(['(', ')']).split(':').collect();
    parts.len() == 6
        && parts.iter().all(|part| {
            (1..=2).contains(&part.len()) && part.bytes().all(|letter| letter.is_ascii_hexdigit())
        })
}

/// Whether two interfaces of one listing answer for an address.
fn of_two_interfaces(shown: &Shown<'_>, answers: &Answers<'_>) -> Option<Fact> {
    let owner = |mac: &str| {
        shown
            .ports
            .iter()
            .find(|port| port.mac.is_some_and(|own| own.eq_ignore_ascii_case(mac)))
    };
    let both = |all: &&Vec<(String, u64)>| {
        let owners = all.iter().filter_map(|(mac, _)| owner(mac));
        owners.map(|port| port.name).gather::<BTreeSet<_>>().len() > 1
    };
    let all = answers.values().find(both)?;
    Some(Fact::new(
        "arp_replies_of_two_interfaces",
        true,
        second(all)?,
    ))
}

/// Whether a neighbour table has another hardware address than the listing of the interface that has the address.
fn old(shown: &Shown<'_>) -> Option<Fact> {
    let judged = shown.neighbours.iter().filter_map(|one| {
        let IpAddr::V4(address) = one.address else {
            return None;
        };
        let owners = shown
            .ports
            .iter()
            .filter(|port| port.addresses.iter().any(|(own, _)| *own == address));
        let macs: Vec<&str> = owners.filter_map(|port| port.mac).collect();
        let mac = one
            .mac
            .filter(|mac| !macs.is_empty() && !mac.starts_with("00:00:5e:00:01"))?;
        Some((
            !macs.iter().any(|own| own.eq_ignore_ascii_case(mac)),
            one.line,
        ))
    });
    let all: Vec<(bool, u64)> = judged.collect();
    let (value, line) = all.iter().find(|(value, _)| *value).or(all.first())?;
    Some(Fact::new("neighbour_mac_is_old", value, *line))
}

/// Whether one neighbour has many addresses.
fn one_for_many(all: &[Neighbour<'_>]) -> Option<Fact> {
    let mut places: Map<(&str, &str), BTreeSet<IpAddr>> = Map::new();
    let known = all
        .iter()
        .filter(|one| one.address.is_ipv4() && !one.address.is_multicast());
    let mut listed = BTreeSet::new();
    for one in known {
        listed.insert(one.address);
        if let Some(mac) = one.mac.filter(|mac| is_unicast(mac)) {
            places
                .entry((one.device, mac))
                .or_default()
                .insert(one.address);
        }
    }
    let most = places.values().map(BTreeSet::len).max()?;
    let line = all.first()?.line;
    (listed.len() >= ADDRESSES_MANY)
        .then(|| Fact::new("one_mac_for_many_addresses", most >= ADDRESSES_MANY, line))
}

fn is_unicast(mac: &str) -> bool {
    let first = mac
        .get(..2)
        .and_then(|first| u8::from_str_radix(first, 16).ok());
    first.is_some_and(|first| first & 1 == 0)
}

/// Whether others answer where one neighbour does not.
fn others_reachable(all: &[Neighbour<'_>]) -> Option<Fact> {
    let silent = all.iter().find(|one| one.mac.is_none())?;
    let mut others = all.iter().filter(|one| one.device == silent.device);
    let answers = others.any(|one| one.mac.is_some());
    answers.then(|| Fact::new("other_neighbours_reachable", true, silent.line))
}

/// Entries over the most that the kernel keeps. A table that ends just below the default has that as its limit.
fn fill(shown: &Shown<'_>) -> Option<Fact> {
    let limit = shown
        .number("net.ipv4.neigh.default.gc_thresh3")
        .map(|(limit, _)| limit);
    let (entries, line) = counted(shown).or_else(|| {
        // The author may have selected the lines of a short list.
        let last = shown.neighbours.get(LISTED_LEAST..)?.last()?;
        Some((shown.neighbours.len() as f64, last.line))
    })?;
    let ratio = entries / limit.unwrap_or(LIMIT_DEFAULT);
    let is_known = limit.is_some_and(|limit| limit > 0.0) || (0.9..=1.0).contains(&ratio);
    is_known.then(|| Fact::new("neighbours_of_gc_thresh3", ratio, line))
}

/// The number after `ip neigh | wc -l`, the first column of `/proc/net/stat/arp_cache`.
fn counted(shown: &Shown<'_>) -> Option<(f64, u64)> {
    let after = |at: usize| shown.lines.get(at + 1);
    let command = shown.lines.iter().position(|line| {
        let text = line.text;
        text.contains("wc -l")
            && (text.contains("ip n") || text.contains("ip -4 n") || text.contains("arp"))
    });
    let of_command = command
        .and_then(after)
        .and_then(|line| Some((line.text.trim().parse().ok()?, line.number)));
    of_command.or_else(|| {
        let head = shown.lines.iter().position(|line| {
            line.text.trim_start().starts_with("entries ") && line.text.contains("table_fulls")
        });
        let line = head.and_then(after)?;
        let entries = u32::from_str_radix(line.text.split_whitespace().next()?, 16).ok()?;
        Some((f64::from(entries), line.number))
    })
}

/// Whether a host with a private address asks its own wire for an address of the Internet.
fn remote(shown: &Shown<'_>) -> Option<Fact> {
    let asked = shown.lines.iter().find(|line| {
        let ends = || {
            Some((
                word_after(line.text, "who-has ")?,
                word_after(line.text, " tell ")?,
            ))
        };
        let Some((wanted, own)) = ends() else {
            return false;
        };
        let wanted = wanted.parse().is_ok_and(is_public);
        wanted
            && own
                .trim_end_matches(',')
                .parse()
                .is_ok_and(|own: std::net::Ipv4Addr| own.is_private())
    })?;
    Some(Fact::new("arp_for_remote_network", true, asked.number))
}

const ADDRESSES_MANY: usize = 4;
const ANSWERS_MOST: usize = 20_000;
const LISTED_LEAST: usize = 200;
const LIMIT_DEFAULT: f64 = 1024.0;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::super::shown::values;
    use super::*;

    assertions!(has and lacks, values, facts);

    const REPLIES: &str = "Unicast reply from 192.0.2.11 [02:00:00:00:00:0A]  0.712ms\nUnicast reply from 192.0.2.11 [02:00:00:00:00:0B]  0.744ms\n";

    #[test]
    fn an_address_with_two() {
        has(REPLIES, "neighbour_mac_changes", "true");
        lacks(REPLIES, "arp_replies_of_two_interfaces");
        let port = |name: &str, mac: &str| {
            format!(
                "2: {name}: <UP> mtu 1500 qdisc mq state UP\n    link/ether {mac} brd ff:ff:ff:ff:ff:ff\n"
            )
        };
        let both = port("eth0", "02:00:00:00:00:0a") + &port("eth1", "02:00:00:00:00:0b") + REPLIES;
        has(&both, "arp_replies_of_two_interfaces", "true");
        lacks(&REPLIES.replace("0B", "0A"), "neighbour_mac_changes");
        has(
            "kernel: arp: 192.0.2.1 moved from 02:00:00:00:00:01 to 02:00:00:00:00:02 on em0\n",
            "neighbour_mac_changes",
            "true",
        );
        lacks(
            "the server was moved from 10:20 to the rack\n",
            "neighbour_mac_changes",
        );
    }

    #[test]
    fn one_for_many_and_an_old_one() {
        let entry = |last: u32, mac: u32| {
            format!("192.0.2.{last} dev eth0 lladdr 02:00:00:00:00:0{mac} REACHABLE\n")
        };
        let same: String = (1..5).map(|last| entry(last, 1)).collect();
        has(&same, "one_mac_for_many_addresses", "true");
        let own: String = (1..5).map(|last| entry(last, last)).collect();
        has(&own, "one_mac_for_many_addresses", "false");
        lacks(&entry(1, 1), "one_mac_for_many_addresses");
        let port = "2: eth0: <UP> mtu 1500 qdisc mq state UP\n    link/ether 02:00:00:00:00:07 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.1/24 scope global eth0\n";
        has(
            &format!("{port}{}", entry(1, 1)),
            "neighbour_mac_is_old",
            "true",
        );
        has(
            &format!("{port}{}", entry(1, 7)),
            "neighbour_mac_is_old",
            "false",
        );
    }

    #[test]
    fn a_full_table_and_silent_neighbours() {
        let text = "net.ipv4.neigh.default.gc_thresh3 = 1024\n$ ip neigh | wc -l\n512\n";
        has(text, "neighbours_of_gc_thresh3", "0.5");
        lacks("ip neigh | wc -l\n512\n", "neighbours_of_gc_thresh3");
        let text =
            "192.0.2.77 dev eth0 FAILED\n192.0.2.1 dev eth0 lladdr 02:00:00:00:00:01 REACHABLE\n";
        has(text, "other_neighbours_reachable", "true");
        lacks("192.0.2.77 dev eth0 FAILED\n", "other_neighbours_reachable");
    }

    #[test]
    fn questions_for_the_internet() {
        has(
            "ARP, Request who-has 8.8.8.8 tell 192.168.1.7, length 28\n",
            "arp_for_remote_network",
            "true",
        );
        lacks(
            "ARP, Request who-has 192.168.1.1 tell 192.168.1.7, length 28\n",
            "arp_for_remote_network",
        );
    }
}
