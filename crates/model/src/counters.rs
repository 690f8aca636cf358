// SPDX-License-Identifier: MIT OR Apache-2.0
//! Growth of counters between samples. Counters only increase: one that decreased was reset or wrapped at
//! 32 bits, and the growth across a reset is unknown.

use std::collections::BTreeMap;

use crate::output::{MovedCounter, Role};
use crate::sample::Sample;

mod width;

pub use width::{Growth, Width, growth};

/// What one counter did between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Movement {
    /// It grew by this much, a 32-bit wrap included.
    Grew(u64),
    /// It was reset: its growth is unknown.
    Reset,
    /// It did not change.
    Still,
}

/// Compares two readings of a counter.
///
/// 32-bit kernels and many drivers have 32-bit counters. A decrease from the last quarter of their range into
/// the first is taken for a wrap, every other decrease for a reset.
#[must_use]
pub fn movement(before: u64, after: u64) -> Movement {
    match after.checked_sub(before) {
        Some(0) => Movement::Still,
        Some(delta) => Movement::Grew(delta),
        None if wrapped(before, after) => Movement::Grew(after + WORD - before),
        None => Movement::Reset,
    }
}

/// Returns the counters of `after` that are also in `before` and have changed, by name. Empty if the samples are
/// of different sources.
#[must_use]
pub fn between<'a>(before: &Sample, after: &'a Sample) -> Vec<(&'a str, Movement)> {
    if !before.same_source(after) {
        return Vec::new();
    }
    let moved = after.counters.iter().filter_map(|(name, value)| {
        let movement = movement(*before.counters.get(name)?, *value);
        (movement != Movement::Still).then_some((name.as_str(), movement))
    });
    moved.collect()
}

/// What moved over a whole series of samples of any sources, in the order of host, source,
/// interface and name. Growth before and after a reset is added up; across it, it is unknown and
/// left out.
#[must_use]
pub fn over(samples: &[Sample]) -> Vec<MovedCounter> {
    let mut last: BTreeMap<Source<'_>, &Sample> = BTreeMap::new();
    let mut sums: BTreeMap<(Source<'_>, &str), u64> = BTreeMap::new();
    for sample in samples {
        let source = (
            sample.host as u8,
            sample.source.as_str(),
            sample.interface.as_deref(),
        );
        if let Some(before) = last.insert(source, sample) {
            for (name, movement) in between(before, sample) {
                if let Movement::Grew(delta) = movement {
                    *sums.entry((source, name)).or_default() += delta;
                }
            }
        }
    }
    let named = sums
        .into_iter()
        .map(|((source, name), delta)| moved(source, name, delta));
    named.collect()
}

/// Host, source, interface.
type Source<'a> = (u8, &'a str, Option<&'a str>);

fn moved((host, source, interface): Source<'_>, name: &str, delta: u64) -> MovedCounter {
    let roles = [Role::Local, Role::Remote, Role::Device];
    MovedCounter {
        host: roles
            .into_iter()
            .find(|role| *role as u8 == host)
            .unwrap_or_default(),
        interface: interface.map(str::to_owned),
        name: name.to_owned(),
        delta,
        source: source.to_owned(),
    }
}

fn wrapped(before: u64, after: u64) -> bool {
    (WORD / 4 * 3..WORD).contains(&before) && after < WORD / 4
}

const WORD: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(t_ns: u64, counters: &[(&str, u64)]) -> Sample {
        Sample {
            t_ns,
            source: "/proc/net/snmp".to_owned(),
            counters: counters
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            ..Sample::default()
        }
    }

    #[test]
    fn only_what_moved_and_was_there_before() {
        let before = sample(0, &[("InErrors", 3), ("InDatagrams", 10)]);
        let after = sample(1, &[("InErrors", 3), ("InDatagrams", 12), ("New", 9)]);
        assert_eq!(
            between(&before, &after),
            [("InDatagrams", Movement::Grew(2))]
        );
    }

    #[test]
    fn a_fall_is_a_wrap_only_at_the_end_of_32_bits() {
        assert_eq!(movement(u64::from(u32::MAX), 4), Movement::Grew(5));
        assert_eq!(movement(1000, 4), Movement::Reset);
        assert_eq!(movement(WORD, 4), Movement::Reset);
        assert_eq!(movement(u64::MAX, 0), Movement::Reset);
    }

    #[test]
    fn other_sources_are_not_subtracted() {
        let before = sample(0, &[("rx_dropped", 3)]);
        let after = Sample {
            interface: Some("eth0".to_owned()),
            ..sample(1, &[("rx_dropped", 5)])
        };
        assert_eq!(between(&before, &after), []);
    }

    #[test]
    fn a_series_adds_up_around_a_reset() {
        let series = [100, 150, 7, 10].map(|value| sample(value, &[("InErrors", value)]));
        let moved = over(&series);
        assert_eq!(moved.len(), 1);
        assert_eq!((moved[0].name.as_str(), moved[0].delta), ("InErrors", 53));
    }

    proptest::proptest! {
        #[test]
        fn a_growing_series_grows_by_its_ends(start in 0_u64..1 << 60, steps in proptest::collection::vec(0_u64..1 << 40, 1..40)) {
            let mut value = start;
            let mut series = vec![sample(0, &[("n", value)])];
            for step in &steps {
                value += step;
                series.push(sample(0, &[("n", value)]));
            }
            let total = over(&series).first().map_or(0, |moved| moved.delta);
            proptest::prop_assert_eq!(total, value - start);
        }

        #[test]
        fn a_32_bit_counter_loses_nothing_when_read_often(start in proptest::prelude::any::<u32>(), steps in proptest::collection::vec(0_u32..1 << 29, 1..40)) {
            let mut value = start;
            let mut series = vec![sample(0, &[("n", u64::from(value))])];
            for step in &steps {
                value = value.wrapping_add(*step);
                series.push(sample(0, &[("n", u64::from(value))]));
            }
            let total = over(&series).first().map_or(0, |moved| moved.delta);
            proptest::prop_assert_eq!(total, steps.iter().map(|step| u64::from(*step)).sum::<u64>());
        }
    }
}
