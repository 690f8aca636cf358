// SPDX-License-Identifier: MIT OR Apache-2.0
//! How to measure: receiver accounting, pacing arithmetic, statistics of one flow, the search for a
//! rate, the benchmarks of a device in the middle, and the lab wire's impairment model.
//!
//! Everything here is a pure state machine or function. Time and random seeds come in as arguments;
//! there is no clock, socket, file or thread. What runs once per packet neither allocates nor panics.
#![forbid(unsafe_code)]

pub mod back_to_back;
pub mod bound;
pub mod experiment;
pub mod flow_account;
pub mod frame_size;
pub mod histogram;
pub mod impair;
pub mod jitter;
pub mod knee;
pub mod latency;
pub mod line_rate;
pub mod loss_curve;
pub mod pacing;
pub mod profile;
pub mod recovery;
pub mod reset;
pub mod rng;
pub mod search;
pub mod sequence;
pub mod simulated;
pub mod spacing;
pub mod stats;
pub mod steadiness;
pub mod sweep;
pub mod trend;
