// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stored runs with their figures, and one figure over time.

use serde::Serialize;

use crate::fields::Fields;

use super::Difference;

/// Stored runs: `history` of the document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct History {
    /// The directory that holds them.
    pub directory: String,
    /// Oldest first.
    pub runs: Vec<StoredRun>,
    /// The number of older runs that are not listed.
    pub more: u64,
    /// Entries of the directory that cannot be read as runs.
    pub unreadable: Vec<Unreadable>,
    /// One figure over the runs, if requested.
    pub trend: Option<Trend>,
}

/// A run in a line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct StoredRun {
    /// Its directory.
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The command: `check`, `udp` …
    pub kind: String,
    /// The peer: a host, `lab`, or two ports.
    pub peer: String,
    /// It ended early.
    pub partial: bool,
    /// The main figure first; a run without a valid test has none.
    pub figures: Vec<StoredFigure>,
    /// The verdict of an experiment, a sentence; else `null`.
    pub verdict: Option<String>,
    /// What ended it early, and why: a sentence; `null` if nothing did, or it is not recorded.
    pub error: Option<String>,
}

impl StoredRun {
    /// Whether it ended before it measured anything: no such host, connection refused.
    #[must_use]
    pub fn measured_nothing(&self) -> bool {
        self.partial && self.figures.is_empty() && self.verdict.is_none()
    }
}

/// One figure of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct StoredFigure {
    /// `throughput`, `loss`, `rtt-p99`, `knee`, `fairness`, `forwarding`.
    pub metric: String,
    /// The test.
    pub name: String,
    /// Empty for ratios.
    pub unit: String,
    /// The number.
    pub value: f64,
}

/// What cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Unreadable {
    /// Its name in the directory.
    pub name: String,
    /// Why.
    pub why: String,
}

/// One figure over the runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Trend {
    /// As in [`StoredFigure`].
    pub metric: String,
    /// The test.
    pub name: String,
    /// Empty for ratios.
    pub unit: String,
    /// The command: `check`, `udp` …
    pub kind: String,
    /// The peer.
    pub peer: String,
    /// Oldest first.
    pub points: Vec<TrendPoint>,
    /// Periods of a constant level; with one, it did not change.
    pub levels: Vec<TrendLevel>,
    /// The shortest level in runs; twice as many are needed to detect a change.
    pub shortest_level_runs: u32,
}

/// The figure of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct TrendPoint {
    /// The run's directory.
    pub run: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// The number.
    pub value: f64,
}

/// Consecutive runs at one level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct TrendLevel {
    /// Its first point, counted from 0.
    pub first: u32,
    /// The number of runs.
    pub runs: u32,
    /// The median of its runs.
    pub median: f64,
    /// Median over that of the level before, minus 1; `null` for the first.
    pub change_ratio: Option<f64>,
    /// How often runs without a change show one as strong; `null` for the first.
    pub p: Option<f64>,
    /// What else differs between its first runs and the last ones of the level before: kernel, driver, settings.
    pub changed: Vec<Difference>,
}
