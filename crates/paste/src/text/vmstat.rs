// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vmstat N`: processor time of all processors together.

use super::{Block, Content, CpuShare, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let over = lines.get(0)?.trim_start().starts_with("procs");
    let from = usize::from(over);
    let columns: Vec<&str> = lines.get(from)?.split_whitespace().take(24).collect();
    (columns.starts_with(&["r", "b"]) && columns.contains(&"id")).then_some(())?;
    let found = lines.run(from + 1, |line| {
        row(&columns, line).is_some()
            || line.trim_start().starts_with("procs")
            || line.split_whitespace().next() == Some("r")
    });
    let rows: Vec<CpuShare> = found
        .iter()
        .filter_map(|(_, line)| row(&columns, line))
        .collect();
    // The first row of several is the average since boot.
    let share = match &rows[..] {
        [] => return Block::says_nothing(&found, "vmstat"),
        [only] => only.clone(),
        [_, rows @ ..] => mean(rows),
    };
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "vmstat",
        content: vec![Content::Cpu(share)],
    })
}

fn row(columns: &[&str], line: &str) -> Option<CpuShare> {
    let numbers: Option<Vec<f64>> = line
        .split_whitespace()
        .take(25)
        .map(|word| word.parse().ok())
        .collect();
    let numbers = numbers.filter(|numbers| numbers.len() == columns.len())?;
    let cpu = columns.iter().position(|column| *column == "us")?;
    let cells = columns.iter().zip(numbers).skip(cpu);
    let shares = cells
        .filter_map(|(column, value)| Some((CpuShare::name(column)?, value)))
        .collect();
    Some(CpuShare { cpu: None, shares })
}

fn mean(rows: &[CpuShare]) -> CpuShare {
    let mut mean = rows[0].clone();
    for (at, (_, value)) in mean.shares.iter_mut().enumerate() {
        let sum: f64 = rows
            .iter()
            .filter_map(|row| Some(row.shares.get(at)?.1))
            .sum();
        *value = sum / rows.len() as f64;
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    #[test]
    fn the_first_of_several_rows_is_since_boot() {
        let text = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0      0 100 10 20    0    0     0     0    1    2  9  9 82  0  0\n 1  0      0 100 10 20    0    0     0     0    1    2  0 60 40  0  0\n 1  0      0 100 10 20    0    0     0     0    1    2  0 80 20  0  0\n";
        let block = block_of(text, read).unwrap();
        assert_eq!(block.lines, 5);
        let Content::Cpu(share) = &block.content[0] else {
            panic!()
        };
        assert!(share.shares.contains(&("system", 70.0)) && share.shares.contains(&("idle", 30.0)));
    }
}
