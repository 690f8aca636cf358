// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a record means: facts, the ledger of lost packets, rules. A pure function of the record.
//! So far only `knowledge`: what each network driver's counters count.
#![forbid(unsafe_code)]

pub mod knowledge;
