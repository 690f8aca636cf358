// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the offloads of a network interface are right, as the other end of its wire sees it.
//!
//! In: this host's interface, and a linerate at the other end ([`serve`] there, [`Far`] here). Out: a
//! [`NicCheck`](linerate_model::output::NicCheck) for each property. This host sends through ordinary sockets, so that the
//! kernel asks the interface for its offloads, and the other end shows the frames as they came from the wire; the other
//! end sends frames with good and bad checksums, and this host shows what it made of them. Neither changes a setting.
//!
//! ```no_run
//! use linerate_nic::{Bench, Far};
//! # use linerate_linux::signal::Interrupt;
//! # fn checked(talk: linerate_change::remote::Talk) -> Result<(), Box<dyn std::error::Error>> {
//! let mut bench = Bench::open("eth0", "192.0.2.7".parse()?, Far::over(talk), &Interrupt::default())?;
//! bench.run(&mut |check| println!("{}: {}", check.id, check.state.words()))?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod bench;
mod check;
mod craft;
mod far;
mod hex;
mod message;
mod packet;
mod serve;
mod services;
mod software;
mod station;
mod tally;
mod vectors;

pub use bench::Bench;
pub use far::{FRAMES, Far};
pub use serve::{serve, serve_stream};
pub use station::Station;
