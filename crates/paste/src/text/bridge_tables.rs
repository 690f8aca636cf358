// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bridge vlan`, `bridge fdb`, `bridge mdb`: VLANs of each port, and how many addresses and groups are known:
//! `02:00:00:11:22:33 dev eth0 vlan 1 master br0 permanent`.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let heading = first.split_whitespace().take(3).collect::<Vec<_>>();
    if let ["port", "vlan-id" | "vlan", ..] = heading.as_slice() {
        return vlans(lines);
    }
    let counted = [
        (is_address as fn(&str) -> bool, "bridge fdb", "entries"),
        (is_group, "bridge mdb", "groups"),
    ];
    let (mine, format, name) = counted.into_iter().find(|(mine, ..)| mine(first))?;
    let found = lines.run(0, mine);
    let values = vec![(name.to_owned(), found.len().to_string())];
    Some(Block {
        lines: found.last()?.0 + 1,
        format,
        content: vec![Settings::new(format, None, values)],
    })
}

/// `eth0              1 PVID Egress Untagged`, further VLANs of the port below.
fn vlans(lines: Lines<'_>) -> Option<Block> {
    let found = lines.run(1, |line| vlan(line).is_some());
    let mut ports: Vec<(&str, Vec<String>)> = Vec::new();
    for (port, id) in found.iter().filter_map(|(_, line)| vlan(line)) {
        ports.extend(port.map(|name| (name, Vec::new())));
        ports
            .last_mut()
            .into_iter()
            .for_each(|(_, ids)| ids.push(id.clone()));
    }
    let content = ports.iter().map(|(port, ids)| {
        let values = vec![("vlan-id".to_owned(), ids.join(", "))];
        Settings::new("bridge vlan", Some(port), values)
    });
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "bridge vlan",
        content: content.collect(),
    })
}

/// The port, if the line names it, and a VLAN with its flags.
fn vlan(line: &str) -> Option<(Option<&str>, String)> {
    let mut words = line.split_whitespace().peekable();
    let is_id = |word: &str| word.split('-').all(|id| id.parse::<u16>().is_ok());
    let named = words.peek().is_some_and(|word| !is_id(word));
    let port = named.then(|| words.next()).flatten();
    let rest: Vec<&str> = words.take(6).collect();
    let (id, flags) = rest.split_first()?;
    let known = (is_id(id) || *id == "None")
        && flags
            .iter()
            .all(|flag| ["PVID", "Egress", "Untagged"].contains(flag));
    known.then(|| (port, rest.join(" ")))
}

/// `33:33:00:00:00:01 dev eth0 self permanent`, without `dev` where one was asked for.
fn is_address(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_mac = words.next().is_some_and(|word| {
        word.len() == 17 && word.bytes().filter(|letter| *letter == b':').count() == 5
    });
    is_mac
        && line.len() < 200
        && words
            .next()
            .is_some_and(|word| ["dev", "vlan", "master", "self", "dst"].contains(&word))
}

/// `dev br0 port eth0 grp 239.1.1.1 temp`, `router ports on br0: eth0`.
fn is_group(line: &str) -> bool {
    let line = line.trim_start();
    let entry = line.starts_with("dev ") && line.contains(" port ") && line.contains(" grp ");
    line.len() < 200 && (entry || line.starts_with("router ports on "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    type Values = Vec<(Option<String>, String)>;

    fn of(text: &str) -> Option<(usize, Values)> {
        let block = block_of(text, read)?;
        let values = block
            .content
            .into_iter()
            .filter_map(|content| match content {
                Content::Settings(mut one) => Some((one.interface, one.values.pop()?.1)),
                _ => None,
            });
        Some((block.lines, values.collect()))
    }

    #[test]
    fn vlans_of_each_port() {
        let text = "port              vlan-id\neth0              1 PVID Egress Untagged\n                  100\n                  200-300\nbr0               1 PVID Egress Untagged\nand then\n";
        let port = |name: &str, ids: &str| (Some(name.to_owned()), ids.to_owned());
        let ports = vec![
            port("eth0", "1 PVID Egress Untagged, 100, 200-300"),
            port("br0", "1 PVID Egress Untagged"),
        ];
        assert_eq!(of(text), Some((5, ports)));
    }

    #[test]
    fn addresses_and_groups_are_counted() {
        let fdb = "02:00:00:11:22:33 vlan 1 master br0 permanent\n33:33:00:00:00:01 dev eth0 self permanent\n";
        assert_eq!(of(fdb), Some((2, vec![(None, "2".to_owned())])));
        let mdb = "dev br0 port eth0 grp 239.1.1.1 temp\nrouter ports on br0: eth1\n";
        assert_eq!(of(mdb), Some((2, vec![(None, "2".to_owned())])));
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "port vlan 7 is dead\n",
            "02:00:00:11:22:33 is its address\n",
            "dev br0 is a port\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
