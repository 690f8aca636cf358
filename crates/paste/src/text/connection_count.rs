// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many connections the kernel tracks, where the output is a number alone: `conntrack -C`, `conntrack -L | wc -l`,
//! `sysctl -n net.netfilter.nf_conntrack_count`; and the last line of `conntrack -L`.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    if let Some(count) = shown(first) {
        return Some(block(1, vec![pair(COUNT, count)]));
    }
    let names = printed(hint.command?);
    let rows = names.iter().enumerate();
    let values: Vec<(String, String)> = rows
        .map_while(|(at, name)| Some(pair(name, number(lines.get(at)?)?)))
        .collect();
    (!values.is_empty()).then(|| block(values.len(), values))
}

fn block(lines: usize, values: Vec<(String, String)>) -> Block {
    Block {
        lines,
        format: "conntrack -C",
        content: vec![Settings::new("sysctl", None, values)],
    }
}

fn pair(name: &str, value: u64) -> (String, String) {
    (format!("net.netfilter.{name}"), value.to_string())
}

/// `conntrack v1.4.6 (conntrack-tools): 61234 flow entries have been shown.`
fn shown(line: &str) -> Option<u64> {
    let (_, rest) = line
        .trim()
        .strip_prefix("conntrack v")?
        .split_once("(conntrack-tools): ")?;
    number(rest.strip_suffix(" flow entries have been shown.")?)
}

/// What a command prints as numbers, in order.
fn printed(command: &str) -> Vec<&'static str> {
    let counts_lines = command.contains("wc -l");
    let mut before = "";
    let mut names = Vec::new();
    for word in command.split([' ', ';', '|', '&']) {
        let listed = counts_lines && matches!(word, "-L" | "--dump");
        let asked = before.ends_with("conntrack") && (listed || matches!(word, "-C" | "--count"));
        let file = counts_lines && word.ends_with("/proc/net/nf_conntrack");
        if asked || file || word.ends_with(COUNT) {
            names.push(COUNT);
        } else if word.ends_with(MOST) {
            names.push(MOST);
        }
        before = word;
    }
    names
}

/// A number alone, or followed by the file whose lines it counts.
fn number(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let alone = words
        .next()
        .is_none_or(|word| word.starts_with("/proc/net/"));
    (alone && words.next().is_none()).then_some(number)
}

const COUNT: &str = "nf_conntrack_count";
const MOST: &str = "nf_conntrack_max";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    fn values(text: &str, command: Option<&str>) -> Vec<(String, String)> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let read = read(Lines::new(&lines, &looked), Hint { command });
        match read.and_then(|block| block.content.into_iter().next()) {
            Some(Content::Settings(settings)) => settings.values,
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_number_after_its_command() {
        for command in [
            "conntrack -C",
            "sudo conntrack --count",
            "conntrack -L | wc -l",
            "conntrack -L 2>/dev/null | wc -l",
            "wc -l /proc/net/nf_conntrack",
            "sysctl -n net.netfilter.nf_conntrack_count",
        ] {
            assert_eq!(
                values("65530\n", Some(command)),
                [pair(COUNT, 65_530)],
                "{command}"
            );
        }
        let text = "65530\n65536\nand so on\n";
        let both = "cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max";
        let read = [pair(COUNT, 65_530), pair(MOST, 65_536)];
        assert_eq!(values(text, Some(both)), read);
        let list = "conntrack v1.4.6 (conntrack-tools): 61234 flow entries have been shown.";
        assert_eq!(values(list, None), [pair(COUNT, 61_234)]);
    }

    #[test]
    fn other_numbers() {
        assert_eq!(values("65530\n", None), []);
        assert_eq!(values("65530\n", Some("conntrack -L")), []);
        assert_eq!(
            values(
                "net.netfilter.nf_conntrack_count = 5\n",
                Some("sysctl net.netfilter.nf_conntrack_count")
            ),
            []
        );
        assert_eq!(values("12 entries\n", Some("conntrack -C")), []);
    }
}
