// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the program does when things go wrong: what it says, how it ends, and that nothing that
//! was measured is lost. The real program, over the loopback and between the hosts of a lab.
//!
//! Waits are conditions with a deadline far beyond what they need; no time is asserted.
#![forbid(unsafe_code)]

#[cfg(test)]
mod batches;
#[cfg(test)]
mod console;
#[cfg(test)]
mod live;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod peers;
#[cfg(test)]
#[path = "../support/ports.rs"]
mod ports;
#[cfg(test)]
mod process;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod strangers;
#[cfg(test)]
mod unsent;
#[cfg(test)]
mod verdict;
#[cfg(test)]
mod wall_clock;
