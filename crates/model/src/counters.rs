// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a counter grew over a series of readings.
//!
//! A fall is a wrap only if the growth that follows from it is possible in the time; any other fall
//! is a reset, and across a reset the growth is unknown. A narrow counter may also wrap unseen.

/// Where a counter wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// It wraps at 2^16.
    Bits16,
    /// It wraps at 2^32.
    Bits32,
    /// It never wraps in practice.
    Bits64,
    /// No table says. Kernels of 32 bits and many drivers keep 32-bit counters, so a fall from the end of
    /// 32 bits is a wrap.
    Unknown,
}

impl Width {
    /// The number of its values; `None` for a counter that is not known to wrap.
    #[must_use]
    pub const fn turn(self) -> Option<u64> {
        match self {
            Self::Bits16 => Some(1 << 16),
            Self::Bits32 => Some(WORD),
            Self::Bits64 | Self::Unknown => None,
        }
    }

    /// One wrap, if a growth of up to `most` may have hidden it. In an unknown time that is any growth, but few counters of
    /// 32 bits ever grow by this much.
    fn unseen(self, most: f64) -> Option<u64> {
        let turn = self.turn()?;
        (most >= turn as f64 && (most.is_finite() || self == Self::Bits16)).then_some(turn)
    }

    /// The growth across a fall, if that was a wrap. A 32-bit counter wraps from the last quarter of its range
    /// into the first: every other fall is far more likely a reset.
    fn wrapped(self, before: u64, after: u64) -> Option<u64> {
        let turn = match self {
            Self::Bits16 => 1 << 16,
            Self::Bits32 | Self::Unknown if before >= WORD / 4 * 3 && after < WORD / 4 => WORD,
            Self::Bits32 | Self::Unknown | Self::Bits64 => return None,
        };
        Some(turn.checked_sub(before)? + after).filter(|_| before < turn)
    }
}

/// The growth of a counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Growth {
    /// The least possible growth.
    pub at_least: u64,
    /// The growth of one more wrap, if the counter may have wrapped unseen between two readings.
    pub turn: Option<u64>,
}

/// Returns the growth over `readings` of (time in nanoseconds, value), where `most_per_second` is the
/// highest rate at which the counter can grow. Where the times are equal, the time is not known, and any growth is
/// possible. `None` if the counter was reset in between.
#[must_use]
pub fn growth(readings: &[(u64, u64)], width: Width, most_per_second: f64) -> Option<Growth> {
    let mut sum = Growth::default();
    for pair in readings.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let most = most_per_second * elapsed_s(before.0, after.0);
        sum.at_least += step(before.1, after.1, width, most)?;
        sum.turn = sum.turn.or(width.unseen(most));
    }
    Some(sum)
}

fn step(before: u64, after: u64, width: Width, most: f64) -> Option<u64> {
    let possible = |grown: &u64| *grown as f64 <= most;
    after
        .checked_sub(before)
        .or_else(|| width.wrapped(before, after).filter(possible))
}

fn elapsed_s(before_ns: u64, after_ns: u64) -> f64 {
    match after_ns.saturating_sub(before_ns) {
        0 => f64::INFINITY,
        elapsed_ns => elapsed_ns as f64 / 1e9,
    }
}

const WORD: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const GIGABIT_FRAMES: f64 = 1_488_096.0;

    fn grown(values: &[u64], width: Width) -> Option<Growth> {
        let readings: Vec<_> = (0..)
            .map(|n| n * SECOND)
            .zip(values.iter().copied())
            .collect();
        growth(&readings, width, GIGABIT_FRAMES)
    }

    #[test]
    fn a_register_of_16_bits_falls_and_has_grown() {
        let once = grown(&[0xf544, 0x0310], Width::Bits16).unwrap();
        assert_eq!((once.at_least, once.turn), (3532, Some(1 << 16)));
    }

    #[test]
    fn the_same_fall_of_32_bits_is_a_reset() {
        assert_eq!(grown(&[0xf544, 0x0310], Width::Bits32), None);
        assert_eq!(grown(&[0xf544, 0x0310], Width::Bits64), None);
    }

    #[test]
    fn an_unknown_width_wraps_at_the_end_of_32_bits_only() {
        let end = (1 << 32) - 3;
        let wrapped = Some(Growth {
            at_least: 10,
            turn: None,
        });
        assert_eq!(grown(&[end, 7], Width::Unknown), wrapped);
        assert_eq!(grown(&[end, 7], Width::Bits64), None);
        assert_eq!(grown(&[1000, 7], Width::Unknown), None);
        assert_eq!(grown(&[1 << 32, 7], Width::Unknown), None);
    }

    #[test]
    fn in_an_unknown_time_any_growth_is_possible() {
        let readings = [(0, 65_000), (0, 400)];
        let grown = growth(&readings, Width::Bits16, GIGABIT_FRAMES);
        assert_eq!(
            grown,
            Some(Growth {
                at_least: 936,
                turn: Some(1 << 16)
            })
        );
        assert_eq!(
            growth(&[(0, 1000), (0, 4)], Width::Bits32, GIGABIT_FRAMES),
            None
        );
    }

    #[test]
    fn a_value_beyond_its_range_was_never_of_that_width() {
        assert_eq!(grown(&[1 << 33, 7], Width::Bits32), None);
    }

    #[test]
    fn read_often_enough_nothing_goes_round_unseen() {
        let readings: Vec<_> = [(0, 65_000), (SECOND / 1000, 100)].to_vec();
        let grown = growth(&readings, Width::Bits16, GIGABIT_FRAMES).unwrap();
        assert_eq!((grown.at_least, grown.turn), (636, None));
    }

    #[test]
    fn one_reading_says_nothing_and_has_not_grown() {
        assert_eq!(grown(&[5], Width::Bits64), Some(Growth::default()));
    }

    proptest::proptest! {
        #[test]
        fn growth_is_known_up_to_whole_turns(
            start in 0_u64..1 << 16,
            steps in proptest::collection::vec(0_u64..1 << 17, 1..20),
        ) {
            let mut truth = start;
            let mut values = vec![start];
            for step in &steps {
                truth += step;
                values.push(truth % (1 << 16));
            }
            let grown = grown(&values, Width::Bits16).unwrap();
            let total: u64 = steps.iter().sum();
            proptest::prop_assert!(grown.at_least <= total);
            proptest::prop_assert_eq!((total - grown.at_least) % (1 << 16), 0);
        }

        #[test]
        fn a_wrap_of_32_bits_is_exact(
            start in proptest::prelude::any::<u32>(),
            steps in proptest::collection::vec(0_u64..1_000_000, 1..20),
        ) {
            let mut value = start;
            let mut values = vec![u64::from(start)];
            for step in &steps {
                value = value.wrapping_add(u32::try_from(*step).unwrap());
                values.push(u64::from(value));
            }
            let grown = grown(&values, Width::Bits32);
            proptest::prop_assert_eq!(grown, Some(Growth { at_least: steps.iter().sum(), turn: None }));
        }
    }
}
