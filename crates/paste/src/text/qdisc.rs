// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tc -s qdisc`: what each qdisc sent, dropped and holds.

use super::{Block, Content, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let head = head(lines.get(0)?.trim())?;
    let found = lines.run(1, belongs);
    let mut values = Vec::new();
    for (_, line) in &found {
        values.extend(counts(line.trim()));
    }
    let interface = head.interface.or_else(|| hint.interface());
    let named = |(name, value): (String, u64)| {
        if head.root {
            (name, value)
        } else {
            (format!("{} {}.{name}", head.kind, head.handle), value)
        }
    };
    let mut content = Vec::new();
    if !values.is_empty() {
        content.push(Counters::new(
            "tc -s qdisc",
            interface,
            values.into_iter().map(named).collect(),
        ));
    }
    content.extend(head.root.then(|| settings(&head, interface)));
    Some(Block {
        lines: found.last().map_or(1, |(index, _)| index + 1),
        format: "tc -s qdisc",
        content,
    })
}

struct Head<'a> {
    kind: &'a str,
    handle: &'a str,
    interface: Option<&'a str>,
    root: bool,
    limit: Option<&'a str>,
}

/// `qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 10240p …`.
fn head(line: &str) -> Option<Head<'_>> {
    let words: Vec<&str> = line
        .strip_prefix("qdisc ")?
        .split_whitespace()
        .take(64)
        .collect();
    let after = |name: &str| {
        words
            .iter()
            .position(|word| *word == name)
            .and_then(|at| words.get(at + 1).copied())
    };
    Some(Head {
        kind: words.first()?,
        handle: words.get(1)?.strip_suffix(':')?,
        interface: after("dev"),
        root: words.contains(&"root"),
        limit: after("limit"),
    })
}

fn settings(head: &Head<'_>, interface: Option<&str>) -> Content {
    let mut values = vec![("root".to_owned(), head.kind.to_owned())];
    values.extend(
        head.limit
            .map(|limit| ("limit".to_owned(), limit.to_owned())),
    );
    Settings::new("tc qdisc", interface, values)
}

fn belongs(line: &str) -> bool {
    let line = line.trim_start();
    if flow_limit_drops(line).is_some() {
        return true;
    }
    let known = [
        "Sent ",
        "backlog ",
        "rate ",
        "maxpacket ",
        "new_flows_len",
        "throttled",
        "flows ",
        "gc ",
        "highprio",
        "marked ",
        "prob ",
        "pkts_in",
        "lended:",
        "tokens:",
        "direct_packets",
        "bands ",
        "horizon",
        "ce_mark",
    ];
    let older = ["gc", "flows"].map(|word| line.split([' ', ',']).nth(1) == Some(word));
    if older.contains(&true) {
        return true;
    }
    known.iter().any(|start| line.starts_with(start))
}

/// What fq dropped because a flow had its share: `gc 0 throttled 5 flows_plimit 12`, of an older tc
/// `0 gc, 5 throttled, 12 flows_plimit`. Not printed if there were none.
fn flow_limit_drops(line: &str) -> Option<u64> {
    let words: Vec<&str> = line
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .take(24)
        .collect();
    let at = words.iter().position(|word| *word == "flows_plimit")?;
    let older = line.starts_with(|first: char| first.is_ascii_digit());
    let at = if older { at.checked_sub(1)? } else { at + 1 };
    words.get(at)?.parse().ok()
}

/// `Sent 10 bytes 2 pkt (dropped 3, overlimits 4 requeues 5)`, `backlog 6b 7p requeues 5`.
fn counts(line: &str) -> Vec<(String, u64)> {
    let words: Vec<&str> = line
        .split(|letter: char| letter.is_whitespace() || "(),".contains(letter))
        .filter(|word| !word.is_empty())
        .take(24)
        .collect();
    let number = |at: usize| words.get(at).and_then(|word| scaled(word));
    let after = |name: &str| {
        words
            .iter()
            .position(|word| *word == name)
            .and_then(|at| number(at + 1))
    };
    let named = |name: &str, value: Option<u64>| value.map(|value| (name.to_owned(), value));
    let found = match words.first() {
        Some(&"Sent") => vec![
            named("bytes", number(1)),
            named("packets", number(3)),
            named("drops", after("dropped")),
            named("overlimits", after("overlimits")),
            named("requeues", after("requeues")),
        ],
        Some(&"backlog") => vec![named("backlog", number(1)), named("qlen", number(2))],
        _ => vec![named("flows_plimit", flow_limit_drops(line))],
    };
    found.into_iter().flatten().collect()
}

/// `0b`, `7p`, `12Kb` (by 1024).
fn scaled(word: &str) -> Option<u64> {
    let digits = word
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(word.len());
    let number: u64 = word[..digits].parse().ok()?;
    let factor = match &word[digits..] {
        "" | "b" | "p" => 1,
        "Kb" | "K" => 1 << 10,
        "Mb" | "M" => 1 << 20,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_fq_says_of_its_flows() {
        assert_eq!(
            flow_limit_drops("gc 0 highprio 0 throttled 5 flows_plimit 12"),
            Some(12)
        );
        assert_eq!(
            flow_limit_drops("0 gc, 5 throttled, 12 flows_plimit, 3 too long pkts"),
            Some(12)
        );
        assert_eq!(flow_limit_drops("gc 0 highprio 0 throttled 5"), None);
    }

    #[test]
    fn root_and_child() {
        let text = "qdisc mq 0: dev eth0 root\n Sent 1000 bytes 10 pkt (dropped 3, overlimits 4 requeues 5)\n backlog 12Kb 7p requeues 5\nqdisc fq_codel 8001: dev eth0 parent :1 limit 10240p flows 1024\n Sent 900 bytes 9 pkt (dropped 3, overlimits 0 requeues 5)\n";
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let root = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        let Content::Counters(counters) = &root.content[0] else {
            panic!()
        };
        for (name, value) in [
            ("drops", 3),
            ("overlimits", 4),
            ("backlog", 12 << 10),
            ("qlen", 7),
            ("packets", 10),
        ] {
            assert!(
                counters.values.contains(&(name.to_owned(), value)),
                "{name}"
            );
        }
        let child = read(
            Lines::new(&lines, &looked).from(root.lines),
            Hint::default(),
        )
        .unwrap();
        let Content::Counters(counters) = &child.content[0] else {
            panic!()
        };
        assert!(
            counters
                .values
                .contains(&("fq_codel 8001.drops".to_owned(), 3))
        );
    }
}
