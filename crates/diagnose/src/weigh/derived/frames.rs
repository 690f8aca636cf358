// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of `tcpdump -e` and ARP: VLAN tags that no host accepts, two tags, questions whose answer another capture shows;
//! requests that are repeated; two hosts with one hardware address.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::shown::{Port, Shown, WIRES, is_one_of, word_after};
use super::{Fact, number_after};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let mut facts = tags(shown);
    facts.extend(untagged(shown));
    facts.extend(lost_reply(shown));
    facts.extend(repeated(shown));
    facts.extend(clones(&shown.ports));
    facts
}

/// The VLANs that interfaces of the text are for: `eth0.10`, `vlan10`.
fn taken(shown: &Shown<'_>) -> BTreeSet<u32> {
    let of_port = |port: &Port<'_>| {
        let last = port.name.rsplit_once('.').map(|(_, last)| last);
        let id = last.or_else(|| port.name.strip_prefix("vlan"))?;
        id.parse::<u32>().ok().filter(|id| (1..4095).contains(id))
    };
    let of_details = shown.lines.iter().filter_map(|line| {
        let (_, rest) = line.text.split_once("vlan protocol 802.1Q id ")?;
        Some(number_after(rest, "")? as u32)
    });
    shown
        .ports
        .iter()
        .filter_map(of_port)
        .chain(of_details)
        .gather()
}

/// Tags of captured frames: two in one frame, or only such that no interface takes.
fn tags(shown: &Shown<'_>) -> Vec<Fact> {
    let mut seen = BTreeSet::new();
    let mut last = 0;
    let mut facts = Vec::new();
    let frames = shown.with(&["802.1Q"]);
    for line in frames.filter(|line| line.text.contains("ethertype") || line.text.contains(", p "))
    {
        let tags: Vec<u32> = line
            .text
            .match_indices("vlan ")
            .filter_map(|(at, _)| number_after(&line.text[at..], "vlan "))
            .map(|id| id as u32)
            .collect();
        let is_provider = line.text.contains("QinQ")
            || line.text.contains("88a8")
            || line.text.contains("802.1ad");
        if tags.len() > 1 && !is_provider && facts.is_empty() {
            facts.push(Fact::new("double_tagged", true, line.number));
        }
        if let Some(first) = tags.first() {
            seen.insert(*first);
            last = line.number;
        }
    }
    let taken = taken(shown);
    if !seen.is_empty() && !taken.is_empty() && seen.is_disjoint(&taken) {
        facts.push(Fact::new("capture_tag_unexpected", true, last));
    }
    facts
}

/// Whether the frames at an interface that carries VLANs have no tag.
fn untagged(shown: &Shown<'_>) -> Option<Fact> {
    let names = shown
        .ports
        .iter()
        .filter_map(|port| port.name.rsplit_once('.'));
    let parents: BTreeSet<&str> = names
        .filter(|(_, id)| id.parse::<u32>().is_ok())
        .map(|(parent, _)| parent)
        .gather();
    let mut is_parent = false;
    let (mut plain, mut tagged, mut last) = (0, 0, 0);
    for line in shown
        .lines
        .iter()
        .filter(|line| !parents.is_empty() && line.text.len() < LINE_MOST)
    {
        let listens = word_after(line.text, "listening on ").map(|name| name.trim_end_matches(','));
        is_parent = listens.map_or(is_parent, |name| parents.contains(name));
        if is_parent && line.text.contains("ethertype ") {
            let has_tag = line.text.contains("802.1Q");
            tagged += u32::from(has_tag);
            plain += u32::from(!has_tag);
            last = line.number;
        }
    }
    (plain >= FRAMES_LEAST && tagged == 0).then(|| Fact::new("capture_untagged_only", true, last))
}

