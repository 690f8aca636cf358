// SPDX-License-Identifier: MIT OR Apache-2.0
//! An experiment that compares two configurations: the order of the runs, the stopping rule and the verdict.
//!
//! Runs come in blocks A B B A or B A A B, chosen at random from a seed. The random order makes the test valid:
//! without an effect, each block's difference is equally likely to have the other sign, whatever drifts. Before
//! anything is changed, an A/A phase runs the same setting as both arms: it measures the noise and the smallest
//! effect that the experiment can detect, and it reveals a broken harness.
//!
//! The total error is 5 %. The sign e-process is evaluated after every block; the error that it spends is
//! computed exactly (`e_process::error_spent`), and the exact sign-flip test after
//! the last block gets the rest. Equivalence has its own 5 %: 1 % for early looks, 4 % at the end.

pub mod blocks;
pub mod environment;
mod figure;
pub mod groups;
mod guard;
pub mod margin;
mod order;
mod plan;
pub mod recorded;
mod rule;
mod run;
mod together;
mod verdict;

pub use figure::{Figure, Key, figures};
pub use guard::guard;
pub use margin::Margins;
pub use order::{Arm, Order};
pub use plan::{FEWEST_BLOCKS, Plan};
pub use rule::{Evidence, Stop};
pub use run::{Experiment, Phase, Slot, Step};
pub use verdict::judge;

#[cfg(test)]
pub(crate) mod simulation;
