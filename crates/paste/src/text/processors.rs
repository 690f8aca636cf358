// SPDX-License-Identifier: MIT OR Apache-2.0
//! The number of CPUs (`nproc`, `lscpu`), and the NUMA node of each (`lscpu`, `numactl -H`, the
//! files of `/sys/devices/system/node`).

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    count(lines.get(0)?, hint).or_else(|| nodes(lines, hint))
}

/// `CPU(s):  16`, or what nproc prints.
fn count(line: &str, hint: Hint<'_>) -> Option<Block> {
    let line = line.trim();
    let value = line
        .strip_prefix("CPU(s):")
        .or_else(|| hint.is("nproc", "").then_some(line))?;
    let count: u32 = value.trim().parse().ok()?;
    Some(Block {
        lines: 1,
        format: "processors",
        content: vec![Settings::new(
            "machine",
            None,
            vec![("cpus".to_owned(), count.to_string())],
        )],
    })
}

fn nodes(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let shown = hint.file().and_then(node_of_file);
    if let Some(node) = shown.filter(|_| lines.get(0).is_some_and(is_list)) {
        return Some(block(1, vec![(node, lines.get(0)?.trim().to_owned())]));
    }
    row(lines.get(0)?)?;
    let found = lines.run(0, |line| row(line).is_some());
    let values = found.iter().filter_map(|(_, line)| row(line)).collect();
    Some(block(found.last()?.0 + 1, values))
}

fn block(lines: usize, values: Vec<(String, String)>) -> Block {
    Block {
        lines,
        format: SOURCE,
        content: vec![Settings::new(SOURCE, None, values)],
    }
}

/// `NUMA node0 CPU(s):   0-7,16-23`, `/sys/devices/system/node/node0/cpulist:0-7`, `node 0 cpus: 0 1 2 3` of numactl.
fn row(line: &str) -> Option<(String, String)> {
    if line.len() > 4096 {
        return None;
    }
    let (name, list) = line.trim().split_once(':')?;
    let node = of_lscpu(name)
        .or_else(|| node_of_file(name))
        .or_else(|| of_numactl(name))?;
    let list = list.split_whitespace().collect::<Vec<_>>().join(",");
    is_list(&list).then_some((node, list))
}

fn of_lscpu(name: &str) -> Option<String> {
    named(name.strip_prefix("NUMA ")?.strip_suffix(" CPU(s)")?)
}

fn of_numactl(name: &str) -> Option<String> {
    named(&name.strip_suffix(" cpus")?.replace(' ', ""))
}

fn node_of_file(path: &str) -> Option<String> {
    named(
        path.strip_prefix(SOURCE)?
            .strip_prefix('/')?
            .strip_suffix("/cpulist")?,
    )
}

/// `node0`.
fn named(name: &str) -> Option<String> {
    let number = name.strip_prefix("node")?.parse::<u16>().ok()?;
    Some(format!("node{number}"))
}

/// `0-3,8`.
fn is_list(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"-,".contains(&byte))
}

const SOURCE: &str = "/sys/devices/system/node";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    fn pairs(text: &str, command: Option<&str>) -> Vec<(String, String)> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        match read(Lines::new(&lines, &looked), Hint { command }) {
            Some(Block { content, .. }) => match &content[0] {
                Content::Settings(settings) => settings.values.clone(),
                other => panic!("{other:?}"),
            },
            None => Vec::new(),
        }
    }

    #[test]
    fn every_way_to_say_it() {
        let pair = |list: &str| vec![("node1".to_owned(), list.to_owned())];
        assert_eq!(
            pairs("NUMA node1 CPU(s):     4-7,12-15", None),
            pair("4-7,12-15")
        );
        assert_eq!(
            pairs("/sys/devices/system/node/node1/cpulist:4-7", None),
            pair("4-7")
        );
        assert_eq!(pairs("node 1 cpus: 4 5 6", None), pair("4,5,6"));
        let cat = "cat /sys/devices/system/node/node1/cpulist";
        assert_eq!(pairs("4-7", Some(cat)), pair("4-7"));
        for other in [
            "NUMA node(s): 2",
            "node 1 size: 32",
            "NUMA node1 CPU(s):",
            "4-7",
        ] {
            assert_eq!(pairs(other, None), [], "{other}");
        }
    }
}
