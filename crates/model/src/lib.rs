// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words and the record: what a run consists of and how it is written down. Serde only.
#![forbid(unsafe_code)]

pub mod compat;
pub mod counters;
pub mod date;
pub mod derived;
pub mod expect;
pub mod failure;
pub mod order;
pub mod output;
pub mod record;
pub mod round_trips;
pub mod run;
pub mod sample;
pub mod series;
pub mod setting;
pub mod units;
