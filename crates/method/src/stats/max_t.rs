// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many figures of the same observations, compared between two groups: the exact permutation test, adjusted for the
//! number of figures by the largest statistic among them (max-T, step-down; Westfall and Young 1993, §2.6).
//!
//! Whole observations are permuted, so what the figures of an observation have in common stays in each arrangement. The
//! chance of even one false difference is at most the p that is asked for, and the smallest p that few observations can
//! reach does not depend on the number of figures, as it does with Holm's method.

use crate::rng::Rng;

/// One figure: a value for each observation, those of the first group first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Minus their mean.
    pub(crate) values: Vec<f64>,
    /// The sum of their squares, and what other columns say about the noise: the same in each arrangement.
    pub(crate) scale: f64,
}

/// The p of one figure, two-sided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct P {
    /// Of this figure alone.
    pub(crate) alone: f64,
    /// As one of all.
    pub(crate) adjusted: f64,
}

/// The p of each column; `first` observations are of the first group. The columns are of one length.
pub(crate) fn two_groups(columns: &[Column], first: usize) -> Vec<P> {
    let Some(all) = columns.first().map(|column| column.values.len()) else {
        return Vec::new();
    };
    let own: Vec<u16> = (0..first).map(|at| at as u16).collect();
    let observed: Vec<f64> = columns.iter().map(|one| one.statistic(&own)).collect();
    let mut order: Vec<usize> = (0..columns.len()).collect();
    linerate_model::order::by(&mut order, |a, b| observed[*a].total_cmp(&observed[*b]));
    let choices = Choices::of(first, all - first);
    let counts = counts(columns, &order, &observed, &choices);
    in_steps(&order, &counts, choices.looks())
}

/// The smallest p that groups of these sizes can reach, for any number of figures.
pub(crate) fn smallest_p(first: usize, second: usize) -> f64 {
    let ways = arrangements(first, second);
    let mirrored = if first == second { 2.0 } else { 1.0 };
    match ways <= MOST_EXACT {
        true => (mirrored / ways).min(1.0),
        false => 1.0 / f64::from(DRAWS + 1),
    }
}

/// The smallest size of two equal groups that can reach a p of at most `alpha` (> 0).
pub(crate) fn needed_runs(alpha: f64) -> usize {
    let sizes = 1..MOST_NEEDED;
    sizes
        .clone()
        .find(|n| smallest_p(*n, *n) <= alpha)
        .unwrap_or(sizes.end)
}

impl Column {
    /// Of values whose mean is removed here; `noise` is a sum of squares that other columns lend.
    pub(crate) fn new(mut values: Vec<f64>, noise: f64) -> Self {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        values.iter_mut().for_each(|value| *value -= mean);
        let squares = squares(&values);
        Self {
            scale: squares + noise,
            values,
        }
    }

    /// The square of the sum of the chosen values over the scale: a monotone function of the square of Student's t.
    fn statistic(&self, chosen: &[u16]) -> f64 {
        if self.scale <= 0.0 {
            return 0.0;
        }
        let sum: f64 = chosen.iter().map(|at| self.values[usize::from(*at)]).sum();
        sum * sum / self.scale
    }
}

/// The sum of squares.
pub(crate) fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// The shares of the arrangements; from the largest statistic down, an adjusted p is never smaller than those before.
fn in_steps(order: &[usize], counts: &[[u32; 2]], looks: u32) -> Vec<P> {
    let share = |count: u32| f64::from(count) / f64::from(looks.max(1));
    let unknown = P {
        alone: 1.0,
        adjusted: 1.0,
    };
    let mut found = vec![unknown; counts.len()];
    let mut highest: f64 = 0.0;
    for at in order.iter().rev() {
        let [alone, adjusted] = counts[*at].map(share);
        highest = highest.max(adjusted);
        found[*at] = P {
            alone,
            adjusted: highest,
        };
    }
    found
}

/// In how many arrangements each column's statistic, and the largest of the columns up to it, is as large as observed. One
/// column after another: its values, and the largest of each arrangement, stay in the cache.
fn counts(
    columns: &[Column],
    order: &[usize],
    observed: &[f64],
    choices: &Choices,
) -> Vec<[u32; 2]> {
    let mut counts = vec![[0_u32; 2]; columns.len()];
    let mut largest = vec![0.0_f64; choices.looks() as usize];
    for at in order {
        let least = observed[*at] * NEARLY;
        for (chosen, largest) in choices.each().zip(&mut largest) {
            let statistic = columns[*at].statistic(chosen);
            *largest = largest.max(statistic);
            counts[*at][0] += u32::from(statistic >= least);
            counts[*at][1] += u32::from(*largest >= least);
        }
    }
    counts
}

/// The observations of the first group in each arrangement that is looked at.
struct Choices {
    /// One after another.
    places: Vec<u16>,
    many: usize,
}

impl Choices {
    /// All arrangements, or the observed one and random ones. Of equal groups one of two mirrored arrangements is enough:
    /// the sums of both have the same square.
    fn of(first: usize, second: usize) -> Self {
        let mut choices = Self {
            places: Vec::new(),
            many: first,
        };
        let all = first + second;
        match arrangements(first, second) <= MOST_EXACT {
            true => choices.take_every(all, first == second),
            false => choices.draw(all),
        }
        choices
    }

