// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches as they ran in the lab of a machine with two processors, by their `--json-stream` and a clock.

use std::time::Duration;

use linerate_method::profile::Profile;
use linerate_method::search::{Circumstances, Measurement};

use super::*;

/// One search with the goals of `--quick`.
struct Recorded {
    /// The share by which the unpaced rate varied.
    spread: f64,
    took_s: f64,
    steps: &'static [Step],
}

/// Frames per second and seconds of a trial; frames intended, offered and lost in its last attempt; whether that was
/// spoilt, too; seconds of all attempts, and their number.
type Step = (f64, f64, u64, u64, u64, bool, f64, u32);

/// The search itself goes again through what was recorded; at each step it forecasts its end.
#[test]
fn the_forecast_of_recorded_searches_is_right_within_20_percent() {
    for (name, recorded) in [("busy", BUSY), ("stalling", STALLING), ("lossy", LOSSY)] {
        for (number, ends_s) in forecasts(&recorded).into_iter().enumerate() {
            let error = (ends_s - recorded.took_s).abs() / recorded.took_s;
            assert!(
                error < 0.2,
                "{name}, step {number}: {ends_s} of {} s",
                recorded.took_s
            );
        }
    }
}

/// When the search would end, after each step. (What was said before the first, 40, 40 and 38 s, came from the trials that
/// found out how fast the tester is, which no stream has.)
fn forecasts(recorded: &Recorded) -> Vec<f64> {
    let goals = Profile::QUICK.goals();
    let most_fps = recorded.steps[0].0;
    let limit = Limit(Profile::QUICK.search_limit_s.unwrap());
    let mut search = Controller::new(&goals, most_fps / 1e4, most_fps).unwrap();
    search = search.with_time_limit(limit.0);
    let mut overhead = Overhead::default();
    let circumstances = |overhead: &Overhead| Circumstances {
        per_trial_s: overhead.per_trial_s(&Profile::QUICK.waits),
        spread: recorded.spread,
    };
    let mut ends_s = Vec::new();
    for step in recorded.steps {
        let &(load_fps, duration_s, .., spoilt, elapsed_s, attempts) = step;
        match search.next() {
            linerate_method::search::Step::Measure {
                load_fps: next_fps, ..
            } => {
                assert!(
                    (next_fps / load_fps - 1.0).abs() < 1e-6,
                    "{next_fps}, {load_fps}"
                );
            }
            // The clock of the stream runs some milliseconds ahead of the trials'.
            linerate_method::search::Step::Done => {
                assert!(
                    search.elapsed_s() + elapsed_s > limit.0,
                    "before {load_fps}"
                );
                break;
            }
        }
        for attempt in 1..=attempts {
            let each_s = elapsed_s / f64::from(attempts) - duration_s;
            overhead.record(
                Duration::from_secs_f64(each_s),
                spoilt || attempt < attempts,
            );
        }
        match spoilt {
            true => search.report_unoffered(measured(step)),
            false => search.report(measured(step)),
        }
        let left_s = search.left_s(circumstances(&overhead));
        let elapsed_s = search.elapsed_s();
        ends_s.push(elapsed_s + limit.left_s(&overhead, left_s, elapsed_s));
    }
    ends_s
}

fn measured(&(_, _, intended, offered, lost, _, elapsed_s, _): &Step) -> Measurement {
    Measurement {
        intended_frames: intended,
        offered_frames: offered,
        lost_frames: lost,
        effective_duration_s: None,
        elapsed_s: Some(elapsed_s),
    }
}

/// `forward --lab=route --quick --sizes 64`, with a task that spins on each processor: the time limit ends it.
const BUSY: Recorded = Recorded {
    spread: 0.71,
    took_s: 36.50,
    steps: &[
        (1286912.1788135078, 0.5, 643456, 616672, 0, false, 2.336, 1),
        (1230162.2729938212, 0.5, 615081, 447696, 0, true, 8.542, 3),
        (892648.6977323659, 0.5, 446324, 250512, 0, true, 8.064, 3),
        (470020.6292599961, 0.5, 235010, 137302, 0, true, 8.868, 3),
        (130313.55939251346, 0.5, 65156, 52457, 0, true, 8.685, 3),
    ],
};

