// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host is like before it forwards.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;

use linerate_linux::management::{Management, below};
use linerate_linux::{nic, proc, sysctl};
use linerate_wire::proc::route::{advertised_route_interfaces, default_route_interfaces};

use crate::entry::Key;
use crate::forwarding;
use crate::host::Host;
use crate::world::World;

/// The two interfaces, and what else of the host a way of forwarding touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The interfaces between which packets are to be forwarded.
    pub ports: [Port; 2],
    /// The names of all interfaces.
    pub names: Vec<String>,
    /// Features that merge received packets, and are on.
    pub merging: Vec<Merging>,
    /// The value of `net.ipv6.conf.*.forwarding`; nothing where the kernel has no IPv6.
    pub forwarding_ipv6: Option<String>,
    /// Interfaces whose routes were advertised, and that accept no advertisements while they forward.
    pub advertised: Vec<String>,
}

/// One of the two interfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Whether a person has set it up.
    pub is_up: bool,
    /// Whether it has an Ethernet address.
    pub is_ethernet: bool,
    /// The bridge or bond to which it belongs.
    pub master: Option<String>,
    /// Why it carries the session in which this process was started.
    pub carries: Option<String>,
    /// Whether a default route leaves through it.
    pub has_default_route: bool,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// A feature that is on and could be switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merging {
    /// The interface.
    pub interface: String,
    /// The name of `ethtool -k`.
    pub feature: &'static str,
    /// Whether it is one of the two interfaces, or one below them.
    pub is_below_port: bool,
}

impl Surroundings {
    /// Those of the calling thread's network namespace.
    ///
    /// # Errors
    /// There is no such interface; those of netlink sockets.
    pub fn read(
        host: &mut Host,
        management: &Management,
        [one, other]: [&str; 2],
    ) -> io::Result<Self> {
        let links = nic::list()?;
        let names: Vec<String> = links.into_iter().map(|link| link.name).collect();
        let routes =
            [table("route"), table("ipv6_route")].map(|text| default_route_interfaces(&text));
        let port = |name: &str| Port::read(name, management, &routes.concat());
        Ok(Self {
            ports: [port(one)?, port(other)?],
            merging: merging(host, &names, &(&below(one) | &below(other))),
            names,
            forwarding_ipv6: ipv6(host),
            advertised: advertised(host),
        })
    }

    /// The names of the two interfaces.
    #[must_use]
    pub fn port_names(&self) -> [&str; 2] {
        [&self.ports[0].name, &self.ports[1].name]
    }
}

impl Port {
    fn read(name: &str, management: &Management, default_routes: &[String]) -> io::Result<Self> {
        let failed = |why: io::Error| match why.kind() {
            io::ErrorKind::NotFound => {
                io::Error::new(why.kind(), format!("no interface is called {name}"))
            }
            _ => why,
        };
        let link = nic::link(name).map_err(failed)?;
        let master = link.controller.and_then(|index| {
            let links = nic::list().ok()?;
            links.into_iter().find(|one| one.index == index)
        });
        let addresses = nic::addresses_of(link.index)?.into_iter();
        Ok(Self {
            is_up: link.up,
            is_ethernet: link.address.len() == ETHERNET_BYTES && name != "lo",
            master: master.map(|link| link.name),
            carries: management.by(name),
            has_default_route: default_routes.contains(&link.name),
            addresses: addresses.map(|(address, _)| address).collect(),
            name: link.name,
        })
    }

    /// Whether its addresses are more than those that the kernel makes itself.
    pub(super) fn configured(&self) -> impl Iterator<Item = &IpAddr> {
        self.addresses.iter().filter(|address| match address {
            IpAddr::V4(_) => true,
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        })
    }
}

fn table(name: &str) -> String {
    proc::net(name).unwrap_or_default()
}

fn merging(host: &mut Host, names: &[String], below: &BTreeSet<String>) -> Vec<Merging> {
    let mut all = Vec::new();
    for interface in names {
        for feature in [LARGE_RECEIVE, HARDWARE_GRO] {
            if is_switchable(host, interface, feature) {
                all.push(Merging {
                    interface: interface.clone(),
                    feature,
                    is_below_port: below.contains(interface),
                });
            }
        }
    }
    all
}

fn is_switchable(host: &mut Host, interface: &str, feature: &str) -> bool {
    let Ok(key) = host.key_of(&format!("ethtool -K {feature}"), interface) else {
        return false;
    };
    let is_on = host.read(&key).is_ok_and(|value| value.starts_with("on"));
    is_on && host.most(&key).is_ok_and(|fixed| fixed.is_none())
}

fn ipv6(host: &mut Host) -> Option<String> {
    let key = host.key(&format!("sysctl {}", forwarding::ALL));
    host.read(&key).ok()
}

fn advertised(host: &mut Host) -> Vec<String> {
    let mut all = advertised_route_interfaces(&table("ipv6_route"));
    all.retain(|name| {
        let key: Key = host.key(&accept_advertisements(name));
        host.read(&key).is_ok_and(|value| value == "1")
    });
    all
}

/// The setting by which an interface accepts router advertisements.
pub(super) fn accept_advertisements(interface: &str) -> String {
    let name = sysctl::swapped(interface);
    format!("sysctl net.ipv6.conf.{name}.accept_ra")
}

const ETHERNET_BYTES: usize = 6;
pub(super) const LARGE_RECEIVE: &str = "large-receive-offload";
pub(super) const HARDWARE_GRO: &str = "rx-gro-hw";
