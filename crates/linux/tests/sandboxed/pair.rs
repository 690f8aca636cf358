// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two hosts on one link.

use std::net::IpAddr;

use linerate_linux::netns::NetNs;
use linerate_linux::rtnl::Rtnl;

/// The interface `near` of the first and `far` of the second, with their addresses.
pub(crate) fn pair(addresses: [&[&str]; 2]) -> [NetNs; 2] {
    let hosts = [(); 2].map(|()| NetNs::create().unwrap());
    let mut rtnl = Rtnl::open().unwrap();
    rtnl.veth(("near", &hosts[0]), ("far", &hosts[1])).unwrap();
    for ((host, name), addresses) in hosts.iter().zip(["near", "far"]).zip(addresses) {
        host.run(|| set_up(name, addresses)).unwrap();
    }
    hosts
}

fn set_up(name: &str, addresses: &[&str]) {
    let mut rtnl = Rtnl::open().unwrap();
    rtnl.set_up("lo", true).unwrap();
    rtnl.set_up(name, true).unwrap();
    for address in addresses {
        let address: IpAddr = address.parse().unwrap();
        let prefix_bits = if address.is_ipv4() { 24 } else { 64 };
        rtnl.add_address(name, address, prefix_bits).unwrap();
    }
}
