// SPDX-License-Identifier: MIT OR Apache-2.0
//! One figure over many runs: the stretches in which it kept its level.

use linerate_model::output::TrendLevel;

use crate::stats::level_change::{self, Chance, Change};
use crate::stats::{change_point, describe};

/// The shortest level in runs.
pub const SHORTEST_LEVEL_RUNS: usize = change_point::SHORTEST;

/// Finds the levels of several figures; what chance does in a series of one length is simulated once.
#[derive(Debug, Default)]
pub struct Levels(Chance);

impl Levels {
    /// Returns the levels of `values` in chronological order; empty without values.
    #[must_use]
    pub fn of(&mut self, values: &[f64]) -> Vec<TrendLevel> {
        levels_of(values, &mut self.0)
    }
}

fn levels_of(values: &[f64], chance: &mut Chance) -> Vec<TrendLevel> {
    let changes = level_change::changes(values, chance);
    let begins = changes.iter().map(|change| (change.at, Some(change.p)));
    let begins = std::iter::once((0, None)).chain(begins);
    let ends = changes.iter().map(|change: &Change| change.at);
    let ends = ends.chain([values.len()]);
    let stretches = begins.zip(ends).filter(|((begin, _), end)| begin < end);
    let mut levels: Vec<TrendLevel> = Vec::new();
    for ((begin, p), end) in stretches {
        let median = describe::median(&values[begin..end]).unwrap_or_default();
        let before = levels.last().map(|level| level.median);
        levels.push(TrendLevel {
            first: u32::try_from(begin).unwrap_or(u32::MAX),
            runs: u32::try_from(end - begin).unwrap_or(u32::MAX),
            median,
            change_ratio: before
                .filter(|before| *before != 0.0)
                .map(|before| median / before - 1.0),
            p,
            changed: Vec::new(),
        });
    }
    levels
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_became_slower_is_a_second_level() {
        let noise = [0.3, -0.8, 0.5, -0.2, 0.9, -0.6, 0.1, -0.4];
        let values: Vec<f64> = (0..16)
            .map(|run| if run < 8 { 941.0 } else { 870.0 } + noise[run % 8])
            .collect();
        let levels = Levels::default().of(&values);
        assert_eq!(levels.len(), 2, "{levels:?}");
        assert_eq!((levels[1].first, levels[1].runs), (8, 8));
        assert!(
            (levels[1].change_ratio.unwrap() + 0.0755).abs() < 1e-3,
            "{levels:?}"
        );
    }

    #[test]
    fn what_only_wavers_has_one_level_and_nothing_has_none() {
        let values = [1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.01, 0.99, 1.0];
        let mut levels = Levels::default();
        assert_eq!(levels.of(&values).len(), 1);
        assert_eq!(levels.of(&[]), []);
        assert_eq!(levels.of(&[5.0])[0].median, 5.0);
    }
}
