// SPDX-License-Identifier: MIT OR Apache-2.0
//! `devlink health`, `devlink trap -s`, `devlink dev info`, `devlink port`: a card's reports about its own state:
//! `    state error error 17 recover 16`.

use super::devlink_versions;
use super::{Block, Content, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let asked = hint.is("devlink", "");
    (is_handle(first) || (asked && begins(first)) || is_telling(first)).then_some(())?;
    let found = lines.run(0, |line| {
        let indented = line.starts_with([' ', '\t']) && line.len() < 400;
        is_handle(line) || begins(line) || (indented && line.split_whitespace().count() == 2)
    });
    let texts: Vec<&str> = found.iter().map(|(_, line)| line.trim()).collect();
    let mut content = vec![Settings::new("devlink", None, health(&texts))];
    content.push(Settings::new(
        "devlink dev info",
        None,
        devlink_versions::differing(&texts),
    ));
    content.extend(texts.iter().filter_map(|line| port(line)));
    let traps = traps(&texts);
    if !traps.is_empty() {
        content.push(Counters::new("devlink trap", None, traps));
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "devlink",
        content,
    })
}

/// `pci/0000:03:00.0:`, `pci/0000:03:00.0/1: type eth …`.
fn is_handle(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let bus = BUSES.iter().any(|bus| word.starts_with(bus));
    bus && line.len() < 400 && (word.ends_with(':') || line.trim() == word)
}

fn begins(line: &str) -> bool {
    let text = line.trim_start();
    text.len() < 400 && BEGINS.iter().any(|begin| text.starts_with(begin))
}

/// A line that only `devlink` prints.
fn is_telling(line: &str) -> bool {
    let text = line.trim_start();
    let health =
        text.starts_with("state ") && text.contains(" error ") && text.contains(" recover ");
    let trap = text.starts_with("name ") && text.contains(" type ") && text.contains(" action ");
    text.len() < 400 && (health || trap)
}

/// Of several reporters the worst: `reporter tx`, `state error error 17 recover 16 …`.
fn health(lines: &[&str]) -> Vec<(String, String)> {
    let (mut reporter, mut worst, mut values) = ("", None, Vec::new());
    for line in lines {
        reporter = line.strip_prefix("reporter ").unwrap_or(reporter);
        let pairs = pairs(line);
        let Some(("state", state)) = pairs.first() else {
            continue;
        };
        let errors = value_of(&pairs, "error").unwrap_or("0");
        let rank = (*state == "error", errors.parse::<u64>().unwrap_or(0));
        if worst.is_none_or(|known| known < rank) {
            worst = Some(rank);
            let faulty = (rank > (false, 0)).then_some(("reporter", reporter));
            values = vec![("state", *state), ("error", errors)];
            values.extend(faulty);
        }
    }
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    values.into_iter().map(owned).collect()
}

fn value_of<'a>(pairs: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    let (_, value) = pairs.iter().find(|(one, _)| *one == name)?;
    Some(value)
}

/// Words of a line, two and two.
pub(super) fn pairs(line: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().take(40).collect();
    words
        .chunks_exact(2)
        .filter_map(|pair| Some((*pair.first()?, *pair.last()?)))
        .collect()
}

/// `pci/0000:03:00.0/1: type eth netdev eth0 flavour physical port 0 splittable false`.
fn port(line: &str) -> Option<Content> {
    let (_, rest) = line.split_once(": type ").filter(|_| is_handle(line))?;
    let words = ["type", rest].join(" ");
    let values = pairs(&words);
    let (_, interface) = values.iter().find(|(name, _)| *name == "netdev")?;
    let values = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Some(Settings::new(
        "devlink port",
        Some(interface),
        values.collect(),
    ))
}

/// Packets of each trap, with its group: `ingress_vlan_filter (l2_drops)`.
fn traps(lines: &[&str]) -> Vec<(String, u64)> {
    let mut trap = None;
    let mut counted = Vec::new();
    for line in lines {
        let pairs = pairs(line);
        if let (Some(("name", name)), Some(group)) = (pairs.first(), value_of(&pairs, "group")) {
            trap = Some(format!("{name} ({group})"));
        }
        let packets = value_of(&pairs, "packets").or_else(|| value_of(&pairs, "dropped"));
        if let (Some(name), Some(packets)) = (&trap, packets.and_then(|count| count.parse().ok())) {
            counted.push((name.clone(), packets));
        }
    }
    counted
}

const BUSES: [&str; 6] = [
    "pci/",
    "auxiliary/",
    "platform/",
    "usb/",
    "mdio_bus/",
    "netdevsim/",
];
/// How lines below a device begin (iproute2 `devlink/devlink.c`).
const BEGINS: [&str; 16] = [
    "reporter ",
    "state ",
    "name ",
    "stats:",
    "rx:",
    "bytes ",
    "driver ",
    "serial_number ",
    "board.serial_number ",
    "versions:",
    "fixed:",
    "running:",
    "stored:",
    "fw.",
    "function:",
    "hw_addr ",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn of(text: &str) -> Option<(usize, Vec<Content>)> {
        let block = block_of(text, read)?;
        Some((block.lines, block.content))
    }

    fn has(content: &[Content], source: &str, name: &str, value: &str) -> bool {
        content.iter().any(|one| match one {
            Content::Settings(one) => {
                one.source == source && one.values.contains(&(name.to_owned(), value.to_owned()))
            }
            _ => false,
        })
    }

    #[test]
    fn the_worst_reporter_counts() {
        let text = "pci/0000:03:00.0:\n  reporter fw\n    state healthy error 0 recover 0\n  reporter tx\n    state error error 17 recover 16 last_dump_date 2023-05-02 grace_period 500\n  reporter rx\n    state healthy error 3 recover 3\n";
        let (lines, content) = of(text).unwrap();
        assert_eq!(lines, 7);
        for (name, value) in [("reporter", "tx"), ("state", "error"), ("error", "17")] {
            assert!(has(&content, "devlink", name, value), "{name} {content:?}");
        }
    }

    #[test]
    fn traps_are_counters() {
        let text = "pci/0000:03:00.0:\n  name ingress_vlan_filter type drop generic true action drop group l2_drops\n    stats:\n        rx:\n          bytes 5182030 packets 40712\n";
        let (lines, content) = of(text).unwrap();
        assert_eq!(lines, 5);
        let Some(Content::Counters(traps)) = content.last() else {
            panic!()
        };
        assert_eq!(
            traps.values,
            [("ingress_vlan_filter (l2_drops)".to_owned(), 40712)]
        );
    }

    #[test]
    fn versions_and_ports() {
        let text = "pci/0000:03:00.0:\n  driver ice\n  serial_number 00-01\n  versions:\n      fixed:\n        board.id K91258-000\n      running:\n        fw.mgmt 5.1.4\n      stored:\n        fw.mgmt 6.0.1\n";
        let (lines, content) = of(text).unwrap();
        assert_eq!(lines, 10);
        assert!(
            has(
                &content,
                "devlink dev info",
                "stored differs",
                "fw.mgmt 6.0.1"
            ),
            "{content:?}"
        );
        let (_, port) =
            of("pci/0000:03:00.0/1: type eth netdev eth0 flavour physical port 0\n").unwrap();
        assert!(
            has(&port, "devlink port", "flavour", "physical"),
            "{port:?}"
        );
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "the state error is gone\n",
            "name a type of drop\n",
            "usb/ethernet adapters: two\n",
            "state of the art\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
