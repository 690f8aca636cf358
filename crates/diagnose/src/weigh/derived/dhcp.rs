// SPDX-License-Identifier: MIT OR Apache-2.0
//! DHCP: offers of several servers, answers that the client does not take, gateways that change, addresses that vanish.

use std::collections::BTreeSet;

use super::Fact;
use super::shown::word_after;
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let marks = [
        "DHCP",
        "dhcp",
        "Server",
        "routers",
        "Deleted",
        "bound to ",
        "lease",
    ];
    let about = |line: &&Line<'_>| marks.iter().any(|mark| line.text.contains(mark));
    let lines: Vec<Line<'_>> = lines.iter().filter(about).copied().collect();
    let readers = [servers, ignored, gateways, vanishing];
    readers.iter().filter_map(|read| read(&lines)).collect()
}

/// How many servers offer addresses: by the identifier in the offer, else by who sent it.
fn servers(lines: &[Line<'_>]) -> Option<Fact> {
    let (mut named, mut sending) = (BTreeSet::new(), BTreeSet::new());
    let mut last = 0;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(server) = identifier(line.text) {
            named.insert(server);
            last = line.number;
        } else if let Some(server) = offering(line.text) {
            sending.insert(server);
            last = line.number;
        }
    }
    let servers = if named.is_empty() { sending } else { named };
    (!servers.is_empty()).then(|| Fact::new("dhcp_offers_of_servers", servers.len(), last))
}

/// `Server-ID 192.0.2.1`, `Server-ID Option 54, length 4: 192.0.2.1`, `Server Identifier: 192.0.2.1`.
fn identifier(text: &str) -> Option<&str> {
    let (_, rest) = text
        .split_once("Server-ID")
        .or_else(|| text.split_once("Server Identifier"))?;
    let word = rest
        .split_whitespace()
        .find(|word| word.matches('.').count() == 3)?;
    let word = word.trim_matches(['(', ')', ',', ':']);
    word.parse::<std::net::Ipv4Addr>().ok().map(|_| word)
}

/// `DHCPOFFER of 192.0.2.77 from 192.0.2.1`, `IP 192.0.2.1.67 > …: BOOTP/DHCP, Reply`.
fn offering(text: &str) -> Option<&str> {
    if text.contains("DHCPOFFER") {
        return word_after(text, " from ")
            .filter(|word| word.parse::<std::net::Ipv4Addr>().is_ok());
    }
    let (before, _) = text
        .split_once(" > ")
        .filter(|_| text.contains("BOOTP/DHCP, Reply"))?;
    let sender = before.split_whitespace().next_back()?;
    sender
        .strip_suffix(".67")
        .or_else(|| sender.strip_suffix(".bootps"))
}

