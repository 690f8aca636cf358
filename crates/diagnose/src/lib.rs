// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explains a record: where packets were lost, what limits a rate, which causes are named. A pure function.
//!
//! ```text
//! record ──► evidence ──► ledger ──► facts ──► rules ──► findings
//!                            └──► limit: knees, verdicts
//! ```
//!
//! [`explain::explain`] runs all of it. A run that just ended, a stored run and a pasted text come in as the same
//! [`Record`](linerate_model::record::Record). [`evidence`] alone reads samples; everything else asks it.
//!
//! ```
//! use linerate_diagnose::{explain::explain, rules};
//! let text = "$ ethtool -i eth0\ndriver: fec\n$ ethtool -S eth0\nNIC statistics:\n     IEEE_rx_macerr: 782502\n";
//! let pasted = linerate_paste::read(text);
//! let explanation = explain(&pasted.records[0], rules::embedded());
//! let drops = explanation.facts.iter().find(|fact| fact.name == "rx_mac_drops");
//! assert_eq!(drops.and_then(|fact| fact.value.number()), Some(782_502.0));
//! ```
#![forbid(unsafe_code)]

pub mod calc;
mod collect;
mod cost;
pub mod dut;
pub mod evidence;
pub mod explain;
pub mod facts;
#[cfg(test)]
mod fixtures;
pub mod glance;
pub mod ledger;
pub mod limit;
pub mod moved;
mod nic;
pub mod rules;
pub mod viewpoint;
pub mod weigh;

/// The stages of a path, from the sending program to the receiving one, as documents name them.
pub const STAGES: &[&str] = linerate_knowledge::Stage::WORDS;
