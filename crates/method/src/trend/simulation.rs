// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulated histories: how often a level changes where none did, and whether a real change is found. Seeds are
//! fixed, so the counts are reproducible.

use super::levels_of;
use crate::rng::Rng;
use crate::stats::level_change::Chance;

/// What the runs of a bench differ by.
#[derive(Debug, Clone, Copy)]
enum Noise {
    Normal,
    /// Student's t with three degrees of freedom.
    HeavyTails,
}

/// A history: `shift` standard deviations are added from the run `at` on. Each value is correlated with its
/// neighbour by `r`.
fn history(rng: &mut Rng, n: usize, r: f64, noise: Noise, (at, shift): (usize, f64)) -> Vec<f64> {
    let innovation = (1.0 - r * r).sqrt();
    let mut draw = || match noise {
        Noise::Normal => rng.normal(),
        Noise::HeavyTails => rng.heavy_tailed(),
    };
    let mut last = (0..20).fold(0.0, |last, _| r * last + innovation * draw());
    let value = |run: usize| {
        last = r * last + innovation * draw();
        940.0 + last + if run < at { 0.0 } else { shift }
    };
    (0..n).map(value).collect()
}

/// The share of histories with more than one level.
fn changed(n: usize, r: f64, noise: Noise, shift: (usize, f64), chance: &mut Chance) -> f64 {
    let mut rng = Rng::new(n as u64);
    let seen = (0..HISTORIES).filter(|_| {
        let history = history(&mut rng, n, r, noise, shift);
        levels_of(&history, chance).len() > 1
    });
    let share = seen.count() as f64 / f64::from(HISTORIES);
    println!(
        "{noise:?}, r {r}, {n} runs, {shift:?}: {:.1} %",
        100.0 * share
    );
    share
}

#[test]
fn a_level_that_never_changed_changes_in_at_most_five_of_a_hundred_histories() {
    let mut chance = Chance::default();
    for noise in [Noise::Normal, Noise::HeavyTails] {
        for r in [0.0, 0.3, 0.5] {
            for n in [8, 12, 20, 50] {
                let share = changed(n, r, noise, (n, 0.0), &mut chance);
                assert!(share <= 0.05, "{noise:?}, r {r}, {n} runs: {share}");
            }
        }
    }
}

/// Ten runs on each side, five standard deviations apart; or more runs, and less.
#[test]
fn a_level_that_changed_is_found() {
    let mut chance = Chance::default();
    for r in [0.0, 0.5] {
        for (n, shift, least) in [(20, 5.0, 0.95), (50, 4.0, 0.95), (12, 5.0, 0.75)] {
            let share = changed(n, r, Noise::Normal, (n / 2, shift), &mut chance);
            assert!(share >= least, "r {r}, {n} runs, {shift}: {share}");
        }
    }
}

/// However long the history is.
#[test]
fn a_large_change_is_sure_in_a_long_history() {
    let mut chance = Chance::default();
    for n in [640, 1300, 2500] {
        let history = history(&mut Rng::new(1), n, 0.0, Noise::Normal, (n / 2, 8.0));
        let p = levels_of(&history, &mut chance)[1].p.unwrap();
        assert!(p <= 0.01, "{n} runs: {p}");
    }
}

#[test]
fn a_change_has_its_place_and_its_p() {
    let mut rng = Rng::new(5);
    let mut noisy = |level: f64| level + rng.normal();
    let mut history: Vec<f64> = (0..100)
        .map(|run| {
            noisy(if (40..65).contains(&run) {
                930.0
            } else {
                940.0
            })
        })
        .collect();
    let levels = levels_of(&history, &mut Chance::default());
    let begins: Vec<u32> = levels.iter().map(|level| level.first).collect();
    assert_eq!(begins, [0, 40, 65]);
    let p: Vec<Option<f64>> = levels.iter().map(|level| level.p).collect();
    assert!(
        p[0].is_none() && p[1] <= Some(0.01) && p[2] <= Some(0.01),
        "{p:?}"
    );
    // A driver that is fifty times faster, three runs ago.
    history = (0..23)
        .map(|run| noisy(if run < 20 { 8.7 } else { 426.0 }))
        .collect();
    assert_eq!(levels_of(&history, &mut Chance::default())[1].first, 20);
    // One run far out is no level.
    history = (0..40)
        .map(|run| noisy(if run == 20 { 400.0 } else { 940.0 }))
        .collect();
    assert_eq!(levels_of(&history, &mut Chance::default()).len(), 1);
    let step = [vec![94.0; 20], vec![92.0; 20]].concat();
    assert_eq!(levels_of(&step, &mut Chance::default())[1].first, 20);
}

const HISTORIES: u32 = 600;
