// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two matrices of the same axes, cell by cell: better, worse, equivalent, or not enough runs.
//!
//! A round measures every cell once, so one observation is a round with all its cells: what the cells of a round have in
//! common (a warm machine, other traffic) must not count once per cell. Without an effect the rounds of both matrices are
//! exchangeable; whole rounds are permuted, and each cell must exceed the largest statistic among the cells
//! (`stats::max_t`). Six rounds are enough for any number of cells; with Holm's method forty cells would need seven.
//! The first entry is over all cells: the mean of their logarithms in each round, judged as one more cell.
//!
//! The chance of any false verdict in a matrix is 5 %: 4 % of a difference, 1 % of an equivalence (two one-sided tests,
//! Holm's method). What changes between the two matrices as a whole is not noise: it is a part of the difference.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;
use linerate_model::output::{CellFigure, Comparison, Side};

use crate::experiment::{Figure, Key, groups, judge};
use crate::stats::max_t::{self, Column, P};
use crate::stats::paired::Effect;
use crate::stats::{describe, equivalence, many, normal};

/// One figure of a cell in both matrices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<'c> {
    /// The cell's id.
    pub cell: u32,
    /// Its name for people.
    pub name: &'c str,
    /// Without the change, and with it.
    pub sides: [&'c CellFigure; 2],
    /// Of all runs of each side, by which no loss is judged; 0 where it is unknown.
    pub packets: [f64; 2],
}