/// Whether one capture shows the answer that another one asks for in vain.
fn lost_reply(shown: &Shown<'_>) -> Option<Fact> {
    shown.with(&["is-at "]).next()?;
    let mut sections: Vec<(Map<&str, u32>, BTreeSet<&str>)> = vec![Default::default()];
    let mut last = 0;
    for line in shown
        .lines
        .iter()
        .filter(|line| line.text.len() < LINE_MOST)
    {
        let text = line.text;
        let Some((asked, replied)) = sections.last_mut() else {
            break;
        };
        let asks = word_after(text, "who-has ");
        let replies = word_after(text, "Reply ").filter(|_| text.contains(" is-at "));
        if let Some(address) = asks {
            *asked.entry(address.trim_end_matches(',')).or_default() += 1;
            last = line.number;
        } else if let Some(address) = replies {
            replied.insert(address);
        } else if is_boundary(text)
            && !(asked.is_empty() && replied.is_empty())
            && sections.len() < SECTIONS_MOST
        {
            sections.push(Default::default());
        }
    }
    let answered: BTreeSet<&str> = sections
        .iter()
        .flat_map(|(_, replied)| replied.iter().copied())
        .gather();
    let in_vain = |(asked, replied): &(Map<&str, u32>, BTreeSet<&str>)| {
        asked.iter().any(|(address, count)| {
            *count > 1 && !replied.contains(address) && answered.contains(address)
        })
    };
    sections
        .iter()
        .any(in_vain)
        .then(|| Fact::new("arp_reply_leaves_does_not_arrive", true, last))
}

fn is_boundary(text: &str) -> bool {
    let text = text.trim();
    text.contains("listening on ")
        || text.starts_with("tcpdump ")
        || text.contains(" packets captured")
        || (text.ends_with(':') && text.len() < 60)
}

/// How many requests were sent again a second later or more: DNS by its id, RPC by its xid.
fn repeated(shown: &Shown<'_>) -> Option<Fact> {
    let mut first: Map<(&str, &str, &str), f64> = Map::new();
    let (mut count, mut last) = (0, 0);
    for line in shown
        .lines
        .iter()
        .filter(|line| line.text.as_bytes().contains(&b'>') && line.text.len() < LINE_MOST)
    {
        let Some((key, at)) = request(line.text) else {
            continue;
        };
        let since = *first.entry(key).or_insert(at);
        if at - since >= REPEATED_S {
            count += 1;
            last = line.number;
        }
    }
    (count > 0).then(|| Fact::new("duplicate_requests", count, last))
}

/// `12:00:01.1 IP 192.0.2.7.40000 > 192.0.2.53.53: 8122+ A? example.org. (29)`, `… NFS request xid 8122 …`.
fn request(text: &str) -> Option<((&str, &str, &str), f64)> {
    let (before, rest) = text.split_once(" > ")?;
    let (to, rest) = rest.split_once(": ")?;
    let is_question = ["A? ", "AAAA? ", "PTR? ", "SRV? ", "TXT? "]
        .iter()
        .any(|kind| rest.contains(kind))
        && !rest.contains('/');
    let id = if is_question {
        rest.split_whitespace().next()?
    } else {
        word_after(rest, "NFS request xid ")?
    };
    let mut words = before.split_whitespace();
    let mut clock = words
        .next()?
        .split(':')
        .map(|part| part.parse::<f64>().ok());
    let at = clock.next()?? * 3600.0 + clock.next()?? * 60.0 + clock.next()??;
    Some(((words.next_back()?, to, id), at))
}

