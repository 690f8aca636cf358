// SPDX-License-Identifier: MIT OR Apache-2.0
//! What any search must keep, whatever the device does.

use linerate_method::search::classify::{Trial, Verdict};
use linerate_method::search::{Bounds, Controller, Ended, Goal, Measurement, Regularity, Step};
use linerate_method::simulated::{Device, Simulated};
use proptest::prelude::*;

use crate::log::{self, Entry, Log};

fn loads() -> impl Strategy<Value = (f64, f64)> {
    (10.0..1e4_f64, 2.0..1e4_f64).prop_map(|(min, times)| (min, min * times))
}

/// A load between the limits, evenly by logarithm.
fn inside((min, max): (f64, f64), share: f64) -> f64 {
    min * (max / min).powf(share)
}

fn goal() -> impl Strategy<Value = Goal> {
    let ratios = (
        prop_oneof![Just(0.0), 0.0..0.05_f64],
        prop_oneof![Just(0.0), Just(0.5), 0.0..0.9_f64],
    );
    let seconds = (0.5..2.0_f64, 1.0..20.0_f64, 1.0..5.0_f64);
    (ratios, seconds, 0.002..0.1_f64, 0..4_u32, 2..4_u32).prop_map(
        |(
            (loss_ratio, exceed_ratio),
            (initial_trial_s, final_times, sum_times),
            width,
            preceding_targets,
            expansion,
        )| Goal {
            loss_ratio,
            exceed_ratio,
            width,
            initial_trial_s,
            final_trial_s: initial_trial_s * final_times,
            duration_sum_s: initial_trial_s * final_times * sum_times,
            preceding_targets,
            expansion,
            fail_fast: false,
        },
    )
}

fn device(capacity_fps: f64) -> impl Strategy<Value = Device> {
    let frames = 0..1000_u64;
    prop_oneof![
        Just(Device::Hard { capacity_fps }),
        frames.clone().prop_map(move |frames| Device::Buffered {
            capacity_fps,
            frames
        }),
        (0.0..0.05_f64).prop_map(move |loss_ratio| Device::Floor {
            capacity_fps,
            loss_ratio
        }),
        (0.0..1.0_f64, frames.clone()).prop_map(move |(probability, frames)| Device::Noisy {
            capacity_fps,
            probability,
            frames
        }),
        (0.5..1.0_f64).prop_map(move |share| Device::Jittery {
            lowest_fps: share * capacity_fps,
            highest_fps: capacity_fps
        }),
        (1..5_u32, frames).prop_map(move |(nth, frames)| Device::EveryNth {
            capacity_fps,
            nth,
            frames
        }),
    ]
}

#[derive(Debug, Clone)]
struct Case {
    loads: (f64, f64),
    goals: Vec<Goal>,
    device: Device,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let goals = prop::collection::vec(goal(), 1..4);
    (loads(), goals, -0.2..1.2_f64, any::<u64>()).prop_flat_map(|(loads, goals, share, seed)| {
        device(inside(loads, share)).prop_map(move |device| Case {
            loads,
            goals: goals.clone(),
            device,
            seed,
        })
    })
}

fn run(case: &Case) -> Log {
    log::search(&case.goals, case.loads, case.device, case.seed)
}

fn trials_at(entries: &[Entry], load_fps: f64) -> Vec<Trial> {
    let at = entries.iter().filter(|entry| entry.load_fps == load_fps);
    at.map(|entry| Trial {
        duration_s: entry.duration_s,
        effective_duration_s: entry.duration_s,
        loss_ratio: entry.measured.loss_ratio(),
        under_run: entry.measured.is_under_run(),
    })
    .collect()
}

