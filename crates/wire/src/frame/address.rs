// SPDX-License-Identifier: MIT OR Apache-2.0
//! The addresses of benchmarks: 198.18.0.0/15 (RFC 2544 appendix C.2.2, RFC 6815) and 2001:2::/48 (RFC 5180 section 8).
//!
//! Each family is cut in halves, one for each side of the device, of the same shape:
//!
//! | | side A | side B |
//! | --- | --- | --- |
//! | device's port, tester's port | 198.18.1.1, 198.18.1.2 /24 | 198.19.1.1, 198.19.1.2 /24 |
//! | networks behind the tester | 198.18.65.0 to 198.18.254.0 /24 | 198.19.65.0 to 198.19.254.0 /24 |
//! | device's port, tester's port | 2001:2:0:1::1, 2001:2:0:1::2 /64 | 2001:2:0:8001::1, 2001:2:0:8001::2 /64 |
//! | networks behind the tester | 2001:2:0:41:: to 2001:2:0:fe:: /64 | 2001:2:0:8041:: to 2001:2:0:80fe:: /64 |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// 32-bit addresses.
    Ipv4,
    /// 128-bit addresses.
    Ipv6,
}

/// A side of the device in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first port.
    A,
    /// The second port.
    B,
}

impl Family {
    /// The family of an address.
    #[must_use]
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::Ipv4,
            IpAddr::V6(_) => Self::Ipv6,
        }
    }
}

impl Side {
    /// The other one.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// The address of the device's port on this side.
    #[must_use]
    pub const fn device(self, family: Family) -> IpAddr {
        self.host(family, PORT_NETWORK, 1)
    }

    /// The address of the tester's port on this side.
    #[must_use]
    pub const fn tester(self, family: Family) -> IpAddr {
        self.host(family, PORT_NETWORK, 2)
    }

    /// A host in one of the 190 networks that the tester plays behind its port; numbers beyond the last network begin
    /// again with the next host.
    #[must_use]
    pub const fn behind(self, family: Family, number: u32) -> IpAddr {
        let network = FIRST_NETWORK + (number % NETWORKS) as u16;
        let host = FIRST_HOST + (number / NETWORKS % HOSTS) as u16;
        self.host(family, network, host)
    }

    /// All addresses of this side and the length of their prefix: what a route to them needs.
    #[must_use]
    pub const fn half(self, family: Family) -> (IpAddr, u8) {
        let prefix_bits = match family {
            Family::Ipv4 => 16,
            Family::Ipv6 => 49,
        };
        (self.host(family, 0, 0), prefix_bits)
    }

    const fn host(self, family: Family, network: u16, host: u16) -> IpAddr {
        let second = match self {
            Self::A => 0,
            Self::B => 1,
        };
        match family {
            Family::Ipv4 => IpAddr::V4(Ipv4Addr::new(198, 18 + second, network as u8, host as u8)),
            Family::Ipv6 => {
                let network = (second as u16) << 15 | network;
                IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, network, 0, 0, 0, host))
            }
        }
    }
}

/// Addresses from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    first: IpAddr,
    last: IpAddr,
}

impl AddressRange {
    /// All addresses that begin with the first `prefix_bits` of one; more than an address has count as all of it.
    #[must_use]
    pub const fn network(address: IpAddr, prefix_bits: u8) -> Self {
        let (first, last) = match address {
            IpAddr::V4(address) => {
                let free = ones(prefix_bits, 32) as u32;
                let fixed = address.to_bits() & !free;
                (
                    IpAddr::V4(Ipv4Addr::from_bits(fixed)),
                    IpAddr::V4(Ipv4Addr::from_bits(fixed | free)),
                )
            }
            IpAddr::V6(address) => {
                let free = ones(prefix_bits, 128);
                let fixed = address.to_bits() & !free;
                (
                    IpAddr::V6(Ipv6Addr::from_bits(fixed)),
                    IpAddr::V6(Ipv6Addr::from_bits(fixed | free)),
                )
            }
        };
        Self { first, last }
    }

    /// Whether an address is one of them.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        (self.first..=self.last).contains(&address)
    }
}

impl From<IpAddr> for AddressRange {
    fn from(address: IpAddr) -> Self {
        Self {
            first: address,
            last: address,
        }
    }
}

