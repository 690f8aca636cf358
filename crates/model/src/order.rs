// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short lists in order. What `slice::sort_by` does, equal elements staying as they stood; but that is in the
//! program once for every kind of list (four kilobytes each), and this is there once.

use std::cmp::Ordering;

/// Sorts by a comparison.
pub fn by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    rank(&mut order, &mut |one, other| {
        compare(&items[one], &items[other])
    });
    place(&mut order, &mut |one, other| items.swap(one, other));
}

/// Sorts by a key, which is asked for again and again.
pub fn by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    by(items, |one, other| key(one).cmp(&key(other)));
}

/// The places of the elements, the first one's first.
fn rank(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_unstable_by(|one, other| compare(*one, *other).then(one.cmp(other)));
}

/// Moves the element from the place `order[n]` to the place `n`, circle by circle.
fn place(order: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
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
    use proptest::prelude::*;

    proptest! {
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
