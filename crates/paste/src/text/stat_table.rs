// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/stat/nf_conntrack` and `arp_cache` as pasted, and `conntrack -S`: a heading and hexadecimal rows, or
//! `name=value` for each processor.

use std::collections::BTreeMap;

use linerate_wire::proc::net_stat;

use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    table(lines, hint).or_else(|| per_processor(lines))
}

fn table(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let heading = lines.get(0)?.trim();
    let source = source(heading, hint)?;
    let found = lines.run(1, is_row);
    let rows = found.iter().map(|(_, line)| *line);
    let text: Vec<&str> = std::iter::once(heading).chain(rows).collect();
    let values = net_stat::counters(&text.join("\n"));
    (!values.is_empty()).then(|| block(source, found.last().map_or(0, |(at, _)| *at), values))
}

/// By the names of the columns; neighbours of IPv4 and IPv6 have the same.
fn source(heading: &str, hint: Hint<'_>) -> Option<&'static str> {
    let mut words = heading.split_whitespace();
    (heading.len() < 400 && words.next() == Some("entries")).then_some(())?;
    let has = |name| heading.split_whitespace().any(|word| word == name);
    if has("early_drop") || has("insert_failed") {
        return Some(CONNECTIONS);
    }
    let six = hint
        .file()
        .is_some_and(|file| file.ends_with("ndisc_cache"));
    has("res_failed").then_some(if six { NEIGHBOURS_6 } else { NEIGHBOURS })
}

fn is_row(line: &str) -> bool {
    let mut words = line.split_whitespace();
    line.len() < 600
        && words.clone().count() > 3
        && words.all(|word| word.len() == 8 && u64::from_str_radix(word, 16).is_ok())
}

/// `cpu=0  found=0 invalid=3 insert=0 insert_failed=0 drop=12 early_drop=0 …`.
fn per_processor(lines: Lines<'_>) -> Option<Block> {
    processor(lines.get(0)?)?;
    let found = lines.run(0, |line| processor(line).is_some());
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (name, value) in found
        .iter()
        .filter_map(|(_, line)| processor(line))
        .flatten()
    {
        let sum = sums.entry(name.to_owned()).or_default();
        *sum = sum.saturating_add(value);
    }
    Some(block(
        CONNECTIONS,
        found.last()?.0,
        sums.into_iter().collect(),
    ))
}

fn processor(line: &str) -> Option<Vec<(&str, u64)>> {
    let rest = line
        .trim()
        .strip_prefix("cpu=")
        .filter(|_| line.len() < 400)?;
    let pairs: Option<Vec<_>> = rest.split_whitespace().skip(1).map(pair).collect();
    pairs.filter(|pairs| pairs.iter().any(|(name, _)| *name == "insert_failed"))
}

fn pair(word: &str) -> Option<(&str, u64)> {
    let (name, value) = word.split_once('=')?;
    Some((name, value.parse().ok()?))
}

fn block(source: &'static str, last: usize, values: Vec<(String, u64)>) -> Block {
    Block {
        lines: last + 1,
        format: source,
        content: vec![Counters::new(source, None, values)],
    }
}

const CONNECTIONS: &str = "/proc/net/stat/nf_conntrack";
const NEIGHBOURS: &str = "/proc/net/stat/arp_cache";
const NEIGHBOURS_6: &str = "/proc/net/stat/ndisc_cache";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    fn counters(text: &str, command: Option<&str>) -> Option<Counters> {
        let lines: Vec<&str> = text.lines().collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint { command })?;
        match block.content.into_iter().next() {
            Some(Content::Counters(counters)) => Some(counters),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tables_are_summed_by_what_they_count() {
        let connections = "entries  searched found early_drop\n0000ffdc  00000000 00000001 00000002\n0000ffdc 00000000 00000003 00000001\n";
        let table = counters(connections, None).unwrap();
        assert_eq!(table.source, CONNECTIONS);
        assert!(table.values.contains(&("entries".to_owned(), 65_500)));
        assert!(table.values.contains(&("early_drop".to_owned(), 3)));
        let neighbours = "entries  allocs res_failed unresolved_discards table_fulls\n00000002 00000001 00000000 0000012c 0000000c\n";
        let table = counters(neighbours, Some("cat /proc/net/stat/ndisc_cache")).unwrap();
        assert_eq!(table.source, NEIGHBOURS_6);
        assert!(
            table
                .values
                .contains(&("unresolved_discards".to_owned(), 300))
        );
    }

    #[test]
    fn what_conntrack_prints() {
        let text = "cpu=0   \tfound=0 invalid=1 insert=0 insert_failed=0 drop=600 early_drop=2\ncpu=1 found=0 invalid=1 insert=0 insert_failed=0 drop=100 early_drop=0\n";
        let table = counters(text, None).unwrap();
        assert!(
            table.values.contains(&("drop".to_owned(), 700)),
            "{table:?}"
        );
        assert_eq!(counters("cpu=0 load=3", None), None);
        assert_eq!(counters("entries were many", None), None);
    }
}
