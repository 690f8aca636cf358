// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ledger against worlds whose losses are known.

mod faults;
mod rules;
mod shares;
mod world;
mod worlds;
