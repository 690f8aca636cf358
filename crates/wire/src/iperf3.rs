// SPDX-License-Identifier: MIT OR Apache-2.0
//! The iperf3 protocol (3.1 … 3.21) with linerate's one extension key, both roles.
//!
//! Documents and datagrams are plain values ([`params`], [`results`], [`hello`], [`datagram`]);
//! the control connection is a pair of sans-IO sessions ([`client`], [`server`]), driven alike ([`session`]).

pub mod agent;
pub mod client;
mod control;
pub mod cookie;
pub mod datagram;
pub mod error;
pub mod hello;
mod link;
mod number;
pub mod params;
pub mod results;
pub mod server;
pub mod session;
pub mod state;
pub mod stream_id;

pub use control::{Refusal, Timeouts};

/// The TCP and UDP port of an iperf3 server.
pub const PORT: u16 = 5201;
