// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mpstat [-P ALL]`: the heading names the columns; point or comma.

use super::number::decimal;
use super::{Block, Content, CpuShare, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let heading = lines.get(0)?;
    let columns = columns(heading)?;
    let found = lines.run(1, |line| {
        row(&columns, line).is_some() || self::columns(line).is_some()
    });
    // The last table is the average, or the only one.
    let mut shares: Vec<CpuShare> = Vec::new();
    for (_, line) in &found {
        if let Some(share) = row(&columns, line) {
            shares.retain(|other| other.cpu != share.cpu);
            shares.push(share);
        }
    }
    if shares.is_empty() {
        return Block::says_nothing(&found, "mpstat");
    }
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "mpstat",
        content: shares.into_iter().map(Content::Cpu).collect(),
    })
}

/// The columns after `CPU`.
fn columns(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().take(24).collect();
    let at = words.iter().position(|word| *word == "CPU")?;
    let columns = words[at + 1..].to_vec();
    columns.contains(&"%idle").then_some(columns)
}

/// A row ends with one number per column, after the processor.
fn row(columns: &[&str], line: &str) -> Option<CpuShare> {
    let words: Vec<&str> = line.split_whitespace().take(32).collect();
    let from = words.len().checked_sub(columns.len())?;
    let cpu = match *words.get(from.checked_sub(1)?)? {
        "all" | "alle" | "todas" => None,
        number => Some(number.parse().ok()?),
    };
    let numbers: Option<Vec<f64>> = words[from..].iter().map(|word| decimal(word)).collect();
    let cells = columns.iter().zip(numbers?);
    let shares = cells
        .filter_map(|(column, value)| Some((CpuShare::name(column)?, value)))
        .collect();
    Some(CpuShare { cpu, shares })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn point_and_comma() {
        for soft in ["97.50", "97,50"] {
            let heading = "12:00:01     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle".to_owned();
            let row = |cpu: &str, soft: &str| {
                format!(
                    "12:00:02     {cpu}    1.00    0.00    1.50    0.00    0.00   {soft}    0.00    0.00    0.00    0.00"
                )
            };
            let text = [heading, row("all", "48.00"), row("0", soft)];
            let lines: Vec<&str> = text.iter().map(String::as_str).collect();
            let looked = Cell::new(0);
            let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
            assert_eq!(block.lines, 3);
            let Content::Cpu(share) = &block.content[1] else {
                panic!()
            };
            assert_eq!(share.cpu, Some(0));
            assert!(share.shares.contains(&("softirq", 97.5)));
        }
    }
}
