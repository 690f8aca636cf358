// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an experiment of two configurations did, run by run: enough to judge it again.

use serde::{Deserialize, Serialize};

use super::comparison::Difference;

/// Blocks of runs with A and B, as they were carried out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Experiment {
    /// The command that sets up A.
    pub a: String,
    /// The command that sets up B.
    pub b: String,
    /// The command that puts back what was there.
    pub restore: String,
    /// What was measured each time: a command and its flags.
    pub measurement: Vec<String>,
    /// Between setting up and measuring, seconds.
    pub settle_s: f64,
    /// Of the coin that drew the order of each block.
    pub order_seed: u64,
    /// Blocks of A against A that were planned.
    pub aa_blocks: u32,
    /// The most blocks of A against B that were planned.
    pub blocks_planned: u32,
    /// What differs by less does not matter, as a ratio minus 1.
    pub margin: f64,
    /// The figure that decides, as asked; without one it is the first of the first run.
    pub metric: Option<String>,
    /// Why it ended: `proven`, `equivalent`, `futile`, `all-blocks`, `interrupted`, `failed`; `null`: it was cut off.
    pub stopped: Option<String>,
    /// What put back what was there; `null`: nothing had to, or it was cut off.
    pub restored: Option<Restored>,
    /// In their order.
    pub runs: Vec<ExperimentRun>,
    /// In what the runs with B differ from those with A, as both ends read it.
    pub environment_diff: Vec<Difference>,
}

impl Experiment {
    /// Takes a run that is over. One that is not valid ends its block; the fourth that is makes it count.
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExperimentRun {
    /// Its name; `runs/` has a directory of it.
    pub id: String,
    /// Where it is stored.
    pub run_dir: Option<String>,
    /// Noise first, then the question.
    pub phase: ExperimentPhase,
    /// From 1, in its phase.
    pub block: u32,
    /// From 1, in its block.
    pub place: u32,
    /// Which side it counts for.
    pub arm: Arm,
    /// What was set up: in the A/A phase always A.
    pub setting: Arm,
    /// Its block was finished.
    pub counts: bool,
    /// Why its block had to be run again.
    pub invalid_reason: Option<String>,
    /// The one that tells most first.
    pub figures: Vec<ExperimentFigure>,
}

/// One number of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExperimentFigure {
    /// `throughput`, `loss`, `rtt-p99`, `knee`, `fairness`, `forwarding`.
    pub metric: String,
    /// Of which test.
    pub name: String,
    /// Empty for ratios.
    pub unit: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// The number.
    pub value: f64,
    /// As it is compared, positive: a loss ratio gets half a packet.
    pub compared: f64,
    /// The rates of its flows, where there are several.
    pub flows: Vec<f64>,
}

/// How what was there was put back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Restored {
    /// The shell command.
    pub command: String,
    /// Why it failed; `null`: it did not.
    pub error: Option<String>,
}

/// A part of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExperimentPhase {
    /// A against A: the noise.
    #[default]
    Aa,
    /// A against B: the question.
    Ab,
}

/// A B B A.
const BLOCK_RUNS: u32 = 4;

/// One of two configurations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arm {
    /// What is there.
    #[default]
    A,
    /// What may be better.
    B,
}