/// Whether offers come and the client asks again.
fn ignored(lines: &[Line<'_>]) -> Option<Fact> {
    let of = |marks: &[&str]| {
        let found = lines
            .iter()
            .filter(|line| marks.iter().any(|mark| line.text.contains(mark)));
        found.map(|line| line.number).collect::<Vec<_>>()
    };
    let offers = of(&["BOOTP/DHCP, Reply", "DHCPOFFER ", "DHCPOFFER("]);
    let last = *offers.last()?;
    let messages = |kind: &str| {
        lines
            .iter()
            .filter(|line| {
                line.text.contains("DHCP-Message") && line.text.trim_end().ends_with(kind)
            })
            .count()
    };
    let taken = of(&["DHCPACK", "DHCPREQUEST", "bound to ", "lease of "]).len()
        + messages("Request")
        + messages("ACK");
    let given_up = !of(&["No DHCPOFFERS received", "No DHCPv4 offers", "no lease"]).is_empty();
    let repeated = messages("Discover") > 1 && messages("Offer") > 1;
    let asked = of(&["BOOTP/DHCP, Request"]).len();
    // An answered client asks twice, one more is a loss at most.
    let many = offers.len() > 3 && asked > 3 && messages("Discover") == 0;
    let is_ignored = taken == 0 && (given_up || repeated || many);
    is_ignored.then(|| Fact::new("dhcp_reply_ignored", true, last))
}

/// Whether leases named two gateways for one interface.
fn gateways(lines: &[Line<'_>]) -> Option<Fact> {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut first: linerate_model::map::Map<&str, &str> = linerate_model::map::Map::new();
    for line in lines
        .iter()
        .filter(|line| line.text.contains("gateway") || line.text.contains("routers"))
    {
        let Some((interface, gateway)) = leased(line.text) else {
            continue;
        };
        let known = *first.entry(interface).or_insert(gateway);
        seen.insert((interface, gateway));
        if known != gateway {
            return Some(Fact::new("gateway_changes", true, line.number));
        }
    }
    None
}

/// `dhcp4 (eth0): gateway 192.0.2.1`, `eth0: DHCPv4 address 192.0.2.7/24, gateway 192.0.2.1`, `option routers 192.0.2.1;`.
fn leased(text: &str) -> Option<(&str, &str)> {
    let is_lease = text.contains("dhcp4 (")
        || text.contains("DHCPv4 address")
        || text.trim_start().starts_with("option routers ");
    is_lease.then_some(())?;
    let word = word_after(text, "gateway ").or_else(|| word_after(text, "option routers "))?;
    let gateway = word.trim_matches([',', ';', '\'', '"']);
    gateway.parse::<std::net::Ipv4Addr>().ok()?;
    let interface = text
        .split_once("dhcp4 (")
        .and_then(|(_, rest)| rest.split(')').next());
    let before = || {
        text.split_once(": DHCPv4 address")
            .and_then(|(before, _)| before.split_whitespace().next_back())
    };
    Some((interface.or_else(before).unwrap_or_default(), gateway))
}

/// `Deleted 2: eth0 inet 192.0.2.7/24 …`, `Deleted default via 192.0.2.1 dev eth0` of `ip monitor`.
fn vanishing(lines: &[Line<'_>]) -> Option<Fact> {
    let is_deleted = |text: &str| {
        let Some((before, rest)) = text.split_once("Deleted ") else {
            return false;
        };
        let is_monitor = before.is_empty() || before.ends_with(']') || before.ends_with("] ");
        let address = rest.contains(" inet ") && !rest.contains("temporary");
        let route = rest.starts_with("default via ")
            || (rest.contains(" via ") && rest.contains(" dev ") && !rest.contains("cache"));
        is_monitor && (address || route) && !rest.contains("lladdr")
    };
    let line = lines.iter().find(|line| is_deleted(line.text))?;
    Some(Fact::new("addresses_or_routes_vanish", true, line.number))
}

const LINE_MOST: usize = 600;

#[cfg(test)]
mod tests {
    use super::super::{assertions, values};
    use super::*;

    assertions!(has and lacks, values, facts);

    #[test]
    fn two_servers() {
        let offer = |server: &str| {
            format!("IP {server}.67 > 255.255.255.255.68: BOOTP/DHCP, Reply, length 300\n")
        };
        has(
            &(offer("192.0.2.1") + &offer("192.168.1.1")),
            "dhcp_offers_of_servers",
            "2",
        );
        has(
            &(offer("192.0.2.1") + &offer("192.0.2.1")),
            "dhcp_offers_of_servers",
            "1",
        );
        // Two relays of one server.
        let relayed =
            |relay: &str| format!("{}\tServer-ID (54), length 4: 192.0.2.9\n", offer(relay));
        has(
            &(relayed("192.0.2.1") + &relayed("192.0.2.2")),
            "dhcp_offers_of_servers",
            "1",
        );
        lacks(
            "DHCPDISCOVER on eth0 to 255.255.255.255 port 67\n",
            "dhcp_offers_of_servers",
        );
    }

    #[test]
    fn answers_that_are_not_taken() {
        let reply = "IP 192.0.2.1.67 > 192.0.2.7.68: BOOTP/DHCP, Reply, length 300\n";
        has(
            &format!("{reply}No DHCPOFFERS received.\n"),
            "dhcp_reply_ignored",
            "true",
        );
        lacks(
            &format!("{reply}dhclient: bound to 192.0.2.7\n"),
            "dhcp_reply_ignored",
        );
        lacks(&reply.repeat(2), "dhcp_reply_ignored");
        lacks("No DHCPOFFERS received.\n", "dhcp_reply_ignored");
        let message = |kind: &str| format!("\t    DHCP-Message (53), length 1: {kind}\n");
        has(
            &format!(
                "{reply}{}",
                (message("Discover") + &message("Offer")).repeat(2)
            ),
            "dhcp_reply_ignored",
            "true",
        );
    }

    #[test]
    fn what_changes() {
        let lease = |gateway: &str| {
            format!("NetworkManager[812]: <info> dhcp4 (eth0):   gateway {gateway}\n")
        };
        has(
            &(lease("192.0.2.1") + &lease("192.168.1.1")),
            "gateway_changes",
            "true",
        );
        lacks(&lease("192.0.2.1").repeat(2), "gateway_changes");
        has(
            "Deleted 2: eth0    inet 192.0.2.7/24 scope global eth0\n",
            "addresses_or_routes_vanish",
            "true",
        );
        lacks(
            "Deleted 192.0.2.9 dev eth0 lladdr 02:00:00:00:00:09 STALE\n",
            "addresses_or_routes_vanish",
        );
        assert_eq!(
            values("Deleted the gateway and the default via eth0\n", facts),
            []
        );
    }
}
