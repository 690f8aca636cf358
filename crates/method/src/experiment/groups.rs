// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two groups of stored runs, which were not interleaved: an exact rank test decides. Other changes between the
//! groups do not show in the numbers, so the environments must be compared as well.

use linerate_model::order;
use linerate_model::output::{Comparison, Side};

use super::figure::{Figure, Key};
use super::plan::ALPHA;
use super::together;
use crate::bound::loss_upper95;
use crate::stats::{describe, fairness, shift, student, two_samples};

/// Compares one figure of two groups of runs. [`settle`] adds the verdict.
pub fn compare(key: &Key, before: &[Figure], after: &[Figure], margin: f64) -> Comparison {
    let [first, second] = [before, after].map(compared);
    let interval = |alpha| shift::ratio(&first, &second, alpha)?.interval;
    let ends = |alpha| interval(alpha).map(|found| [found.low, found.high]);
    let (n, m) = (first.len(), second.len());
    let smallest = two_samples::smallest_p(n, m);
    Comparison {
        name: key.name.clone(),
        metric: key.metric.clone(),
        unit: key.unit.clone(),
        higher_is_better: key.higher_is_better,
        before: side(before, margin),
        after: side(after, margin),
        ratio: shift::ratio(&first, &second, ALPHA).map(|shift| shift.estimate),
        ci95: ends(ALPHA),
        ci90: ends(2.0 * ALPHA),
        margin,
        p: two_samples::mann_whitney(&first, &second),
        alpha: ALPHA,
        smallest_p: Some(smallest),
        mde: minimal_effect(&first, &second),
        ..Comparison::default()
    }
}

/// Adds the verdicts of figures that are judged together: each p, and the number of runs needed for a proof, is
/// adjusted for the number of figures (Holm).
pub fn settle(together: &mut [&mut Comparison]) {
    together::settle(together, two_samples::needed_runs);
}

/// Summarises one group. Runs that differ from the typical one by less than `margin` are not far out.
pub fn side(figures: &[Figure], margin: f64) -> Side {
    let far_out = describe::far_out(&logs(&compared(figures)), margin.ln_1p());
    let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
    let flows = middle(figures).map_or(&[][..], |figure| &figure.flows);
    Side {
        n: values.len() as u32,
        median: describe::median(&values),
        mad: describe::mad(&values),
        mean: describe::mean(&values),
        sd: describe::sd(&values),
        mean_ci95: mean_interval(&values),
        min: values.iter().copied().reduce(f64::min),
        max: values.iter().copied().reduce(f64::max),
        far_out_upper95: loss_upper95(far_out.len() as u64, values.len() as u64),
        far_out: far_out.into_iter().map(|at| at as u32).collect(),
        flow_fairness: fairness::jain(flows),
        flow_spread: fairness::fastest_to_slowest(flows).filter(|_| flows.len() > 1),
        values,
        ..Side::default()
    }
}

