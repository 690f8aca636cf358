// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the program does when things go wrong: what it says, how it ends, and that nothing that
//! was measured is lost. The real program, over the loopback and between the hosts of a lab.
//!
//! Waits are conditions with a deadline far beyond what they need; no time is asserted.

mod batches;
mod console;
mod live;
mod paths;
mod peers;
pub(crate) mod process;
mod signals;
mod silent_clients;
mod storage;
mod unsent;
mod verdict;
mod wall_clock;
