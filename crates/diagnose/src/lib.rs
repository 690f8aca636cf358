// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a record means: facts, the ledger of lost packets, rules. A pure function of the record; still empty.
#![forbid(unsafe_code)]
