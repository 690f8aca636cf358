// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which [`change_point`]s are changes of level. Runs of one bench resemble their neighbours, so a few of them in
//! succession are high or low by chance. Each candidate is compared with the strongest one of simulated series of
//! the same length without any change, whose neighbours are correlated by [`CORRELATION`].

use std::collections::BTreeMap;

use super::{change_point, describe};
use crate::rng::Rng;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    /// The index at which the new level begins.
    pub(crate) at: usize,
    /// How often a series without a change shows one as strong.
    pub(crate) p: f64,
}

/// Returns the changes of level, ascending. In a series without one, at most one in twenty has any, if neighbours
/// are correlated by no more than [`CORRELATION`].
pub(crate) fn changes(series: &[f64], chance: &mut Chance) -> Vec<Change> {
    for candidates in Stages::of(series) {
        let p = |strength: &f64| chance.p(series.len(), *strength);
        let p: Vec<f64> = candidates.strengths.iter().map(p).collect();
        if p.iter().all(|p| *p <= ALPHA) {
            let found = candidates.at.into_iter().zip(p);
            return found.map(|(at, p)| Change { at, p }).collect();
        }
    }
    Vec::new()
}

/// The strengths of changes that chance alone makes, simulated once per length.
#[derive(Debug, Default)]
pub(crate) struct Chance(BTreeMap<usize, [Vec<f64>; 2]>);

impl Chance {
    fn p(&mut self, n: usize, strength: f64) -> f64 {
        let simulated = n.min(LONGEST);
        let drawn = self.0.entry(simulated).or_insert_with(|| {
            [Rng::normal, Rng::heavy_tailed].map(|noise| strongest(simulated, noise))
        });
        let as_strong =
            |drawn: &Vec<f64>| drawn.len() - drawn.partition_point(|one| *one < strength);
        let most = drawn
            .iter()
            .map(as_strong)
            .max()
            .unwrap_or(draws(simulated));
        // A longer series consists of several of the simulated length.
        let parts = (n as f64 / simulated as f64).min(MOST_PARTS);
        (parts * (most + 1) as f64 / (draws(simulated) + 1) as f64).min(1.0)
    }
}

/// The number of simulated series of `n` values.
fn draws(n: usize) -> usize {
    match n {
        LONGEST.. => DRAWS_OF_LONGEST,
        _ => DRAWS,
    }
}

/// The strength of the strongest change of each simulated series, ascending.
fn strongest(n: usize, noise: fn(&mut Rng) -> f64) -> Vec<f64> {
    let mut rng = Rng::new(n as u64);
    let mut last = 0.0;
    let mut next = || {
        last = CORRELATION * last + noise(&mut rng);
        last
    };
    let mut strength = || {
        let series: Vec<f64> = (0..n + WARM_UP).map(|_| next()).collect();
        let stages = Stages::of(&series[WARM_UP..]);
        stages.map(|stage| stage.weakest()).fold(0.0, f64::max)
    };
    let strengths: Vec<f64> = (0..draws(n)).map(|_| strength()).collect();
    describe::sorted(&strengths)
}

/// Candidates, and the strength of each.
#[derive(Debug)]
struct Stage {
    at: Vec<usize>,
    strengths: Vec<f64>,
}

impl Stage {
    fn weakest(&self) -> f64 {
        self.strengths.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// All candidates; then, each time, those without the weakest one.
struct Stages<'s> {
    series: &'s [f64],
    /// The variance that the resolution of the values hides.
    hidden: f64,
    at: Vec<usize>,
}

impl<'s> Stages<'s> {
    fn of(series: &'s [f64]) -> Self {
        Self {
            series,
            hidden: resolution(series).powi(2) / 12.0,
            at: change_point::candidates(series),
        }
    }

    /// Student's t of each change, with the variance within all levels.
    fn strengths(&self) -> Vec<f64> {
        let n = self.series.len();
        let begins = std::iter::once(0).chain(self.at.iter().copied());
        let ends = self.at.iter().copied().chain([n]);
        let level = |(begin, end): (usize, usize)| &self.series[begin..end];
        let levels: Vec<Level> = begins.zip(ends).map(level).map(Level::of).collect();
        let squares: f64 = levels.iter().map(|level| level.squares).sum();
        let free = n.saturating_sub(levels.len()).max(1) as f64;
        let variance = squares / free + self.hidden;
        let t = |pair: &[Level]| {
            let step = (pair[1].mean - pair[0].mean).abs();
            step / (variance * (1.0 / pair[0].n + 1.0 / pair[1].n)).sqrt()
        };
        levels.windows(2).map(t).collect()
    }
}

impl Iterator for Stages<'_> {
    type Item = Stage;

    fn next(&mut self) -> Option<Stage> {
        let strengths = self.strengths();
        let weakest =
            (0..strengths.len()).min_by(|a, b| strengths[*a].total_cmp(&strengths[*b]))?;
        let at = self.at.clone();
        self.at.remove(weakest);
        Some(Stage { at, strengths })
    }
}

struct Level {
    n: f64,
    mean: f64,
    /// The sum of the squared distances from the mean.
    squares: f64,
}

impl Level {
    fn of(values: &[f64]) -> Self {
        let mean = describe::mean(values).unwrap_or_default();
        Self {
            n: values.len() as f64,
            mean,
            squares: values.iter().map(|value| (value - mean).powi(2)).sum(),
        }
    }
}

/// The smallest difference of two values; 0 if all are equal.
fn resolution(series: &[f64]) -> f64 {
    let sorted = describe::sorted(series);
    let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    steps
        .filter(|step| *step > 0.0)
        .reduce(f64::min)
        .unwrap_or_default()
}

/// The correlation of neighbours that a change must exceed.
const CORRELATION: f64 = 0.5;
/// Just below 5 %: the simulation itself has an error.
const ALPHA: f64 = 0.04;
const DRAWS: usize = 999;
/// So that a change in a series of any length can have a p of 1 %.
const DRAWS_OF_LONGEST: usize = 2999;
/// Values before the first, until the correlation has settled.
const WARM_UP: usize = 10;
/// The longest simulated series.
const LONGEST: usize = 64;
/// So that a change stronger than all simulated ones is one in any length.
const MOST_PARTS: f64 = 30.0;