/// Whether an address is set aside for benchmarks of isolated devices.
#[must_use]
pub const fn is_benchmark_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => matches!(address.octets(), [198, 18 | 19, ..]),
        IpAddr::V6(address) => matches!(address.segments(), [0x2001, 2, 0, ..]),
    }
}

/// The bits after a prefix of an address of `bits`.
const fn ones(prefix_bits: u8, bits: u8) -> u128 {
    match bits.saturating_sub(prefix_bits) {
        128 => u128::MAX,
        free => (1 << free) - 1,
    }
}

const PORT_NETWORK: u16 = 1;
const FIRST_NETWORK: u16 = 65;
const NETWORKS: u32 = 190;
const FIRST_HOST: u16 = 2;
const HOSTS: u32 = 253;

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_sides_are_those_of_the_table() {
        let table = [
            (
                Side::A,
                Family::Ipv4,
                [
                    "198.18.1.1",
                    "198.18.1.2",
                    "198.18.65.2",
                    "198.18.254.2",
                    "198.18.65.3",
                    "198.18.0.0",
                ],
            ),
            (
                Side::B,
                Family::Ipv4,
                [
                    "198.19.1.1",
                    "198.19.1.2",
                    "198.19.65.2",
                    "198.19.254.2",
                    "198.19.65.3",
                    "198.19.0.0",
                ],
            ),
            (
                Side::A,
                Family::Ipv6,
                [
                    "2001:2:0:1::1",
                    "2001:2:0:1::2",
                    "2001:2:0:41::2",
                    "2001:2:0:fe::2",
                    "2001:2:0:41::3",
                    "2001:2::",
                ],
            ),
            (
                Side::B,
                Family::Ipv6,
                [
                    "2001:2:0:8001::1",
                    "2001:2:0:8001::2",
                    "2001:2:0:8041::2",
                    "2001:2:0:80fe::2",
                    "2001:2:0:8041::3",
                    "2001:2:0:8000::",
                ],
            ),
        ];
        for (side, family, expected) in table {
            let seen = [
                side.device(family),
                side.tester(family),
                side.behind(family, 0),
                side.behind(family, 189),
                side.behind(family, 190),
                side.half(family).0,
            ];
            assert_eq!(seen, expected.map(ip));
        }
    }

    #[test]
    fn every_address_behind_a_side_is_of_its_half_and_a_benchmark_address() {
        for side in [Side::A, Side::B] {
            for family in [Family::Ipv4, Family::Ipv6] {
                let (address, bits) = side.half(family);
                let half = AddressRange::network(address, bits);
                let (address, bits) = side.opposite().half(family);
                let other = AddressRange::network(address, bits);
                for number in (0..100_000).chain([u32::MAX]) {
                    let address = side.behind(family, number);
                    assert!(half.contains(address) && !other.contains(address));
                    assert!(is_benchmark_address(address));
                }
            }
        }
    }

    #[test]
    fn benchmark_addresses_end_where_the_rfcs_end() {
        for inside in [
            "198.18.0.0",
            "198.19.255.255",
            "2001:2::",
            "2001:2:0:ffff:ffff:ffff:ffff:ffff",
        ] {
            assert!(is_benchmark_address(ip(inside)), "{inside}");
        }
        for outside in [
            "198.17.255.255",
            "198.20.0.0",
            "192.18.0.1",
            "2001:2:1::",
            "2001:1:ffff::",
            "2001:200::1",
        ] {
            assert!(!is_benchmark_address(ip(outside)), "{outside}");
        }
    }

    #[test]
    fn a_network_has_what_its_prefix_says() {
        let some = AddressRange::network(ip("10.1.2.3"), 23);
        assert!(some.contains(ip("10.1.2.0")) && some.contains(ip("10.1.3.255")));
        assert!(!some.contains(ip("10.1.4.0")) && !some.contains(ip("::a01:203")));
        let all = AddressRange::network(ip("::"), 0);
        assert!(all.contains(ip("ffff::1")) && !all.contains(ip("1.2.3.4")));
        assert!(AddressRange::network(ip("1.2.3.4"), 0).contains(ip("255.0.0.0")));
        assert_eq!(
            AddressRange::network(ip("::7"), 200),
            AddressRange::from(ip("::7"))
        );
    }
}
