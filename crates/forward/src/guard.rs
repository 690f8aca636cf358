// SPDX-License-Identifier: MIT OR Apache-2.0
//! RFC 6815: benchmarks belong in isolated networks. A port that seems to be in use is refused.

use std::io;
use std::net::IpAddr;

use linerate_linux::{nic, proc};
use linerate_model::failure::Failure;
use linerate_wire::frame::is_benchmark_address;
use linerate_wire::proc::route::default_route_interfaces;

/// The tester's routes and addresses, by which a port in use is recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Interfaces with a default route.
    pub default_routes: Vec<String>,
    /// Every address with its interface.
    pub addresses: Vec<(String, IpAddr)>,
    /// Interfaces that belong to a bridge or a bond.
    pub enslaved: Vec<String>,
}

impl Surroundings {
    /// Reads those of the calling thread's network namespace.
    ///
    /// # Errors
    /// Those of netlink sockets.
    pub fn read() -> io::Result<Self> {
        let text = |name| proc::net(name).unwrap_or_default();
        let mut default_routes = default_route_interfaces(&text("route"));
        default_routes.extend(default_route_interfaces(&text("ipv6_route")));
        let links = nic::list()?;
        let enslaved = links.into_iter().filter(|link| link.controller.is_some());
        Ok(Self {
            default_routes,
            addresses: nic::local_addresses()?,
            enslaved: enslaved.map(|link| link.name).collect(),
        })
    }

    /// Refuses ports that are in use for something else.
    ///
    /// # Errors
    /// The first reason.
    pub fn guard(&self, ports: &[String; 2]) -> Result<(), Failure> {
        match ports.iter().find_map(|port| self.in_use(port)) {
            Some(why) => Err(refusal(ports, &why)),
            None => Ok(()),
        }
    }

    fn in_use(&self, port: &String) -> Option<String> {
        if self.default_routes.contains(port) {
            return Some(format!("{port} has the default route"));
        }
        if self.enslaved.contains(port) {
            return Some(format!(
                "{port} belongs to a bridge or a bond of this machine"
            ));
        }
        let other = |address: &IpAddr| !is_benchmark_address(*address) && !is_link_local(*address);
        let mut addresses = self.addresses.iter().filter(|(name, _)| name == port);
        let address = addresses.find_map(|(_, address)| other(address).then_some(address))?;
        Some(format!(
            "{port} has the address {address}, outside 198.18.0.0/15 and 2001:2::/48"
        ))
    }
}

fn refusal(ports: &[String; 2], why: &str) -> Failure {
    let [a, b] = ports;
    let what = format!("send test frames out of {a} and {b}");
    let why =
        format!("{why}: this looks like a network in use, and RFC 6815 forbids benchmarks there");
    Failure::usage(what, why)
        .hint("use two ports connected only to the device; or --i-own-this-network")
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports() -> [String; 2] {
        ["eth1", "eth2"].map(str::to_owned)
    }

    fn holding(address: &str) -> Surroundings {
        let addresses = vec![("eth2".to_owned(), address.parse().unwrap())];
        Surroundings {
            addresses,
            ..Surroundings::default()
        }
    }

    #[test]
    fn isolated_ports_pass() {
        for address in [
            "198.18.1.2",
            "198.19.255.1",
            "2001:2::2",
            "fe80::1",
            "169.254.1.1",
        ] {
            assert_eq!(holding(address).guard(&ports()), Ok(()), "{address}");
        }
        let elsewhere = Surroundings {
            default_routes: vec!["eth0".to_owned()],
            addresses: vec![("eth0".to_owned(), "10.0.0.1".parse().unwrap())],
            enslaved: vec!["eth3".to_owned()],
        };
        assert_eq!(
            elsewhere.guard(&ports()),
            Ok(()),
            "other interfaces may do what they like"
        );
    }

    #[test]
    fn ports_in_use_are_refused_with_the_reason() {
        for address in ["10.0.0.7", "198.20.0.1", "2001:2:1::1", "2001:db8::1"] {
            let failure = holding(address).guard(&ports()).unwrap_err();
            assert!(failure.why.contains(address), "{failure}");
            assert!(failure.to_string().contains("--i-own-this-network"));
        }
        let routes = Surroundings {
            default_routes: vec!["eth1".to_owned()],
            ..Surroundings::default()
        };
        let failure = routes.guard(&ports()).unwrap_err();
        assert!(failure.why.starts_with("eth1 has"), "{failure}");
        let bonded = Surroundings {
            enslaved: vec!["eth2".to_owned()],
            ..Surroundings::default()
        };
        assert!(bonded.guard(&ports()).is_err());
    }
}
