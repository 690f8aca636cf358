// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parses and writes the bytes that linerate exchanges with peers and with the kernel.
//!
//! | in | out |
//! | --- | --- |
//! | slices of a control connection, and the time | events and bytes to write: the sessions of [`iperf3`] |
//! | datagrams of [`iperf3`], [`iperf2`] and [`linerate`] | headers, stamps, hellos, probes |
//! | requests of [`http`] | heads, and answers of one page |
//! | Ethernet frames | [`frame`] (forwarding tests), [`ether`] … [`udp`], [`offload`] |
//! | the memory of a pluggable [`module`] | its identity, readings and limits |
//! | [`netlink`] messages, files of [`proc`], the kernel's types ([`btf`]) | counters and settings |
//!
//! Everything is a pure function or a sans-IO state machine: no clock, socket or file. No input makes it panic.
//!
//! ```
//! use linerate_wire::iperf3::{Timeouts, client::ClientSession, cookie::Cookie, params::Params, session::Session};
//! let cookie = Cookie::from_random(&[7; 23]);
//! let params = Params { tcp: true, ..Params::default() };
//! let mut client = ClientSession::new(&cookie, params, Timeouts::default(), 0);
//! assert_eq!(client.poll_output().expect("the cookie").len(), Cookie::LEN);
//! client.feed(&[9], 0); // PARAM_EXCHANGE
//! assert_eq!(client.poll_event(), None);
//! assert_eq!(client.poll_output().expect("the parameters"), b"\0\0\0\x0c{\"tcp\":true}");
//! ```
#![forbid(unsafe_code)]

pub mod arp;
pub mod btf;
pub mod checksum;
pub mod ether;
pub mod frame;
pub mod gzip;
pub mod http;
pub mod iperf2;
pub mod iperf3;
pub mod ipv4;
pub mod ipv6;
pub mod json;
pub mod kallsyms;
pub mod linerate;
pub mod link_modes;
pub mod module;
pub mod nd;
pub mod netlink;
pub mod offload;
pub mod perf_ring;
pub mod proc;
pub mod tracefs;
pub mod udp;
