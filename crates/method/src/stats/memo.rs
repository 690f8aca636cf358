// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last results of a function: a comparison of ten thousand cells needs the same few quantiles for each.

use std::cell::Cell;

/// Results of a function of two numbers, by the bits of its arguments.
pub(crate) struct Memo {
    kept: Cell<[Kept; KEPT]>,
    /// The place of the next one.
    next: Cell<usize>,
}

type Kept = ([u64; 2], f64);

impl Memo {
    pub(crate) const fn new() -> Self {
        // No number has these bits, and of one that is none nothing is known.
        let none = ([u64::MAX; 2], f64::NAN);
        Self {
            kept: Cell::new([none; KEPT]),
            next: Cell::new(0),
        }
    }

    /// The result for these arguments, computed unless it is one of the last.
    pub(crate) fn of(&self, arguments: [f64; 2], compute: impl FnOnce() -> f64) -> f64 {
        let key = arguments.map(f64::to_bits);
        let mut kept = self.kept.get();
        if let Some((_, result)) = kept.iter().find(|(known, _)| *known == key) {
            return *result;
        }
        let result = compute();
        let next = self.next.get();
        kept[next] = (key, result);
        self.kept.set(kept);
        self.next.set((next + 1) % KEPT);
        result
    }
}

/// More than a comparison needs.
const KEPT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_computed_once_and_belongs_to_its_arguments() {
        let memo = Memo::new();
        let computed = Cell::new(0);
        let sum = |a: f64, b: f64| {
            memo.of([a, b], || {
                computed.set(computed.get() + 1);
                a + 2.0 * b
            })
        };
        assert_eq!(
            [sum(1.0, 2.0), sum(2.0, 1.0), sum(1.0, 2.0)],
            [5.0, 4.0, 5.0]
        );
        assert_eq!(computed.get(), 2);
        for at in 0..KEPT {
            sum(at as f64, 9.0);
        }
        assert_eq!(sum(1.0, 2.0), 5.0, "forgotten, and computed again");
        assert_eq!(computed.get(), 3 + KEPT);
    }
}
