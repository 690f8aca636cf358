// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip -br link`, `ip -br addr`: a line for each interface: `eth0@if2   UP   192.0.2.7/24 fe80::1/64`.

use std::net::IpAddr;

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let (_, _, telling) = row(lines.get(0)?)?;
    let asked = hint.is("ip", "-br") || hint.is("ip", "-brief");
    (telling || asked).then_some(())?;
    let found = lines.run(0, |line| row(line).is_some());
    let rows = found.iter().filter_map(|(_, line)| row(line));
    let content = rows.map(|(name, state, _)| {
        let values = vec![("state".to_owned(), state.to_owned())];
        Settings::new("ip link", Some(name), values)
    });
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "ip -br",
        content: content.collect(),
    })
}

/// Name, state, and whether an address follows.
fn row(line: &str) -> Option<(&str, &str, bool)> {
    let mut words = line.split_whitespace();
    let (name, state) = (words.next()?, words.next()?);
    (STATES.contains(&state) && line.len() < 400 && !name.contains(':')).then_some(())?;
    let first = words.next();
    let telling = first.is_some_and(is_address);
    (telling || first.is_none()).then(|| (name.split('@').next().unwrap_or(name), state, telling))
}

/// `192.0.2.7/24`, `02:00:00:00:00:01`, `<BROADCAST,UP>`.
fn is_address(word: &str) -> bool {
    let network = word
        .split_once('/')
        .is_some_and(|(address, _)| address.parse::<IpAddr>().is_ok());
    let mac = word.len() == 17 && word.bytes().filter(|letter| *letter == b':').count() == 5;
    network || mac || (word.starts_with('<') && word.ends_with('>'))
}

/// `net/core/rtnetlink.c` names by RFC 2863, as iproute2 prints them.
const STATES: [&str; 7] = [
    "UP",
    "DOWN",
    "UNKNOWN",
    "LOWERLAYERDOWN",
    "DORMANT",
    "TESTING",
    "NOTPRESENT",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    fn states(text: &str, command: Option<&str>) -> Option<(usize, Vec<String>)> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        let state = |content: Content| match content {
            Content::Settings(one) => Some(format!("{} {}", one.interface?, one.values.first()?.1)),
            _ => None,
        };
        Some((
            block.lines,
            block.content.into_iter().filter_map(state).collect(),
        ))
    }

    #[test]
    fn interfaces_and_their_states() {
        let text = "lo               UNKNOWN        127.0.0.1/8 ::1/128\neth0@if2         UP             192.0.2.7/24\neth1             DOWN\nso\n";
        let expected = ["lo UNKNOWN", "eth0 UP", "eth1 DOWN"].map(str::to_owned);
        assert_eq!(states(text, None), Some((3, expected.to_vec())));
        let link = "eth0 UP 02:00:00:00:00:01 <BROADCAST,UP,LOWER_UP>\n";
        assert_eq!(states(link, None), Some((1, vec!["eth0 UP".to_owned()])));
        assert!(states("eth1  DOWN\n", Some("ip -br link")).is_some());
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "eth1 DOWN\n",
            "eth0: UP and running\n",
            "link DOWN since 192.0.2.1/24\n",
            "it was UP 3 days\n",
        ] {
            assert_eq!(states(text, None), None, "{text}");
        }
    }
}
