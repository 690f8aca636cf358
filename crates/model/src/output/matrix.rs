// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix: the product of axes, a grid of cells, each measured several times.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::comparison::Excluded;

/// What was asked of a matrix: `matrix` of the document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Matrix {
    /// The plan's name, for titles.
    pub name: String,
    /// The axes, in the order of the plan.
    pub axes: Vec<Axis>,
    /// The axes whose values are the rows of a grid; the others make its columns.
    pub rows: Vec<String>,
    /// Runs of each cell.
    pub rounds: u32,
    /// Of the order of the cells in each round.
    pub order_seed: u64,
    /// Rounds that were completed.
    pub rounds_done: u32,
    /// What else was asked of each test, as text: `time` (`5s`), `rate` (of UDP), `fault`, `topology`, `flags`.
    pub plan: BTreeMap<String, String>,
    /// The hosts of its runs, where they were not the same for all (`--other-host`); else empty.
    pub ran_on: Vec<RanOn>,
}

/// Runs of a matrix that were made on the same hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct RanOn {
    /// As in `hosts` of a line of `runs.ndjson`.
    pub hosts: Vec<String>,
    /// Those that count.
    pub runs: u32,
}

/// An axis and its values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Axis {
    /// `protocol`, `family`, `mtu`, `size`, `direction`, `streams`, `congestion`, `offload`, or a name of the plan.
    pub name: String,
    /// Its values as words, in the order of the plan.
    pub values: Vec<String>,
}

/// One combination of values: an element of `cells`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Cell {
    /// From 1, in the order of the product: the last axis changes first.
    pub id: u32,
    /// The value on each axis.
    pub axes: BTreeMap<String, String>,
    /// What was measured; empty unless something was.
    pub figures: Vec<CellFigure>,
    /// Whether it was measured.
    pub state: CellState,
    /// Why it failed or cannot be.
    pub reason: Option<String>,
    /// What a reader must know of a possible cell: two fragments a datagram.
    pub note: Option<String>,
    /// The run of each value of the figures, below the run directory.
    pub run_ids: Vec<String>,
    /// Runs that do not count, and why.
    pub excluded: Vec<Excluded>,
}

/// Whether a cell was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// Not every round of it has run.
    #[default]
    Pending,
    /// Every round gave a valid run.
    Done,
    /// It could not be measured, for a reason that is not in the cell itself.
    Failed,
    /// Such a combination does not exist: IPv6 below an MTU of 1280.
    NotPossible,
    /// Of two matrices: their plans measured it in different ways.
    NotComparable,
}

/// A figure of a cell, over its runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CellFigure {
    /// As in `comparison`: `delivered_bits_per_second`, `loss_ratio`, `cpu_local` …
    pub name: String,
    /// Base unit: `bit/s`, `s`, `ratio` …
    pub unit: String,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// Valid runs.
    pub n: u32,
    /// Of the runs.
    pub median: f64,
    /// Of the median, 95 %; `null` with fewer than 6 runs (order statistics give none).
    pub ci95: Option<[f64; 2]>,
    /// One a run, in the order of `run_ids`.
    pub values: Vec<f64>,
    /// Runs far from the others: indices into `values`.
    pub outliers: Vec<u32>,
}
