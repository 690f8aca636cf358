// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tcpdump`: packets longer than the MTU, questions for an address without an offer.

use super::{Fact, number_after};
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let readers = [longer_than_mtu, no_offer];
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
