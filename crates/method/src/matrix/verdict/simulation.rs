// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulated matrices: how many have a false verdict, and how many true effects are found. Seeds are fixed, so the counts
//! are reproducible.

use linerate_model::output::{CellFigure, Judgement};

use super::*;
use crate::bound::loss_upper95;
use crate::experiment::simulation::{EVERY_NOISE, Link, NOISES, Noise};
use crate::rng::Rng;

/// A kind of matrix.
#[derive(Clone, Copy)]
struct Kind {
    cells: usize,
    rounds: usize,
    noise: Noise,
    /// The standard deviation of a run, about; that of a cell is 1/8 to 1 of it where they are unequal.
    sd: f64,
    unequal: bool,
}

impl Kind {
    fn new(cells: usize, noise: Noise) -> Self {
        Self {
            cells,
            rounds: 6,
            noise,
            sd: LINK_SD,
            unequal: true,
        }
    }

    /// A matrix whose cells are measured in a drawn order in each round; `effect` of a cell is a log-ratio.
    fn measured(self, seed: u64, effect: impl Fn(usize) -> f64) -> Vec<CellFigure> {
        let mut link = Link::new(self.noise, seed);
        let mut rng = Rng::new(seed);
        let mut order: Vec<usize> = (0..self.cells).collect();
        let mut values = vec![Vec::new(); self.cells];
        for _ in 0..self.rounds {
            for at in 0..self.cells {
                order.swap(at, at + rng.below((self.cells - at) as u64) as usize);
            }
            for at in &order {
                let noise = (link.run(0.0) / 940.0).ln() / LINK_SD * self.sd;
                let share = if self.unequal {
                    0.5_f64.powi(*at as i32 % 4)
                } else {
                    1.0
                };
                values[*at].push((effect(*at) + share * noise).exp() * 1e8 * (1 + at) as f64);
            }
        }
        values.into_iter().map(figure).collect()
    }

    fn compared(self, seed: u64, effect: impl Fn(usize) -> f64) -> Vec<Comparison> {
        let before = self.measured(2 * seed, |_| 0.0);
        let after = self.measured(2 * seed + 1, effect);
        let pairs = before.iter().zip(&after).zip(1..);
        let pairs = pairs.map(|((before, after), cell)| Pair {
            cell,
            name: "cell",
            sides: [before, after],
            packets: [0.0; 2],
        });
        compare(&pairs.collect::<Vec<_>>(), 0.02, 1)
    }
}

fn figure(values: Vec<f64>) -> CellFigure {
    CellFigure {
        name: "delivered_bits_per_second".to_owned(),
        unit: "bit/s".to_owned(),
        higher_is_better: true,
        values,
        ..CellFigure::default()
    }
}

fn differs(one: &Comparison) -> bool {
    !matches!(one.verdict, Judgement::Equivalent | Judgement::Inconclusive)
}

/// The share of the matrices of which it is true.
fn share(matrices: u64, is: impl Fn(u64) -> bool) -> f64 {
    (0..matrices).filter(|seed| is(*seed)).count() as f64 / matrices as f64
}

fn with_a_false_difference(kind: Kind, matrices: u64) -> f64 {
    let found = share(matrices, |seed| {
        kind.compared(seed, |_| 0.0).iter().any(differs)
    });
    println!(
        "a false difference, {:?}, {} cells: {:.2} % of {matrices} matrices",
        kind.noise,
        kind.cells,
        100.0 * found
    );
    found
}

#[test]
fn a_matrix_without_an_effect_has_a_false_verdict_in_at_most_five_of_a_hundred() {
    for noise in NOISES {
        let found = with_a_false_difference(Kind::new(20, noise), 200);
        assert!(found <= 0.05, "{noise:?}: {found}");
    }
}

/// As many cells as a large plan has. By construction the chance is below 4 %, so about eight of 200 matrices have one.
#[test]
fn of_two_hundred_matrices_of_a_thousand_cells_at_most_ten_have_a_false_verdict() {
    for noise in NOISES {
        let found = false_verdicts(Kind::new(1000, noise), 200);
        println!("{noise:?}: {found} of 200 matrices of 1000 cells");
        assert!(found <= 10, "{noise:?}: {found} of 200");
    }
}

/// Noise that lasts longer than a round makes two sessions differ: of matrices of five cells whose runs correlate by 0.9, a
/// quarter would have a false verdict. Two values of an axis of one matrix meet the same noise.
#[test]
fn interleaved_cells_stand_noise_that_lasts_longer_than_a_round() {
    for noise in NOISES {
        let kind = Kind {
            unequal: false,
            ..Kind::new(10, noise)
        };
        // All of one rate.
        let alike = |at: usize| -(1.0 + at as f64).ln();
        let found = share(400, |seed| {
            let all = kind.measured(seed, alike);
            let (before, after) = all.split_at(5);
            let pairs = before.iter().zip(after).zip(1..);
            let pairs = pairs.map(|((before, after), cell)| Pair {
                cell,
                name: "cell",
                sides: [before, after],
                packets: [0.0; 2],
            });
            let all = compare(&pairs.collect::<Vec<_>>(), 0.02, 1);
            all.iter().any(differs)
        });
        println!("interleaved, {noise:?}: {:.2} %", 100.0 * found);
        assert!(found <= 0.05, "{noise:?}: {found}");
    }
}

