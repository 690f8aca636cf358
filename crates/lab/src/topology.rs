// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the hosts and what lies between them.
//!
//! ```text
//! pair    a ────────────── b      one subnet
//! bridge  a ─── device ─── b      one subnet, the device bridges
//! route   a ─── device ─── b      two subnets, the device routes
//! ```
//! Each line is a veth; the one at host A is replaced by the wire where one is asked for.
//! Addresses are those that RFC 2544 and RFC 5180 keep for measuring: 198.18.0.0/15 and
//! 2001:2::/48.

use std::fmt;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::rtnl::{Rtnl, RtnlError};
use linerate_linux::sysctl;

use super::cable::{self, End};
use super::host::ETHERNET;
use super::{Host, Lab, LabError, LabPlan, Wire, cannot};

/// What lies between host A and host B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// Nothing: one link.
    #[default]
    Pair,
    /// A device that bridges.
    Bridge,
    /// A device that routes.
    Route,
}

impl Topology {
    const ALL: [(Self, &str); 3] = [
        (Self::Pair, "pair"),
        (Self::Bridge, "bridge"),
        (Self::Route, "route"),
    ];
}

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(_, name)| *name == text);
        known
            .map(|(topology, _)| topology)
            .ok_or_else(|| format!("unknown topology '{text}': pair, bridge or route"))
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::ALL.into_iter().find(|(topology, _)| topology == self);
        f.write_str(known.map_or("", |(_, name)| name))
    }
}

/// The lab on private namespaces, without its faults.
pub(super) fn build(plan: &LabPlan) -> Result<Lab, LabError> {
    let lab = match plan.topology {
        Topology::Pair => pair(plan),
        Topology::Bridge => bridge(plan),
        Topology::Route => route(plan),
    }?;
    wait_for_links(lab.hosts.iter().chain(&lab.device))?;
    lab.wire.iter().for_each(Wire::plug_in);
    Ok(lab)
}

/// Both hosts are this machine.
pub(super) fn loopback() -> Lab {
    let host = |name| {
        let addresses = (Ipv4Addr::LOCALHOST, Some(Ipv6Addr::LOCALHOST));
        Host::this_machine(name, addresses)
    };
    Lab::of([host("a"), host("b")], None, None)
}

fn pair(plan: &LabPlan) -> Result<Lab, LabError> {
    let [a, b] = [new_host("a", 0, 1, plan)?, new_host("b", 0, 2, plan)?];
    let wire = join(End::new(&a, ETHERNET), End::new(&b, ETHERNET), plan)?;
    give_addresses(&a)?;
    give_addresses(&b)?;
    Ok(Lab::of([a, b], None, wire))
}

fn bridge(plan: &LabPlan) -> Result<Lab, LabError> {
    let [a, b] = [new_host("a", 0, 1, plan)?, new_host("b", 0, 2, plan)?];
    let device = new_host("device", 0, DEVICE, plan)?;
    let wire = join_device(&a, &device, &b, plan)?;
    give_addresses(&a)?;
    give_addresses(&b)?;
    configure(&device, |net| {
        net.bridge("br0")?;
        for port in [ETHERNET, SECOND] {
            net.enslave(port, "br0")?;
            net.set_up(port, true)?;
        }
        net.set_up("br0", true)
    })?;
    Ok(Lab::of([a, b], Some(device), wire))
}

fn route(plan: &LabPlan) -> Result<Lab, LabError> {
    let [a, b] = [new_host("a", 0, 1, plan)?, new_host("b", 1, 2, plan)?];
    let device = new_host("device", 0, DEVICE, plan)?;
    let far_side = new_host_addresses(1, DEVICE, plan);
    let wire = join_device(&a, &device, &b, plan)?;
    for host in [&a, &b, &device] {
        give_addresses(host)?;
    }
    configure(&device, |net| {
        add_addresses(net, SECOND, far_side)?;
        net.set_up(SECOND, true)
    })?;
    forward(&device)?;
    route_through(&a, (device.ipv4, device.ipv6), &b)?;
    route_through(&b, far_side, &a)?;
    Ok(Lab::of([a, b], Some(device), wire))
}

