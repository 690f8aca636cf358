// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IPv6 addresses of a lab's hosts. With an MTU below 1280 the kernel removes them from an interface
//! (net/ipv6/addrconf.c, `NETDEV_CHANGEMTU`).

use std::net::{IpAddr, Ipv6Addr};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::rtnl::Rtnl;
use linerate_model::output::Test;

use crate::cli::session::Session;

/// What each host had at first.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    hosts: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    /// `None`: that of the calling thread.
    namespace: Option<NetNs>,
    interface: String,
    addresses: Vec<(IpAddr, u8)>,
}

impl Addresses {
    /// Those of both hosts, on the interfaces of a test between them.
    pub(super) fn of_lab(session: &Session, first: &Test) -> Self {
        let peer = session.lab_peer.as_ref();
        let peer = peer.and_then(|peer| peer.try_clone().ok());
        let there = peer.and_then(|peer| held(Some(peer), first.remote_interface.as_deref()));
        let here = held(None, first.local_interface.as_deref());
        Self {
            hosts: here.into_iter().chain(there).collect(),
        }
    }

    /// The peer's; without namespaces both hosts are this machine.
    pub(super) fn of_peer(session: &Session) -> Option<IpAddr> {
        let Some(peer) = &session.lab_peer else {
            return Some(Ipv6Addr::LOCALHOST.into());
        };
        let all = peer.run(nic::local_addresses).ok()?.ok()?;
        let mut all = all.into_iter().map(|(_, address)| address);
        all.find(is_global)
    }

    /// Adds those that are gone. Where one cannot be added, the tests over IPv6 say so.
    pub(super) fn restore(&self) {
        for host in &self.hosts {
            let add = || host.restore();
            match &host.namespace {
                None => add(),
                Some(namespace) => drop(namespace.run(add)),
            }
        }
    }
}

impl Held {
    fn restore(&self) {
        let now = global(&self.interface);
        let gone = self.addresses.iter().filter(|one| !now.contains(one));
        for (address, prefix) in gone {
            let added = Rtnl::open()
                .and_then(|mut net| net.add_address(&self.interface, *address, *prefix));
            drop(added);
        }
    }
}

fn held(namespace: Option<NetNs>, interface: Option<&str>) -> Option<Held> {
    let interface = interface?.to_owned();
    let addresses = match &namespace {
        None => global(&interface),
        Some(namespace) => namespace.run(|| global(&interface)).ok()?,
    };
    Some(Held {
        namespace,
        interface,
        addresses,
    })
}

fn global(interface: &str) -> Vec<(IpAddr, u8)> {
    let index = nic::link(interface).map(|link| link.index);
    let all = index.and_then(nic::addresses_of).unwrap_or_default();
    all.into_iter()
        .filter(|(address, _)| is_global(address))
        .collect()
}

fn is_global(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => !address.is_unicast_link_local() && !address.is_loopback(),
    }
}
