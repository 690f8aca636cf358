// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network interfaces of the calling thread's network namespace: what they are, what they count, who drives them.
//!
//! Everything comes by netlink and ioctl, which belong to the thread's namespace; `/sys` shows the interfaces of
//! the namespace that mounted it, which in a lab is the machine's.

mod address;
mod ethtool;
mod link;

use std::io;

pub use address::{interface_of, local_addresses, local_toward};
pub use ethtool::{driver, ethtool_stats, speed_bits_per_second};
pub use link::{Link, link, list, stats64};

/// What kind of thing a result was measured over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// A device with a medium (or a virtual machine's device, whose medium is not ours to know).
    Wire,
    /// A pair of virtual interfaces of one machine.
    Veth,
    /// A TAP or TUN interface: user space is the medium.
    Tap,
    /// The loopback.
    Loopback,
}

impl LinkKind {
    /// The word used in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Veth => "veth",
            Self::Tap => "tap",
            Self::Loopback => "loopback",
        }
    }
}

fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}
