// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interoperability with the stock iperf (2.x) of `PATH`, both roles, by real processes on the
//! loopback: our numbers and the stock program's printed ones agree to the datagram and the byte.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test")]

mod client;
mod hostile;
mod old;
mod path;
mod relay;
mod server;
mod stock;
#[expect(dead_code, reason = "some of it is only for iperf3")]
#[path = "../support/mod.rs"]
mod support;
