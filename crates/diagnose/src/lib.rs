// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a record means: facts, the ledger of lost packets, rules. A pure function of the record.
//!
//! ```text
//! record ──► evidence ──► ledger ──► facts ──► rules ──► findings
//! ```
//!
//! [`explain::explain`] is all of it. A stored run, a run that just ended and a pasted text come in
//! as the same [`record::Record`].
#![forbid(unsafe_code)]

pub mod calc;
mod collect;
pub mod dut;
pub mod evidence;
pub mod explain;
pub mod facts;
#[cfg(test)]
mod fixtures;
pub mod glance;
pub mod ledger;
pub mod limit;
pub mod rules;
pub mod viewpoint;
