// SPDX-License-Identifier: MIT OR Apache-2.0
//! A campaign of `tune`: which changes were tried, and what became of each.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::comparison::Comparison;
use super::host::Role;

/// A campaign: `tuning` of the document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Tuning {
    /// How it ended.
    pub ended: TuningEnd,
    /// Why it ended so, in a sentence, where that is not clear.
    pub why: Option<String>,
    /// Changes, in the order in which they were tried.
    pub candidates: Vec<Candidate>,
    /// What findings propose that only a person can do.
    pub by_hand: Vec<ByHand>,
    /// All that is kept against the original configuration, by each measurement that decided.
    pub whole: Vec<Comparison>,
    /// The smallest improvement that a trial without a result would probably have shown, as a ratio minus 1.
    pub smallest_effect: Option<f64>,
    /// The check from which the findings are.
    pub check_dir: Option<String>,
    /// The check with all that is kept.
    pub fresh_check_dir: Option<String>,
}

/// How a campaign ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TuningEnd {
    /// It did not come to an end.
    #[default]
    Unfinished,
    /// What would be tried was only shown.
    DryRun,
    /// Something is proven better and kept.
    Kept,
    /// Nothing was proven better, and of something it was not proven that it is not.
    Inconclusive,
    /// What was tried does not improve anything by more than the margin.
    NothingBetter,
    /// No finding proposes a change that can be tried.
    NothingToTry,
    /// The hardware's limit is reached.
    Ceiling,
}

/// A change that was tried, or why it was not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Candidate {
    /// From 1.
    pub number: u32,
    /// The host whose settings it changes.
    pub host: Role,
    /// The rule of the finding that proposes it; the tunable, where none does.
    pub because: String,
    /// The finding's title, or what the tunable does.
    pub title: String,
    /// What a person would type for it.
    pub commands: Vec<String>,
    /// What undoes it.
    pub undo: Vec<String>,
    /// `live`, `blip`, and what else it does.
    pub risk: String,
    /// What became of it.
    pub state: CandidateState,
    /// Why.
    pub reason: Option<String>,
    /// The words of the measuring command that decided.
    pub measurement: Vec<String>,
    /// The trial.
    pub comparison: Option<Comparison>,
    /// The trial that confirms it: without it against with it, the other kept changes in force.
    pub confirmation: Option<Comparison>,
    /// Whether what it had to change did change.
    pub mechanism: Option<Mechanism>,
    /// Whether the fresh check no longer has the finding; `null` where there was none or no finding proposed the change.
    pub finding_gone: Option<bool>,
    /// Where the runs of the trial are stored.
    pub run_dir: Option<String>,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateState {
    /// It was not tried.
    #[default]
    NotTried,
    /// The host refused it, or it had no effect.
    NotPossible,
    /// It was tried, is not proven better, and was undone.
    Reverted,
    /// It was undone at once: while it was in force a link was lost, the kernel reported a fault, memory or temperature
    /// reached a limit, or nothing could be measured. It is not tried again.
    RolledBack,
    /// It is proven better, and in force.
    Kept,
}

/// The finding in the runs of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Mechanism {
    /// Runs without the change.
    pub runs_before: u32,
    /// Of these, in which the rule finds the same.
    pub found_before: u32,
    /// Runs with the change.
    pub runs_after: u32,
    /// Of these, in which the rule finds the same.
    pub found_after: u32,
    /// What the finding is made from, and what became of it.
    pub facts: Vec<MovedFact>,
}

/// A fact without and with a change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct MovedFact {
    /// Its name.
    pub name: String,
    /// Its unit; empty for ratios.
    pub unit: String,
    /// Median of the runs without the change.
    pub before: Option<f64>,
    /// Median of the runs with it.
    pub after: Option<f64>,
}

/// What a finding proposes that is not tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct ByHand {
    /// The rule.
    pub rule: String,
    /// The finding's title.
    pub title: String,
    /// The host.
    pub host: Role,
    /// The commands.
    pub commands: Vec<String>,
    /// Why `tune` does not run them.
    pub why: String,
}
