// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stable sorting of short lists, as by `slice::sort_by`. That function is compiled once per element type: its 38
//! uses in this program would add 145 KiB to the static binary (x86_64, opt-level z).

use std::cmp::Ordering;

/// Sorts by a comparison.
pub fn by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    rank(&mut order, &mut |one, other| {
        compare(&items[one], &items[other])
    });
    place(&mut order, &mut |one, other| items.swap(one, other));
}

/// Sorts by a key, which is computed for each comparison.
pub fn by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    by(items, |one, other| key(one).cmp(&key(other)));
}

/// Collects by inserting. `collect()` into a `BTreeMap` or a `BTreeSet` sorts first, and that sorting, too, is compiled
/// once per element type: 230 KiB here.
pub trait Gather: Iterator + Sized {
    /// All items; of equal keys the last remains.
    #[must_use]
    fn gather<C: Default + Extend<Self::Item>>(self) -> C {
        let mut gathered = C::default();
        gathered.extend(self);
        gathered
    }
}

impl<I: Iterator> Gather for I {}

/// Sorts the indices of the elements.
fn rank(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_unstable_by(|one, other| compare(*one, *other).then(one.cmp(other)));
}

/// Moves the element at index `order[n]` to index `n`, cycle by cycle.
pub(crate) fn place(order: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == start || from == at {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::Gather as _;

    proptest! {
        #[test]
        fn it_gathers_what_the_library_collects(pairs in prop::collection::vec((0_u8..20, 0_u8..20), 0..60)) {
            let collected: BTreeMap<u8, u8> = pairs.iter().copied().collect();
            let gathered: BTreeMap<u8, u8> = pairs.into_iter().gather();
            prop_assert_eq!(gathered, collected);
        }

        #[test]
        fn it_sorts_as_the_library_does(keys in prop::collection::vec(0_u8..20, 0..60)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            super::by_key(&mut items, |item| item.0);
            prop_assert_eq!(&items, &expected);
            expected.sort_by_key(|other| std::cmp::Reverse(other.0));
            super::by(&mut items, |one, other| other.0.cmp(&one.0));
            prop_assert_eq!(&items, &expected);
        }
    }
}
