// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::histogram::SHIFT_NS;
use proptest::prelude::*;

const STEADY: Drift = Drift { at_ns: 0, ppb: 0 };

fn of(arrivals: &[(u64, i64)]) -> Transits {
    let mut transits = Transits::new();
    for &(at_ns, transit_ns) in arrivals {
        transits.record(at_ns, transit_ns);
    }
    transits
}

/// Whether `found` are the quantiles of `values`, each within `more_ns` and what the buckets' widths allow.
fn check(found: Quantiles, values: &[i64], more_ns: i64) -> Result<(), TestCaseError> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = |quantile: f64| (quantile * sorted.len() as f64).ceil() as usize;
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    for (shown, quantile) in [
        (found.min, 0.0),
        (found.p50, 0.5),
        (found.p99, 0.99),
        (found.p999, 0.999),
        (found.max, 1.0),
    ] {
        let exact = sorted[rank(quantile).max(1) - 1];
        let is_end = quantile == 0.0 || quantile == 1.0;
        let base_ns = SHIFT_NS + (most - least) / 16;
        let width_ns = (exact - least + base_ns) / 500 + 1;
        let allowed_ns = more_ns + if is_end { 0 } else { width_ns };
        prop_assert!(
            (shown - exact).abs() <= allowed_ns,
            "{quantile}: {shown} instead of {exact} ± {allowed_ns}"
        );
    }
    Ok(())
}

/// Transit times of a test: a clock offset, and on it whatever a path does.
fn arrivals() -> impl Strategy<Value = Vec<(u64, i64)>> {
    let offset_ns = prop_oneof![
        Just(0),
        -4_000_000_000_000_000_000..4_000_000_000_000_000_000_i64
    ];
    let spread_ns = prop_oneof![Just(50_000), Just(5_000_000), Just(3_000_000_000_i64)];
    let order = prop_oneof![Just(0), Just(1), Just(2)];
    let one = (0..40_000_000_000_u64, 0.0..1.0_f64);
    let all = prop::collection::vec(one, 1..600);
    (offset_ns, spread_ns, order, all).prop_map(|(offset_ns, spread_ns, order, mut all)| {
        all.sort_unstable_by_key(|&(at_ns, _)| at_ns);
        let mut delays: Vec<f64> = all.iter().map(|&(_, delay)| delay).collect();
        match order {
            0 => delays.sort_unstable_by(f64::total_cmp),
            1 => delays.sort_unstable_by(|a, b| b.total_cmp(a)),
            _ => {}
        }
        let delay = |share: f64| offset_ns + (share * spread_ns as f64) as i64;
        let times = all.iter().map(|&(at_ns, _)| at_ns);
        times.zip(delays.into_iter().map(delay)).collect()
    })
}

proptest! {
    /// The receive loop allocates nothing: each histogram is in a slice or spare, and there is always a spare one.
    #[test]
    fn no_histogram_is_made_or_lost(arrivals in arrivals()) {
        let mut transits = Transits::new();
        for (at_ns, transit_ns) in arrivals {
            transits.record(at_ns, transit_ns);
            let used = transits.slices.iter().filter(|slice| slice.has_histogram()).count();
            prop_assert_eq!(used + transits.spare.len(), SLICES as usize + 1);
            prop_assert_eq!(transits.slices.capacity(), SLICES as usize);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever comes first: a queue that drains, one that fills, or no order at all.
    #[test]
    fn quantiles_are_those_of_the_sorted_list(arrivals in arrivals()) {
        let values: Vec<i64> = arrivals.iter().map(|&(_, transit_ns)| transit_ns).collect();
        check(of(&arrivals).quantiles(STEADY).unwrap(), &values, 1)?;
    }

    /// What the drift adds is removed, but for the drift within half a slice, which is reported.
    #[test]
    fn a_known_drift_is_removed(arrivals in arrivals(), ppb in -200_000..200_000_i64, at_ns in any::<u32>()) {
        let drift = Drift { at_ns: u64::from(at_ns), ppb };
        let drifting: Vec<_> = arrivals
            .iter()
            .map(|&(at_ns, transit_ns)| (at_ns, transit_ns + drift.grown_ns(at_ns)))
            .collect();
        let values: Vec<i64> = arrivals.iter().map(|&(_, transit_ns)| transit_ns).collect();
        let transits = of(&drifting);
        let left_ns = transits.left_ns(drift);
        // 40 s at most: sixteen slices of 4 s.
        prop_assert!(left_ns <= ppb.unsigned_abs() * 2 + 1);
        // The drift widens the spread, and with it the buckets.
        let more_ns = left_ns.cast_signed() + 1 + ppb.abs() * 40 / 500;
        check(transits.quantiles(drift).unwrap(), &values, more_ns)?;
    }
}

/// The first datagrams wait in a queue that a foreign flow leaves behind; all others pass an empty one.
#[test]
fn a_queue_at_the_start_hides_nothing() {
    let late = (0..100).map(|n| (n * 1_000_000, 28_642_460));
    let quick = (100..2000).map(|n| (n * 1_000_000, 30_000));
    let arrivals: Vec<_> = late.chain(quick).collect();
    let found = of(&arrivals).quantiles(STEADY).unwrap();
    assert_eq!((found.min, found.max), (30_000, 28_642_460));
    assert!(found.p50.abs_diff(30_000) < 4_000, "{found:?}");
}

#[test]
fn without_datagrams_there_are_none() {
    assert_eq!(Transits::new().quantiles(STEADY), None);
}

#[test]
fn slices_stay_few_in_a_test_of_any_length() {
    let mut transits = Transits::new();
    for at_ns in [0, 1, 1 << 40, 1 << 60, u64::MAX, 5] {
        transits.record(at_ns, 7);
        assert!(transits.slices.len() <= 16);
    }
    let found = transits.quantiles(STEADY).unwrap();
    assert_eq!((found.min, found.p50, found.max), (7, 7, 7));
}
