// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bridge [-d] link`: the state of a port, and what it may do:
//! `3: eth0: <BROADCAST,UP> mtu 1500 master br0 state blocking priority 32 cost 4`.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let (interface, link, mut port) = title(lines.get(0)?)?;
    let found = lines.run(1, |line| details(line).is_some());
    port.extend(found.iter().filter_map(|(_, line)| details(line)).flatten());
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: "bridge link",
        content: vec![
            Settings::new("ip link", Some(interface), link),
            Settings::new("bridge", Some(interface), port),
        ],
    })
}

type Values = Vec<(String, String)>;

/// Name, what `ip link` shows, too, and what it does not. Old versions print `eth0 state UP : <…>`.
fn title(line: &str) -> Option<(&str, Values, Values)> {
    let (number, rest) = line.trim_start().split_once(": ")?;
    number.parse::<u32>().ok()?;
    let (_, flagged) = rest.split_once('<')?;
    let (flags, rest_of_line) = flagged.split_once('>')?;
    let words: Vec<&str> = rest_of_line.split_whitespace().take(32).collect();
    let (mut link, mut port) = (vec![("flags".to_owned(), flags.to_owned())], Vec::new());
    for (name, value) in words.iter().zip(words.iter().skip(1)) {
        let value = ((*name).to_owned(), (*value).to_owned());
        match *name {
            "mtu" | "master" => link.push(value),
            "state" | "cost" | "priority" => port.push(value),
            _ => {}
        }
    }
    let is_port = port
        .iter()
        .any(|(_, value)| STATES.contains(&value.as_str()));
    let name = rest.split(['@', ':', ' ']).next()?;
    is_port.then_some((name, link, port))
}

/// `hairpin off guard off … isolated on`, `mcast_router 1 …`: names, each with its value.
fn details(line: &str) -> Option<Values> {
    let mut words = line.split_whitespace();
    let first = words.clone().next().filter(|_| line.len() < 600)?;
    let known = line.contains(" off") || line.contains(" on") || words.clone().count() > 3;
    (NAMES.contains(&first) && known).then_some(())?;
    let mut values = Vec::new();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        let plain = name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == b'_');
        let short = value.len() < 20 && !value.contains(['.', ',']);
        (plain && short).then(|| values.push((name.to_owned(), value.to_owned())))?;
    }
    Some(values)
}

/// States of `net/bridge/br_stp.c`, in small letters; those of links are in capitals.
const STATES: [&str; 5] = [
    "disabled",
    "listening",
    "learning",
    "forwarding",
    "blocking",
];
/// How lines of details begin (iproute2 `bridge/link.c`).
const NAMES: [&str; 7] = [
    "hairpin",
    "guard",
    "learning",
    "flood",
    "mcast_router",
    "neigh_suppress",
    "isolated",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn port(text: &str) -> Option<(usize, Settings)> {
        let mut block = block_of(text, read)?;
        match block.content.pop()? {
            Content::Settings(settings) => Some((block.lines, settings)),
            _ => None,
        }
    }

    #[test]
    fn states_and_what_a_port_may_do() {
        let text = "3: eth0@if2: <BROADCAST,UP> mtu 1500 master br0 state blocking priority 32 cost 4\n    hairpin off guard off root_block off learning off flood on mcast_router 1 isolated on\n4: eth1: <UP> mtu 1500 master br0 state forwarding\n";
        let (lines, found) = port(text).unwrap();
        assert_eq!((lines, found.interface.as_deref()), (2, Some("eth0")));
        for (name, value) in [
            ("state", "blocking"),
            ("learning", "off"),
            ("isolated", "on"),
        ] {
            assert!(
                found.values.contains(&(name.to_owned(), value.to_owned())),
                "{name}"
            );
        }
        let old = "2: eth1 state UP : <BROADCAST,UP> mtu 1500 master br0 state forwarding priority 32 cost 19\n";
        let (_, found) = port(old).unwrap();
        assert_eq!(found.interface.as_deref(), Some("eth1"));
        assert!(
            found
                .values
                .contains(&("state".to_owned(), "forwarding".to_owned()))
        );
    }

    #[test]
    fn links_are_not_ports() {
        for text in [
            "3: eth0: <BROADCAST,UP> mtu 1500 qdisc mq master br0 state UP mode DEFAULT\n",
            "hairpin off guard off\n",
            "3: eth0 is in state blocking\n",
        ] {
            assert_eq!(port(text), None, "{text}");
        }
        assert_eq!(details("learning on is what we want."), None);
    }
}
