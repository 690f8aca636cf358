// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the searches of a check still do, by what they have met.

use linerate_model::output::Knee;

use super::schedule::Schedule;
use crate::cli::forecast::Ahead;
use crate::cli::trial::Search;

/// One search, and those after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outlook<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) before: Before,
    /// That follow.
    pub(super) searches: usize,
}

/// The searches that are over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    searches: usize,
    /// Of these, how many met loss.
    lossy: usize,
}

impl Before {
    /// Those with these results.
    pub(super) fn of(knees: &[Knee]) -> Self {
        let is_lossy = |knee: &&Knee| !CLEAN.contains(&knee.limited_by.as_str());
        Self {
            searches: knees.len(),
            lossy: knees.iter().filter(is_lossy).count(),
        }
    }

    /// The share of those to come that meet loss, where one search says little (the rule of succession, from one that
    /// met none).
    fn lossy_share(self) -> f64 {
        self.lossy as f64 / (self.searches + 1) as f64
    }
}

impl Outlook<'_> {
    /// What this one still does.
    pub(super) fn this(&self, search: &Search) -> Ahead {
        match search.is_new() {
            true => self.schedule.searches(1, self.before.lossy_share()),
            false => search.ahead(),
        }
    }

    /// What those after it do.
    pub(super) fn later(&self) -> Ahead {
        self.schedule
            .searches(self.searches, self.before.lossy_share())
    }
}

/// What limits a search that meets no loss.
const CLEAN: [&str; 2] = ["sender", "range"];
