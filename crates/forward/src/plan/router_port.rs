// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port of a router under test, and the host that the tester emulates in its network.

use std::net::IpAddr;

use linerate_wire::frame::{AddressRange, Family, Side};

/// One side of a router under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouterPort {
    /// The router's.
    pub address: IpAddr,
    /// The length of the network's prefix.
    pub prefix_bits: u8,
    /// The tester's, in the same network.
    pub host: IpAddr,
}

impl RouterPort {
    /// The usual addresses of benchmarks.
    #[must_use]
    pub const fn usual(side: Side, family: Family) -> Self {
        let address = side.device(family);
        Self {
            address,
            prefix_bits: usual_prefix_bits(address),
            host: side.tester(family),
        }
    }

    /// A port with this address, in a network of `prefix_bits` (default: 24, IPv6 64). Without a `host` the tester is
    /// the network's second host, or the first if the router is the second.
    ///
    /// # Errors
    /// A network without two hosts, a host outside it, or an address that no host has.
    pub fn new(
        address: IpAddr,
        prefix_bits: Option<u8>,
        host: Option<IpAddr>,
    ) -> Result<Self, String> {
        let prefix_bits = prefix_bits.unwrap_or(usual_prefix_bits(address));
        let most_bits = if address.is_ipv4() { 31 } else { 127 };
        if !(1..=most_bits).contains(&prefix_bits) {
            return Err(format!(
                "{address}/{prefix_bits}: the network has fewer than two hosts"
            ));
        }
        if let Some(what) = not_of_a_host(address, prefix_bits) {
            return Err(format!("{address}/{prefix_bits} is {what}, not of a host"));
        }
        let host = host.unwrap_or_else(|| second_host(address, prefix_bits));
        let is_inside = AddressRange::network(address, prefix_bits).contains(host);
        if !is_inside || host == address {
            return Err(format!(
                "{host} is not another host in the network of {address}/{prefix_bits}"
            ));
        }
        if let Some(what) = not_of_a_host(host, prefix_bits) {
            return Err(format!("{host}/{prefix_bits} is {what}, not of a host"));
        }
        Ok(Self {
            address,
            prefix_bits,
            host,
        })
    }
}

/// Which address of a whole IPv4 network this is, which no host has (RFC 1122 section 3.2.1.3). A network of two addresses
/// has none (RFC 3021).
fn not_of_a_host(address: IpAddr, prefix_bits: u8) -> Option<&'static str> {
    let IpAddr::V4(address) = address else {
        return None;
    };
    let free = u32::MAX.checked_shr(prefix_bits.into()).unwrap_or(0);
    match address.to_bits() & free {
        _ if free <= 1 => None,
        0 => Some("the address of the network"),
        own if own == free => Some("the broadcast address"),
        _ => None,
    }
}

/// The second host of the network that is not the router; of a link of two addresses the other one.
fn second_host(router: IpAddr, prefix_bits: u8) -> IpAddr {
    let (bits, value) = match router {
        IpAddr::V4(router) => (32, u128::from(router.to_bits())),
        IpAddr::V6(router) => (128, router.to_bits()),
    };
    let free = (1_u128 << (bits - prefix_bits)) - 1;
    let network = value & !free;
    let host = match value & free {
        own if free == 1 => own ^ 1,
        2 => 1,
        _ => 2,
    };
    match router {
        IpAddr::V4(_) => IpAddr::V4(((network | host) as u32).into()),
        IpAddr::V6(_) => IpAddr::V6((network | host).into()),
    }
}

const fn usual_prefix_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 24 } else { 64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    proptest! {
        /// Whatever the router's network: the tester is another host of it.
        #[test]
        fn the_host_is_in_the_routers_network(router in any::<u128>(), v4 in any::<bool>(), prefix_bits in 1..128_u8) {
            let (router, prefix_bits) = if v4 {
                (IpAddr::V4((router as u32).into()), prefix_bits.min(31))
            } else {
                (IpAddr::V6(router.into()), prefix_bits)
            };
            prop_assume!(not_of_a_host(router, prefix_bits).is_none());
            let port = RouterPort::new(router, Some(prefix_bits), None).unwrap();
            prop_assert!(AddressRange::network(router, prefix_bits).contains(port.host));
            prop_assert_ne!(port.host, router);
            prop_assert_eq!(not_of_a_host(port.host, prefix_bits), None);
            let named = RouterPort::new(router, Some(prefix_bits), Some(port.host));
            prop_assert_eq!(named, Ok(port));
        }
    }

    #[test]
    fn hosts_of_usual_networks() {
        for (router, bits, host) in [
            ("192.168.7.1", None, "192.168.7.2"),
            ("10.0.0.2", Some(30), "10.0.0.1"),
            ("10.0.0.4", Some(31), "10.0.0.5"),
            ("198.18.1.254", None, "198.18.1.2"),
            ("fd00:7::1", None, "fd00:7::2"),
        ] {
            let port = RouterPort::new(ip(router), bits, None).unwrap();
            assert_eq!(port.host, ip(host), "{router}");
        }
        for family in [Family::Ipv4, Family::Ipv6] {
            let usual = RouterPort::usual(Side::B, family);
            assert_eq!(RouterPort::new(usual.address, None, None), Ok(usual));
        }
    }

    #[test]
    fn a_host_elsewhere_is_refused() {
        let port = |bits, host| RouterPort::new(ip("192.168.7.1"), bits, host);
        assert!(port(None, Some(ip("192.168.8.2"))).is_err());
        assert!(port(None, Some(ip("192.168.7.1"))).is_err());
        assert!(port(None, Some(ip("192.168.7.0"))).is_err(), "the network");
        assert!(port(None, Some(ip("192.168.7.255"))).is_err(), "broadcast");
        for address in ["10.0.0.0", "10.0.0.3"] {
            assert!(
                RouterPort::new(ip(address), Some(30), None).is_err(),
                "{address}"
            );
            assert!(
                RouterPort::new(ip(address), Some(31), None).is_ok(),
                "{address}"
            );
        }
        assert!(port(Some(32), None).is_err());
        assert!(port(Some(0), None).is_err());
    }
}
