// SPDX-License-Identifier: MIT OR Apache-2.0
//! Netlink messages (RFC 3549, include/uapi/linux/netlink.h) of the families whose counters a test reads, and requests
//! that set up the lab. Everything is in host byte order, as netlink is.

pub mod attribute;
pub mod discipline;
pub mod ethtool;
pub mod generic;
pub mod link;
pub mod message;
pub mod order;
pub mod qdisc;
pub mod qdisc_words;
pub mod qstats;
pub mod route;
