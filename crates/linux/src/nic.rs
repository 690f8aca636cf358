// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network interfaces of the calling thread's network namespace: what they are, what they count, who drives them.
//!
//! Everything comes by netlink and ioctl, which belong to the thread's namespace; `/sys` shows the interfaces of
//! the namespace that mounted it, which in a lab is the machine's.

mod address;
mod counters;
mod device;
mod ethtool;
mod link;
mod mdio;
mod window;

use std::io;
use std::net::SocketAddr;

pub use address::{interface_of, local_addresses, local_toward};
pub use counters::Counters;
pub use device::{DeviceMemory, device_memory};
pub(crate) use ethtool::receive_queues;
pub use ethtool::registers::{RegisterDump, register_dump};
pub use ethtool::{driver, ethtool_stats, settings, speed_bits_per_second};
pub use link::{Link, link, list, stats64};
pub use mdio::Phy;
pub use window::Window;

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

/// What a result says about the interface it was measured over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Name, at most 15 bytes.
    pub name: String,
    /// The driver; `None` where there is no ethtool (the loopback).
    pub driver: Option<String>,
    /// Speed of the medium; `None` while down or unknown, and for interfaces without a medium, whose number is made up.
    pub link_bits_per_second: Option<u64>,
    /// Bytes of IP packet.
    pub mtu_bytes: u32,
    /// Whether there is a medium.
    pub link_kind: LinkKind,
}

/// Describes the interface called `name`.
///
/// # Errors
/// As [`link`](fn@link).
pub fn describe(name: &str) -> io::Result<Description> {
    let link = link(name)?;
    let speed = match link.link_kind {
        LinkKind::Wire => speed_bits_per_second(name).ok().flatten(),
        _ => None,
    };
    Ok(Description {
        name: link.name,
        driver: driver(name).ok(),
        link_bits_per_second: speed,
        mtu_bytes: link.mtu_bytes,
        link_kind: link.link_kind,
    })
}

/// The name of the interface whose address the routing table chooses toward `peer`.
///
/// # Errors
/// `NetworkUnreachable` without a route; those of netlink sockets.
pub fn toward(peer: SocketAddr) -> io::Result<Option<String>> {
    interface_of(local_toward(peer)?)
}

fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}
