// SPDX-License-Identifier: MIT OR Apache-2.0
//! One figure of all cells as a grid: medians with their intervals, or with the range of fewer than six runs.

use linerate_model::output::{Cell, CellFigure, CellState, Output};

use super::{Layout, Reasons, Scale, cell_name, more};
use crate::view::{Block, Line, Tone};

/// A grid a figure, with the runs far from the others below; last, why cells have none.
pub(super) fn blocks(output: &Output, layout: &Layout<'_>) -> Vec<Block> {
    let cells = &output.cells;
    let reasons = Reasons::of(cells);
    let mut blocks = Vec::new();
    for name in names(cells) {
        let scale = Scale::of(cells, name);
        let usual = usual_runs(cells, name);
        let text = |cell: &Cell| match known(cell, name) {
            Some(figure) if cell.state == CellState::Failed => {
                let text = format!("{} {}", text(figure, &scale, usual), reasons.text(cell));
                (text, Tone::Bad)
            }
            Some(figure) => (text(figure, &scale, usual), Tone::Plain),
            None if cell.state == CellState::Failed => (reasons.text(cell), Tone::Bad),
            // Another protocol has it.
            None if cell.state == CellState::Done => ("-".to_owned(), Tone::Plain),
            None => (reasons.text(cell), Tone::Plain),
        };
        let heading = heading(name, &scale, usual);
        let mut table = layout.table(heading, "not measured", &text);
        // Rows without any figure are in the first grid.
        if !blocks.is_empty() {
            let grid = layout.grid();
            let has = |cell: &&Cell| known(cell, name).is_some();
            table.retain_rows(|at| grid[at].iter().flatten().any(has));
        }
        blocks.push(Block::Table(table));
        blocks.extend(outliers(cells, name, &scale, layout));
    }
    blocks.extend(reasons.block(layout, cells));
    blocks
}

/// The names of the figures, in the order in which cells have them.
pub(crate) fn names(cells: &[Cell]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in cells.iter().flat_map(|cell| &cell.figures) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

/// A figure of a cell that has runs.
pub(crate) fn known<'c>(cell: &'c Cell, name: &str) -> Option<&'c CellFigure> {
    let mut figures = cell.figures.iter();
    figures.find(|figure| figure.name == name && figure.n > 0)
}

/// A short title, and what it is a figure of: layer and side.
pub(in crate::view) fn titles(name: &str) -> (&str, &str) {
    let known = TITLES.iter().find(|(known, ..)| *known == name);
    known.map_or((name, ""), |(_, short, of)| (*short, *of))
}

fn heading(name: &str, scale: &Scale, usual: u32) -> String {
    let (short, of) = titles(name);
    let parts = [short, &scale.unit, of];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let how = match usual {
        1 => "one run".to_owned(),
        few @ 2..INTERVAL => format!("median (lowest-highest) of {few} runs"),
        many => format!("median [95 % interval] of {many} runs"),
    };
    format!("{}: {how}", parts.join(", "))
}

/// The number of runs that most cells have.
fn usual_runs(cells: &[Cell], name: &str) -> u32 {
    let runs = cells.iter().filter_map(|cell| Some(known(cell, name)?.n));
    runs.max().unwrap_or(0)
}

/// `941.2 [940.8-941.5]`; with a star where runs are far from the others.
fn text(figure: &CellFigure, scale: &Scale, usual: u32) -> String {
    let star = if figure.outliers.is_empty() { "" } else { "*" };
    let median = scale.text(figure.median);
    let (ends, brackets) = match (figure.ci95, range(&figure.values)) {
        (Some(ends), _) => (ends, ["[", "]"]),
        (None, Some(ends)) => (ends, ["(", ")"]),
        (None, None) => ([figure.median; 2], ["", ""]),
    };
    let [low, high] = ends.map(|end| scale.text(end));
    let range = match low == high {
        true => String::new(),
        false => format!(" {}{low}-{high}{}", brackets[0], brackets[1]),
    };
    let fewer = match figure.n == usual {
        true => String::new(),
        false => format!(" n={}", figure.n),
    };
    format!("{median}{star}{range}{fewer}")
}

/// The lowest and the highest value.
pub(crate) fn range(values: &[f64]) -> Option<[f64; 2]> {
    let ends = [f64::min, f64::max].map(|end| values.iter().copied().reduce(end));
    Some([ends[0]?, ends[1]?])
}

fn outliers(cells: &[Cell], name: &str, scale: &Scale, layout: &Layout<'_>) -> Option<Block> {
    let far = |cell: &&Cell| known(cell, name).is_some_and(|one| !one.outliers.is_empty());
    let line = |cell: &Cell| {
        let figure = known(cell, name)?;
        let run = |at: &u32| {
            let value = figure.values.get(*at as usize)?;
            Some(format!("run {} {}", at + 1, scale.full(*value)))
        };
        let runs: Vec<String> = figure.outliers.iter().filter_map(run).take(MOST).collect();
        let more = more(figure.outliers.len(), runs.len(), "runs");
        let named = cell_name(layout.matrix, cell);
        let text = format!(
            "* far from the other runs: {named}: {}{more}",
            runs.join(", ")
        );
        Some(Line::new(2, text).tone(Tone::Warn))
    };
    let all = cells.iter().filter(far);
    let rest = more(all.clone().count(), MOST, "cells with such runs");
    let rest = (!rest.is_empty()).then(|| Line::new(2, rest.trim_start().to_owned()));
    Block::lines("", all.filter_map(line).take(MOST).chain(rest))
}

const MOST: usize = 4;
/// Of fewer runs order statistics give no interval.
const INTERVAL: u32 = 6;
/// Name, short title, layer and side.
const TITLES: &[(&str, &str, &str)] = &[
    (
        "delivered_bits_per_second",
        "delivered rate",
        "L4 goodput at the receiver",
    ),
    ("packets_per_second", "packet rate", "at the receiver"),
    ("loss_ratio", "loss", "of the sent packets"),
    ("retransmits", "retransmitted", "at the sender"),
    (
        "cpu_local",
        "CPU local",
        "of all processors of the local host",
    ),
    (
        "cpu_remote",
        "CPU remote",
        "of all processors of the remote host",
    ),
    (
        "cpu_machine",
        "CPU",
        "of all processors of the machine that both ends share",
    ),
    (
        "system_local",
        "system time local",
        "kernel, of all processors of the local host",
    ),
    (
        "system_remote",
        "system time remote",
        "kernel, of all processors of the remote host",
    ),
    (
        "system_machine",
        "system time",
        "kernel, of all processors of the machine that both ends share",
    ),
];