/// Compares one figure of all cells: first over all of them (if there are several, and the figure has a logarithm), then
/// each in the order given. `margin` is a ratio minus 1; `figures` share the chance of a false verdict. The sentences
/// are left empty.
pub fn compare(pairs: &[Pair<'_>], margin: f64, figures: usize) -> Vec<Comparison> {
    let share = figures.max(1) as f64;
    let (alpha, alpha_equivalent) = (ALPHA / share, EQUIVALENCE_ALPHA / share);
    let cells = pairs.iter().map(Contrast::of);
    let contrasts: Vec<Contrast<'_>> = over_all(pairs).into_iter().chain(cells).collect();
    let effects: Vec<Option<Effect>> = contrasts.iter().map(Contrast::effect).collect();
    let differences = differences(&contrasts);
    let p_equivalent = |(contrast, effect): (&Contrast<'_>, &Option<Effect>)| match (
        contrast.lossless_packets,
        effect,
    ) {
        (Some(packets), _) => (-packets * loss_that_matters(margin)).exp(),
        (None, Some(effect)) => equivalence::p(effect, margin),
        (None, None) => 1.0,
    };
    let equivalences = contrasts.iter().zip(&effects).map(p_equivalent);
    let equivalences = many::holm(&equivalences.collect::<Vec<_>>());
    let cells = contrasts.len();
    let parts = contrasts.iter().zip(effects).zip(differences);
    let parts = parts.zip(equivalences);
    let one = |(((contrast, effect), difference), equivalent): (
        ((&Contrast<'_>, _), Difference),
        f64,
    )| {
        let evidence = Evidence {
            effect,
            difference,
            // Runs that could not show a difference do not show that there is none.
            equivalent: equivalent <= alpha_equivalent && difference.smallest <= alpha,
            errors: [alpha, alpha_equivalent],
            cells,
        };
        contrast.judged(&evidence, margin)
    };
    parts.map(one).collect()
}

/// The default margin of a figure as a ratio minus 1, as in other comparisons: of loss a fifth, of round trips a tenth,
/// else 2 %.
pub fn margin(figure: &str) -> f64 {
    let is = |start| figure.starts_with(start);
    let metric = match () {
        () if is("loss") || is("retransmit") => "loss",
        () if is("rtt") => "rtt-p99",
        () => figure,
    };
    let key = Key {
        metric: metric.to_owned(),
        name: String::new(),
        unit: String::new(),
        higher_is_better: false,
    };
    key.margin()
}

/// One figure of one cell, or of all cells together.
struct Contrast<'c> {
    /// `None` for all cells together.
    cell: Option<u32>,
    name: &'c str,
    figure: &'c CellFigure,
    values: [Vec<f64>; 2],
    /// Of the values; empty where there are none.
    logs: [Vec<f64>; 2],
    /// The packets of the side with fewer, if neither lost any: the ratio of two losses of 0 says nothing.
    lossless_packets: Option<f64>,
}

/// What is known about it.
struct Evidence {
    effect: Option<Effect>,
    difference: Difference,
    equivalent: bool,
    /// The chances of a false difference and of a false equivalence.
    errors: [f64; 2],
    /// Judged together.
    cells: usize,
}

/// The p of a difference, and the smallest that was possible.
#[derive(Clone, Copy)]
struct Difference {
    p: P,
    smallest: f64,
}

impl<'c> Contrast<'c> {
    fn of(pair: &Pair<'c>) -> Self {
        let values = pair.sides.map(|side| side.values.clone());
        Self {
            cell: Some(pair.cell),
            name: pair.name,
            figure: pair.sides[0],
            logs: logs(&values),
            lossless_packets: lossless_packets(pair),
            values,
        }
    }

    fn runs(&self) -> [usize; 2] {
        [self.logs[0].len(), self.logs[1].len()]
    }

    fn effect(&self) -> Option<Effect> {
        Effect::of_groups(&self.logs[0], &self.logs[1])
    }

    fn judged(&self, evidence: &Evidence, margin: f64) -> Comparison {
        let Difference { p, smallest } = evidence.difference;
        let effect = evidence.effect;
        let ratio = effect.map(|effect| effect.ratio());
        let spread = effect.filter(|_| self.lossless_packets.is_none());
        let different = p.adjusted <= evidence.errors[0];
        let is_decided = different || evidence.equivalent;
        let higher_is_better = self.figure.higher_is_better;
        Comparison {
            name: self.name.to_owned(),
            metric: self.figure.name.clone(),
            unit: self.figure.unit.clone(),
            higher_is_better,
            cell: self.cell,
            before: self.side(0, margin),
            after: self.side(1, margin),
            ratio,
            ci95: spread.map(|effect| effect.interval(0.05)),
            ci90: spread.map(|effect| effect.interval(0.1)),
            margin,
            p: effect.map(|_| p.alone),
            p_adjusted: effect.map(|_| p.adjusted),
            alpha: evidence.errors[0],
            smallest_p: Some(smallest),
            needed: (!is_decided)
                .then(|| self.needed(evidence, margin))
                .flatten(),
            verdict: judge(
                different,
                evidence.equivalent,
                ratio.unwrap_or(1.0),
                higher_is_better,
            ),
            ..Comparison::default()
        }
    }

    fn side(&self, at: usize, margin: f64) -> Side {
        let key = Key {
            metric: String::new(),
            name: String::new(),
            unit: String::new(),
            higher_is_better: self.figure.higher_is_better,
        };
        let logs = self.logs[at].iter().map(|log| log.exp());
        let compared = logs.chain(std::iter::repeat(1.0));
        let figures = self.values[at].iter().zip(compared);
        let figures = figures.map(|(value, compared)| Figure {
            key: key.clone(),
            value: *value,
            compared,
            flows: Vec::new(),
        });
        groups::side(&figures.collect::<Vec<_>>(), margin)
    }

    /// Runs per side that would decide with a probability of 80 %, if effect and noise are as measured; never fewer than
    /// those without which no p is small enough, which are all that is known where a side has no two runs. `None`: more than
    /// anybody would make, or unknown.
    fn needed(&self, evidence: &Evidence, margin: f64) -> Option<u32> {
        let [alpha, alpha_equivalent] = evidence.errors;
        let least = max_t::needed_runs(alpha) as f64;
        let [n, m] = self.runs().map(|runs| runs as f64);
        let Some(effect) = evidence.effect else {
            return (n.min(m) < 2.0).then_some(least as u32);
        };
        let cells = evidence.cells as f64;
        if let Some(packets) = self.lossless_packets {
            let sure = (cells / alpha_equivalent).ln() / loss_that_matters(margin);
            return capped((sure / (packets / n.min(m))).max(least));
        }
        let variance = effect.standard_error().powi(2) / (1.0 / n + 1.0 / m);
        let size = effect.mean.abs();
        let runs = |error: f64, distance: f64| {
            let sure = normal::quantile(1.0 - error);
            let reach = sure + normal::quantile(POWER);
            // The last term is for Student's t in place of the normal distribution (Guenther 1981).
            2.0 * variance * (reach / distance).powi(2) + sure.powi(2) / 4.0
        };
        let differ = runs(alpha / (2.0 * cells), size);
        let inside = margin.ln_1p() - size;
        let alike = match inside > 0.0 {
            true => runs(alpha_equivalent / cells, inside),
            false => f64::INFINITY,
        };
        capped(differ.min(alike).max(n.max(m) + 1.0).max(least))
    }
}

/// Whole runs, unless they are more than anybody would make.
fn capped(runs: f64) -> Option<u32> {
    (runs <= MOST_NEEDED).then_some(runs.ceil() as u32)
}

/// The packets of the side with fewer, if the figure is a loss that is 0 in every run.
fn lossless_packets(pair: &Pair<'_>) -> Option<f64> {
    let values = || pair.sides.iter().flat_map(|side| &side.values);
    let is_loss = pair.sides[0].name.starts_with("loss");
    let [before, after] = pair.packets;
    (is_loss && values().all(|value| *value == 0.0)).then_some(before.min(after))
}

/// The loss below which two sides that lost nothing are called equivalent: the margin's share of a tolerable one. The
/// probability that a path with this loss loses none of n packets is at most e^(-n times it), where losses are independent: at 5 % the
/// rule of three.
fn loss_that_matters(margin: f64) -> f64 {
    margin * TOLERABLE_LOSS
}

/// The geometric mean over the cells with the most runs, round by round.
fn over_all<'c>(pairs: &[Pair<'c>]) -> Option<Contrast<'c>> {
    let runs = |pair: &Pair<'_>| pair.sides.map(|side| side.values.len());
    let most = pairs
        .iter()
        .map(runs)
        .reduce(|[a, b], [c, d]| [a.max(c), b.max(d)])?;
    let whole: Vec<&Pair<'_>> = pairs.iter().filter(|pair| runs(pair) == most).collect();
    let (first, cells) = (whole.first()?, whole.len() as f64);
    let mean = |side: usize, round: usize| {
        let values = whole.iter().map(|pair| pair.sides[side].values[round].ln());
        (values.sum::<f64>() / cells).exp()
    };
    let means = |side: usize| (0..most[side]).map(|round| mean(side, round)).collect();
    let values: [Vec<f64>; 2] = [means(0), means(1)];
    let exist = values
        .iter()
        .flatten()
        .all(|mean| mean.is_finite() && *mean > 0.0);
    (exist && whole.len() > 1).then(|| Contrast {
        cell: None,
        name: ALL_CELLS,
        figure: first.sides[0],
        logs: logs(&values),
        lossless_packets: None,
        values,
    })
}

