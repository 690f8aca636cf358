// SPDX-License-Identifier: MIT OR Apache-2.0
use proptest::prelude::*;

use super::*;

fn of(delays_ns: &[u64]) -> Delays {
    let mut delays = Delays::default();
    (1..)
        .zip(delays_ns)
        .for_each(|(n, &ns)| delays.record(n, ns));
    delays
}

/// Nearest rank.
fn at<T: Copy + Ord>(values: &[T], quantile: f64) -> T {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted[rank.max(1) - 1]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn against_sorted_values(delays_ns in prop::collection::vec(0..10_000_000_u64, 2..400)) {
        let latency = of(&delays_ns).latency().unwrap();
        let close = |found: i64, exact: i64| (found - exact).abs() <= exact.abs() / 1000 + 1;
        prop_assert_eq!(latency.frames, delays_ns.len() as u64);
        prop_assert_eq!((latency.min_ns, latency.max_ns), (at(&delays_ns, 0.0), at(&delays_ns, 1.0)));
        for (found, quantile) in [(latency.median_ns, 0.5), (latency.p99_ns, 0.99), (latency.p999_ns, 0.999)] {
            prop_assert!(close(found as i64, at(&delays_ns, quantile) as i64));
        }
        prop_assert_eq!(latency.pdv_ns, latency.p999_ns - latency.min_ns);
        let steps: Vec<i64> = delays_ns.windows(2).map(|pair| pair[1] as i64 - pair[0] as i64).collect();
        let ipdv = latency.ipdv.unwrap();
        prop_assert_eq!((ipdv.min_ns, ipdv.max_ns), (at(&steps, 0.0), at(&steps, 1.0)));
        prop_assert!(close(ipdv.median_ns, at(&steps, 0.5)), "{ipdv:?} {}", at(&steps, 0.5));
    }
}

#[test]
fn only_successive_frames_vary() {
    let mut delays = Delays::default();
    for (sequence, delay_ns) in [(1, 100), (3, 900), (4, 800), (2, 5000)] {
        delays.record(sequence, delay_ns);
    }
    let ipdv = delays.latency().unwrap().ipdv.unwrap();
    assert_eq!(
        (ipdv.min_ns, ipdv.median_ns, ipdv.max_ns),
        (-100, -100, -100)
    );
}

#[test]
fn nothing_measured_is_no_number() {
    assert_eq!(Delays::default().latency(), None);
    assert_eq!(of(&[7]).latency().unwrap().ipdv, None);
    assert_eq!(Repeated::of(&[]), None);
}

#[test]
fn twenty_repetitions() {
    let values: Vec<u64> = (1..=20).map(|n| n * 10).collect();
    let repeated = Repeated::of(&values).unwrap();
    assert_eq!(
        (repeated.p1_ns, repeated.median_ns, repeated.p99_ns),
        (10, 100, 200)
    );
    assert_eq!(repeated.repetitions, 20);
}
