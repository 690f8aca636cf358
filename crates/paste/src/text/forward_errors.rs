// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -I --show-fec IFACE`: the code in use (`Active FEC encoding: RS`), and corrected and uncorrectable blocks.

use super::{Block, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, hint: Hint<'_>) -> Option<Block> {
    let interface = lines.get(0)?.trim().strip_prefix("FEC parameters for ")?;
    let interface = interface.trim_end_matches(':');
    let found = lines.run(1, belongs);
    let counts = found.iter().filter_map(|(_, line)| count(line));
    let values: Vec<(String, u64)> = counts.collect();
    let codes: Vec<(String, String)> = found.iter().filter_map(|(_, line)| codes(line)).collect();
    let interface = Some(interface).filter(|name| !name.is_empty());
    let interface = interface.or(hint.interface());
    let set_up = (!codes.is_empty()).then(|| Settings::new(CODES, interface, codes));
    let counted = (!values.is_empty()).then(|| Counters::new(SOURCE, interface, values));
    Some(Block {
        lines: found.last().map_or(1, |(at, _)| at + 1),
        format: SOURCE,
        content: set_up.into_iter().chain(counted).collect(),
    })
}

/// `Active FEC encoding: RS`, `Supported/Configured FEC encodings: Auto Off RS`: under the names of older versions.
fn codes(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().split_once(':')?;
    let value = value.trim();
    let name = match name.strip_suffix('s').unwrap_or(name) {
        "Active FEC encoding" => "Active FEC encoding",
        "Supported/Configured FEC encoding" | "Configured FEC encoding" => {
            "Configured FEC encodings"
        }
        _ => return None,
    };
    (!value.is_empty() && value.len() < 100).then(|| (name.to_owned(), value.to_owned()))
}

fn belongs(line: &str) -> bool {
    let line = line.trim();
    line == "Statistics:"
        || codes(line).is_some()
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
const CODES: &str = "ethtool --show-fec";

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
        let [Content::Settings(codes), Content::Counters(counters)] = block.content.as_slice()
        else {
            panic!()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            codes.values,
            [
                pair("Configured FEC encodings", "RS"),
                pair("Active FEC encoding", "RS")
            ]
        );
        assert_eq!(
            (block.lines, counters.interface.as_deref()),
            (6, Some("eth0"))
        );
        assert_eq!(counters.values[1], ("uncorrectable_blocks".to_owned(), 5));
    }

    #[test]
    fn without_statistics() {
        let lines = [
            "FEC parameters for eth0:",
            "Configured FEC encodings: Auto",
            "Active FEC encoding: Off",
            "The active FEC encoding is off.",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!((block.lines, block.content.len()), (3, 1));
        assert_eq!(
            read(Lines::new(&lines[1..], &looked), Hint::default()),
            None
        );
    }
}
