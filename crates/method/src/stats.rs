// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics for measurements of networks: what an honest comparison of runs needs, and no more.
//!
//! One run is one observation: packets and intervals within a run depend on each other, so none of the
//! tests here may be given them. All functions are pure, take finite numbers, and answer `None` where the
//! numbers are too few. Random draws come from a seed ([`crate::rng`]).

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