/// The logarithms; none of negative values. Half of the smallest value above 0 is added to all where one is 0.
fn logs(values: &[Vec<f64>; 2]) -> [Vec<f64>; 2] {
    let all = || values.iter().flatten().copied();
    if !all().all(|value| value.is_finite() && value >= 0.0) {
        return [Vec::new(), Vec::new()];
    }
    let least = all().filter(|value| *value > 0.0).reduce(f64::min);
    let least = least.unwrap_or(1.0);
    let added = if all().any(|value| value == 0.0) {
        least / 2.0
    } else {
        0.0
    };
    [0, 1].map(|side| {
        values[side]
            .iter()
            .map(|value| (value + added).ln())
            .collect()
    })
}

/// The p of each contrast. Cells with other numbers of runs than most have their own share of the error.
fn differences(contrasts: &[Contrast<'_>]) -> Vec<Difference> {
    let judged = |runs: &[usize; 2]| runs.iter().all(|runs| *runs > 0);
    let all: Vec<[usize; 2]> = contrasts.iter().map(Contrast::runs).collect();
    let testable = all.iter().filter(|runs| judged(runs)).count() as f64;
    let unknown = Difference {
        p: P {
            alone: 1.0,
            adjusted: 1.0,
        },
        smallest: 1.0,
    };
    let mut found = vec![unknown; contrasts.len()];
    let shapes: BTreeSet<[usize; 2]> = all.iter().copied().filter(judged).gather();
    for shape in shapes {
        let members: Vec<usize> = (0..all.len()).filter(|at| all[*at] == shape).collect();
        let share = testable / members.len() as f64;
        let columns = columns(members.iter().map(|at| &contrasts[*at]));
        let smallest = (share * max_t::smallest_p(shape[0], shape[1])).min(1.0);
        for (at, p) in members.iter().zip(max_t::two_groups(&columns, shape[0])) {
            let adjusted = (share * p.adjusted).min(1.0);
            found[*at] = Difference {
                p: P { adjusted, ..p },
                smallest,
            };
        }
    }
    found
}

/// The logarithms of both sides, round by round. The noise that the cells have in common keeps one whose few runs happen
/// to agree from looking certain; the mean of all cells has its own.
fn columns<'a>(contrasts: impl Iterator<Item = &'a Contrast<'a>> + Clone) -> Vec<Column> {
    let column = |one: &Contrast<'_>, noise| Column::new(one.logs.concat(), noise);
    let cells = contrasts.clone().filter(|one| one.cell.is_some());
    let squares: Vec<f64> = cells.map(|one| column(one, 0.0).scale).collect();
    let runs = contrasts
        .clone()
        .next()
        .map_or(0, |one| one.runs().iter().sum());
    let noise = noise_in_common(&squares, runs);
    let own = |one: &Contrast<'_>| if one.cell.is_some() { noise } else { 0.0 };
    contrasts.map(|one| column(one, own(one))).collect()
}

