// SPDX-License-Identifier: MIT OR Apache-2.0
//! Load classification and conditional throughput, case by case.

use linerate_method::search::classify::Verdict::{self, Lower, Undecided, Upper};
use linerate_method::search::classify::{Rule, Trial};

/// `count` trials of `duration_s` seconds at `loss_ratio`.
fn trials(parts: &[(usize, f64, f64)]) -> Vec<Trial> {
    let trial = |&(count, duration_s, loss_ratio): &(usize, f64, f64)| {
        let trial = Trial {
            duration_s,
            effective_duration_s: duration_s,
            loss_ratio,
            under_run: false,
        };
        vec![trial; count]
    };
    parts.iter().flat_map(trial).collect()
}

/// A goal as (full trial s, duration sum s, loss ratio, exceed ratio).
type Numbers = (f64, f64, f64, f64);

fn rule((full_trial_s, duration_sum_s, loss_ratio, exceed_ratio): Numbers) -> Rule {
    Rule {
        loss_ratio,
        exceed_ratio,
        full_trial_s,
        duration_sum_s,
    }
}

const RFC: Numbers = (60.0, 60.0, 0.0, 0.0);
const TST: Numbers = (60.0, 120.0, 0.0, 0.5);
const NDR: Numbers = (1.0, 21.0, 0.0, 0.5);
const PDR: Numbers = (1.0, 21.0, 0.005, 0.5);
const LOOSE: Numbers = (1.0, 120.0, 0.005, 0.5);
const FIFTH: Numbers = (60.0, 60.0, 0.005, 0.2);

#[test]
fn single_loads() {
    type Parts = &'static [(usize, f64, f64)];
    let table: [(Parts, Numbers, Verdict); 16] = [
        (&[], RFC, Undecided),
        (&[(1, 60.0, 0.0)], RFC, Lower),
        (&[(1, 60.0, 1e-9)], RFC, Upper),
        (&[(1, 60.0, 0.1)], TST, Undecided),
        (&[(2, 60.0, 0.1)], TST, Upper),
        (&[(10, 1.0, 0.0)], NDR, Undecided),
        (&[(11, 1.0, 0.0)], NDR, Lower),
        (&[(10, 1.0, 0.0), (10, 1.0, 0.1)], NDR, Undecided),
        (&[(10, 1.0, 0.0), (11, 1.0, 0.1)], NDR, Upper),
        (&[(11, 1.0, 0.005)], PDR, Lower),
        (&[(1, 120.0, 0.0)], TST, Lower),
        (&[(1000, 1.0, 0.0)], RFC, Undecided),
        (&[(1, 1.0, 0.5)], RFC, Upper),
        (&[(30, 1.0, 0.5)], TST, Undecided),
        (&[(60, 1.0, 0.5)], TST, Undecided),
        (&[(61, 1.0, 0.5)], TST, Upper),
    ];
    for (parts, goal, verdict) in table {
        assert_eq!(
            rule(goal).classify(&trials(parts)),
            verdict,
            "{parts:?} {goal:?}"
        );
    }
}

/// The worked example of RFC 9971, with points 5 and 6 of the last goal as its own code has them.
#[test]
fn the_worked_example() {
    let parts = [
        (59, 1.0, 0.0),
        (1, 1.0, 0.01),
        (59, 1.0, 0.01),
        (1, 1.0, 0.0),
        (1, 60.0, 0.001),
        (1, 60.0, 0.0),
    ];
    let table = [
        (RFC, [Undecided, Upper, Upper, Upper, Upper, Upper]),
        (
            TST,
            [Undecided, Undecided, Undecided, Undecided, Undecided, Lower],
        ),
        (
            LOOSE,
            [Undecided, Undecided, Undecided, Lower, Lower, Lower],
        ),
        (FIFTH, [Undecided, Undecided, Upper, Upper, Upper, Upper]),
    ];
    for (goal, verdicts) in table {
        for (point, verdict) in verdicts.into_iter().enumerate() {
            let so_far = trials(&parts[..=point]);
            assert_eq!(
                rule(goal).classify(&so_far),
                verdict,
                "{goal:?} point {}",
                point + 1
            );
        }
    }
    let at_the_end = trials(&parts);
    for (goal, ratio) in [(TST, 0.0), (LOOSE, 0.0), (FIFTH, 0.001)] {
        assert_eq!(
            rule(goal).conditional_loss_ratio(&at_the_end),
            ratio,
            "{goal:?}"
        );
    }
}

#[test]
fn the_quantile_is_taken_over_the_duration_sum() {
    let parts = [(6, 1.0, 0.0), (3, 1.0, 0.001), (2, 1.0, 0.004)];
    assert_eq!(rule(PDR).conditional_loss_ratio(&trials(&parts)), 0.004);
}

#[test]
fn an_under_run_is_bad_however_little_is_missing() {
    let mut eleven = trials(&[(11, 1.0, 0.0)]);
    assert_eq!(rule(PDR).classify(&eleven), Lower);
    eleven[0].under_run = true;
    assert_eq!(rule(PDR).classify(&eleven), Undecided);
    eleven.iter_mut().for_each(|trial| trial.under_run = true);
    assert_eq!(rule(PDR).classify(&eleven), Upper);
}

/// Five trials of a fifth each are the whole, whatever their sum is in binary.
#[test]
fn rounding_leaves_nothing_missing() {
    let fifth_s = 14.048_454_878_556_064;
    let whole = rule((fifth_s, 70.242_274_392_780_32, 0.05, 0.0));
    let five = trials(&[(5, fifth_s, 0.048)]);
    assert_eq!(whole.classify(&five), Lower);
    assert_eq!(whole.conditional_loss_ratio(&five), 0.048);
}
