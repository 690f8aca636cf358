// SPDX-License-Identifier: MIT OR Apache-2.0
use proptest::prelude::*;

use super::*;

fn passes_at(fate: Fate) -> Option<u64> {
    match fate {
        Fate::Pass { at_ns, .. } => Some(at_ns),
        Fate::Drop(_) => None,
    }
}

/// Frames of one size at even distances.
fn feed(wire: &mut Wire, frames: u64, apart_ns: u64, frame_bytes: usize) -> Vec<Fate> {
    (0..frames)
        .map(|n| wire.admit(n * apart_ns, frame_bytes))
        .collect()
}

fn frames() -> impl Strategy<Value = Vec<(u64, usize)>> {
    prop::collection::vec((0..50_000_u64, 60..1515_usize), 1..300)
}

fn impairment() -> impl Strategy<Value = Impairment> {
    let ratios = (
        0.0..0.3_f64,
        0.0..0.1_f64,
        0.1..0.9_f64,
        0.0..0.3_f64,
        0.0..0.3_f64,
        0.0..0.3_f64,
    );
    let times = (0..1_000_000_u64, 0..100_000_u64, 0..2_000_000_u64);
    let line = (
        prop_oneof![Just(0_u64), 1_000_000..2_000_000_000_u64],
        1600..50_000_u64,
        prop_oneof![Just(0_usize), 60..1515_usize],
    );
    (ratios, times, line).prop_map(|(ratios, times, line)| Impairment {
        delay_ns: times.0,
        jitter_ns: times.1,
        longest_bytes: line.2,
        loss_ratio: ratios.0,
        burst_loss: BurstLoss {
            p_enter: ratios.1,
            p_leave: ratios.2,
        },
        reorder: Reorder {
            ratio: ratios.3,
            extra_ns: times.2,
        },
        duplicate_ratio: ratios.4,
        corrupt_ratio: ratios.5,
        corrupt_from_byte: 42,
        rate_bits_per_second: line.0,
        fifo_bytes: line.1,
    })
}

