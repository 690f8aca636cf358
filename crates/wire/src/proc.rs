// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of the kernel's files under /proc, live or pasted.
//!
//! Names are the kernel's. Lines that make no sense are skipped, fields that an older kernel does not write are
//! `None`; nothing here fails.

pub mod interrupts;
pub mod loadavg;
pub mod meminfo;
pub mod net_dev;
pub mod net_stat;
pub mod net_tcp;
pub mod net_udp;
pub mod netstat;
pub mod pid_stat;
pub mod pressure;
pub mod route;
pub mod schedstat;
pub mod snmp;
pub mod snmp6;
pub mod sockstat;
pub mod softnet;
pub mod stat;
