// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register dumps of devregs and its like: `ENET_RCR:0x02188084 =0x05ee0244`.

use super::{Block, Counters, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    register(lines.get(0)?)?;
    let found = lines.run(0, |line| register(line).is_some());
    let all: Vec<(&str, u64)> = found
        .iter()
        .filter_map(|(_, line)| register(line))
        .collect();
    let set = all
        .iter()
        .map(|(name, value)| ((*name).to_owned(), format!("0x{value:08x}")))
        .collect();
    let mut content = vec![Settings::new("registers", None, set)];
    let counted: Vec<(String, u64)> = all
        .iter()
        .filter(|(name, _)| is_counter(name))
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    content.extend((!counted.is_empty()).then(|| Counters::new("registers", None, counted)));
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "registers",
        content,
    })
}

/// Name and value.
fn register(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.trim().split_once(':')?;
    let (address, value) = rest.split_once('=')?;
    hexadecimal(address)?;
    let plain = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_.[]".contains(letter));
    plain.then_some((name, hexadecimal(value)?))
}

fn hexadecimal(word: &str) -> Option<u64> {
    let word = word.split_whitespace().next()?;
    let digits = word
        .strip_prefix("0x")
        .or_else(|| word.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok()
}

/// Statistics registers: the counters of IEEE 802.3 clause 30 and of RMON that a MAC keeps.
fn is_counter(name: &str) -> bool {
    ["IEEE_", "RMON_", "MMC_", "_IEEE", "_RMON"]
        .iter()
        .any(|mark| name.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn set_up_and_statistics_registers() {
        let lines = [
            "ENET_RCR:0x02188084 =0x05ee0244",
            "ENET_IEEE_R_MACERR:0x021882d8 =0x0000002a",
            "done",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!(block.lines, 2);
        let Content::Settings(settings) = &block.content[0] else {
            panic!()
        };
        assert_eq!(
            settings.values[0],
            ("ENET_RCR".to_owned(), "0x05ee0244".to_owned())
        );
        let Content::Counters(counters) = &block.content[1] else {
            panic!()
        };
        assert_eq!(counters.values, [("ENET_IEEE_R_MACERR".to_owned(), 42)]);
    }
}