proptest! {
    #[test]
    fn every_frame_is_accounted_and_comes_out_after_it_came_in(config in impairment(), frames in frames(), seed in any::<u64>()) {
        let mut wire = Wire::new(config, seed);
        let mut now = 0;
        for &(step, bytes) in &frames {
            now += step;
            if let Fate::Pass { at_ns, copies, corrupt_bit } = wire.admit(now, bytes) {
                prop_assert!(at_ns >= now + config.delay_ns);
                prop_assert!(config.longest_bytes == 0 || bytes <= config.longest_bytes);
                prop_assert!((1..=2).contains(&copies));
                prop_assert!(corrupt_bit.is_none_or(|bit| (42 * 8..bytes as u64 * 8).contains(&bit)));
            }
        }
        let counts = wire.counts();
        prop_assert_eq!(counts.admitted, frames.len() as u64);
        prop_assert_eq!(counts.admitted, counts.passed + counts.too_long + counts.lost + counts.burst_lost + counts.fifo_lost);
    }

    #[test]
    fn the_same_seed_gives_the_same_fates(config in impairment(), frames in frames(), seed in any::<u64>()) {
        let run = || {
            let mut wire = Wire::new(config, seed);
            frames.iter().scan(0, |now, &(step, bytes)| {
                *now += step;
                Some(wire.admit(*now, bytes))
            }).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn without_reordering_the_order_stays(config in impairment(), frames in frames(), seed in any::<u64>()) {
        let config = Impairment { reorder: Reorder::default(), ..config };
        let mut wire = Wire::new(config, seed);
        let out = frames.iter().filter_map(|&(step, bytes)| passes_at(wire.admit(step, bytes)));
        prop_assert!(out.is_sorted());
    }

    #[test]
    fn the_fifo_never_holds_more_than_it_has_and_the_line_never_sends_faster(
        rate in 1_000_000..2_000_000_000_u64, fifo_bytes in 1_600..50_000_u64, frames in frames(),
    ) {
        let mut wire = Wire::new(Impairment { rate_bits_per_second: rate, fifo_bytes, ..Impairment::default() }, 1);
        let mut now = 0;
        let mut inside: Vec<(u64, u64)> = Vec::new();
        let mut last_out = 0;
        for (step, bytes) in frames {
            now += step;
            inside.retain(|&(out, _)| out > now);
            let waiting: u64 = inside.iter().map(|&(_, bytes)| bytes).sum();
            let line_ns = bytes as f64 * 8e9 / rate as f64;
            match wire.admit(now, bytes) {
                Fate::Pass { at_ns, .. } => {
                    let since = now.max(last_out);
                    prop_assert!((at_ns - since) as f64 >= line_ns - 2.0);
                    // The frame on the line counts by what is left of it, a whole one at the most.
                    prop_assert!((at_ns - now) as f64 * rate as f64 / 8e9 <= fifo_bytes as f64 + 1.0);
                    inside.push((at_ns, bytes as u64));
                    last_out = at_ns;
                }
                Fate::Drop(reason) => {
                    prop_assert_eq!(reason, DropReason::Fifo);
                    prop_assert!(waiting + bytes as u64 + 1 > fifo_bytes, "dropped with room left");
                }
            }
        }
    }
}

#[test]
fn an_overloaded_line_passes_its_rate_and_drops_the_rest() {
    // 1000-byte frames every 4 µs are 2 Gbit/s; the line takes half.
    let config = Impairment {
        rate_bits_per_second: 1_000_000_000,
        fifo_bytes: 16_000,
        ..Impairment::default()
    };
    let mut wire = Wire::new(config, 9);
    let fates = feed(&mut wire, 10_000, 4_000, 1000);
    let out: Vec<u64> = fates.into_iter().filter_map(passes_at).collect();
    assert!(out.windows(2).all(|pair| pair[1] - pair[0] == 8_000));
    assert_eq!(wire.counts().passed, 5_000 + 15);
    assert_eq!(wire.counts().fifo_lost, 5_000 - 15);
}

#[test]
fn ratios_are_met() {
    let config = Impairment {
        loss_ratio: 0.02,
        duplicate_ratio: 0.05,
        corrupt_ratio: 0.01,
        reorder: Reorder {
            ratio: 0.03,
            extra_ns: 1,
        },
        ..Impairment::default()
    };
    let mut wire = Wire::new(config, 2026);
    feed(&mut wire, 100_000, 10, 500);
    let counts = wire.counts();
    // Within five standard deviations.
    assert!(counts.lost.abs_diff(2_000) < 222, "{counts:?}");
    assert!(counts.duplicated.abs_diff(4_900) < 342, "{counts:?}");
    assert!(counts.corrupted.abs_diff(980) < 156, "{counts:?}");
    assert!(counts.held_back.abs_diff(2_940) < 268, "{counts:?}");
}

#[test]
fn bursts_have_gilberts_length_and_share() {
    let burst_loss = BurstLoss {
        p_enter: 0.01,
        p_leave: 0.2,
    };
    let mut wire = Wire::new(
        Impairment {
            burst_loss,
            ..Impairment::default()
        },
        5,
    );
    let fates = feed(&mut wire, 200_000, 10, 500);
    let lost = |fate: &Fate| matches!(fate, Fate::Drop(DropReason::BurstLoss));
    let bursts = fates
        .windows(2)
        .filter(|pair| !lost(&pair[0]) && lost(&pair[1]))
        .count() as f64;
    let share = wire.counts().burst_lost as f64 / 200_000.0;
    assert!((share - 0.01 / 0.21).abs() < 0.005, "{share}");
    let length = wire.counts().burst_lost as f64 / bursts;
    assert!((length - 5.0).abs() < 0.4, "{length}");
}

#[test]
fn a_held_back_frame_is_overtaken() {
    let config = Impairment {
        reorder: Reorder {
            ratio: 0.1,
            extra_ns: 55,
        },
        ..Impairment::default()
    };
    let mut wire = Wire::new(config, 3);
    let out: Vec<u64> = feed(&mut wire, 1000, 10, 500)
        .into_iter()
        .filter_map(passes_at)
        .collect();
    let held: Vec<_> = (0..1000)
        .filter(|&n| out[n] == n as u64 * 10 + 55)
        .collect();
    assert_eq!(held.len() as u64, wire.counts().held_back);
    assert!(!held.is_empty());
    assert!((0..1000).all(|n| held.contains(&n) || out[n] == n as u64 * 10));
}

#[test]
fn another_setting_leaves_the_losses_where_they_were() {
    let lossy = Impairment {
        loss_ratio: 0.1,
        ..Impairment::default()
    };
    let more = Impairment {
        duplicate_ratio: 0.5,
        jitter_ns: 7,
        ..lossy
    };
    let losses = |config| {
        let fates = feed(&mut Wire::new(config, 11), 1000, 10, 500);
        fates
            .into_iter()
            .map(|fate| matches!(fate, Fate::Drop(_)))
            .collect::<Vec<_>>()
    };
    assert_eq!(losses(lossy), losses(more));
}

#[test]
fn a_spared_frame_meets_no_chance_and_changes_none() {
    let config = Impairment {
        delay_ns: 7,
        jitter_ns: 3,
        loss_ratio: 0.5,
        burst_loss: BurstLoss {
            p_enter: 0.9,
            p_leave: 0.1,
        },
        duplicate_ratio: 0.5,
        corrupt_ratio: 0.5,
        ..Impairment::default()
    };
    let mut with_spared = Wire::new(config, 11);
    let mut without = with_spared.clone();
    for n in 0..100 {
        let spared = with_spared.admit_spared(n * 100, 60);
        assert_eq!(
            spared,
            Fate::Pass {
                at_ns: n * 100 + 7,
                copies: 1,
                corrupt_bit: None
            }
        );
        let at = n * 100 + 50;
        assert_eq!(with_spared.admit(at, 500), without.admit(at, 500));
    }
}
