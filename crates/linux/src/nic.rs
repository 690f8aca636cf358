// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network interfaces of the calling thread's network namespace: properties, counters, drivers.
//!
//! Everything comes by netlink and ioctl, which belong to the thread's namespace; `/sys` shows the interfaces of
//! the namespace that mounted it, which in a lab is the machine's.

mod address;
mod counters;
mod device;
pub(crate) mod ethtool;
mod link;
mod mdio;
mod route;
mod window;

use std::io;
use std::net::SocketAddr;

use linerate_model::output::Interface;
pub use linerate_model::output::LinkKind;

pub use address::{addresses_of, interface_at, interface_of, local_addresses, local_toward};
pub use counters::Counters;
pub use device::{DeviceMemory, device_memory};
pub(crate) use ethtool::receive_queues;
pub use ethtool::registers::{RegisterDump, register_dump};
pub use ethtool::{
    Card, Ethtool, Family, Parameters, bus, cable, driver, energy, ethtool_stats, feature,
    flow_hash, permanent_address, physical, receive_hash, settings, speed_bits_per_second,
    time_stamps,
};
pub use link::{Link, link, list};
pub use mdio::Phy;
pub use route::route;
pub use window::Window;
pub(crate) use window::page_bytes;

/// Describes the interface called `name` as results do.
///
/// # Errors
/// As [`link`](fn@link).
pub fn describe(name: &str) -> io::Result<Interface> {
    let link = link(name)?;
    // A veth claims 10 Gbit/s, which mean nothing.
    let speed = match link.link_kind {
        LinkKind::Wire => speed_bits_per_second(name).ok().flatten(),
        _ => None,
    };
    Ok(Interface {
        name: link.name,
        driver: driver(name).ok(),
        link_bits_per_second: speed,
        mtu: Some(link.mtu_bytes),
        link_kind: Some(link.link_kind),
    })
}

/// The name of the interface whose address the routing table chooses toward `peer`.
///
/// # Errors
/// `NetworkUnreachable` without a route; those of netlink sockets.
pub fn toward(peer: SocketAddr) -> io::Result<Option<String>> {
    interface_of(local_toward(peer)?)
}

/// The name of an interface as ioctl(2) takes it.
pub(crate) fn ioctl_name(interface: &str) -> io::Result<[libc::c_char; libc::IFNAMSIZ]> {
    let mut name = [0; libc::IFNAMSIZ];
    if interface.len() >= name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(name)
}

fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}
