// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system calls of linerate, and all `unsafe` of the workspace.
//!
//! In: requests of the endpoint, the tester and the lab. Out: datagrams, streams and frames ([`udp`], [`tcp`],
//! [`port`]), the kernel's counters and settings ([`nic`], [`proc`], [`setup`], [`drops`]), and private network
//! namespaces ([`sandbox`], [`netns`], [`rtnl`]). Text and netlink messages are parsed in `linerate-wire`. A
//! facility is probed by using it; what a kernel lacks is an error or `None`, and the mode in use can be queried.
//!
//! ```
//! use linerate_linux::{clock, nic};
//! let loopback = nic::describe("lo")?;
//! assert!(loopback.mtu.is_some_and(|mtu| mtu > 1500));
//! let deadline_ns = clock::monotonic_ns() + 100_000;
//! assert!(clock::sleep_until_ns(deadline_ns, 0) >= deadline_ns);
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod alarm;
mod bpf;
pub mod buffer_limit;
pub mod calendar;
pub mod clock;
pub mod cpu;
pub mod daemon;
pub mod drops;
pub mod errno;
pub mod ethtool_features;
pub mod file;
pub mod heap;
pub mod host;
pub mod icmp;
pub mod management;
pub mod memory_file;
mod message;
mod mode;
mod netlink;
pub mod netns;
pub mod nft;
pub mod nic;
#[cfg(no_unwinding)]
mod no_unwinding;
pub mod observed_heap;
pub mod ownership;
pub mod packet;
pub mod perf;
pub mod pipe;
pub mod piped;
pub mod port;
pub mod proc;
pub mod proc_kept;
pub mod process;
pub mod qdisc;
pub mod random;
pub mod resolution;
pub mod rtnl;
pub mod sandbox;
pub mod seccomp;
pub mod setup;
pub mod signal;
pub mod socket_buffer;
mod sockopt;
pub mod sysctl;
pub mod sysfs;
pub mod tcp;
pub mod terminal;
pub mod udp;
pub mod vlan_push;
pub mod xdp_forward;
