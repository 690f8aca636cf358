// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interoperability with the stock iperf (2.x) of `PATH`, both roles, by real processes on the
//! loopback: our numbers and the stock program's printed ones agree to the datagram and the byte.

mod client;
mod flood;
mod hostile;
mod old;
mod path;
mod relay;
mod server;
mod stock;
