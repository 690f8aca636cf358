// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix: the product of axes, each combination of values measured several times.
//!
//! In: the axes as words, and the runs so far. Out: which values an axis takes ([`check`]), which combinations cannot be
//! ([`impossible`]), what runs next ([`Progress`]), what a run gives ([`values`]) and the cells over their runs ([`cells`]).
//!
//! Each round runs every cell once, in an order drawn from the seed and the round alone: one that is resumed goes on as it
//! would have. Cells with the same settings run together ([`order::drawn`]): a setting such as the MTU may cut the link for
//! a moment, and a driver takes seconds to change.

mod axis;
mod cells;
mod figures;
mod hosts;
pub mod order;
mod possible;
mod progress;
pub mod verdict;

pub use axis::{Axes, check, is_setting};
pub use cells::{cells, rows};
pub use figures::{packets, values};
pub use hosts::hosts;
pub use possible::{impossible, note};
pub use progress::{ATTEMPTS, Progress, Slot};

/// `tcp`, `udp`, `udp-plain` (one datagram per call), `udp-gso` (segmented and coalesced by the kernel).
pub const PROTOCOL: &str = "protocol";
/// `4` or `6`.
pub const FAMILY: &str = "family";
/// Bytes of an IP packet on the measured interface.
pub const MTU: &str = "mtu";
/// UDP payload or TCP write size, bytes.
pub const SIZE: &str = "size";
/// TCP maximum segment size, bytes, or [`DEFAULT`].
pub const MSS: &str = "mss";
/// `up`, `down` or [`BOTH`].
pub const DIRECTION: &str = "direction";
/// A direction: both at once, in one test.
pub const BOTH: &str = "both";
/// Parallel streams.
pub const STREAMS: &str = "streams";
/// Congestion control of TCP, or [`DEFAULT`].
pub const CONGESTION: &str = "congestion";
/// `on`, `off`, or the features that are on: `tso+gso`.
pub const OFFLOAD: &str = "offload";
/// The axes that change the host, without commands of the user.
pub const SETTINGS: [&str; 2] = [MTU, OFFLOAD];
/// The most cells of a matrix: those of one with more are not listed.
pub const MOST_CELLS: usize = 100_000;
/// A value that leaves it as it is: for UDP, which has neither segments nor congestion control, the only one.
pub const DEFAULT: &str = "default";
