// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run of one cell of a matrix: a line of `runs.ndjson`, written as the run ends.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fields::Fields;

use crate::output::CellState;

/// One run, or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct CellRun {
    /// [`Cell::id`](crate::output::Cell::id).
    pub cell: u32,
    /// Its directory below `runs/`; empty where nothing was run.
    pub run: String,
    /// `done`: it counts. `pending`: it does not, and the cell was or will be run again. `failed`, `not-possible`: of the cell.
    pub state: CellState,
    /// Why it does not count.
    pub reason: Option<String>,
    /// The hosts that it ran on, the local one first: `hostname=a kernel=6.1 processors=8 …`, as far as they are known.
    pub hosts: Vec<String>,
    /// What it gave: names as in `cells[].figures`, base units.
    pub values: BTreeMap<String, f64>,
}
