// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/softnet_stat` as pasted: lines of hexadecimal words.

use linerate_wire::proc::softnet::{SoftnetCpu, parse};

use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let found = lines.run(0, is_row);
    let text: Vec<&str> = found.iter().map(|(_, line)| line.trim()).collect();
    let rows = parse(&text.join("\n"));
    (!rows.is_empty()).then_some(())?;
    let source = "/proc/net/softnet_stat";
    Some(Block {
        lines: found.last()?.0 + 1,
        format: source,
        content: vec![Counters::new(source, None, values(&rows))],
    })
}

/// At least nine words of eight hexadecimal digits.
fn is_row(line: &str) -> bool {
    let hex = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    (80..=400).contains(&line.trim().len()) && line.split_whitespace().all(hex)
}

fn values(rows: &[SoftnetCpu]) -> Vec<(String, u64)> {
    type Column = (&'static str, fn(&SoftnetCpu) -> Option<u32>);
    const COLUMNS: &[Column] = &[
        ("processed", |row| Some(row.processed)),
        ("dropped", |row| Some(row.dropped)),
        ("time_squeeze", |row| Some(row.time_squeeze)),
        ("received_rps", |row| row.received_rps),
        ("flow_limit_count", |row| row.flow_limit_count),
    ];
    let mut values = Vec::new();
    for (name, column) in COLUMNS {
        let each: Vec<(u32, u64)> = rows
            .iter()
            .filter_map(|row| Some((row.cpu, u64::from(column(row)?))))
            .collect();
        if !each.is_empty() {
            values.push((
                (*name).to_owned(),
                each.iter().map(|(_, value)| value).sum(),
            ));
            values.extend(
                each.iter()
                    .map(|(cpu, value)| (format!("cpu{cpu}.{name}"), *value)),
            );
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn sums_and_each_cpu() {
        let row = |first: &str, dropped: &str| {
            format!(
                "{first} {dropped} 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000"
            )
        };
        let text = [row("0000000a", "00000002"), row("00000005", "00000000")];
        let lines: Vec<&str> = text.iter().map(String::as_str).collect();
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        let Content::Counters(counters) = &block.content[0] else {
            panic!()
        };
        for (name, value) in [
            ("processed", 15),
            ("dropped", 2),
            ("cpu0.dropped", 2),
            ("cpu1.processed", 5),
            ("time_squeeze", 2),
        ] {
            assert!(
                counters.values.contains(&(name.to_owned(), value)),
                "{name}"
            );
        }
    }
}
