// SPDX-License-Identifier: MIT OR Apache-2.0
//! An experiment that compares two configurations: which one to run next, when to stop, what it says.
//!
//! Runs come in blocks A B B A or B A A B, drawn by a seeded coin. The coin is what makes the answer
//! right: were there no effect, each block's difference could as well have had the other sign, whatever
//! drifts meanwhile. Before anything is changed an A/A phase runs the same setting as both arms: it gives
//! the noise and the smallest effect that the experiment will find, and it finds a broken harness.
//!
//! The error of 5 % is spent once. The sign e-process is looked at after every block; what it spends is
//! computed exactly ([`error_spent`](crate::stats::e_process::error_spent)) and the exact sign-flip test at
//! the last block gets the rest. Equivalence spends its own 5 % likewise: 1 % on early looks, 4 % at the end.

pub mod blocks;
pub mod environment;
mod figure;
pub mod groups;
mod order;
mod plan;
pub mod recorded;
mod rule;
mod run;
mod verdict;

pub use figure::{Figure, Key, figures};
pub use order::{Arm, Order};
pub use plan::{FEWEST_BLOCKS, Plan};
pub use rule::{Evidence, Stop};
pub use run::{Experiment, Phase, Slot, Step};
pub use verdict::judge;

#[cfg(test)]
mod simulation;