/// The sum of squares that each cell borrows: as if it had up to as many more runs, with the typical noise of all cells. The
/// more the cells differ in their noise, the less is borrowed: the empirical Bayes estimate of a variance (Smyth 2004), by
/// the spread of the logarithms beyond what so few runs explain. No arrangement of the rounds changes it.
fn noise_in_common(squares: &[f64], runs: usize) -> f64 {
    let known = squares.iter().filter(|squares| **squares > 0.0);
    let logs: Vec<f64> = known.map(|squares| squares.ln()).collect();
    let Some((mean, sd)) = describe::mean(&logs).zip(describe::sd(&logs)) else {
        return 0.0;
    };
    let df = runs.saturating_sub(1) as f64;
    let beyond = sd * sd - 2.0 / (df - 1.0);
    let borrowed = if beyond > 0.0 {
        (2.0 / beyond).min(df)
    } else {
        df
    };
    mean.exp() * borrowed / df
}

/// The name of the entry over all cells.
pub const ALL_CELLS: &str = "all cells";
/// The chance of any false difference in a matrix.
const ALPHA: f64 = 0.04;
/// The chance of any false equivalence.
const EQUIVALENCE_ALPHA: f64 = 0.01;
/// The probability with which the needed runs decide.
const POWER: f64 = 0.8;
const MOST_NEEDED: f64 = 10_000.0;
/// The packet loss ratio of the classes 0 to 4 of ITU-T Y.1541.
const TOLERABLE_LOSS: f64 = 1e-3;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
