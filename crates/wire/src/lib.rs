// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to meaning and back: pure functions and sans-IO state machines over slices.
//!
//! No clock, socket or file is touched here: bytes and `now` come in as arguments, bytes and events go out.
//! No input, however malformed, makes anything in this crate panic.
#![forbid(unsafe_code)]

pub mod arp;
pub mod btf;
pub mod checksum;
pub mod ether;
pub mod flow;
pub mod frame;
pub mod gzip;
pub mod iperf2;
pub mod iperf3;
pub mod ipv4;
pub mod ipv6;
pub mod json;
pub mod linerate;
pub mod link_modes;
pub mod nd;
pub mod netlink;
pub mod proc;
pub mod tracefs;
pub mod udp;
