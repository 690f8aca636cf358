// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything this program asks of Linux: sockets, clocks, signals, netlink, ethtool and `/proc`.
//! All `unsafe` of the workspace is in this crate.

mod bpf;
pub mod buffer_limit;
pub mod clock;
pub mod cpu;
pub mod drops;
pub mod ethtool_features;
pub mod host;
pub mod icmp;
pub mod memory_file;
mod message;
mod mode;
mod netlink;
pub mod netns;
pub mod nft;
pub mod nic;
pub mod packet;
pub mod pipe;
pub mod port;
pub mod proc;
pub mod proc_kept;
pub mod process;
pub mod random;
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