/// The whole count, for every noise: the 95 % upper bound of the share (Clopper and Pearson 1934) is below 5 %, not only the
/// count.
#[test]
#[ignore = "a long simulation: cargo test --release"]
fn a_thousand_cells_have_a_false_verdict_in_less_than_five_of_a_hundred() {
    for noise in EVERY_NOISE {
        let found = false_verdicts(Kind::new(1000, noise), MATRICES);
        let most = loss_upper95(found, MATRICES).unwrap();
        println!("{noise:?}: {found} of {MATRICES} matrices of 1000 cells; at most {most:.4}");
        assert!(most <= 0.05, "{noise:?}: {found} of {MATRICES}");
    }
}

/// Matrices without an effect that have any verdict of a difference, by two threads.
fn false_verdicts(kind: Kind, matrices: u64) -> u64 {
    let is_false = |seed: &u64| kind.compared(*seed, |_| 0.0).iter().any(differs);
    let half = |odd| (0..matrices / 2).map(move |at| 2 * at + odd);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1).filter(is_false).count() as u64);
        half(0).filter(is_false).count() as u64 + other.join().unwrap()
    })
}

/// Enough to prove it where the chance is 4 %, as it is by construction.
const MATRICES: u64 = 4000;

/// An effect in the first cells of many, with a noise of one per cent: the share of the effects that is found, and of the
/// matrices with a false difference in another cell.
fn with_effects([first, cells]: [usize; 2], size: f64, matrices: u64) -> [f64; 2] {
    let kind = Kind {
        sd: 0.01,
        unequal: false,
        ..Kind::new(cells, Noise::Normal)
    };
    let has_one = |one: &Comparison| one.cell.is_some_and(|cell| cell as usize <= first);
    let effect = |at: usize| if at < first { size.ln_1p() } else { 0.0 };
    let (mut found, mut wrong) = (0, 0);
    for seed in 0..matrices {
        let all = kind.compared(seed, effect);
        let better = |one: &&Comparison| has_one(one) && one.verdict == Judgement::Better;
        found += all.iter().filter(better).count();
        let is_false = |one: &Comparison| one.cell.is_some() && !has_one(one) && differs(one);
        wrong += usize::from(all.iter().any(is_false));
        assert!(all[0].cell.is_none() && differs(&all[0]), "as a whole");
    }
    let shares = [found as f64 / first as f64, wrong as f64].map(|count| count / matrices as f64);
    println!("effects found, and matrices with a false one: {shares:?}");
    shares
}

#[test]
fn true_effects_are_found_in_six_rounds() {
    let [found, wrong] = with_effects([20, 40], 0.03, 60);
    assert!(found >= 0.8, "{found}");
    // 4 % of 60: six or more happen once in 26.
    assert!(wrong <= 0.08, "{wrong}");
}

/// A larger one is needed to stand out of a thousand cells.
#[test]
fn true_effects_in_a_tenth_of_a_thousand_cells_are_found() {
    let [found, wrong] = with_effects([100, 1000], 0.04, 20);
    assert!(found >= 0.8, "{found}");
    // 4 % of 20: four or more happen once in 100.
    assert!(wrong <= 0.15, "{wrong}");
}

#[test]
#[ignore = "a long simulation: cargo test --release"]
fn effects_elsewhere_cause_no_false_ones() {
    let [found, wrong] = with_effects([20, 40], 0.03, 2000);
    assert!(found >= 0.8 && wrong <= 0.05, "{found} {wrong}");
}

/// Differences as large as the margin in every cell.
#[test]
fn what_matters_is_not_called_equivalent() {
    for noise in NOISES {
        let kind = Kind {
            sd: 0.004,
            unequal: false,
            ..Kind::new(20, noise)
        };
        let called = share(100, |seed| {
            let all = kind.compared(seed, |_| 0.02_f64.ln_1p());
            let cells = all.iter().filter(|one| one.cell.is_some());
            let mut alike = cells.filter(|one| {
                one.verdict != Judgement::Inconclusive
                    && one.verdict != Judgement::Better
                    && one.verdict != Judgement::Worse
            });
            alike.next().is_some()
        });
        println!("a false equivalence, {noise:?}: {:.1} %", 100.0 * called);
        assert!(called <= 0.05, "{noise:?}: {called}");
    }
}

/// The noise of [`Link`].
const LINK_SD: f64 = 0.02;
