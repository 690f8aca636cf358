// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -I --show-fec IFACE`: corrected and uncorrectable FEC blocks.

use super::{Block, Counters, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let interface = lines.get(0)?.trim().strip_prefix("FEC parameters for ")?;
    let interface = interface.trim_end_matches(':');
    let found = lines.run(1, belongs);
    let counts = found.iter().filter_map(|(_, line)| count(line));
    let values: Vec<(String, u64)> = counts.collect();
    let interface = Some(interface).filter(|name| !name.is_empty());
    let counted = || Counters::new(SOURCE, interface.or(hint.interface()), values.clone());
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: SOURCE,
        content: (!values.is_empty()).then(counted).into_iter().collect(),
    })
}

fn belongs(line: &str) -> bool {
    let line = line.trim();
    line == "Statistics:"
        || line.contains("FEC encoding")
        || line.starts_with("Lane ")
        || count(line).is_some()
}

/// `corrected_blocks: 12`; with counts per lane, the first number is the sum.
fn count(line: &str) -> Option<(String, u64)> {
    let (name, value) = line.trim().split_once(':')?;
    let known = ["corrected_blocks", "uncorrectable_blocks", "corrected_bits"].contains(&name);
    let value = value.split_whitespace().next()?.parse().ok()?;
    known.then(|| (name.to_owned(), value))
}

const SOURCE: &str = "ethtool -I --show-fec";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn blocks_of_an_interface() {
        let lines = [
            "FEC parameters for eth0:",
            "Supported/Configured FEC encodings: RS",
            "Active FEC encoding: RS",
            "Statistics:",
            "  corrected_blocks: 256",
            "  uncorrectable_blocks: 5",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        let Content::Counters(counters) = &block.content[0] else {
            panic!()
        };
        assert_eq!(
            (block.lines, counters.interface.as_deref()),
            (6, Some("eth0"))
        );
        assert_eq!(counters.values[1], ("uncorrectable_blocks".to_owned(), 5));
    }
}
