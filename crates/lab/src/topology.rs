// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the hosts and what connects them.
//!
//! ```text
//! pair    a ────────────── b      one subnet
//! bridge  a ─── device ─── b      one subnet, the device bridges
//! route   a ─── device ─── b      two subnets, the device routes
//! ```
//! Each line is a veth; the wire replaces the one at host A if there is to be one.
//! Addresses are those that RFC 2544 and RFC 5180 reserve for benchmarks: 198.18.0.0/15 and
//! 2001:2::/48.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use linerate_linux::rtnl::{Rtnl, RtnlError};

use super::host::{Addresses, ETHERNET, enable_forwarding, kernel_has_ipv6};
use super::link::{self, End};
use super::{Host, Lab, LabError, LabPlan, Wire};

/// What connects host A and host B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// One link.
    #[default]
    Pair,
    /// A device that bridges.
    Bridge,
    /// A device that routes.
    Route,
}

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "pair" => Ok(Self::Pair),
            "bridge" => Ok(Self::Bridge),
            "route" => Ok(Self::Route),
            _ => Err(format!("unknown topology '{text}': pair, bridge or route")),
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pair => "pair",
            Self::Bridge => "bridge",
            Self::Route => "route",
        })
    }
}

/// The lab on private namespaces, without its faults.
pub(super) fn build(plan: &LabPlan) -> Result<Lab, LabError> {
    let lab = match plan.topology {
        Topology::Pair if plan.has_second_link() => bridge(plan),
        Topology::Pair => pair(plan),
        Topology::Bridge => bridge(plan),
        Topology::Route => route(plan),
    }?;
    let mut hosts = lab.hosts.iter().chain(&lab.device);
    hosts.try_for_each(Host::wait_for_links)?;
    lab.wire.iter().for_each(Wire::enable);
    Ok(lab)
}

/// Both hosts are this machine.
pub(super) fn loopback() -> Lab {
    Lab::new(["a", "b"].map(Host::this_machine), None, None)
}

fn pair(plan: &LabPlan) -> Result<Lab, LabError> {
    let [a, b] = [new_host("a", 0, 1, plan)?, new_host("b", 0, 2, plan)?];
    let wire = join(End::new(&a, ETHERNET), End::new(&b, ETHERNET), plan)?;
    give_addresses(&a)?;
    give_addresses(&b)?;
    Ok(Lab::new([a, b], None, wire))
}

fn bridge(plan: &LabPlan) -> Result<Lab, LabError> {
    let [a, b] = [new_host("a", 0, 1, plan)?, new_host("b", 0, 2, plan)?];
    let device = new_host("device", 0, DEVICE, plan)?;
    let wire = join_device(&a, &device, &b, plan)?;
    device.set(|net| link::bridge(net, &[ETHERNET, SECOND], false))?;
    if plan.has_second_link() {
        second_link(&device, &b, plan)?;
    }
    give_addresses(&a)?;
    give_addresses(&b)?;
    Ok(Lab::new([a, b], Some(device), wire))
}

fn route(plan: &LabPlan) -> Result<Lab, LabError> {
    let [a, b] = [new_host("a", 0, 1, plan)?, new_host("b", 1, 2, plan)?];
    let device = new_host("device", 0, DEVICE, plan)?;
    let far_side = new_host_addresses(1, DEVICE, plan);
    let wire = join_device(&a, &device, &b, plan)?;
    for host in [&a, &b, &device] {
        give_addresses(host)?;
    }
    device.set(|net| {
        add_addresses(net, SECOND, far_side)?;
        net.set_up(SECOND, true)
    })?;
    enable_forwarding(&device, device.ipv6.is_some())?;
    route_through(&a, (device.ipv4, device.ipv6), &b)?;
    route_through(&b, far_side, &a)?;
    Ok(Lab::new([a, b], Some(device), wire))
}

/// Another link of host B to the network that the device bridges. It has its address first, so it has the route, too.
fn second_link(device: &Host, b: &Host, plan: &LabPlan) -> Result<(), LabError> {
    link::veth(End::new(device, THIRD), End::new(b, SECOND), plan.mtu_bytes)?;
    device.set(|net| {
        net.enslave(THIRD, "br0")?;
        net.set_up(THIRD, true)
    })?;
    b.set(|net| {
        add_addresses(net, SECOND, new_host_addresses(0, SECOND_OF_B, plan))?;
        net.set_up(SECOND, true)
    })
}

fn join_device(
    a: &Host,
    device: &Host,
    b: &Host,
    plan: &LabPlan,
) -> Result<Option<Wire>, LabError> {
    link::veth(
        End::new(device, SECOND),
        End::new(b, ETHERNET),
        plan.mtu_bytes,
    )?;
    join(End::new(a, ETHERNET), End::new(device, ETHERNET), plan)
}

/// Connects two hosts by the wire if there is to be one, else by a veth.
fn join(near: End<'_>, far: End<'_>, plan: &LabPlan) -> Result<Option<Wire>, LabError> {
    match plan.wire() {
        Some(spec) => link::wire(near, far, plan, &spec).map(Some),
        None => link::veth(near, far, plan.mtu_bytes).map(|()| None),
    }
}

fn new_host(name: &'static str, net: u8, number: u8, plan: &LabPlan) -> Result<Host, LabError> {
    Host::create(name, new_host_addresses(net, number, plan))
}

fn new_host_addresses(net: u8, number: u8, plan: &LabPlan) -> Addresses {
    let ipv4 = Ipv4Addr::new(198, 18, net, number);
    let ipv6 = Ipv6Addr::new(0x2001, 2, 0, net.into(), 0, 0, 0, number.into());
    let has_ipv6 = plan.mtu_bytes >= IPV6_MTU_MIN && kernel_has_ipv6();
    (ipv4, has_ipv6.then_some(ipv6))
}

fn give_addresses(host: &Host) -> Result<(), LabError> {
    host.set(|net| {
        net.set_up("lo", true)?;
        add_addresses(net, host.interface, (host.ipv4, host.ipv6))?;
        net.set_up(host.interface, true)
    })
}

fn add_addresses(net: &mut Rtnl, interface: &str, (v4, v6): Addresses) -> Result<(), RtnlError> {
    net.add_address(interface, IpAddr::V4(v4), IPV4_PREFIX)?;
    match v6 {
        Some(v6) => net.add_address(interface, IpAddr::V6(v6), IPV6_PREFIX),
        None => Ok(()),
    }
}

fn route_through(host: &Host, (v4, v6): Addresses, to: &Host) -> Result<(), LabError> {
    let ipv4_net = Ipv4Addr::from_bits(to.ipv4.to_bits() & !0xff);
    host.set(|net| {
        net.add_route(IpAddr::V4(ipv4_net), IPV4_PREFIX, IpAddr::V4(v4))?;
        let (Some(v6), Some(to)) = (v6, to.ipv6) else {
            return Ok(());
        };
        let ipv6_net = Ipv6Addr::from_bits(to.to_bits() >> 64 << 64);
        net.add_route(IpAddr::V6(ipv6_net), IPV6_PREFIX, IpAddr::V6(v6))
    })
}

/// The device's interface towards host B; host B's second one.
pub(super) const SECOND: &str = "eth1";
/// The device's interface towards that.
const THIRD: &str = "eth2";
/// The last number of that address.
const SECOND_OF_B: u8 = 3;
const DEVICE: u8 = 254;
const IPV4_PREFIX: u8 = 24;
const IPV6_PREFIX: u8 = 64;
const IPV6_MTU_MIN: u32 = 1280;
