// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MTU of a lab's link, which vanishes with it. With one below 1280 the kernel removes the IPv6 addresses of an
//! interface (net/ipv6/addrconf.c, `NETDEV_CHANGEMTU`): a larger one brings them again.

use std::net::{IpAddr, Ipv6Addr};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::rtnl::{Rtnl, RtnlError};
use linerate_model::output::Test;

use crate::cli::session::Session;

/// Both ends of the lab's link.
#[derive(Debug)]
pub(super) struct LabLink {
    ends: Vec<End>,
}

#[derive(Debug)]
struct End {
    /// `None`: that of the calling thread.
    namespace: Option<NetNs>,
    interface: String,
    /// What it had at first.
    addresses: Vec<(IpAddr, u8)>,
}

impl LabLink {
    /// The interfaces of a test between the hosts.
    pub(super) fn of(session: &Session, first: &Test) -> Self {
        let peer = session.lab_peer.as_ref();
        let peer = peer.and_then(|peer| peer.try_clone().ok());
        let there = peer.and_then(|peer| End::of(Some(peer), first.remote_interface.as_deref()));
        let here = End::of(None, first.local_interface.as_deref());
        Self {
            ends: here.into_iter().chain(there).collect(),
        }
    }

    /// Sets the MTU of both ends. Where an address cannot be added again, the tests over IPv6 report it.
    ///
    /// # Errors
    /// Why the kernel refuses it.
    pub(super) fn set_mtu(&self, mtu_bytes: u32) -> Result<(), String> {
        self.ends.iter().try_for_each(|end| {
            let set = || end.set_mtu(mtu_bytes).map_err(|why| why.to_string());
            match &end.namespace {
                None => set(),
                Some(namespace) => namespace.run(set).map_err(|why| why.to_string())?,
            }
        })
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
}

impl End {
    fn of(namespace: Option<NetNs>, interface: Option<&str>) -> Option<Self> {
        let interface = interface?.to_owned();
        let addresses = match &namespace {
            None => global(&interface),
            Some(namespace) => namespace.run(|| global(&interface)).ok()?,
        };
        Some(Self {
            namespace,
            interface,
            addresses,
        })
    }

    fn set_mtu(&self, mtu_bytes: u32) -> Result<(), RtnlError> {
        let mut net = Rtnl::open()?;
        net.set_mtu(&self.interface, mtu_bytes)?;
        let now = global(&self.interface);
        let gone = self.addresses.iter().filter(|one| !now.contains(one));
        for (address, prefix) in gone.filter(|_| mtu_bytes >= IPV6_MTU) {
            drop(net.add_address(&self.interface, *address, *prefix));
        }
        Ok(())
    }
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

const IPV6_MTU: u32 = 1280;