/// Whether two hosts that the text names have one hardware address.
fn clones(all: &[Port<'_>]) -> Option<Fact> {
    let mut seen: Map<&str, &str> = Map::new();
    let named = all
        .iter()
        .filter(|port| is_one_of(port.name, WIRES) && is_host(port.place));
    for port in named {
        let Some(mac) = port.mac.filter(|mac| *mac != "00:00:00:00:00:00") else {
            continue;
        };
        let first = *seen.entry(mac).or_insert(port.place);
        if first != port.place {
            return Some(Fact::new("same_mac_on_two_hosts", true, port.line));
        }
    }
    None
}

/// `host a`, `on vm2:`; no `before` or `after` of one host.
fn is_host(place: &str) -> bool {
    let lower = place.to_ascii_lowercase();
    let words = || lower.split(|letter: char| !letter.is_ascii_alphabetic());
    words().any(|word| HOSTS.contains(&word)) && !words().any(|word| TIMES.contains(&word))
}

const HOSTS: &[&str] = &[
    "host", "vm", "node", "server", "client", "machine", "box", "pc", "pi", "guest", "board",
    "clone", "laptop", "desktop",
];
const TIMES: &[&str] = &[
    "before", "after", "now", "then", "old", "new", "with", "without", "earlier", "later", "first",
    "again", "reboot", "same",
];
const FRAMES_LEAST: u32 = 5;
const REPEATED_S: f64 = 0.9;
const SECTIONS_MOST: usize = 200;
const LINE_MOST: usize = 600;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::super::shown::values;
    use super::*;

    assertions!(has and lacks, values, facts);

    const PORT: &str = "5: eth0.10@eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n";

    #[test]
    fn tags_of_frames() {
        let frame = |tags: &str| {
            format!(
                "{PORT}02:00:00:00:00:0a > ff:ff:ff:ff:ff:ff, ethertype 802.1Q (0x8100), length 60: {tags} ARP, Request who-has 192.0.2.1\n"
            )
        };
        has(&frame("vlan 1, p 0,"), "capture_tag_unexpected", "true");
        lacks(&frame("vlan 10, p 0,"), "capture_tag_unexpected");
        has(
            &frame("vlan 10, p 0, ethertype 802.1Q, vlan 10, p 0,"),
            "double_tagged",
            "true",
        );
        lacks(&frame("vlan 10, p 0,"), "double_tagged");
        let plain = "02:00:00:00:00:0a > ff:ff:ff:ff:ff:ff, ethertype ARP (0x0806), length 60: Request who-has 192.0.2.1\n";
        let text = |name: &str| {
            format!(
                "{PORT}listening on {name}, link-type EN10MB\n{}",
                plain.repeat(6)
            )
        };
        has(&text("eth0"), "capture_untagged_only", "true");
        lacks(&text("eth0.10"), "capture_untagged_only");
    }

    #[test]
    fn answers_that_get_lost() {
        let asks = "ARP, Request who-has 192.0.2.1 tell 192.0.2.99, length 28\n";
        let reply = "ARP, Reply 192.0.2.1 is-at 02:00:00:00:00:01, length 28\n";
        has(
            &format!("in the guest:\n{asks}{asks}on the router:\n{asks}{reply}"),
            "arp_reply_leaves_does_not_arrive",
            "true",
        );
        lacks(
            &format!("in the guest:\n{asks}{asks}{reply}"),
            "arp_reply_leaves_does_not_arrive",
        );
        let question = |at: &str| {
            format!("12:00:0{at} IP 192.0.2.7.40000 > 192.0.2.53.53: 8122+ A? example.org. (29)\n")
        };
        has(
            &(question("1.1") + &question("6.1")),
            "duplicate_requests",
            "1",
        );
        lacks(&(question("1.1") + &question("1.2")), "duplicate_requests");
    }

    #[test]
    fn cloned_machines() {
        let host = |place: &str, mac: &str| {
            format!(
                "{place}:\n2: eth0: <UP> mtu 1500 qdisc mq state UP\n    link/ether {mac} brd ff:ff:ff:ff:ff:ff\n"
            )
        };
        let one = "02:00:00:00:00:01";
        has(
            &(host("on vm1", one) + &host("on vm2", one)),
            "same_mac_on_two_hosts",
            "true",
        );
        lacks(
            &(host("vm1 before", one) + &host("vm1 after", one)),
            "same_mac_on_two_hosts",
        );
        lacks(
            &(host("on vm1", one) + &host("on vm2", "02:00:00:00:00:02")),
            "same_mac_on_two_hosts",
        );
    }
}
