// SPDX-License-Identifier: MIT OR Apache-2.0
//! The iperf3 sessions: whole conversations in memory, hostile peers, and recordings of stock versions.
#![expect(clippy::disallowed_methods, reason = "the recordings are files")]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod conversations;
mod drive;
mod memory;
mod refusals;
mod transcripts;
