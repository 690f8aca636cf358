// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two configurations, or two groups of runs, and what may be said of their difference.

use serde::{Deserialize, Serialize};

use super::host::Role;

/// One figure of two configurations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// What a person calls it.
    pub name: String,
    /// The figure: `throughput`, `loss`, `rtt-p99`, `knee`, `fairness`, or an imported one's name.
    pub metric: String,
    /// Of the figure; empty for ratios.
    pub unit: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// The figure that decides; others are looked at, too.
    pub primary: bool,
    /// Without the change (A).
    pub before: Side,
    /// With it (B).
    pub after: Side,
    /// Blocks of A B B A; `null` where runs were not interleaved.
    pub blocks: Option<u32>,
    /// The most blocks that were planned.
    pub blocks_planned: Option<u32>,
    /// Of the coin that drew the order of each block.
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
    /// It is in there with a probability of 95 %.
    pub ci95: Option<[f64; 2]>,
    /// Of 90 %: for equivalence.
    pub ci90: Option<[f64; 2]>,
    /// What differs by less does not matter, as a ratio minus 1.
    pub margin: f64,
    /// The exact probability of such a difference by chance.
    pub p: Option<f64>,
    /// Holm's, over the figures that are judged together; `null` where one alone is.
    pub p_adjusted: Option<f64>,
    /// The p that proves: less than 0.05 where looks before the last had their share.
    pub alpha: f64,
    /// The smallest p that so many runs can give.
    pub smallest_p: Option<f64>,
    /// The average likelihood ratio of the blocks' signs; 20 is a proof at any time.
    pub e_value: Option<f64>,
    /// A ratio minus 1 that is smaller would probably have been missed.
    pub mde: Option<f64>,
    /// How many runs a side, or blocks, are needed before anything can be proven.
    pub needed: Option<u32>,
    /// Why it ended: `proven`, `equivalent`, `futile`, `all-blocks`, `interrupted`, `failed`.
    pub stopped: Option<String>,
    /// Figures that must not become worse.
    pub guards: Vec<Guard>,
    /// In what the two sides' environments differ.
    pub environment_diff: Vec<Difference>,
    /// Runs that were left out.
    pub excluded: Vec<Excluded>,
    /// The answer.
    pub verdict: Judgement,
    /// The same in a sentence.
    pub sentence: String,
}

/// One side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// What it is called: the command that sets it up, or a setting's name.
    pub label: String,
    /// Runs.
    pub n: u32,
    /// Of the runs.
    pub median: Option<f64>,
    /// Median absolute deviation, unscaled.
    pub mad: Option<f64>,
    /// Of the runs.
    pub mean: Option<f64>,
    /// n − 1.
    pub sd: Option<f64>,
    /// The mean of many such runs is in there with a probability of 95 % (Student's t); `null` for one run.
    pub mean_ci95: Option<[f64; 2]>,
    /// The lowest.
    pub min: Option<f64>,
    /// The highest.
    pub max: Option<f64>,
    /// A run each, in their order.
    pub values: Vec<f64>,
    /// Where the runs are stored.
    pub runs: Vec<String>,
    /// Jain's index of the flows of the middle run: 1 is even.
    pub flow_fairness: Option<f64>,
    /// The fastest over the slowest of those flows.
    pub flow_spread: Option<f64>,
}

/// A figure that is watched for harm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guard {
    /// The figure.
    pub metric: String,
    /// Of which test.
    pub name: String,
    /// Of the figure; empty for ratios.
    pub unit: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// Median without the change.
    pub before: Option<f64>,
    /// Median with it.
    pub after: Option<f64>,
    /// After over before.
    pub ratio: Option<f64>,
    /// It is in there with a probability of 90 %: each side at 95 %.
    pub ci90: Option<[f64; 2]>,
    /// Proven to be worse by more than the margin.
    pub worse: bool,
}

/// Something that is not the same on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// What: `kernel`, `cmdline`, `ethtool -k tx-tcp-segmentation` …
    pub what: String,
    /// On which end; `null` where it is neither's.
    pub host: Option<Role>,
    /// Of which interface.
    pub interface: Option<String>,
    /// Its values before; several where they differ among the runs.
    pub before: Vec<String>,
    /// Its values after.
    pub after: Vec<String>,
}

/// A run that was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Excluded {
    /// Where it is stored, or which it was.
    pub run: String,
    /// Why.
    pub reason: String,
}

/// The answer.
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
    /// Proven to be better, by less than matters.
    BetterButIrrelevant,
    /// Proven to be worse, by less than matters.
    WorseButIrrelevant,
}
