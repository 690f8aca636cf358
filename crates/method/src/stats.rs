// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics to compare runs.
//!
//! One run is one observation: packets and intervals within a run are not independent, so these tests must not be
//! applied to them. All functions are pure, expect finite numbers, and return `None` for too few of them. Random
//! draws come from a seed ([`crate::rng`]).

pub mod beta;
pub mod change_point;
pub mod describe;
pub mod e_process;
pub mod equivalence;
pub mod fairness;
pub mod many;
pub mod normal;
pub mod paired;
pub mod shift;
pub mod sign_flip;
pub mod student;
pub mod two_samples;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod vectors;
