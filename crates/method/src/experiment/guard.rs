// SPDX-License-Identifier: MIT OR Apache-2.0
//! Secondary figures that must not become worse, by non-inferiority: that no harm was shown does not show that
//! there is none.

use linerate_model::output::{Comparison, Guard, GuardStatus};

use super::plan::ALPHA;
use crate::stats::normal;

/// Tests whether a secondary figure became worse by more than its margin: one-sided 95 %, each way. Harm needs a proven
/// difference as well: of many figures, one is outside of its margin by chance.
pub fn guard(of: &Comparison) -> Guard {
    let harm = of.ci90.map(|ends| harm(ends, of.higher_is_better));
    let bound = of.margin.ln_1p();
    let status = match harm {
        Some([_, most]) if most < bound => GuardStatus::Held,
        Some([least, _]) if least > bound && differs(of) => GuardStatus::Harmed,
        _ => GuardStatus::CannotTell,
    };
    let undecided = harm.filter(|_| status == GuardStatus::CannotTell);
    Guard {
        metric: of.metric.clone(),
        name: of.name.clone(),
        unit: of.unit.clone(),
        higher_is_better: of.higher_is_better,
        before: of.before.median,
        after: of.after.median,
        ratio: of.ratio,
        ci90: of.ci90,
        margin: of.margin,
        worse: status == GuardStatus::Harmed,
        status,
        needed: undecided
            .and_then(|harm| needed(observations(of), harm, bound))
            .max(of.needed.filter(|_| undecided.is_some())),
    }
}

/// Whether a difference is proven among the figures judged together, as its verdict says.
fn differs(of: &Comparison) -> bool {
    of.p_adjusted.or(of.p).is_some_and(|p| p <= of.alpha)
}

/// The interval of the harm as a logarithm: positive is worse.
fn harm([low, high]: [f64; 2], higher_is_better: bool) -> [f64; 2] {
    match higher_is_better {
        true => [-high.ln(), -low.ln()],
        false => [low.ln(), high.ln()],
    }
}

/// Blocks, or runs per side.
fn observations(of: &Comparison) -> f64 {
    let runs = f64::from(of.before.n + of.after.n) / 2.0;
    of.blocks.map_or(runs, f64::from)
}

/// How many observations would decide with a probability of 80 %, if the harm is what was measured. `None`: it is
/// too close to the margin, or the interval is no interval.
fn needed(n: f64, [least, most]: [f64; 2], bound: f64) -> Option<u32> {
    let (middle, half) = ((least + most) / 2.0, (most - least) / 2.0);
    let sure = normal::quantile(1.0 - ALPHA);
    let reach = half * (sure + normal::quantile(POWER)) / sure;
    let needed = n * (reach / (bound - middle)).powi(2);
    (needed <= f64::from(MOST)).then(|| needed.max(n + 1.0).ceil() as u32)
}

const POWER: f64 = 0.8;
/// More than anybody would make.
const MOST: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Figure, Key, blocks};
    use crate::rng::Rng;
    use linerate_model::output::Side;

    fn figure(ci90: Option<[f64; 2]>, higher_is_better: bool) -> Comparison {
        Comparison {
            higher_is_better,
            blocks: Some(8),
            margin: 0.1,
            ci90,
            alpha: 0.05,
            p_adjusted: Some(0.05),
            before: Side::default(),
            ..Comparison::default()
        }
    }

    #[test]
    fn only_an_interval_without_harm_beyond_the_margin_holds() {
        use GuardStatus::{CannotTell, Harmed, Held};
        for (ci90, rate, status) in [
            (Some([0.97, 1.08]), true, Held),
            (Some([0.97, 1.08]), false, Held),
            (Some([0.89, 1.3]), true, CannotTell),
            (Some([0.89, 1.3]), false, CannotTell),
            (Some([0.7, 0.9]), true, Harmed),
            (Some([0.7, 0.9]), false, Held),
            (Some([1.11, 1.5]), false, Harmed),
            (Some([1.02, 1.5]), false, CannotTell),
            (None, true, CannotTell),
        ] {
            let found = guard(&figure(ci90, rate));
            assert_eq!(found.status, status, "{ci90:?} {rate}");
            assert_eq!(found.worse, status == Harmed);
            assert_eq!(
                found.needed.is_some(),
                status == CannotTell && ci90.is_some()
            );
            assert!(found.needed.is_none_or(|needed| needed > 8));
        }
    }

    /// Its verdict is inconclusive then.
    #[test]
    fn harm_is_a_difference_that_is_proven_among_the_others() {
        let mut one = figure(Some([0.7, 0.89]), true);
        one.p_adjusted = Some(0.06);
        one.needed = Some(1000);
        let found = guard(&one);
        assert_eq!(
            (found.status, found.worse),
            (GuardStatus::CannotTell, false)
        );
        assert_eq!(found.needed, Some(1000));
        one.p_adjusted = Some(0.04);
        assert_eq!(guard(&one).status, GuardStatus::Harmed);
    }

    /// A figure that became worse by exactly its margin is held in at most 5 % of experiments, and so is one that
    /// became worse by more; without an effect and with little noise it is held.
    #[test]
    fn what_became_worse_by_the_margin_is_not_held() {
        let mut rng = Rng::new(3);
        let mut held = |ratio: f64, noise: f64| {
            let held = (0..1000).filter(|_| {
                let mut runs = |ratio: f64| -> Vec<Figure> {
                    let run = |_| run(ratio * (noise * rng.normal()).exp());
                    (0..16).map(run).collect()
                };
                let (a, b) = (runs(1.0), runs(ratio));
                let runs = blocks::Runs { a: &a, b: &b };
                let compared = blocks::secondary(&a[0].key, runs, &blocks::log_ratios(runs), 0.1);
                guard(&compared).status == GuardStatus::Held
            });
            held.count() as f64 / 1000.0
        };
        for noise in [0.01, 0.1, 0.7] {
            assert!(held(1.1, noise) <= 0.065, "noise {noise}");
            assert!(held(1.3, noise) <= 0.05, "noise {noise}");
        }
        assert!(held(1.0, 0.03) > 0.99);
        // Loss in bursts: eight blocks know nothing, so they must not say that it held.
        assert!(held(1.0, 0.7) < 0.5);
    }

    fn run(value: f64) -> Figure {
        Figure {
            key: Key {
                metric: "rtt-p99".to_owned(),
                name: String::new(),
                unit: "ns".to_owned(),
                higher_is_better: false,
            },
            value,
            compared: value,
            flows: Vec::new(),
        }
    }
}
