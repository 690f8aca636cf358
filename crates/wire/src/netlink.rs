// SPDX-License-Identifier: MIT OR Apache-2.0
//! Netlink messages (RFC 3549, include/uapi/linux/netlink.h) the few families whose counters a test
//! reads, and what the lab tells the kernel. Everything is in the byte order of the host, as netlink is.

pub mod attribute;
pub mod discipline;
pub mod ethtool;
pub mod generic;
pub mod link;
pub mod message;
pub mod order;
pub mod qdisc;
pub mod qstats;
