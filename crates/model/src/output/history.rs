// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was measured before: the stored runs with their figures, and one figure over them.

use serde::{Deserialize, Serialize};

/// Stored runs: `history` of the document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct History {
    /// The directory that holds them.
    pub directory: String,
    /// The oldest first.
    pub runs: Vec<StoredRun>,
    /// Of those that were asked for, older ones that are not told.
    pub more: u64,
    /// What lies there and is no run that can be read.
    pub unreadable: Vec<Unreadable>,
    /// One figure over the runs, if asked for.
    pub trend: Option<Trend>,
}

/// A run in a line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredRun {
    /// Its directory.
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The command: `check`, `udp` …
    pub kind: String,
    /// Whom it measured against: a host, `lab`, two ports.
    pub peer: String,
    /// It ended before its plan.
    pub partial: bool,
    /// The one that tells most first; a run without a valid test has none.
    pub figures: Vec<StoredFigure>,
    /// What an experiment says, a sentence; else null.
    pub verdict: Option<String>,
}

/// One figure of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredFigure {
    /// `throughput`, `loss`, `rtt-p99`, `knee`, `fairness`, `forwarding`.
    pub metric: String,
    /// Of which test.
    pub name: String,
    /// Empty for ratios.
    pub unit: String,
    /// The number.
    pub value: f64,
}

/// What cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unreadable {
    /// Its name in the directory.
    pub name: String,
    /// Why.
    pub why: String,
}

/// One figure over the runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trend {
    /// As in [`StoredFigure`].
    pub metric: String,
    /// Of which test.
    pub name: String,
    /// Empty for ratios.
    pub unit: String,
    /// Against whom.
    pub peer: String,
    /// The oldest first.
    pub points: Vec<TrendPoint>,
    /// Stretches of one level; one: it did not change.
    pub levels: Vec<TrendLevel>,
    /// A level is at least so many runs long; twice as many are needed to see a change.
    pub shortest_level_runs: u32,
}

/// The figure of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrendPoint {
    /// The run's directory.
    pub run: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The number.
    pub value: f64,
}

/// A stretch of runs at one level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrendLevel {
    /// Its first point, counted from 0.
    pub first: u32,
    /// How many runs.
    pub runs: u32,
    /// Of its runs.
    pub median: f64,
    /// Median over that of the level before, minus 1; `null` for the first.
    pub change_ratio: Option<f64>,
}
