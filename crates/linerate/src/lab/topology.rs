// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the hosts and what lies between them.
//!
//! ```text
//! pair    a ─────────── b              one veth
//! bridge  a ── device ── b             one subnet, the device bridges
//! route   a ── device ── b             two subnets, the device routes
//! ```
//! Addresses are those that RFC 2544 and RFC 5180 keep for measuring: 198.18.0.0/15 and
//! 2001:2::/48.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use linerate_linux::netns::NetNs;
use linerate_linux::rtnl::{Rtnl, RtnlError};

use super::{Ground, Host, Lab, LabError, LabPlan};

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

pub(super) fn build(ground: &Ground, plan: &LabPlan) -> Result<Lab, LabError> {
    match (ground, plan.topology) {
        (Ground::Namespaces(_), Topology::Pair) => pair(plan),
        (Ground::Namespaces(_), Topology::Bridge | Topology::Route) => through_device(plan),
        (Ground::Loopback { .. }, Topology::Pair) => Ok(loopback()),
        (Ground::Loopback { because }, topology) => {
            let what = format!("build the topology '{topology}'");
            Err(LabError::new(what, because).hint(because.remedy()))
        }
    }
}

fn pair(plan: &LabPlan) -> Result<Lab, LabError> {
    let [a, b] = two_hosts(plan)?;
    link((&a, ETHERNET), (&b, ETHERNET))?;
    configure(&a, plan)?;
    configure(&b, plan)?;
    Ok(Lab {
        hosts: [a, b],
        device: None,
    })
}

fn through_device(plan: &LabPlan) -> Result<Lab, LabError> {
    let _ = plan;
    Err(LabError::new("build a device", "not yet"))
}

fn loopback() -> Lab {
    let host = |name| Host {
        name,
        interface: "lo",
        ipv4: Ipv4Addr::LOCALHOST,
        ipv6: Some(Ipv6Addr::LOCALHOST),
        namespace: None,
    };
    Lab {
        hosts: [host("a"), host("b")],
        device: None,
    }
}

fn two_hosts(plan: &LabPlan) -> Result<[Host; 2], LabError> {
    Ok([new_host("a", 1, plan)?, new_host("b", 2, plan)?])
}

fn new_host(name: &'static str, number: u8, plan: &LabPlan) -> Result<Host, LabError> {
    let namespace = NetNs::create().map_err(LabError::at("create a network namespace"))?;
    let ipv6 = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, number.into());
    Ok(Host {
        name,
        interface: ETHERNET,
        ipv4: Ipv4Addr::new(198, 18, 0, number),
        ipv6: (plan.mtu_bytes >= IPV6_MTU_MIN).then_some(ipv6),
        namespace: Some(namespace),
    })
}

/// Joins two hosts by a veth.
fn link(near: (&Host, &str), far: (&Host, &str)) -> Result<(), LabError> {
    let (Some(near_ns), Some(far_ns)) = (&near.0.namespace, &far.0.namespace) else {
        return Err(LabError::new("link two hosts", "one has no namespace"));
    };
    let mut net = Rtnl::open().map_err(LabError::at("open a netlink socket"))?;
    net.veth((near.1, near_ns), (far.1, far_ns))
        .map_err(LabError::at("link two hosts"))
}

fn configure(host: &Host, plan: &LabPlan) -> Result<(), LabError> {
    let set = || -> Result<(), RtnlError> {
        let mut net = Rtnl::open()?;
        net.set_up("lo", true)?;
        net.set_mtu(host.interface, plan.mtu_bytes)?;
        net.add_address(host.interface, IpAddr::V4(host.ipv4), 24)?;
        if let Some(ipv6) = host.ipv6 {
            net.add_address(host.interface, IpAddr::V6(ipv6), 64)?;
        }
        net.set_up(host.interface, true)
    };
    host.enter(set)
        .map_err(LabError::at("enter a host"))?
        .map_err(LabError::at("configure a host"))
}

const ETHERNET: &str = "eth0";
const IPV6_MTU_MIN: u32 = 1280;
