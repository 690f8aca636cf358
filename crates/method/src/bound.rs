// SPDX-License-Identifier: MIT OR Apache-2.0
//! Upper bound of a loss ratio from a count of lost packets (Clopper and Pearson 1934): "0 lost" does not
//! prove "no loss".
//!
//! The bound assumes independent losses. Losses come in bursts, so it is too narrow as a forecast for the next
//! run.

use crate::stats::beta;

/// Returns the one-sided 95 % upper bound of the loss ratio, given `lost` of `sent`:
/// `1 − 0.05^(1/sent)` ≈ 3 / sent when nothing was lost. `None` when nothing was sent or `lost > sent`.
pub fn loss_upper95(lost: u64, sent: u64) -> Option<f64> {
    clopper_pearson_upper(lost, sent, 0.05)
}

/// Returns the two-sided 95 % Clopper–Pearson interval of the loss ratio; `None` when nothing was sent or `lost > sent`.
pub fn loss_interval95(lost: u64, sent: u64) -> Option<(f64, f64)> {
    let upper = clopper_pearson_upper(lost, sent, 0.025)?;
    let lower = match lost {
        0 => 0.0,
        lost => beta::quantile(0.025, lost as f64, (sent - lost) as f64 + 1.0),
    };
    Some((lower, upper))
}

/// Returns the upper Clopper–Pearson limit with a one-sided error of `alpha` (0…1): the (1 − alpha) quantile
/// of Beta(lost + 1, sent − lost).
fn clopper_pearson_upper(lost: u64, sent: u64, alpha: f64) -> Option<f64> {
    if sent == 0 || lost > sent {
        return None;
    }
    if lost == sent {
        return Some(1.0);
    }
    if lost == 0 {
        // 1 − alpha^(1/n) without cancellation.
        return Some(-(alpha.ln() / sent as f64).exp_m1());
    }
    let (a, b) = (lost as f64 + 1.0, (sent - lost) as f64);
    Some(beta::quantile(1.0 - alpha, a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(value: f64, exact: f64, relative: f64) {
        let error = ((value - exact) / exact).abs();
        assert!(error < relative, "{value} instead of {exact}: {error:e}");
    }

    #[test]
    fn nothing_lost_is_three_over_n() {
        assert_close(
            loss_upper95(0, 98_693).unwrap(),
            3.035_358_949_177_169e-5,
            1e-11,
        );
        assert_close(loss_upper95(0, 1).unwrap(), 0.95, 1e-15);
        let n = 10_000_000_000;
        assert_close(
            loss_upper95(0, n).unwrap(),
            2.995_732_273_553_991 / n as f64,
            1e-9,
        );
    }

    #[test]
    fn two_sided_intervals_of_other_programs() {
        // The upper ends of 95 % two-sided intervals (2.5 % on this side), as R's binom.test gives.
        let table = [
            (0, 98_693, 3.737_661_753_889_562e-5),
            (20, 98_693, 3.129_570_890_820_501e-4),
            (71, 34_358, 2.605_874_802_779_19e-3),
        ];
        for (lost, sent, upper) in table {
            assert_close(
                clopper_pearson_upper(lost, sent, 0.025).unwrap(),
                upper,
                1e-9,
            );
        }
    }

    /// Solved with 60 digits from the sums of binomial terms, as R's `binom.test` defines them.
    #[test]
    fn both_ends_of_two_sided_intervals() {
        let table = [
            (1, 10, 2.528_578_544_461_784e-3, 0.445_016_117_028_195_3),
            (3, 1000, 6.190_999_316_495_713e-4, 8.742_023_238_478_303e-3),
            (
                20,
                98_693,
                1.237_872_945_105_836e-4,
                3.129_570_890_820_501e-4,
            ),
            (71, 34_358, 1.614_277_230_067_65e-3, 2.605_874_802_780_19e-3),
        ];
        for (lost, sent, lower, upper) in table {
            let found = loss_interval95(lost, sent).unwrap();
            assert_close(found.0, lower, 1e-9);
            assert_close(found.1, upper, 1e-9);
        }
        let (lower, upper) = loss_interval95(7, 7).unwrap();
        assert_close(lower, 0.590_383_602_774_996_6, 1e-9);
        assert_eq!(upper, 1.0);
        assert_eq!(loss_interval95(0, 7).unwrap().0, 0.0);
        assert_eq!(loss_interval95(8, 7), None);
    }

    #[test]
    fn it_solves_the_binomial_equation() {
        // By definition P(X ≤ lost | upper) = 5 %, summed here term by term.
        for (lost, sent) in [(1_u64, 10_u64), (3, 17), (9, 10), (40, 400), (150, 160)] {
            let p = loss_upper95(lost, sent).unwrap();
            let mut term = (1.0 - p).powi(sent as i32);
            let mut below = term;
            for k in 0..lost {
                term *= (sent - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
                below += term;
            }
            assert_close(below, 0.05, 1e-9);
        }
    }

    #[test]
    fn large_counts_stay_just_above_the_ratio() {
        for (lost, sent) in [
            (5_000_000, 100_000_000),
            (1_000_000_000, 10_000_000_000_u64),
        ] {
            let ratio = lost as f64 / sent as f64;
            let normal = ratio + 1.6449 * (ratio * (1.0 - ratio) / sent as f64).sqrt();
            assert_close(loss_upper95(lost, sent).unwrap(), normal, 1e-5);
        }
    }

    #[test]
    fn edges() {
        assert_eq!(loss_upper95(0, 0), None);
        assert_eq!(loss_upper95(2, 1), None);
        assert_eq!(loss_upper95(7, 7), Some(1.0));
    }
}
