// SPDX-License-Identifier: MIT OR Apache-2.0
use proptest::prelude::*;

use super::*;

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 1e-6
}

#[test]
fn b1_a_gigabit_of_64_bytes() {
    let found = Benchmark::new(&[26_000], 1e9 / 672.0, 812_743.0).unwrap();
    assert!(is_close(found.implied_s, 0.017472), "{found:?}");
    assert!(is_close(found.corrected_s, 0.007_929_434_892), "{found:?}");
    assert!(is_close(found.buffer_frames, 11_799.754), "{found:?}");
}

#[test]
fn b2_ten_gigabit() {
    let found = Benchmark::new(&[30_000], 1e10 / 672.0, 12e6).unwrap();
    assert!(is_close(found.implied_s, 0.002_016), "{found:?}");
    assert!(is_close(found.corrected_s, 0.000_390_297_6), "{found:?}");
    assert!(is_close(found.buffer_frames, 5808.0), "{found:?}");
}

#[test]
fn b4_not_applicable_at_line_rate() {
    assert_eq!(Benchmark::new(&[1000], 1e6, 1e6), None);
    assert_eq!(Benchmark::new(&[1000], 1e6, 2e6), None);
    assert_eq!(Benchmark::new(&[], 1e6, 5e5), None);
}

#[test]
fn several_searches_have_a_spread() {
    let found = Benchmark::new(&[25_500, 26_000, 26_500], 1e6, 5e5).unwrap();
    assert_eq!(found.mean_frames, 26_000.0);
    assert_eq!(found.deviation_frames, Some(500.0));
    let single = Benchmark::new(&[25_500], 1e6, 5e5).unwrap();
    assert_eq!(single.deviation_frames, None);
}

#[test]
fn the_wait_lasts_until_the_backlog_is_through() {
    // 1000 frames in 1 ms, forwarded in 10 ms: 9 ms of backlog.
    assert!(is_close(wait_s(1000, 1e6, 1e5, 2.0), 2.009));
    // A burst of 10 s takes precedence over the 2 s.
    assert!(is_close(wait_s(10_000_000, 1e6, 1e6, 2.0), 10.0));
    assert_eq!(wait_s(1000, 1e6, 0.0, 2.0), 2.0);
}

/// A device with a buffer that is drained at its throughput while the burst comes in at line rate.
fn lost(burst: u64, buffer: u64, line_fps: f64, throughput_fps: f64) -> u64 {
    let forwarded = (burst as f64 * throughput_fps / line_fps) as u64;
    burst.saturating_sub(forwarded + buffer)
}

fn search(limit: u64, resolution: u64, loses: impl Fn(u64) -> u64) -> (Option<Longest>, u32) {
    let mut search = BurstSearch::new(limit, resolution, 2);
    while let Some(frames) = search.next_frames() {
        assert!((1..=limit).contains(&frames) && search.bursts() < 200);
        search.report(loses(frames));
    }
    (search.longest(), search.bursts())
}

proptest! {
    /// B3: what the search and the formula make of a known buffer is that buffer.
    #[test]
    fn the_buffer_is_found_again(buffer in 1..100_000_u64, share in 0.0..0.99_f64) {
        let line_fps = 1e9 / 672.0;
        let throughput_fps = share * line_fps;
        let (longest, _) = search(45_000_000, 1, |burst| lost(burst, buffer, line_fps, throughput_fps));
        let Some(Longest::Frames(frames)) = longest else {
            return Err(TestCaseError::fail(format!("{longest:?}")));
        };
        let found = Benchmark::new(&[frames], line_fps, throughput_fps).unwrap();
        prop_assert!((found.buffer_frames - buffer as f64).abs() <= 1.0, "{found:?}");
    }

    #[test]
    fn the_resolution_is_kept(capacity in 1..10_000_u64, resolution in 1..500_u64) {
        let (longest, bursts) = search(10_000, resolution, |burst| burst.saturating_sub(capacity));
        match longest {
            Some(Longest::Frames(frames)) => {
                prop_assert!(frames <= capacity && capacity < frames + resolution.max(1));
            }
            other => prop_assert!(capacity >= 10_000, "{other:?}"),
        }
        prop_assert!(bursts <= 2 * 15);
    }
}

#[test]
fn a_single_loss_is_verified() {
    let mut search = BurstSearch::new(100, 10, 2);
    search.report(5);
    assert_eq!(search.next_frames(), Some(100), "once more");
    search.report(0);
    assert_eq!(search.longest(), Some(Longest::AtLimit));
    let mut unverified = BurstSearch::new(100, 10, 1);
    unverified.report(5);
    assert_eq!(unverified.next_frames(), Some(50));
}

#[test]
fn a_device_that_loses_every_burst_has_none() {
    let (longest, _) = search(1000, 1, |burst| burst);
    assert_eq!(longest, Some(Longest::Frames(0)));
    assert_eq!(BurstSearch::new(0, 1, 2).longest(), Some(Longest::AtLimit));
}