fn is_as_close(bounds: &Bounds, goal: &Goal) -> bool {
    let (Some(lower), Some(upper)) = (bounds.lower_fps, bounds.upper_fps) else {
        return false;
    };
    lower < upper && (upper - lower) / upper <= goal.width
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// P1. Frames are whole, so a load above the knee by less than one frame a trial loses none.
    #[test]
    fn a_sharp_knee_is_between_the_bounds(loads in loads(), share in 0.05..0.95_f64, goal in goal()) {
        let knee = inside(loads, share);
        let goal = Goal { loss_ratio: 0.0, ..goal };
        let log = log::search(&[goal], loads, Device::Hard { capacity_fps: knee }, 0);
        let found = log.results[0];
        let whole_frame = 1.0 / goal.final_trial_s;
        match found.regularity {
            Regularity::Regular => {
                prop_assert!(found.lower_fps.unwrap() < knee + whole_frame, "{found:?}");
                prop_assert!(knee < found.upper_fps.unwrap(), "{found:?}");
                prop_assert!(is_as_close(&found, &goal), "{found:?}");
            }
            Regularity::AtMaximum => prop_assert!(loads.1 < knee + whole_frame),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// P2, P3, P9, and that every search ends with every goal reached or at a limit.
    #[test]
    fn bounds_are_measured_classified_and_in_order(case in case()) {
        let log = run(&case);
        prop_assert_eq!(log.ended, Some(Ended::Reached));
        for entry in &log.entries {
            prop_assert!(case.loads.0 <= entry.load_fps && entry.load_fps <= case.loads.1);
        }
        for (found, goal) in log.results.iter().zip(&case.goals) {
            let verdict = |load: f64| goal.rule().classify(&trials_at(&log.entries, load));
            if let Some(lower) = found.lower_fps {
                prop_assert_eq!(verdict(lower), Verdict::Lower);
                let conditional = found.conditional_throughput_fps.unwrap();
                prop_assert!(conditional <= lower && conditional >= lower * (1.0 - goal.loss_ratio) * (1.0 - 1e-12));
            }
            if let Some(upper) = found.upper_fps {
                prop_assert_eq!(verdict(upper), Verdict::Upper);
            }
            match found.regularity {
                Regularity::Regular => prop_assert!(is_as_close(found, goal), "{found:?}"),
                Regularity::AtMaximum => prop_assert_eq!(found.lower_fps, Some(case.loads.1)),
                Regularity::BelowMinimum => prop_assert_eq!(found.upper_fps, Some(case.loads.0)),
                Regularity::Unfinished => prop_assert!(false, "{found:?}"),
            }
        }
    }

    /// P3: no load in between is an upper bound below the upper one, nor a lower one above the lower.
    #[test]
    fn bounds_are_the_relevant_ones(case in case()) {
        let log = run(&case);
        for (found, goal) in log.results.iter().zip(&case.goals) {
            for entry in &log.entries {
                let verdict = goal.rule().classify(&trials_at(&log.entries, entry.load_fps));
                let below_upper = found.upper_fps.is_none_or(|upper| entry.load_fps < upper);
                prop_assert!(verdict != Verdict::Upper || !below_upper);
                let above_lower = found.lower_fps.is_none_or(|lower| entry.load_fps > lower);
                prop_assert!(verdict != Verdict::Lower || !above_lower || !below_upper);
            }
        }
    }

    /// P4
    #[test]
    fn a_device_that_does_the_maximum_is_tried_there_only(loads in loads(), goals in prop::collection::vec(goal(), 1..4)) {
        let log = log::search(&goals, loads, Device::Hard { capacity_fps: loads.1 * 2.0 }, 0);
        prop_assert!(log.entries.iter().all(|entry| entry.load_fps == loads.1));
        prop_assert!(log.results.iter().all(|found| found.regularity == Regularity::AtMaximum));
        prop_assert!(log.results.iter().all(|found| found.lower_fps == Some(loads.1)));
    }

    /// P5
    #[test]
    fn the_same_seed_gives_the_same_log(case in case()) {
        prop_assert_eq!(run(&case), run(&case));
    }

    /// P6. The limit is kept, waits included, and what was found until then stays found.
    #[test]
    fn the_time_limit_is_kept(case in case(), limit_s in 0.0..300.0_f64, wait_s in 0.0..3.0_f64) {
        let controller = Controller::new(&case.goals, case.loads.0, case.loads.1).unwrap();
        let mut search = controller.with_time_limit(limit_s);
        let mut device = Simulated::new(case.device, case.seed);
        let mut elapsed_s = 0.0;
        while let Step::Measure { load_fps, duration_s } = search.next() {
            elapsed_s += duration_s + wait_s;
            let measured = device.offer(load_fps, duration_s);
            search.report(Measurement { elapsed_s: Some(duration_s + wait_s), ..measured });
        }
        let allowed_s = if search.trials() == 1 { limit_s + wait_s } else { limit_s };
        prop_assert!(elapsed_s <= allowed_s + 1e-6);
        match search.ended() {
            Some(Ended::TimeLimit) => {}
            Some(Ended::Reached) => prop_assert_eq!(search.results(), run(&case).results),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// P7. A tester that cannot send faster than its ceiling never finds a lower bound above it.
    #[test]
    fn an_under_run_makes_no_lower_bound(case in case(), share in 0.0..1.0_f64) {
        let ceiling_fps = inside(case.loads, share);
        let mut search = Controller::new(&case.goals, case.loads.0, case.loads.1).unwrap();
        let mut device = Simulated::new(case.device, case.seed);
        while let Step::Measure { load_fps, duration_s } = search.next() {
            let measured = device.offer(load_fps.min(ceiling_fps), duration_s);
            let intended_frames = (load_fps * duration_s) as u64;
            search.report(Measurement { intended_frames, ..measured });
        }
        let whole_frame = |goal: &Goal| 1.0 / goal.final_trial_s;
        for (found, goal) in search.results().iter().zip(&case.goals) {
            let lower = found.lower_fps.unwrap_or(0.0);
            prop_assert!(lower < ceiling_fps + whole_frame(goal), "{found:?}, ceiling {ceiling_fps}");
        }
    }

    /// P8. The same width makes the same lattice; on it a steady device has one answer.
    #[test]
    fn two_goals_at_once_find_what_each_finds_alone(loads in loads(), share in 0.1..0.9_f64, exceed in prop_oneof![Just(0.0), Just(0.5)]) {
        let device = Device::Hard { capacity_fps: inside(loads, share) };
        let goals = [Goal::ndr(), Goal::pdr()].map(|goal| Goal { exceed_ratio: exceed, ..goal });
        let together = log::search(&goals, loads, device, 0);
        for (goal, found) in goals.iter().zip(&together.results) {
            let alone = log::search(&[*goal], loads, device, 0);
            prop_assert_eq!(&alone.results[0], found);
        }
    }

    /// No answer whatever makes the search hang, panic or leave its loads.
    #[test]
    fn arbitrary_answers_end_the_search(loads in loads(), goal in goal(), seed in any::<u64>()) {
        let mut rng = linerate_method::rng::Rng::new(seed);
        let mut search = Controller::new(&[goal], loads.0, loads.1).unwrap();
        while let Step::Measure { load_fps, duration_s } = search.next() {
            prop_assert_eq!(search.next(), Step::Measure { load_fps, duration_s });
            prop_assert!(search.trials() < 100_000);
            let intended_frames = rng.below(1000);
            let offered_frames = if rng.chance(0.1) { rng.below(1000) } else { intended_frames };
            search.report(Measurement {
                intended_frames,
                offered_frames,
                lost_frames: rng.below(1000) * rng.below(2),
                effective_duration_s: Some(rng.unit() * 2.0 * duration_s),
                elapsed_s: None,
            });
        }
        prop_assert_eq!(search.ended(), Some(Ended::Reached));
    }
}

#[test]
fn an_upper_bound_of_the_tester_is_not_one_of_the_device() {
    let mut search = Controller::new(&[Goal::ndr()], 1e4, 1_488_095.0).unwrap();
    while let Step::Measure {
        load_fps,
        duration_s,
    } = search.next()
    {
        let intended_frames = (load_fps * duration_s) as u64;
        search.report(Measurement {
            offered_frames: intended_frames.min(700_000),
            ..Measurement::new(intended_frames, 0)
        });
    }
    let found = search.results()[0];
    assert!(found.lower_fps.unwrap() <= 700_001.0 && found.upper_fps.unwrap() > 700_000.0);
    assert!(found.upper_by_tester);
    let device = log::search(
        &[Goal::ndr()],
        (1e4, 1_488_095.0),
        Device::Hard { capacity_fps: 7e5 },
        0,
    );
    let found = device.results[0];
    assert!(!found.upper_by_tester);
}

/// A device of 900 kpps, and a tester that spoils every trial above 500 kpps: one trial a load is enough.
#[test]
fn a_load_that_the_tester_cannot_offer_ends_every_goal_there_at_once() {
    let mut search = Controller::new(&[Goal::ndr(), Goal::pdr()], 1e4, 1_488_095.0).unwrap();
    let mut refused = Vec::new();
    while let Step::Measure {
        load_fps,
        duration_s,
    } = search.next()
    {
        let intended_frames = (load_fps * duration_s) as u64;
        if load_fps > 5e5 {
            refused.push(load_fps);
            search.report_unoffered(Measurement::new(intended_frames, intended_frames / 3));
        } else {
            search.report(Measurement::new(intended_frames, 0));
        }
    }
    for found in search.results() {
        assert!(found.lower_fps.unwrap() <= 5e5 && found.upper_fps.unwrap() > 5e5);
        assert!(found.upper_by_tester);
        assert_eq!(found.regularity, Regularity::Regular);
    }
    let tried = refused.len();
    refused.dedup_by(|one, other| (*one - *other).abs() < 1.0);
    assert_eq!(refused.len(), tried, "no load twice");
}

#[test]
fn extreme_goals_end_as_well() {
    let goal = Goal {
        preceding_targets: 7,
        expansion: u32::MAX,
        width: 0.9,
        ..Goal::ndr()
    };
    let device = Device::Hard { capacity_fps: 5e5 };
    let log = log::search(&[goal, Goal::pdr()], (1e4, 1_488_095.0), device, 0);
    assert_eq!(log.ended, Some(Ended::Reached));
    assert!(is_as_close(&log.results[0], &goal));
}

fn refused(goal: Goal, [min, max]: [f64; 2]) -> Option<String> {
    let search = Controller::new(&[goal], min, max);
    search.err().map(|error| error.to_string())
}

#[test]
fn goals_that_make_no_sense_are_refused() {
    type Spoil = fn(&mut Goal);
    let table: [(Spoil, &str); 6] = [
        (
            |goal| goal.loss_ratio = 1.0,
            "loss ratio 1 must be at least 0 and below 1",
        ),
        (
            |goal| goal.exceed_ratio = -0.1,
            "exceed ratio -0.1 must be at least 0 and below 1",
        ),
        (
            |goal| goal.width = 0.0,
            "width 0 must be above 0 and below 1",
        ),
        (|goal| goal.expansion = 1, "expansion 1 must be at least 2"),
        (
            |goal| goal.preceding_targets = 8,
            "8 preceding targets are too many: at most 7",
        ),
        (
            |goal| goal.initial_trial_s = 2.0,
            "durations must be 0 < initial (2 s) <= final (1 s) <= sum (21 s)",
        ),
    ];
    for (spoil, expected) in table {
        let mut goal = Goal::ndr();
        spoil(&mut goal);
        assert_eq!(refused(goal, [1.0, 2.0]).as_deref(), Some(expected));
    }
    assert!(Controller::new(&[], 1.0, 2.0).is_err());
}

#[test]
fn loads_that_make_no_sense_are_refused() {
    assert_eq!(
        refused(Goal::ndr(), [2.0, 2.0]).as_deref(),
        Some("loads must be 0 < minimum (2 frames/s) < maximum (2 frames/s)")
    );
    assert_eq!(
        refused(Goal::ndr(), [0.5, 2.0]).as_deref(),
        Some("0.5 frames/s for 1 s is less than one frame: raise the minimum load")
    );
}
