// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement methods as pure state machines and functions.
//!
//! In: times, sequence numbers, results of trials and random seeds, as arguments. Out: what to send and when
//! ([`pacing`], [`knee`], [`search`]), accounts of what arrived ([`sequence`], [`flow_account`], [`spacing`]),
//! benchmarks of a device under test ([`back_to_back`], [`latency`], [`recovery`], [`reset`]), and verdicts on the
//! difference of two configurations ([`experiment`], [`campaign`], [`stats`]), and grids of measurements ([`matrix`]). There is no clock, socket, file or thread; code
//! that runs once per packet neither allocates nor panics.
//!
//! ```
//! use linerate_method::sequence::SequenceAccount;
//! let mut account = SequenceAccount::new(1024);
//! for sequence in [1, 2, 4] {
//!     account.record(sequence, 0);
//! }
//! assert_eq!(account.finish(Some(5)).lost, 2);
//! ```
#![forbid(unsafe_code)]

pub mod back_to_back;
pub mod bound;
pub mod campaign;
pub mod clock_offset;
pub mod cost;
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
pub mod matrix;
pub mod pacing;
pub mod probing;
pub mod profile;
pub mod recovery;
pub mod reset;
pub mod rng;
pub mod search;
pub mod sequence;
pub mod simulated;
pub mod slowest;
pub mod spacing;
pub mod stats;
pub mod steadiness;
pub mod sweep;
pub mod transit;
pub mod trend;
