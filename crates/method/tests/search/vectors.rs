// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole searches whose course is known from the reference implementation (PyPI MLRsearch 1.2.1).

use linerate_method::search::{Ended, Goal, Regularity};
use linerate_method::simulated::Device;

use crate::log::{self, Log};

const WIDE: (f64, f64) = (1e4, 14_880_952.0);
const GIGABIT: (f64, f64) = (1e3, 1_488_095.0);
const NARROW: (f64, f64) = (1e4, 1_488_095.0);
const MILLION: Device = Device::Hard { capacity_fps: 1e6 };
const NOISY: Device = Device::Noisy {
    capacity_fps: 1e6,
    probability: 0.25,
    frames: 10,
};
const JITTERY: Device = Device::Jittery {
    lowest_fps: 0.9e6,
    highest_fps: 1e6,
};

const NDR: [f64; 2] = [999_443.6617623428, 1_004_463.9016437301];
const PDR: [f64; 2] = [1_004_463.9016437301, 1_009_509.3583626752];

fn csit() -> [Goal; 2] {
    [Goal::ndr(), Goal::pdr()]
}

fn rfc_60() -> Goal {
    Goal {
        initial_trial_s: 60.0,
        preceding_targets: 0,
        ..Goal::rfc2544()
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 1e-9
}

/// Trials, seconds, and for each goal both bounds and the conditional throughput.
fn assert_log(
    log: &Log,
    trials: usize,
    traffic_s: f64,
    goals: &[(Option<f64>, Option<f64>, Option<f64>)],
) {
    assert_eq!(log.entries.len(), trials, "{log:#?}");
    assert!(
        (log.traffic_s() - traffic_s).abs() < 1e-4,
        "{}",
        log.traffic_s()
    );
    let found = log.results.iter();
    let found = found.map(|b| (b.lower_fps, b.upper_fps, b.conditional_throughput_fps));
    for (found, expected) in found.zip(goals) {
        for (found, expected) in [
            (found.0, expected.0),
            (found.1, expected.1),
            (found.2, expected.2),
        ] {
            let equal = match (found, expected) {
                (Some(found), Some(expected)) => is_close(found, expected),
                (found, expected) => found == expected,
            };
            assert!(equal, "{found:?} is not {expected:?}: {:#?}", log.results);
        }
    }
    assert_eq!(log.results.len(), goals.len());
}

fn regular([lower, upper]: [f64; 2]) -> (Option<f64>, Option<f64>, Option<f64>) {
    (Some(lower), Some(upper), Some(lower))
}

fn with_conditional(
    [lower, upper]: [f64; 2],
    conditional: f64,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    (Some(lower), Some(upper), Some(conditional))
}

/// (duration s, load, lost) of each trial.
fn assert_trials(log: &Log, expected: &[(f64, f64, u64)]) {
    assert_eq!(log.entries.len(), expected.len());
    for (entry, &(duration_s, load_fps, lost)) in log.entries.iter().zip(expected) {
        assert!((entry.duration_s - duration_s).abs() < 1e-8, "{entry:?}");
        assert!((entry.load_fps - load_fps).abs() < 1e-5, "{entry:?}");
        assert_eq!(entry.measured.lost_frames, lost, "{entry:?}");
    }
}

#[test]
fn v1_rfc_2544_with_short_trials_first() {
    let log = log::search(&[Goal::rfc2544()], WIDE, MILLION, 0);
    assert_log(&log, 7, 138.491933, &[regular(NDR)]);
    let short = 7.745966692414834;
    assert_trials(
        &log,
        &[
            (1.0, 14_880_952.0, 13_880_952),
            (1.0, 999_443.661762, 0),
            (1.0, 1_019_676.429610, 19_676),
            (short, 1_009_509.358363, 73_659),
            (short, 999_443.661762, 0),
            (60.0, 1_004_463.901644, 267_834),
            (60.0, 999_443.661762, 0),
        ],
    );
}

#[test]
fn v2_rfc_2544_with_full_trials_only() {
    let log = log::search(&[rfc_60()], WIDE, MILLION, 0);
    assert_log(&log, 3, 180.0, &[regular(NDR)]);
    assert_trials(
        &log,
        &[
            (60.0, 14_880_952.0, 832_857_120),
            (60.0, 999_443.661762, 0),
            (60.0, 1_004_463.901644, 267_834),
        ],
    );
}

#[test]
fn v3_ndr_and_pdr_together() {
    let log = log::search(&csit(), WIDE, MILLION, 0);
    assert_log(
        &log,
        35,
        35.0,
        &[regular(NDR), with_conditional(PDR, 1_000_000.8976375735)],
    );
    let [a, b, c, d] = [
        999_443.661762,
        1_004_463.901644,
        1_009_509.358363,
        1_019_676.429610,
    ];
    let mut expected = vec![
        (1.0, 14_880_952.0, 13_880_952),
        (1.0, a, 0),
        (1.0, d, 19_676),
    ];
    for (load, lost, times) in [
        (c, 9_509, 3),
        (a, 0, 2),
        (b, 4_463, 11),
        (a, 0, 8),
        (c, 9_509, 8),
    ] {
        expected.extend(std::iter::repeat_n((1.0, load, lost), times));
    }
    assert_trials(&log, &expected);
}

#[test]
fn v4_the_example_of_the_reference() {
    let strict = csit().map(|goal| Goal {
        exceed_ratio: 0.005,
        ..goal
    });
    let log = log::search(&strict, (1e3, 1e9), MILLION, 0);
    let ndr = [997_497.6029392382, 1_002_508.6747611101];
    let pdr = [1_002_508.6747611101, 1_007_544.9204187182];
    assert_log(
        &log,
        45,
        45.0,
        &[regular(ndr), with_conditional(pdr, 1_000_000.6730730429)],
    );
}

#[test]
fn v5_a_buffer_makes_short_trials_optimistic() {
    let device = Device::Buffered {
        capacity_fps: 812_743.0,
        frames: 20_000,
    };
    let log = log::search(&[Goal::rfc2544()], GIGABIT, device, 0);
    assert_log(
        &log,
        10,
        109.4758,
        &[regular([811_582.6929566205, 815_659.3006564418])],
    );
    let short = 7.745966692414834;
    assert_trials(
        &log,
        &[
            (1.0, 1_488_095.0, 655_352),
            (1.0, 832_171.532008, 0),
            (1.0, 849_018.037467, 16_275),
            (short, 840_552.580712, 195_412),
            (short, 832_171.532008, 130_492),
            (short, 815_659.300656, 2_589),
            (short, 783_611.260760, 0),
            (short, 799_474.710631, 0),
            (short, 807_526.459855, 0),
            (60.0, 811_582.692957, 0),
        ],
    );
}

#[test]
fn v6_a_device_that_always_loses_a_little_has_a_pdr_only() {
    let device = Device::Floor {
        capacity_fps: 1e6,
        loss_ratio: 0.001,
    };
    let log = log::search(&csit(), WIDE, device, 0);
    let none = (None, Some(1e4), None);
    assert_log(
        &log,
        51,
        51.0,
        &[none, with_conditional(PDR, 1_000_000.8976375735)],
    );
    assert_eq!(log.results[0].regularity, Regularity::BelowMinimum);
    assert_eq!(log.results[1].regularity, Regularity::Regular);
}

#[test]
fn v7_the_maximum_load_is_not_enough() {
    let log = log::search(&csit(), NARROW, Device::Hard { capacity_fps: 1e9 }, 0);
    let all = (Some(1_488_095.0), None, Some(1_488_095.0));
    assert_log(&log, 11, 11.0, &[all, all]);
    assert!(
        log.results
            .iter()
            .all(|b| b.regularity == Regularity::AtMaximum)
    );
}

#[test]
fn v8_noise_does_not_disturb_goals_that_forgive() {
    let log = log::search(&csit(), WIDE, NOISY, 1);
    assert_log(
        &log,
        40,
        40.0,
        &[regular(NDR), with_conditional(PDR, 1_000_000.8976375735)],
    );
}

#[test]
fn v9_noise_ruins_a_goal_that_does_not_forgive() {
    let strict = Goal {
        exceed_ratio: 0.0,
        fail_fast: true,
        ..Goal::ndr()
    };
    let log = log::search(&[strict], WIDE, NOISY, 1);
    assert_log(&log, 56, 56.0, &[(None, Some(1e4), None)]);
    assert_eq!(log.ended, Some(Ended::BelowMinimum));
}

#[test]
fn v10_a_capacity_that_changes() {
    let log = log::search(&csit(), WIDE, JITTERY, 7);
    let both = regular([941_122.445147916, 945_849.7355527288]);
    assert_log(&log, 74, 74.0, &[both, both]);
}

#[test]
fn v11_two_goals_of_one_device_differ() {
    let log = log::search(&[Goal::rfc2544(), Goal::tst009()], WIDE, JITTERY, 7);
    let rfc = regular([927_081.8621743075, 931_738.6262480236]);
    let tst = regular([979_612.3594023965, 984_532.9859700811]);
    assert_log(&log, 19, 854.954451, &[rfc, tst]);
}

#[test]
fn v12_a_loss_that_is_not_confirmed() {
    let device = Device::EveryNth {
        capacity_fps: 1e6,
        nth: 3,
        frames: 5,
    };
    let log = log::search(&[Goal::tst009()], WIDE, device, 0);
    assert_log(&log, 8, 204.908902, &[regular(NDR)]);
    let short = 10.954451150103322;
    assert_trials(
        &log,
        &[
            (1.0, 14_880_952.0, 13_880_952),
            (1.0, 999_443.661762, 0),
            (1.0, 1_019_676.429610, 19_676),
            (short, 1_009_509.358363, 104_169),
            (short, 999_443.661762, 0),
            (60.0, 1_004_463.901644, 267_834),
            (60.0, 1_004_463.901644, 267_834),
            (60.0, 999_443.661762, 0),
        ],
    );
}

#[test]
fn v13_v14_slower_than_the_minimum_load() {
    for (fail_fast, ended) in [(true, Ended::BelowMinimum), (false, Ended::Reached)] {
        let goal = Goal {
            fail_fast,
            ..Goal::ndr()
        };
        let log = log::search(&[goal], NARROW, Device::Hard { capacity_fps: 5e3 }, 0);
        assert_log(&log, 12, 12.0, &[(None, Some(1e4), None)]);
        assert_eq!(log.ended, Some(ended));
        assert_eq!(log.results[0].regularity, Regularity::BelowMinimum);
    }
}
