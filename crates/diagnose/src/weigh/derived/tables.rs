// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bridge vlan`, `bridge fdb`, `ip maddr`: how many VLANs and addresses a port has to filter.

use linerate_model::map::Map;

use super::Fact;
use crate::weigh::observed::Line;

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let named = [
        ("vlans_on_port", vlans(lines)),
        ("addresses_on_port", addresses(lines)),
    ];
    let found = named
        .into_iter()
        .filter_map(|(name, most)| Some((name, most?)));
    found
        .map(|(name, (count, line))| Fact::new(name, count, line))
        .collect()
}

/// The most VLANs of a port: of the table of `bridge vlan show`, of `bridge vlan add dev eth0 vid 2-4094`.
fn vlans(lines: &[Line<'_>]) -> Option<(u32, u64)> {
    let (mut is_table, mut count) = (false, 0);
    let mut most: Option<(u32, u64)> = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text;
        if let Some((_, rest)) = text.split_once("bridge vlan add ") {
            let ids = rest.split_once("vid ").and_then(|(_, ids)| range(ids));
            most = most.max(ids.map(|ids| (ids, line.number)));
        }
        let mut words = text.split_whitespace();
        let first = words.next();
        if first == Some("port") && text.contains("vlan") {
            (is_table, count) = (true, 0);
            continue;
        }
        if !is_table || first.is_none() {
            continue;
        }
        // A port's first VLAN is in the line of its name, the others are below.
        let (begins, id) = match first.and_then(range) {
            Some(ids) => (false, Some(ids)),
            None => (true, words.next().and_then(range)),
        };
        is_table = id.is_some() || text.trim_end().ends_with("None");
        count = if begins { 0 } else { count } + id.unwrap_or(0);
        most = most.max(Some((count, line.number)).filter(|(count, _)| *count > 0));
    }
    most
}

/// How many numbers `7` or `2-4094` names.
fn range(text: &str) -> Option<u32> {
    let word = text.split_whitespace().next()?;
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < 4096).then_some(last - first + 1)
}

/// The most link-layer addresses of a port: `01:00:5e:… dev eth0 self permanent`, those of `ip maddr`.
fn addresses(lines: &[Line<'_>]) -> Option<(u32, u64)> {
    let mut ports: Map<&str, (u32, u64)> = Map::new();
    let mut group = "";
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text.trim();
        let mut words = text.split_whitespace();
        let port = match (words.next(), words.next()) {
            (Some("link"), Some(address)) if is_mac(address) && !group.is_empty() => group,
            (Some(number), Some(name)) if is_index(number) => {
                group = name;
                continue;
            }
            (Some(address), Some("dev")) if is_mac(address) && text.contains(" self") => {
                words.next().unwrap_or_default()
            }
            _ => continue,
        };
        let entry = ports.entry(port).or_default();
        *entry = (entry.0 + 1, line.number);
    }
    ports.into_values().max()
}

fn is_mac(text: &str) -> bool {
    text.len() == 17 && text.bytes().filter(|letter| *letter == b':').count() == 5
}

fn is_index(text: &str) -> bool {
    let number = text.strip_suffix(':').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|letter| letter.is_ascii_digit())
}

const LINE_MOST: usize = 300;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    #[test]
    fn vlans_of_a_port() {
        let table = "port              vlan-id  \neth0              1 PVID Egress Untagged\n                  10\n                  20-29\nbr0               1 PVID Egress Untagged\n\n";
        is(table, "vlans_on_port", Some("12"));
        is(
            "bridge vlan add dev bond0 vid 2-4094\n",
            "vlans_on_port",
            Some("4093"),
        );
        is("the port has vlan 7\n12\n", "vlans_on_port", None);
    }

    #[test]
    fn addresses_of_a_port() {
        let fdb = "33:33:00:00:00:01 dev eth0 self permanent\n01:00:5e:00:00:01 dev eth0 self permanent\n02:00:00:00:00:09 dev eth0 master br0\n";
        is(fdb, "addresses_on_port", Some("2"));
        let maddr = "1:\tlo\n\tinet  224.0.0.1\n2:\teth0\n\tlink  33:33:00:00:00:01\n\tlink  01:00:5e:00:00:01\n\tinet  224.0.0.1\n";
        is(maddr, "addresses_on_port", Some("2"));
        is(
            "    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n",
            "addresses_on_port",
            None,
        );
    }
}
