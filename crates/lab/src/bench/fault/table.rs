// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of faults, and which device can have them.

use super::DeviceFault;
use crate::bench::DeviceKind;
use crate::size::{self, Unreadable};

/// A fault's name, the values it takes when none is given, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFaultKind {
    pub name: &'static str,
    /// Empty: takes no value.
    pub default: &'static str,
    pub effect: &'static str,
    /// Which devices can have it.
    pub devices: &'static [DeviceKind],
    pub(super) parse: fn(&[&str]) -> Result<DeviceFault, Unreadable>,
}

/// Every fault of a device, in the order of the help.
pub const DEVICE_FAULTS: &[DeviceFaultKind] = &[
    DeviceFaultKind {
        name: "rate",
        default: "10M",
        effect: "the device sends no faster (bits from Ethernet header to payload)",
        devices: KERNELS,
        parse: |v| {
            let bits_per_second = size::bits_per_second(v[0])?;
            Ok(DeviceFault::Rate { bits_per_second })
        },
    },
    DeviceFaultKind {
        name: "loss",
        default: "1000",
        effect: "the router drops every n-th frame",
        devices: LOSING,
        parse: |v| {
            let every = size::count(v[0])?;
            Ok(DeviceFault::Loss { every })
        },
    },
    DeviceFaultKind {
        name: "flood",
        default: "",
        effect: "the bridge learns no address",
        devices: BRIDGE,
        parse: |_| Ok(DeviceFault::Flood),
    },
    DeviceFaultKind {
        name: "neighbour-expiry",
        default: "200ms",
        effect: "the router forgets its neighbours this often",
        devices: ROUTERS,
        parse: |v| {
            let ns = size::nanoseconds(v[0])?;
            Ok(DeviceFault::NeighbourExpiry { ns })
        },
    },
    DeviceFaultKind {
        name: "link-down",
        default: "5s:1s",
        effect: "the device's second interface goes down after, for",
        devices: ALL,
        parse: |v| {
            let (after_ns, for_ns) = (size::nanoseconds(v[0])?, size::nanoseconds(v[1])?);
            Ok(DeviceFault::LinkDown { after_ns, for_ns })
        },
    },
    DeviceFaultKind {
        name: "port-gone",
        default: "5s",
        effect: "the device's second interface and the port behind it are deleted after",
        devices: KERNELS,
        parse: |v| {
            let after_ns = size::nanoseconds(v[0])?;
            Ok(DeviceFault::PortGone { after_ns })
        },
    },
    DeviceFaultKind {
        name: "mtu",
        default: "1400",
        effect: "the router's second interface takes packets of so many bytes",
        devices: KERNEL_ROUTERS,
        parse: |v| {
            let bytes = size::bytes(v[0])?;
            Ok(DeviceFault::Mtu { bytes })
        },
    },
    DeviceFaultKind {
        name: "send-back",
        default: "100",
        effect: "the router sends every n-th test frame back where it came from",
        devices: USER_ROUTE,
        parse: |v| {
            let every = size::count(v[0])?;
            Ok(DeviceFault::SendBack { every })
        },
    },
    DeviceFaultKind {
        name: "corrupt",
        default: "100",
        effect: "the router flips a bit of every n-th test frame",
        devices: USER_ROUTE,
        parse: |v| {
            let every = size::count(v[0])?;
            Ok(DeviceFault::Corrupt { every })
        },
    },
    DeviceFaultKind {
        name: "duplicate",
        default: "100",
        effect: "the router sends every n-th test frame twice",
        devices: USER_ROUTE,
        parse: |v| {
            let every = size::count(v[0])?;
            Ok(DeviceFault::Duplicate { every })
        },
    },
    DeviceFaultKind {
        name: "reorder",
        default: "100",
        effect: "the router sends every n-th test frame behind the next one",
        devices: USER_ROUTE,
        parse: |v| {
            let every = size::count(v[0])?;
            Ok(DeviceFault::Reorder { every })
        },
    },
    DeviceFaultKind {
        name: "chatter",
        default: "100",
        effect: "the router sends a frame of its own after every n-th test frame",
        devices: USER_ROUTE,
        parse: |v| {
            let every = size::count(v[0])?;
            Ok(DeviceFault::Chatter { every })
        },
    },
    DeviceFaultKind {
        name: "hops",
        default: "2",
        effect: "the router takes so many hops of the TTL",
        devices: USER_ROUTE,
        parse: |v| {
            let hops = size::count(v[0])?.min(u8::MAX.into()) as u8;
            Ok(DeviceFault::Hops { hops })
        },
    },
    DeviceFaultKind {
        name: "untagged",
        default: "",
        effect: "the router leaves the tag out",
        devices: USER_ROUTE,
        parse: |_| Ok(DeviceFault::Untagged),
    },
];

const ALL: &[DeviceKind] = &[
    DeviceKind::Bridge,
    DeviceKind::Route,
    DeviceKind::Flowtable,
    DeviceKind::UserRoute,
];
const KERNELS: &[DeviceKind] = &[DeviceKind::Bridge, DeviceKind::Route, DeviceKind::Flowtable];
const KERNEL_ROUTERS: &[DeviceKind] = &[DeviceKind::Route, DeviceKind::Flowtable];
const ROUTERS: &[DeviceKind] = &[
    DeviceKind::Route,
    DeviceKind::Flowtable,
    DeviceKind::UserRoute,
];
/// What a flowtable has taken over, no filter sees.
const LOSING: &[DeviceKind] = &[DeviceKind::Route, DeviceKind::UserRoute];
const BRIDGE: &[DeviceKind] = &[DeviceKind::Bridge];
const USER_ROUTE: &[DeviceKind] = &[DeviceKind::UserRoute];
