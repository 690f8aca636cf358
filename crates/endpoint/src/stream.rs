// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workers: one thread a stream and direction, the same code at both ends.

pub(crate) mod gauge;
pub(crate) mod limit;
pub(crate) mod progress;
pub(crate) mod stamp;
pub(crate) mod start;
pub(crate) mod tcp_rx;
pub(crate) mod tcp_tx;
pub(crate) mod thread_clock;
pub(crate) mod udp_rx;
pub(crate) mod udp_tx;
pub(crate) mod waits;

pub(crate) use limit::Limit;
pub(crate) use progress::Progress;
pub(crate) use stamp::Stamp;
pub(crate) use start::{Drain, StartLine};
