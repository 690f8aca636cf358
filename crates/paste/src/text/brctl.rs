// SPDX-License-Identifier: MIT OR Apache-2.0
//! `brctl show` and `brctl showstp`: the ports of a bridge, and what spanning tree makes of them:
//! ` port id  8001  state       blocking`.

use super::lines::is_interface;
use super::{Block, Content, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    if first.starts_with("bridge name") && first.contains("STP enabled") {
        return Some(shown(lines));
    }
    let is_title = first.len() < 24 && title(first).is_some();
    let start = usize::from(is_title);
    let next = if is_title { lines.get(1)? } else { first };
    begins(next).then(|| spanning_tree(lines, start))
}

/// The table of `brctl show`.
fn shown(lines: Lines<'_>) -> Block {
    let found = lines.run(1, |line| bridge(line).is_some() || is_port(line));
    let mut rows: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (_, line) in &found {
        let more = bridge(line).map_or_else(|| line.split_whitespace().next(), |row| row.2);
        rows.extend(bridge(line).map(|(name, stp, _)| (name, stp, Vec::new())));
        if let Some((_, _, ports)) = rows.last_mut() {
            ports.extend(more);
        }
    }
    let content = rows.iter().map(|(name, stp, ports)| {
        let values = [
            ("STP enabled", (*stp).to_owned()),
            ("interfaces", ports.join(" ")),
        ];
        let values = values.map(|(name, value)| (name.to_owned(), value));
        Settings::new("brctl", Some(name), values.to_vec())
    });
    Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: "brctl show",
        content: std::iter::once(Settings::new("brctl", None, Vec::new()))
            .chain(content)
            .collect(),
    }
}

/// `br0  8000.020000001122  no  eth0`: name, whether spanning tree runs, first port.
fn bridge(line: &str) -> Option<(&str, &str, Option<&str>)> {
    let mut words = line.split_whitespace();
    let (name, id, stp) = (words.next()?, words.next()?, words.next()?);
    let known = id.contains('.') && ["yes", "no"].contains(&stp);
    known.then(|| (name, stp, words.next()))
}

/// A further port alone in its line.
fn is_port(line: &str) -> bool {
    let indented = line.starts_with([' ', '\t']);
    let word = line.trim();
    word.len() < 16 && !word.contains(char::is_whitespace) && (indented || is_interface(word))
}

/// `br0` or `eth0 (1)`.
fn title(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let name = words.next().filter(|name| name.len() < 16)?;
    let number = words
        .next()
        .map(|word| word.starts_with('(') && word.ends_with(')'));
    (number != Some(false) && words.next().is_none()).then_some(name)
}

fn begins(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (first, second) = (words.next(), words.next());
    let id = words.next().unwrap_or_default();
    let number = id.len() == 4 && u16::from_str_radix(id, 16).is_ok();
    let port = first == Some("port") && number && line.contains("state");
    second == Some("id") && (port || (first == Some("bridge") && id.contains('.')))
}

fn spanning_tree(lines: Lines<'_>, start: usize) -> Block {
    let found = lines.run(start, |line| is_field(line) || numbered(line).is_some());
    let mut content = Vec::new();
    let name = lines.get(0).and_then(title).filter(|_| start > 0);
    let mut part = (name, Vec::new());
    for (_, line) in &found {
        if let Some(name) = numbered(line) {
            let (name, values) = std::mem::replace(&mut part, (Some(name), Vec::new()));
            content.push(settings(name, values));
        }
        part.1
            .extend(VALUES.iter().filter_map(|name| value(line, name)));
    }
    content.push(settings(part.0, part.1));
    Block {
        lines: found.last().map_or(start + 1, |(at, _)| at + 1),
        format: "brctl showstp",
        content,
    }
}

fn settings(interface: Option<&str>, values: Vec<(String, String)>) -> Content {
    Settings::new("bridge", interface, values)
}

/// The title of a port: `eth0 (1)`.
fn numbered(line: &str) -> Option<&str> {
    (line.len() < 32 && line.contains('(')).then(|| title(line))?
}

fn is_field(line: &str) -> bool {
    let line = line.trim_start();
    line.len() < 160 && FIELDS.iter().any(|field| line.starts_with(field))
}

/// The value of a name that begins a column.
fn value(line: &str, name: &str) -> Option<(String, String)> {
    let (before, rest) = line.split_once(name)?;
    let apart = before.is_empty() || before.ends_with(char::is_whitespace);
    let value = rest
        .split_whitespace()
        .next()
        .filter(|_| apart && rest.starts_with(char::is_whitespace))?;
    Some((name.to_owned(), value.to_owned()))
}

/// How lines of `brctl showstp` begin (bridge-utils `brctl_disp.c`).
const FIELDS: [&str; 15] = [
    "bridge id",
    "designated ",
    "root port",
    "max age",
    "hello time",
    "forward delay",
    "ageing time",
    "topology change",
    "hash ",
    "mc ",
    "flags",
    "port id",
    "gc timer",
    "path cost",
    "state",
];
const VALUES: [&str; 6] = [
    "state",
    "path cost",
    "root port",
    "topology change",
    "flags",
    "forward delay",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn of(text: &str) -> Option<(usize, Vec<Settings>)> {
        let block = block_of(text, read)?;
        let settings = block
            .content
            .into_iter()
            .filter_map(|content| match content {
                Content::Settings(settings) if !settings.values.is_empty() => Some(settings),
                _ => None,
            });
        Some((block.lines, settings.collect()))
    }

    fn has(settings: &Settings, name: &str, value: &str) -> bool {
        settings
            .values
            .contains(&(name.to_owned(), value.to_owned()))
    }

    #[test]
    fn ports_of_bridges() {
        let text = "bridge name\tbridge id\t\tSTP enabled\tinterfaces\nbr0\t\t8000.020000001122\tno\t\teth0\n\t\t\t\t\t\t\tveth12ab\nbr1 8000.000000000000 yes\n";
        let (lines, found) = of(text).unwrap();
        assert_eq!((lines, found.len()), (4, 2));
        assert_eq!(found[0].interface.as_deref(), Some("br0"));
        assert!(has(&found[0], "interfaces", "eth0 veth12ab"), "{found:?}");
        assert!(has(&found[1], "STP enabled", "yes"), "{found:?}");
    }

    #[test]
    fn states_of_ports() {
        let bridge = "br0\n bridge id\t\t8000.020000001122\n root port\t\t   0\t\t\tpath cost\t\t   0\n hello timer\t\t   0.66\t\t\ttcn timer\t\t   0.00\n flags\t\t\tTOPOLOGY_CHANGE\n\n\n";
        let port = "eth0 (1)\n port id\t\t8001\t\t\tstate\t\t     blocking\n designated cost\t   0\t\t\thold timer\t\t   0.00\n flags\t\t\t\n";
        let (lines, found) = of(&format!("{bridge}{port}")).unwrap();
        assert_eq!((lines, found.len()), (11, 2));
        assert!(has(&found[0], "flags", "TOPOLOGY_CHANGE"), "{found:?}");
        assert_eq!(found[1].interface.as_deref(), Some("eth0"));
        assert!(has(&found[1], "state", "blocking"), "{found:?}");
        let (_, trimmed) = of("port id 8001 state forwarding\n").unwrap();
        assert!(has(&trimmed[0], "state", "forwarding"), "{trimmed:?}");
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "bridge name is br0\n",
            "br0\nis the bridge id of the switch\n",
            "port id and state are fine\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
