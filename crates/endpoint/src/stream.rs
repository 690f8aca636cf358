// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workers: one thread a stream and direction, the same code at both ends.

pub mod gauge;
pub mod limit;
pub mod progress;
pub mod stamp;
pub mod start;
pub mod tcp_rx;
pub mod tcp_tx;
pub mod udp_rx;
pub mod udp_tx;

pub use limit::Limit;
pub use progress::Progress;
pub use stamp::Stamp;
pub use start::{Drain, StartLine};
