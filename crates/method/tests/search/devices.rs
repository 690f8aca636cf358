// SPDX-License-Identifier: MIT OR Apache-2.0
//! The devices of `devices.toml`, searched with every set of goals: the table of trials and seconds
//! is a snapshot, so that a change of the search shows what it costs.

use std::fmt::Write as _;

use linerate_method::profile::Profile;
use linerate_method::search::{
    Bounds, Circumstances, Controller, Goal, Regularity, Step, estimate,
};
use linerate_method::simulated::{Device, Simulated};

use crate::log::{self, Log};
use crate::scenario::{LOADS, Scenario, scenarios};

fn goal_sets() -> [(&'static str, Vec<Goal>); 6] {
    [
        ("ndr+pdr", vec![Goal::ndr(), Goal::pdr()]),
        ("rfc2544", vec![Goal::rfc2544()]),
        ("tst009", vec![Goal::tst009()]),
        ("strict", Profile::STRICT.goals()),
        ("lab", Profile::LAB.goals()),
        ("quick", Profile::QUICK.goals()),
    ]
}

fn row(scenario: &Scenario, goals: &str, log: &Log) -> String {
    let bounds: Vec<String> = log.results.iter().map(shown).collect();
    format!(
        "{:<22} {goals:<8} {:>6} {:>8.1}  {}",
        scenario.name,
        log.entries.len(),
        log.traffic_s(),
        bounds.join("  ")
    )
}

fn shown(bounds: &Bounds) -> String {
    let fps = |fps: Option<f64>| fps.map_or("-".to_owned(), |fps| format!("{fps:.0}"));
    let mark = match bounds.regularity {
        Regularity::Regular => "",
        Regularity::AtMaximum => " max",
        Regularity::BelowMinimum => " min",
        Regularity::Unfinished => " ?",
    };
    format!(
        "{}..{} ({}){mark}",
        fps(bounds.lower_fps),
        fps(bounds.upper_fps),
        fps(bounds.conditional_throughput_fps)
    )
}

#[test]
fn trials_and_seconds_of_every_device() {
    let mut table = String::from(
        "device                 goals    trials  seconds  lower..upper (conditional) of each goal\n",
    );
    for scenario in scenarios() {
        for (name, goals) in goal_sets() {
            let log = log::search(&goals, LOADS, scenario.device, scenario.seed);
            let _ = writeln!(table, "{}", row(&scenario, name, &log));
        }
    }
    let expected = include_str!("devices.txt");
    assert!(
        table == expected,
        "devices.txt has changed; it should be:\n{table}"
    );
}

/// A profile's estimate, made before the start, with its waits.
#[test]
fn the_estimate_holds_for_every_device() {
    for profile in [Profile::STRICT, Profile::LAB, Profile::QUICK] {
        let (goals, per_trial_s) = (profile.goals(), profile.waits.per_trial_s());
        let estimate = estimate(&goals, LOADS.0, LOADS.1, sharp(per_trial_s)).unwrap();
        for scenario in scenarios() {
            let log = log::search(&goals, LOADS, scenario.device, scenario.seed);
            let took_s = log.traffic_s() + log.entries.len() as f64 * per_trial_s;
            let what = format!(
                "{} {}: {took_s} s, {estimate:?}",
                profile.name, scenario.name
            );
            assert!(
                took_s >= estimate.least_s && took_s <= estimate.most_s * 1.3,
                "{what}"
            );
            if is_typical(&scenario, &log) {
                assert!(
                    (took_s - estimate.typical_s).abs() <= 0.3 * took_s,
                    "{what}"
                );
            }
        }
    }
}

fn sharp(per_trial_s: f64) -> Circumstances {
    Circumstances {
        per_trial_s,
        spread: 0.0,
    }
}

/// The sizes of a whole run, on devices whose limit varies by as much as was seen: one search may
/// take twice as long as another, a run is estimated.
#[test]
fn the_estimate_of_an_unsteady_device_holds_for_a_run() {
    const SIZES: u64 = 7;
    const RUNS: u64 = 10;
    for profile in [Profile::LAB, Profile::QUICK] {
        let (goals, per_trial_s) = (profile.goals(), profile.waits.per_trial_s());
        for spread in [0.01, 0.03, 0.1] {
            let known = Circumstances {
                per_trial_s,
                spread,
            };
            let estimated_s =
                SIZES as f64 * estimate(&goals, LOADS.0, LOADS.1, known).unwrap().typical_s;
            let device = Device::Jittery {
                lowest_fps: 7e5 * (1.0 - spread),
                highest_fps: 7e5,
            };
            let took_s = (0..SIZES * RUNS).map(|seed| {
                let log = log::search(&goals, LOADS, device, 1000 + seed);
                log.traffic_s() + log.entries.len() as f64 * per_trial_s
            });
            let took_s = took_s.sum::<f64>() / RUNS as f64;
            let what = format!(
                "{} {spread}: {took_s} s, estimated {estimated_s} s",
                profile.name
            );
            assert!((took_s - estimated_s).abs() <= 0.3 * took_s, "{what}");
            println!("{what}");
        }
    }
}

/// A rate to find that is the same in every trial, long or short.
fn is_typical(scenario: &Scenario, log: &Log) -> bool {
    let is_steady = match scenario.device {
        Device::Jittery { .. } | Device::Floor { .. } => false,
        Device::Buffered { frames, .. } => frames <= 1_000,
        _ => true,
    };
    let is_regular = |bounds: &Bounds| bounds.regularity == Regularity::Regular;
    is_steady && log.results.iter().all(is_regular)
}

/// The remaining time before each trial: right for a steady device, and 0 at the end for any.
#[test]
fn the_rest_is_estimated() {
    let (goals, per_trial_s) = (Profile::LAB.goals(), Profile::LAB.waits.per_trial_s());
    for scenario in scenarios() {
        let log = log::search(&goals, LOADS, scenario.device, scenario.seed);
        let took_s = log.traffic_s() + log.entries.len() as f64 * per_trial_s;
        let mut search = Controller::new(&goals, LOADS.0, LOADS.1).unwrap();
        for entry in &log.entries {
            let past_s = search.traffic_s() + f64::from(search.trials()) * per_trial_s;
            let estimated_s = past_s + search.left_s(sharp(per_trial_s));
            let is_right = (estimated_s - took_s).abs() <= 0.3 * took_s;
            let what = &scenario.name;
            assert!(
                is_right || !is_typical(&scenario, &log),
                "{what}: {estimated_s}, {took_s}"
            );
            assert_ne!(search.next(), Step::Done);
            search.report(entry.measured);
        }
        assert!(
            search.left_s(sharp(per_trial_s)).abs() < 1e-9,
            "{}",
            scenario.name
        );
    }
}

/// Bisects by load with full-length trials until the bounds are as close; a lossy trial is repeated
/// once where the goal forgives one in two. Returns seconds of traffic.
fn bisection_s(goal: &Goal, scenario: &Scenario) -> f64 {
    let mut device = Simulated::new(scenario.device, scenario.seed);
    let mut traffic_s = 0.0;
    let mut fails = |load_fps: f64| {
        let tries = if goal.exceed_ratio > 0.0 { 2 } else { 1 };
        (0..tries).all(|_| {
            traffic_s += goal.final_trial_s;
            device.offer(load_fps, goal.final_trial_s).loss_ratio() > goal.loss_ratio
        })
    };
    let (mut lower, mut upper) = LOADS;
    if fails(upper) {
        while (upper - lower) / upper > goal.width {
            let middle = f64::midpoint(lower, upper);
            *(if fails(middle) {
                &mut upper
            } else {
                &mut lower
            }) = middle;
        }
    }
    traffic_s
}

/// At equal precision a quarter of the traffic, over all devices with a rate to find, with both
/// ways of deciding.
#[test]
fn a_quarter_of_the_traffic_of_bisection() {
    for goal in [Goal::rfc2544(), Goal::tst009()] {
        let (mut search_s, mut bisection_total_s) = (0.0, 0.0);
        for scenario in scenarios() {
            let log = log::search(&[goal], LOADS, scenario.device, scenario.seed);
            println!(
                "{} {} {}",
                scenario.name,
                log.traffic_s(),
                bisection_s(&goal, &scenario)
            );
            if log.results[0].regularity == Regularity::Regular {
                search_s += log.traffic_s();
                bisection_total_s += bisection_s(&goal, &scenario);
            }
        }
        assert!(
            search_s <= bisection_total_s / 4.0,
            "{search_s} s, {bisection_total_s} s"
        );
    }
}
