// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many lines a block takes on a terminal with 80 columns.

use crate::view::{Block, Line, Table};

/// Of all blocks, with the blank lines between them and one after them.
pub(super) fn of(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block_height(block) + 1).sum()
}

fn block_height(block: &Block) -> usize {
    let of_heading = |heading: &str| heading.chars().count().div_ceil(COLUMNS);
    match block {
        Block::Lines { heading, lines } => of_heading(heading) + height(lines),
        Block::Drawing { heading, rows } => of_heading(heading) + rows.len(),
        Block::Table(table) => of_heading(&table.heading) + table_height(table),
    }
}

/// Its head, its units if there are any, its rows.
fn table_height(table: &Table) -> usize {
    let units = table.columns.iter().any(|column| !column.unit.is_empty());
    1 + usize::from(units) + table.rows()
}

/// Of sentences.
pub(super) fn height(lines: &[Line]) -> usize {
    let of = |line: &Line| match line.whole {
        true => 1,
        false => {
            let columns = COLUMNS.saturating_sub(line.indent + line.hang).max(1);
            line.text.chars().count().div_ceil(columns).max(1)
        }
    };
    lines.iter().map(of).sum()
}

const COLUMNS: usize = 80;
