// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a counter of known width grew over a series of readings.
//!
//! A fall is the end of its range only if what it then grew by is possible in the time; any other
//! fall is a reset, and a reset is no number. A narrow counter may also have gone round unseen.

/// Where a counter starts again from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// After 2^16.
    Bits16,
    /// After 2^32.
    Bits32,
    /// After 2^64: never.
    Bits64,
}

impl Width {
    /// How many values it has; `None` for a counter that never starts again.
    #[must_use]
    pub const fn turn(self) -> Option<u64> {
        match self {
            Self::Bits16 => Some(1 << 16),
            Self::Bits32 => Some(1 << 32),
            Self::Bits64 => None,
        }
    }
}

/// What a counter grew by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Growth {
    /// At least by so much.
    pub at_least: u64,
    /// If it may have gone round between two readings: by so much more each time.
    pub turn: Option<u64>,
}

/// The growth over `readings` of (time in nanoseconds, value), where `most_per_second` is the
/// highest rate at which it can grow. `None` when it was reset on the way: what it counted around
/// that is not known.
#[must_use]
pub fn growth(readings: &[(u64, u64)], width: Width, most_per_second: f64) -> Option<Growth> {
    let mut sum = Growth::default();
    for pair in readings.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let elapsed_s = after.0.saturating_sub(before.0) as f64 / 1e9;
        let most = most_per_second * elapsed_s;
        sum.at_least += step(before.1, after.1, width, most)?;
        let unseen = width.turn().filter(|turn| most >= *turn as f64);
        sum.turn = sum.turn.or(unseen);
    }
    Some(sum)
}

fn step(before: u64, after: u64, width: Width, most: f64) -> Option<u64> {
    if let Some(grown) = after.checked_sub(before) {
        return Some(grown);
    }
    let grown = width.turn()?.checked_sub(before)? + after;
    (grown as f64 <= most).then_some(grown)
}

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
