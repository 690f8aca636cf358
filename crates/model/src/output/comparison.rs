// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparison of two configurations or two groups of runs.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::host::Role;

/// The comparison of one figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Comparison {
    /// A name for people.
    pub name: String,
    /// The figure: `throughput`, `loss`, `rtt-p99`, `knee`, `fairness`, or an imported one's name.
    pub metric: String,
    /// The unit; empty for ratios.
    pub unit: String,
    /// Whether a higher value is better.
    pub higher_is_better: bool,
    /// Whether this is the primary figure.
    pub primary: bool,
    /// The cell of a matrix, as in `cells`; `null` for all cells together, and without a matrix.
    pub cell: Option<u32>,
    /// Without the change (A).
    pub before: Side,
    /// With it (B).
    pub after: Side,
    /// Number of blocks; `null` if the runs were not interleaved.
    pub blocks: Option<u32>,
    /// Maximum number of blocks.
    pub blocks_planned: Option<u32>,
    /// Seed of the order of the blocks.
    pub order_seed: Option<u64>,
    /// The standard deviation of a block's log-ratio with A as both arms.
    pub aa_sigma: Option<f64>,
    /// The p of a difference between A and A.
    pub aa_p: Option<f64>,
    /// The log-ratio of each block of A against A.
    pub aa_log_ratios: Vec<f64>,
    /// The log-ratio of each block.
    pub log_ratios: Vec<f64>,
    /// After over before.
    pub ratio: Option<f64>,
    /// 95 % confidence interval of the ratio.
    pub ci95: Option<[f64; 2]>,
    /// 90 % confidence interval, for equivalence.
    pub ci90: Option<[f64; 2]>,
    /// Margin as a ratio minus 1: smaller differences do not matter.
    pub margin: f64,
    /// Exact p.
    pub p: Option<f64>,
    /// p adjusted by Holm's method for all figures judged together; `null` for a single one.
    pub p_adjusted: Option<f64>,
    /// The p that proves a difference: below 0.05 if early looks spent some of the error.
    pub alpha: f64,
    /// The smallest p possible with this many runs.
    pub smallest_p: Option<f64>,
    /// e-value of the blocks' signs; 20 is a proof at any time, in the direction of the mean.
    pub e_value: Option<f64>,
    /// Minimal detectable effect, as a ratio minus 1.
    pub mde: Option<f64>,
    /// Runs per side, or blocks, needed for a proof.
    pub needed: Option<u32>,
    /// Why it ended: `proven`, `equivalent`, `futile`, `all-blocks`, `interrupted`, `failed`.
    pub stopped: Option<String>,
    /// Secondary figures that must not become worse.
    pub guards: Vec<Guard>,
    /// Differences between the environments.
    pub environment_diff: Vec<Difference>,
    /// Runs that were left out.
    pub excluded: Vec<Excluded>,
    /// The verdict.
    pub verdict: Judgement,
    /// The verdict as a sentence.
    pub sentence: String,
}

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Side {
    /// Its label: the command that sets it up, or a name.
    pub label: String,
    /// Runs.
    pub n: u32,
    /// Over the runs.
    pub median: Option<f64>,
    /// Median absolute deviation, unscaled.
    pub mad: Option<f64>,
    /// Over the runs.
    pub mean: Option<f64>,
    /// n − 1.
    pub sd: Option<f64>,
    /// 95 % confidence interval of the mean (Student's t); `null` for one run.
    pub mean_ci95: Option<[f64; 2]>,
    /// The lowest.
    pub min: Option<f64>,
    /// The highest.
    pub max: Option<f64>,
    /// One per run, in order.
    pub values: Vec<f64>,
    /// Where the runs are stored.
    pub runs: Vec<String>,
    /// Positions in `values`, from 0, of runs far from the median.
    pub far_out: Vec<u32>,
    /// The largest share of such runs that this many runs do not exclude (one-sided 95 %).
    pub far_out_upper95: Option<f64>,
    /// Jain's index of the flows of the middle run: 1 is even.
    pub flow_fairness: Option<f64>,
    /// The fastest over the slowest of those flows.
    pub flow_spread: Option<f64>,
}

/// A secondary figure that must not become worse.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Guard {
    /// The figure.
    pub metric: String,
    /// The test.
    pub name: String,
    /// The unit; empty for ratios.
    pub unit: String,
    /// Whether a higher value is better.
    pub higher_is_better: bool,
    /// Median without the change.
    pub before: Option<f64>,
    /// Median with it.
    pub after: Option<f64>,
    /// After over before.
    pub ratio: Option<f64>,
    /// 90 % confidence interval of the ratio: one-sided 95 %.
    pub ci90: Option<[f64; 2]>,
    /// Margin as a ratio minus 1: smaller harm does not matter.
    pub margin: f64,
    /// Proven worse by more than the margin.
    pub worse: bool,
    /// Whether harm by more than the margin is excluded, shown, or neither.
    pub status: GuardStatus,
    /// Blocks, or runs per side, that would probably decide; `null` if decided, or if more than 10 000.
    pub needed: Option<u32>,
}

/// Whether a secondary figure became worse by more than its margin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuardStatus {
    /// Harm beyond the margin is excluded.
    Held,
    /// Harm beyond the margin is shown.
    Harmed,
    /// Neither.
    #[default]
    CannotTell,
}

/// Something that is not the same on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Difference {
    /// What: `kernel`, `cmdline`, `ethtool -k tx-tcp-segmentation` …
    pub what: String,
    /// The host; `null` for neither.
    pub host: Option<Role>,
    /// The interface.
    pub interface: Option<String>,
    /// Values before; several if they differ among the runs.
    pub before: Vec<String>,
    /// Values after.
    pub after: Vec<String>,
}

/// A run that was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Excluded {
    /// Its directory or number.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// The verdict of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// Proven to be better.
    Better,
    /// Proven to be worse.
    Worse,
    /// Proven not to differ by more than the margin.
    Equivalent,
    /// Nothing is proven.
    #[default]
    Inconclusive,
    /// Proven better, but by less than the margin.
    BetterButIrrelevant,
    /// Proven worse, but by less than the margin.
    WorseButIrrelevant,
}
