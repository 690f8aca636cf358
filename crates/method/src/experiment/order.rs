// SPDX-License-Identifier: MIT OR Apache-2.0
//! In which order the runs of a block are done.

use crate::rng::Rng;

/// One of the two configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// What is there.
    A,
    /// What may be better.
    B,
}

/// The four runs of a block; either is free of a linear drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order([Arm; RUNS]);

impl Order {
    /// A B B A or B A A B, by the next toss of the coin.
    pub fn toss(coin: &mut Rng) -> Self {
        use Arm::{A, B};
        Self(if coin.next_u64() >> 63 == 0 {
            [A, B, B, A]
        } else {
            [B, A, A, B]
        })
    }

    /// The arm of the next run after `done` runs of the block; `None` after the last.
    pub fn arm(self, done: usize) -> Option<Arm> {
        self.0.get(done).copied()
    }

    /// Selects the values of one arm.
    pub fn of(self, arm: Arm, values: &[f64]) -> Vec<f64> {
        let runs = self.0.iter().zip(values);
        runs.filter(|(of, _)| **of == arm)
            .map(|(_, value)| *value)
            .collect()
    }
}

/// Runs of a block.
pub(super) const RUNS: usize = 4;
