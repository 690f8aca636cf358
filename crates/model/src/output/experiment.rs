// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of an experiment with two configurations, complete enough to judge it again.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::comparison::Difference;

/// Blocks of runs with A and B, as they were carried out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Experiment {
    /// The command that sets up A.
    pub a: String,
    /// The command that sets up B.
    pub b: String,
    /// The command that restores the previous configuration.
    pub restore: String,
    /// The measurement: a command and its flags.
    pub measurement: Vec<String>,
    /// Wait between set-up and measurement, seconds.
    pub settle_s: f64,
    /// Seed of the order of the blocks.
    pub order_seed: u64,
    /// Planned blocks of A against A.
    pub aa_blocks: u32,
    /// Maximum number of blocks of A against B.
    pub blocks_planned: u32,
    /// Margin as a ratio minus 1: smaller differences do not matter.
    pub margin: f64,
    /// The requested primary figure; `null` for the default.
    pub metric: Option<String>,
    /// Why it ended: `proven`, `equivalent`, `futile`, `all-blocks`, `interrupted`, `failed`; `null` if it was killed.
    pub stopped: Option<String>,
    /// How the configuration was restored; `null` if that was not needed, or it was killed.
    pub restored: Option<Restored>,
    /// In their order.
    pub runs: Vec<ExperimentRun>,
    /// Differences between the environments of the runs with A and B.
    pub environment_diff: Vec<Difference>,
}

impl Experiment {
    /// Adds a completed run. An invalid one discards its block; the fourth valid one completes it.
    pub fn take(&mut self, run: ExperimentRun) {
        let valid = run.invalid_reason.is_none();
        let is_last = valid && run.place == BLOCK_RUNS;
        self.runs.push(run);
        if is_last {
            let block = self.runs.iter_mut().rev().take(BLOCK_RUNS as usize);
            block.for_each(|run| run.counts = true);
        }
    }
}

/// One run of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct ExperimentRun {
    /// Its name, and that of its directory in `runs/`.
    pub id: String,
    /// Where it is stored.
    pub run_dir: Option<String>,
    /// A/A first, then A/B.
    pub phase: ExperimentPhase,
    /// Number within its phase, from 1.
    pub block: u32,
    /// Number within its block, from 1.
    pub place: u32,
    /// The arm it counts for.
    pub arm: Arm,
    /// The configuration: in the A/A phase always A.
    pub setting: Arm,
    /// Whether its block was completed.
    pub counts: bool,
    /// Why its block had to be repeated.
    pub invalid_reason: Option<String>,
    /// The main figure first.
    pub figures: Vec<ExperimentFigure>,
}

/// One number of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct ExperimentFigure {
    /// `throughput`, `loss`, `rtt-p99`, `knee`, `fairness`, `forwarding`.
    pub metric: String,
    /// The test.
    pub name: String,
    /// Empty for ratios.
    pub unit: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// The number.
    pub value: f64,
    /// The positive value that is compared: a loss ratio has half a packet added.
    pub compared: f64,
    /// The rates of its flows, where there are several.
    pub flows: Vec<f64>,
}

/// How the previous configuration was restored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Restored {
    /// The shell command.
    pub command: String,
    /// Why it failed; `null` on success.
    pub error: Option<String>,
}

/// A part of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExperimentPhase {
    /// A against A, for the noise.
    #[default]
    Aa,
    /// A against B.
    Ab,
}

/// A B B A.
const BLOCK_RUNS: u32 = 4;

/// One of two configurations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arm {
    /// The present configuration.
    #[default]
    A,
    /// The change.
    B,
}
