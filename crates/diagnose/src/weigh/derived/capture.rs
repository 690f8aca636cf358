// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tcpdump`: packets longer than the MTU, questions for an address without an offer, answers from an address that was not
//! asked.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;

use super::{Fact, number_after};
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let readers = [longer_than_mtu, no_offer, other_answers];
    readers.iter().filter_map(|read| read(lines)).collect()
}

/// Segments that no Ethernet carries: captured before they were cut, or after they were joined.
fn longer_than_mtu(lines: &[Line<'_>]) -> Option<Fact> {
    let segments = lines.iter().filter(|line| line.text.contains("Flags ["));
    let lengths =
        segments.filter_map(|line| Some((number_after(line.text, "length ")?, line.number)));
    let longest = lengths.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Fact::new(
        "captured_longer_than_mtu",
        longest.0 > ETHERNET_BYTES,
        longest.1,
    ))
}

/// `BOOTP/DHCP, Request` and no reply, `DHCPDISCOVER` and no offer.
fn no_offer(lines: &[Line<'_>]) -> Option<Fact> {
    let has = |line: &&Line<'_>, marks: &[&str]| marks.iter().any(|mark| line.text.contains(mark));
    let mut asked = lines.iter().filter(|line| has(line, ASKED));
    let answered = lines.iter().any(|line| has(&line, ANSWERED));
    let last = asked.next_back()?.number;
    Some(Fact::new("dhcp_discover_without_offer", !answered, last))
}

/// `A.port > B.port` and `C.port > A.port` for the same two ports, where B does not answer and C answers unasked.
fn other_answers(lines: &[Line<'_>]) -> Option<Fact> {
    let packets: Vec<(Packet<'_>, u64)> = lines.iter().filter_map(packet).take(PACKETS).collect();
    let known: BTreeSet<Packet<'_>> = packets.iter().map(|(packet, _)| *packet).gather();
    let waits = |asker: End<'_>, port: &str| {
        let mut asked = known
            .iter()
            .filter(|(from, to)| *from == asker && to.1 == port);
        asked.any(|(_, to)| !known.contains(&(*to, asker)))
    };
    let is_other =
        |((from, to), _): &&(Packet<'_>, u64)| !known.contains(&(*to, *from)) && waits(*to, from.1);
    let (_, line) = packets.iter().find(is_other)?;
    Some(Fact::new("capture_answer_from_other_address", true, *line))
}

/// An address and a port.
type End<'t> = (&'t str, &'t str);
/// From where, and to where.
type Packet<'t> = (End<'t>, End<'t>);

/// `192.0.2.1.12572 > 192.0.2.2.5888: …`
fn packet<'t>(line: &Line<'t>) -> Option<(Packet<'t>, u64)> {
    let (before, after) = line.text.split_once(" > ")?;
    let from = before.rsplit(' ').next()?.rsplit_once('.')?;
    let to = after.split(':').next()?.trim().rsplit_once('.')?;
    let is_port = |port: &str| port.bytes().all(|letter| letter.is_ascii_digit());
    let are_ends = [from, to].iter().all(|(address, port)| {
        address.matches('.').count() == 3 && !port.is_empty() && is_port(port)
    });
    are_ends.then_some(((from, to), line.number))
}

/// Further ones show the same.
const PACKETS: usize = 200;

const ASKED: &[&str] = &[
    "DHCPDISCOVER",
    "BOOTP/DHCP, Request",
    "sending discover",
    "Sending discover",
];
const ANSWERED: &[&str] = &[
    "DHCPOFFER",
    "DHCPACK",
    "BOOTP/DHCP, Reply",
    "lease of ",
    "bound to ",
];
/// The payload of a TCP segment on Ethernet.
const ETHERNET_BYTES: f64 = 1460.0;

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn an_answer_from_another_address() {
        let asked = "    203.0.113.160.12572 > 203.0.113.249.5888: [udp sum ok] UDP, length 148\n";
        let other = "    203.0.113.208.5888 > 203.0.113.160.12572: [udp sum ok] UDP, length 92\n";
        let right = "    203.0.113.249.5888 > 203.0.113.160.12572: [udp sum ok] UDP, length 92\n";
        let is_other = |text: &str| {
            let found = values(text, facts);
            found.contains(&("capture_answer_from_other_address", "true".to_owned()))
        };
        assert!(is_other(&format!("{asked}{other}")));
        assert!(!is_other(&format!("{asked}{right}")));
        assert!(
            !is_other(&format!("{asked}{other}{right}")),
            "two hosts that talk to one"
        );
        assert!(!is_other(other));
    }

    #[test]
    fn segments_and_offers() {
        let text = "IP 192.0.2.1.443 > 192.0.2.2.5000: Flags [P.], seq 1:5338, ack 1, win 59, length 5337\n\
            dhclient: DHCPDISCOVER on eth0 to 255.255.255.255 port 67\n";
        let found = values(text, facts);
        assert!(
            found.contains(&("captured_longer_than_mtu", "true".to_owned())),
            "{found:?}"
        );
        assert!(found.contains(&("dhcp_discover_without_offer", "true".to_owned())));
        let answered = values(&format!("{text}dhclient: DHCPOFFER of 192.0.2.7\n"), facts);
        assert!(answered.contains(&("dhcp_discover_without_offer", "false".to_owned())));
    }
}