    fn looks(&self) -> u32 {
        self.each().len() as u32
    }

    fn each(&self) -> std::slice::ChunksExact<'_, u16> {
        self.places.chunks_exact(self.many.max(1))
    }

    /// Every choice out of `all` observations, in order; the choices with the first observation come first.
    fn take_every(&mut self, all: usize, mirrored: bool) {
        let many = self.many;
        let mut chosen: Vec<usize> = (0..many).collect();
        while !(mirrored && chosen.first() != Some(&0)) {
            self.places.extend(chosen.iter().map(|at| *at as u16));
            // The last one that can still advance.
            let Some(at) = (0..many).rev().find(|at| chosen[*at] < all - many + at) else {
                return;
            };
            let from = chosen[at] + 1;
            for (one, next) in chosen[at..].iter_mut().zip(from..) {
                *one = next;
            }
        }
    }

    fn draw(&mut self, all: usize) {
        let mut rng = Rng::new(SEED);
        let mut places: Vec<u16> = (0..all).map(|at| at as u16).collect();
        self.places.extend(&places[..self.many]);
        for _ in 0..DRAWS {
            for at in 0..self.many {
                let other = at + rng.below((all - at) as u64) as usize;
                places.swap(at, other);
            }
            self.places.extend(&places[..self.many]);
        }
    }
}

fn arrangements(first: usize, second: usize) -> f64 {
    super::two_samples::arrangements(first, second)
}

/// Up to six observations a group, all arrangements: 924.
const MOST_EXACT: f64 = 2000.0;
const DRAWS: u32 = 1999;
const SEED: u64 = 0x6d61_782d_7400;
/// Equal statistics of mirrored arrangements differ by rounding.
const NEARLY: f64 = 1.0 - 1e-9;
const MOST_NEEDED: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::two_samples;

    fn p(columns: &[&[f64]], first: usize) -> Vec<P> {
        let columns: Vec<Column> = columns
            .iter()
            .map(|values| Column::new(values.to_vec(), 0.0))
            .collect();
        two_groups(&columns, first)
    }

    /// By hand: of the 20 choices of three of six values, two separate them as far.
    #[test]
    fn one_figure_is_the_exact_permutation_test() {
        let found = p(&[&[1.0, 2.0, 3.0, 7.0, 8.0, 9.0]], 3);
        assert_eq!(
            found,
            [P {
                alone: 0.1,
                adjusted: 0.1
            }]
        );
        // Of unequal groups the mirror image is none: 1 of 15.
        let found = p(&[&[1.0, 2.0, 7.0, 8.0, 9.0, 8.0]], 2);
        assert!((found[0].alone - 1.0 / 15.0).abs() < 1e-12, "{found:?}");
        assert!((smallest_p(2, 4) - 1.0 / 15.0).abs() < 1e-12);
        assert_eq!(smallest_p(3, 3), two_samples::smallest_p(3, 3));
    }

    /// The second column is the first, so it adds nothing; the third is noise, which the largest may exceed.
    #[test]
    fn figures_with_all_in_common_count_once() {
        let one = [1.0, 2.0, 3.0, 4.0, 9.0, 8.0, 9.0, 8.0];
        let double = one.map(|value| 2.0 * value);
        let same = p(&[&one, &double], 4);
        assert_eq!(same[0], same[1]);
        assert_eq!(same[0].alone, same[0].adjusted);
        let noise = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let found = p(&[&noise, &one], 4);
        assert!(found[0].adjusted >= found[1].adjusted);
        assert!(found[1].adjusted >= found[1].alone && found[0].alone > 0.1);
    }

    #[test]
    fn more_cells_need_no_more_runs() {
        assert_eq!(needed_runs(0.05), 4);
        assert_eq!(needed_runs(0.01), 5);
    }

    #[test]
    fn many_runs_are_drawn_and_agree_with_all_arrangements() {
        let all = Choices::of(3, 2);
        let mut chosen: Vec<&[u16]> = all.each().collect();
        assert_eq!((all.looks(), chosen[0]), (10, &[0, 1, 2][..]));
        chosen.dedup();
        assert_eq!((chosen.len(), chosen[9]), (10, &[2, 3, 4][..]));
        // Of two mirrored ones the one with the first observation.
        let halves = Choices::of(3, 3);
        assert_eq!(halves.looks(), 10);
        assert!(halves.each().all(|chosen| chosen[0] == 0));
        assert_eq!(Choices::of(10, 10).looks(), 2000);
        let mut rng = Rng::new(1);
        let values: Vec<f64> = (0..20)
            .map(|at| rng.normal() + if at < 10 { 1.5 } else { 0.0 })
            .collect();
        let found = p(&[&values], 10)[0].alone;
        assert!(found > 0.0 && found < 0.05, "{found}");
    }

    #[test]
    fn values_that_are_all_equal_do_not_differ() {
        assert_eq!(p(&[&[5.0; 8]], 4)[0].alone, 1.0);
        assert!(p(&[], 4).is_empty());
    }
}
