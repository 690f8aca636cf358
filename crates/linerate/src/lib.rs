// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program: command line, runs in progress, store, history, exit codes.
//!
//! ```text
//! flags ──► plan ──► endpoint, forward, lab ──► tests + samples ──► store (run.json, samples.jsonl)
//!                                                       │
//!                                                       └──► Record ──► diagnose::explain ──► report ──► stdout, exit code
//! ```
//!
//! In: a command line, and the events of the engines. Out: a document on stdout (text or JSON),
//! progress on stderr, a stored run, an exit code. A stored run explains itself again:
//!
//! ```
//! use linerate_diagnose::{explain::explain, rules};
//! use linerate_model::record::Record;
//!
//! let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/linerate.run-1/udp");
//! let (run, samples) = linerate::store::read(directory.as_ref())?;
//! let explained = explain(&Record::of_run(run, samples), rules::embedded());
//! assert!(explained.ledger[0].stages.iter().any(|stage| stage.stage == "rx-socket"));
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod cli;
pub mod exit;
mod history;
mod input;
mod itself;
mod output;
mod panicked;
pub mod store;
