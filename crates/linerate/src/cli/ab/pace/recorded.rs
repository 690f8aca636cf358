// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparisons as they ran in the lab of a machine with two processors: when each run ended, seconds since the begin.

use super::*;
use crate::cli::ab::inner;
use crate::cli::forecast::Forecast;

/// One comparison.
struct Recorded {
    /// Other tasks that wanted each processor when it began.
    runnable_per_cpu: f64,
    /// Length of its test.
    test_ms: u64,
    ends_s: &'static [f64],
}

#[test]
fn what_is_said_of_recorded_comparisons_is_right_within_20_percent() {
    for recorded in [TCP, UDP_BUSY] {
        let forecast = Forecast::on(recorded.runnable_per_cpu);
        let estimated_s = inner::test_s(&forecast, recorded.test_ms) + SETTLE_S;
        let mut pace = Pace::new(Some(estimated_s));
        let (all, all_s) = (recorded.ends_s.len(), *recorded.ends_s.last().unwrap());
        let error = |said_s: f64| (said_s - all_s).abs() / all_s;
        let announced = error(estimated_s * all as f64);
        assert!(announced < 0.2, "{announced}: {estimated_s} s each");
        for (done, &now_s) in recorded.ends_s.iter().enumerate() {
            let begun_s = pace.ended_s;
            let half_s = f64::midpoint(begun_s, now_s);
            for at_s in [begun_s, half_s] {
                let left_s = pace.left_s(at_s, all - done).unwrap();
                assert!(error(at_s + left_s) < 0.2, "run {done}: {left_s} s left");
            }
            pace.ended(now_s);
            if let Some(each_s) = pace.corrected() {
                assert!(
                    error(each_s * all as f64) < 0.2,
                    "run {done}: {each_s} s each"
                );
            }
        }
        assert_eq!(pace.left_s(all_s, 0), Some(0.0));
    }
}

#[test]
fn a_wrong_estimate_is_corrected_when_it_is_known_to_be_wrong() {
    let mut unknown = Pace::new(None);
    assert_eq!((unknown.left_s(1.0, 4), unknown.corrected()), (None, None));
    unknown.ended(2.0);
    assert_eq!(
        (unknown.corrected(), unknown.corrected()),
        (Some(2.0), None)
    );
    // Something else begins on the machine, and the runs take twice as long.
    let said: Vec<Option<f64>> = [5.0, 9.0, 13.0, 17.0]
        .map(|now_s| {
            unknown.ended(now_s);
            unknown.corrected()
        })
        .into();
    assert_eq!(said, [Some(2.5), Some(3.0), None, None]);
    assert_eq!(unknown.left_s(18.0, 3), Some(3.0 * 3.4 - 1.0));
}

/// `--settle` of all of them.
const SETTLE_S: f64 = 1.0;

/// `ab --lab --a true --b true -- tcp -t 1`
const TCP: Recorded = Recorded {
    runnable_per_cpu: 0.5,
    test_ms: 1000,
    ends_s: &[
        3.01, 5.96, 8.89, 11.77, 14.75, 17.72, 20.71, 23.64, 26.53, 29.42, 32.31, 35.20, 38.12,
        41.05, 43.87, 46.77, 49.61, 52.53, 55.47, 58.40, 61.33, 64.26, 67.21, 70.14, 73.08, 76.01,
        78.93, 81.89, 84.83, 87.76, 90.70, 93.65, 96.59, 99.53, 102.50, 105.41, 108.32, 111.31,
        114.24, 117.17, 120.12, 123.06, 125.94, 128.86, 131.74, 134.67, 137.53, 140.43, 143.32,
        146.22, 149.16, 152.10, 155.01, 158.29, 161.43, 164.33, 167.30, 170.23, 173.20, 176.10,
        179.06, 182.08, 185.26, 188.49, 191.67, 194.62, 197.56, 200.53, 203.44, 206.37, 209.37,
        212.56,
    ],
};

/// `ab --lab --a true --b true -- udp -b 50M -t 500ms`, with a task that spins on each processor.
const UDP_BUSY: Recorded = Recorded {
    runnable_per_cpu: 1.5,
    test_ms: 500,
    ends_s: &[
        3.42, 6.38, 9.39, 12.30, 14.92, 17.77, 20.67, 23.49, 26.33, 29.20, 32.24, 35.29, 38.34,
        41.50, 44.48, 47.42, 50.50, 53.49, 56.48, 59.40, 62.33, 65.28, 68.11, 71.11, 73.81, 76.77,
        79.66, 82.46, 85.30, 88.08, 91.11, 93.99, 97.12, 99.86, 102.68, 105.69, 108.62, 111.43,
        114.73, 117.88, 121.05, 124.36, 127.64, 130.87, 134.54, 137.42, 140.39, 143.41,
    ],
};