fn join_device(
    a: &Host,
    device: &Host,
    b: &Host,
    plan: &LabPlan,
) -> Result<Option<Wire>, LabError> {
    cable::veth(
        End::new(device, SECOND),
        End::new(b, ETHERNET),
        plan.mtu_bytes,
    )?;
    join(End::new(a, ETHERNET), End::new(device, ETHERNET), plan)
}

/// Until every link between the hosts is in use: the kernel takes a moment after both ends are
/// up, and swallows what is sent in it.
fn wait_for_links<'a>(hosts: impl IntoIterator<Item = &'a Host>) -> Result<(), LabError> {
    let end = Instant::now() + LINKS_UP_WITHIN;
    for host in hosts {
        while !host.enter(links_are_up).map_err(cannot("enter a host"))? {
            if Instant::now() > end {
                let what = format!("bring the links of host {} up", host.name);
                return Err(LabError::measuring(what, "they have no carrier"));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

/// Asks /sys, which is a host's own where it may be mounted; else it cannot be known.
fn links_are_up() -> bool {
    [ETHERNET, SECOND].into_iter().all(|interface| {
        let state = fs::read_to_string(format!("/sys/class/net/{interface}/operstate"));
        state.is_ok_and(|state| state.trim() == "up")
            || !Path::new(&format!("/proc/sys/net/ipv4/conf/{interface}")).exists()
    })
}

/// By the wire if there is to be one, else by a veth.
fn join(near: End<'_>, far: End<'_>, plan: &LabPlan) -> Result<Option<Wire>, LabError> {
    match plan.wire() {
        Some(spec) => cable::wire(near, far, plan, &spec).map(Some),
        None => cable::veth(near, far, plan.mtu_bytes).map(|()| None),
    }
}

fn new_host(name: &'static str, net: u8, number: u8, plan: &LabPlan) -> Result<Host, LabError> {
    Host::create(name, new_host_addresses(net, number, plan))
}

fn new_host_addresses(net: u8, number: u8, plan: &LabPlan) -> Addresses {
    let ipv4 = Ipv4Addr::new(198, 18, net, number);
    let ipv6 = Ipv6Addr::new(0x2001, 2, 0, net.into(), 0, 0, 0, number.into());
    let has_ipv6 = plan.mtu_bytes >= IPV6_MTU_MIN && sysctl::read(IPV6_OFF).is_ok();
    (ipv4, has_ipv6.then_some(ipv6))
}

type Addresses = (Ipv4Addr, Option<Ipv6Addr>);

fn give_addresses(host: &Host) -> Result<(), LabError> {
    configure(host, |net| {
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
    configure(host, |net| {
        net.add_route(IpAddr::V4(ipv4_net), IPV4_PREFIX, IpAddr::V4(v4))?;
        let (Some(v6), Some(to)) = (v6, to.ipv6) else {
            return Ok(());
        };
        let ipv6_net = Ipv6Addr::from_bits(to.to_bits() >> 64 << 64);
        net.add_route(IpAddr::V6(ipv6_net), IPV6_PREFIX, IpAddr::V6(v6))
    })
}

fn forward(device: &Host) -> Result<(), LabError> {
    let forward = || {
        sysctl::write("net.ipv4.ip_forward", "1")?;
        match device.ipv6 {
            Some(_) => sysctl::write("net.ipv6.conf.all.forwarding", "1"),
            None => Ok(()),
        }
    };
    device
        .enter(forward)
        .and_then(|done| done)
        .map_err(cannot("make the device route"))
}

fn configure(
    host: &Host,
    set: impl FnOnce(&mut Rtnl) -> Result<(), RtnlError> + Send,
) -> Result<(), LabError> {
    host.enter(|| set(&mut Rtnl::open()?))
        .map_err(cannot("enter a host"))?
        .map_err(|why| LabError::measuring(format!("configure host {}", host.name), why))
}

/// The device's interface towards host B.
const SECOND: &str = "eth1";
const LINKS_UP_WITHIN: Duration = Duration::from_secs(5);
const DEVICE: u8 = 254;
const IPV4_PREFIX: u8 = 24;
const IPV6_PREFIX: u8 = 64;
const IPV6_MTU_MIN: u32 = 1280;
/// Absent from a kernel without IPv6.
const IPV6_OFF: &str = "net.ipv6.conf.default.disable_ipv6";