/// The 95 % confidence interval of the mean (Student's t), assuming independent runs.
fn mean_interval(values: &[f64]) -> Option<[f64; 2]> {
    let (mean, sd) = (describe::mean(values)?, describe::sd(values)?);
    let n = values.len() as f64;
    let half = student::quantile(1.0 - ALPHA / 2.0, n - 1.0) * sd / n.sqrt();
    half.is_finite().then_some([mean - half, mean + half])
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

fn compared(figures: &[Figure]) -> Vec<f64> {
    figures.iter().map(|figure| figure.compared).collect()
}

/// The run with the (lower) median.
fn middle(figures: &[Figure]) -> Option<&Figure> {
    let mut sorted: Vec<&Figure> = figures.iter().collect();
    order::by(&mut sorted, |a, b| a.value.total_cmp(&b.value));
    sorted.get(figures.len().checked_sub(1)? / 2).copied()
}

/// The minimal detectable effect as a ratio minus 1, from the pooled standard deviation of the logarithms.
fn minimal_effect(first: &[f64], second: &[f64]) -> Option<f64> {
    let (a, b) = (describe::sd(&logs(first))?, describe::sd(&logs(second))?);
    let (n, m) = (first.len() as f64, second.len() as f64);
    let df = n + m - 2.0;
    let variance = ((n - 1.0) * a * a + (m - 1.0) * b * b) / df;
    let quantiles = student::quantile(0.975, df) + student::quantile(POWER, df);
    let found = (quantiles * (variance * (1.0 / n + 1.0 / m)).sqrt()).exp_m1();
    found.is_finite().then_some(found)
}

/// The probability with which an effect of the minimal size is detected.
const POWER: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Judgement;

    fn figures(values: &[f64]) -> Vec<Figure> {
        let figure = |value: &f64| Figure {
            key: key(),
            value: *value,
            compared: *value,
            flows: Vec::new(),
        };
        values.iter().map(figure).collect()
    }

    fn key() -> Key {
        Key {
            metric: "throughput".to_owned(),
            name: "tcp down".to_owned(),
            unit: "bit/s".to_owned(),
            higher_is_better: true,
        }
    }

    fn judged(before: &[f64], after: &[f64], margin: f64) -> Comparison {
        let mut one = compare(&key(), &figures(before), &figures(after), margin);
        settle(&mut [&mut one]);
        one
    }

    /// Field report 000: three runs a side, fifty times faster, and no proof.
    #[test]
    fn three_against_three_prove_nothing() {
        let one = judged(&[8.47, 8.72, 14.4], &[426.0, 426.0, 427.0], 0.02);
        assert_eq!(one.verdict, Judgement::Inconclusive);
        assert!((one.p.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(
            (one.smallest_p, one.needed, one.ci95),
            (Some(0.1), Some(4), None)
        );
        let four = judged(
            &[8.47, 8.72, 14.4, 9.0],
            &[426.0, 426.0, 427.0, 425.0],
            0.02,
        );
        assert_eq!((four.verdict, four.needed), (Judgement::Better, None));
    }

    #[test]
    fn one_against_one_is_no_result() {
        let one = judged(&[94.0], &[92.0], 0.02);
        assert_eq!((one.verdict, one.p), (Judgement::Inconclusive, Some(1.0)));
        assert_eq!(one.needed, Some(4));
    }

    #[test]
    fn enough_runs_show_that_nothing_matters() {
        let values = [940.1, 941.0, 940.4, 939.8, 940.9, 940.2];
        let other = [940.3, 940.7, 940.0, 940.8, 940.5, 939.9];
        let one = judged(&values, &other, 0.02);
        assert_eq!(one.verdict, Judgement::Equivalent);
        let [low, high] = one.ci90.unwrap();
        assert!(low > 0.998 && high < 1.002, "{low} {high}");
        let slightly: Vec<f64> = values.iter().map(|value| value * 1.009).collect();
        assert_eq!(
            judged(&values, &slightly, 0.02).verdict,
            Judgement::BetterButIrrelevant
        );
        assert_eq!(
            judged(&slightly, &values, 0.02).verdict,
            Judgement::WorseButIrrelevant
        );
        assert_eq!(judged(&slightly, &values, 0.005).verdict, Judgement::Worse);
    }

    #[test]
    fn figures_that_are_judged_together_share_the_error() {
        let before = [1.0, 2.0, 3.0, 4.0];
        let after = [5.0, 6.0, 7.0, 8.0];
        let make = || compare(&key(), &figures(&before), &figures(&after), 0.02);
        let (mut one, mut other) = (make(), make());
        settle(&mut [&mut one, &mut other]);
        assert_eq!(one.verdict, Judgement::Inconclusive, "2/70 twice");
        assert!((one.p_adjusted.unwrap() - 4.0 / 70.0).abs() < 1e-12);
        assert_eq!(one.needed, Some(5), "2/252 twice");
    }

    /// By hand: the t of two degrees of freedom is 4.303.
    #[test]
    fn the_mean_has_an_interval_of_two_runs_on() {
        let [low, high] = side(&figures(&[8.47, 8.72, 14.4]), 0.02).mean_ci95.unwrap();
        let mean = (8.47 + 8.72 + 14.4) / 3.0;
        let half = 4.302_652_729_911_275 * 3.353_848_535_637_827 / 3_f64.sqrt();
        assert!((high - mean - half).abs() < 1e-6 && (mean - low - half).abs() < 1e-6);
        assert_eq!(side(&figures(&[1.0]), 0.02).mean_ci95, None);
        assert_eq!(
            side(&figures(&[2.0, 2.0]), 0.02).mean_ci95,
            Some([2.0, 2.0])
        );
    }

    #[test]
    fn runs_far_out_are_named_and_how_many_more_there_may_be() {
        let mut rates: Vec<f64> = (0..24).map(|run| 940.0 + f64::from(run % 5)).collect();
        let none = side(&figures(&rates), 0.02);
        assert_eq!(none.far_out, []);
        // The rule of three: 1 - 0.05^(1/24).
        assert!((none.far_out_upper95.unwrap() - 0.1173).abs() < 1e-4);
        (rates[3], rates[17]) = (470.0, 466.0);
        let two = side(&figures(&rates), 0.02);
        assert_eq!(two.far_out, [3, 17]);
        assert!((two.far_out_upper95.unwrap() - 0.2404).abs() < 1e-3);
        // Less than the margin is not far out, however quiet the others are.
        let quiet = [940.0, 940.0, 940.0, 940.0, 940.0, 935.0];
        assert_eq!(side(&figures(&quiet), 0.02).far_out, []);
        assert_eq!(side(&figures(&quiet), 0.002).far_out, [5]);
        assert_eq!(side(&[], 0.02).far_out_upper95, None);
    }

    #[test]
    fn the_flows_of_the_middle_run_are_looked_at() {
        let mut group = figures(&[9.04]);
        group[0].flows = vec![1.87, 2.69, 1.75, 2.73];
        let side = side(&group, 0.02);
        assert!((side.flow_spread.unwrap() - 1.56).abs() < 1e-9);
        assert!((side.flow_fairness.unwrap() - 0.9615).abs() < 1e-4);
    }
}