/// `forward --lab=route --quick --sizes 64`, next to compilers.
const STALLING: Recorded = Recorded {
    spread: 0.21,
    took_s: 39.61,
    steps: &[
        (1357780.550676784, 0.5, 678890, 624032, 0, false, 0.881, 1),
        (1246903.5109974598, 0.5, 623451, 623451, 0, false, 2.023, 2),
        (1259462.9752050475, 0.5, 629731, 629731, 0, true, 3.338, 3),
        (1253167.5090563432, 1.0, 1253167, 1253167, 0, true, 6.957, 3),
        (1246903.5109974598, 1.0, 1246903, 1246903, 0, true, 7.726, 3),
        (1234469.2907583625, 1.0, 1234469, 1234469, 0, true, 3.546, 2),
        (1209971.5988692348, 1.0, 1209971, 1209971, 0, true, 2.54, 1),
        (1162425.0167670234, 1.0, 1162425, 1162425, 0, true, 1.978, 1),
        (1072863.5507414015, 1.0, 1072863, 1072863, 0, true, 1.89, 1),
        (913910.3103225826, 1.0, 913910, 913910, 0, true, 1.631, 1),
        (663165.2313383309, 1.0, 663165, 663165, 0, true, 1.765, 1),
        (349187.0207493965, 1.0, 349187, 349187, 0, true, 2.462, 1),
        (96812.35404318913, 1.0, 96812, 96812, 0, true, 1.468, 1),
        (7441.768499671766, 1.0, 7441, 7441, 0, true, 1.402, 1),
    ],
};

/// `forward --lab=user-route --quick --sizes 512`, next to compilers.
const LOSSY: Recorded = Recorded {
    spread: 0.44,
    took_s: 40.05,
    steps: &[
        (
            1158341.4527673912,
            0.5,
            579170,
            535600,
            294132,
            false,
            1.197,
            1,
        ),
        (
            481934.3144002306,
            0.5,
            240967,
            240967,
            150287,
            false,
            0.915,
            1,
        ),
        (180483.3948276031, 0.5, 90241, 90241, 355, true, 3.336, 3),
        (25312.559088039092, 0.5, 12656, 12656, 0, true, 2.797, 3),
        (497.89029438084634, 0.5, 248, 248, 0, false, 2.512, 3),
        (1945.7248687849817, 0.5, 972, 972, 0, false, 0.837, 1),
        (7017.925313807988, 0.5, 3508, 3508, 0, false, 1.713, 2),
        (13328.227533367293, 0.5, 6664, 6664, 0, true, 1.881, 2),
        (9671.427267710334, 0.5, 4835, 4835, 0, true, 0.936, 1),
        (8238.528645499582, 0.5, 4119, 4119, 0, true, 0.961, 1),
        (7603.773979398895, 0.5, 3801, 3801, 0, true, 0.888, 1),
        (7304.9789794699645, 0.5, 3652, 3652, 0, true, 1.223, 1),
        (7160.01374976735, 0.5, 3580, 3580, 0, true, 0.849, 1),
        (7088.613527461173, 0.5, 3544, 3544, 0, true, 0.843, 1),
        (7053.1808649836485, 1.0, 7053, 7053, 0, true, 1.543, 1),
        (7017.925313807988, 1.0, 7017, 7017, 0, true, 1.38, 1),
        (6947.942008601302, 1.0, 6947, 6947, 0, true, 1.361, 1),
        (6810.062076014498, 1.0, 6810, 6810, 0, true, 1.345, 1),
        (6542.456476080606, 1.0, 6542, 6542, 0, true, 1.367, 1),
        (6038.3792367277565, 1.0, 6038, 6038, 0, true, 1.361, 1),
        (5143.745482144227, 1.0, 5143, 5143, 0, true, 1.44, 1),
        (3732.4813212881254, 1.0, 3732, 3732, 0, false, 1.333, 1),
        (3732.4813212881254, 1.0, 3732, 3732, 0, true, 1.34, 1),
        (1965.3232271437373, 1.0, 1965, 1965, 0, true, 1.361, 1),
        (544.8872860944429, 1.0, 544, 544, 0, false, 1.339, 1),
        (544.8872860944429, 1.0, 544, 544, 0, false, 1.328, 1),
        (1034.8331457470445, 1.0, 1034, 1034, 0, false, 1.333, 1),
        (1034.8331457470445, 1.0, 1034, 1034, 0, false, 1.33, 1),
    ],
};
