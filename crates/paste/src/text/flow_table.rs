// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of flows: how many, the rate of each, their sum (which people sometimes get wrong). A heading with threads (flows, streams) and a total; the unit
//! is in the heading, else Gbit/s.

use super::number::decimal;
use super::{Block, Content, Hint, Lines, Transfer, bits_per_second};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let heading = lines.get(0)?;
    let factor = heading_unit(heading)?;
    let found = lines.run(1, |line| row(line, factor).is_some());
    let content: Vec<Content> = found
        .iter()
        .filter_map(|(_, line)| row(line, factor))
        .map(Content::Transfer)
        .collect();
    (!content.is_empty()).then_some(())?;
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "table of flows",
        content,
    })
}

/// Bits a second of one unit of the table.
fn heading_unit(line: &str) -> Option<f64> {
    let lower = line.to_ascii_lowercase();
    let flows = ["thread", "flow", "stream"]
        .iter()
        .any(|word| lower.contains(word));
    (line.len() < 300 && flows && lower.contains("total")).then_some(())?;
    let unit = line
        .split_whitespace()
        .find_map(|word| bits_per_second(1.0, word));
    Some(unit.unwrap_or(1e9))
}

/// `3 3.04 2.88 2.56 8.48`: the number of flows, their rates, the sum, further columns.
fn row(line: &str, factor: f64) -> Option<Transfer> {
    let numbers: Option<Vec<f64>> = line.split_whitespace().take(80).map(decimal).collect();
    let numbers = numbers?;
    let flows = *numbers.first()? as usize;
    let (each, total) = (numbers.get(1..=flows)?, *numbers.get(flows + 1)?);
    let sum: f64 = each.iter().sum();
    let adds_up = flows > 0 && (sum - total).abs() <= 0.15 * total;
    adds_up.then(|| Transfer {
        name: Some(format!("{flows} flow{}", if flows == 1 { "" } else { "s" })),
        bits_per_second: total * factor,
        flows_bits_per_second: each.iter().map(|rate| rate * factor).collect(),
        ..Transfer::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn rows_that_add_up() {
        let lines = [
            "Flows (-P) Flow 0 Flow 1 Flow 2 Total Gbit/s",
            "1 3.10 3.10",
            "3 3.0 2.9 2.5 8.40 1.1",
            "4 1 1 1 1 9",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!(block.lines, 3);
        let Content::Transfer(transfer) = &block.content[1] else {
            panic!()
        };
        assert_eq!(transfer.flows_bits_per_second, [3e9, 2.9e9, 2.5e9]);
        assert!((transfer.bits_per_second - 8.4e9).abs() < 1.0);
    }
}
