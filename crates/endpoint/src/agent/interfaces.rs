// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interfaces that an agent reports: all that are up to its user, and to a peer across the network
//! only those with addresses in the benchmarking networks of RFC 2544 and RFC 5180.

use crate::sampler::Audience;
use linerate_linux::nic::{self, Link};
use linerate_model::output::LinkKind;
use linerate_wire::frame::is_benchmark_address;
use std::net::IpAddr;

/// Returns their names, at most [`MOST`].
pub(super) fn of_audience(audience: Audience) -> Vec<String> {
    let links = nic::list().unwrap_or_default();
    let addresses = nic::local_addresses().unwrap_or_default();
    let carries = |link: &&Link| link.up && link.carrier && link.link_kind != LinkKind::Loopback;
    let visible = links
        .iter()
        .filter(carries)
        .filter(|link| link.kind.as_deref() != Some("bridge"))
        .filter(|link| audience == Audience::User || is_of_the_test(link, &links, &addresses));
    visible.take(MOST).map(|link| link.name.clone()).collect()
}

/// Whether all addresses of the interface, or of its bridge, are benchmarking addresses.
fn is_of_the_test(link: &Link, links: &[Link], addresses: &[(String, IpAddr)]) -> bool {
    let controller = links
        .iter()
        .find(|other| Some(other.index) == link.controller);
    let holder = &controller.unwrap_or(link).name;
    let mut own = addresses
        .iter()
        .filter(|(name, address)| name == holder && !is_link_local(*address))
        .map(|(_, address)| *address)
        .peekable();
    own.peek().is_some() && own.all(is_benchmark_address)
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// A switch has many ports; a test uses two.
const MOST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32, name: &str, controller: Option<u32>) -> Link {
        Link {
            index,
            name: name.to_owned(),
            flags: 1,
            up: true,
            carrier: true,
            operstate: "up",
            mtu_bytes: 1500,
            address: Vec::new(),
            tx_queue_length: None,
            qdisc: None,
            kind: None,
            link_kind: LinkKind::Wire,
            controller,
        }
    }

    #[test]
    fn a_peer_sees_interfaces_of_benchmarking_networks_only() {
        let links = [
            link(1, "eth0", None),
            link(2, "eth1", None),
            link(3, "eth2", Some(4)),
            link(4, "br0", None),
            link(5, "eth3", None),
            link(6, "eth4", None),
        ];
        let addresses = [
            ("eth0", "192.0.2.7"),
            ("eth1", "198.18.1.1"),
            ("eth1", "fe80::1"),
            ("br0", "2001:2:0:1::1"),
            ("eth4", "198.19.1.1"),
            ("eth4", "10.0.0.1"),
        ]
        .map(|(name, address)| (name.to_owned(), address.parse().unwrap()));
        let visible = links
            .iter()
            .filter(|link| is_of_the_test(link, &links, &addresses));
        let names: Vec<_> = visible.map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["eth1", "eth2", "br0"], "eth3 has no address at all");
    }
}
