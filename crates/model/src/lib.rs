// SPDX-License-Identifier: MIT OR Apache-2.0
//! The vocabulary of linerate and the shapes of its files. Serde only.
//!
//! In: text that a user types ([`units`], [`expect`]) and files of earlier versions ([`compat`]). Out: the stored run
//! ([`run`], [`sample`], [`setting`]), the `--json` document ([`output`]), and numbers derived from both
//! ([`counters`], [`derived`], [`series`]). [`record::Record`] is what all conclusions are drawn from,
//! [`failure::Failure`] what every command reports.
//!
//! ```
//! use linerate_model::units::{BitsPerSecond, Rate};
//! let rate: Rate = "1.5Gbit".parse()?;
//! assert_eq!(rate, Rate::Bits(BitsPerSecond(1.5e9)));
//! assert_eq!(BitsPerSecond(1.5e9).to_string(), "1.500 Gbit/s");
//! # Ok::<(), linerate_model::units::UnitError>(())
//! ```
#![forbid(unsafe_code)]

// What `Fields` derives names this crate.
extern crate self as linerate_model;

pub mod cell_run;
pub mod compat;
pub mod counters;
pub mod crc32;
pub mod credible;
pub mod date;
pub mod derived;
pub mod expect;
pub mod failure;
pub mod fields;
pub mod map;
pub mod order;
pub mod output;
pub mod printable;
pub mod record;
pub mod round_trips;
pub mod run;
pub mod sample;
pub mod sampled;
pub mod series;
pub mod setting;
pub mod state;
pub mod units;
pub mod work;
