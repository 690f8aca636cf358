// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics to compare runs.
//!
//! One run is one observation: packets and intervals within a run are not independent, so these tests must not be
//! applied to them. All functions are pure, expect finite numbers, and return `None` for too few of them. Random
//! draws come from a seed ([`crate::rng`]).

pub(crate) mod beta;
pub(crate) mod change_point;
pub mod describe;
pub(crate) mod e_process;
pub(crate) mod equivalence;
pub mod fairness;
pub(crate) mod level_change;
pub(crate) mod many;
pub(crate) mod max_t;
pub(crate) mod memo;
pub(crate) mod normal;
pub mod paired;
pub(crate) mod shift;
pub(crate) mod sign_flip;
pub(crate) mod student;
pub(crate) mod two_samples;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod vectors;
