// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which interface an address belongs to, and which one leads to a peer.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use super::link::{attributes, list};
use crate::netlink::Netlink;

/// Every local address with its interface's name (`ip address`).
///
/// # Errors
/// Those of netlink sockets.
pub fn local_addresses() -> io::Result<Vec<(String, IpAddr)>> {
    let links = list()?;
    let named = all()?.into_iter().filter_map(|held| {
        let link = links.iter().find(|link| link.index == held.index)?;
        Some((link.name.clone(), held.address))
    });
    Ok(named.collect())
}

/// The addresses of an interface, each with the length of its prefix, in the kernel's order.
///
/// # Errors
/// Those of netlink sockets.
pub fn addresses_of(index: u32) -> io::Result<Vec<(IpAddr, u8)>> {
    let held = all()?.into_iter().filter(|held| held.index == index);
    Ok(held.map(|held| (held.address, held.prefix)).collect())
}

/// An address of this host.
struct Held {
    index: u32,
    address: IpAddr,
    prefix: u8,
}

fn all() -> io::Result<Vec<Held>> {
    let mut found = Vec::new();
    let each = |body: &[u8]| found.extend(parse(body));
    Netlink::route()?.ask(RTM_GETADDR, true, &[0; IFADDRMSG_BYTES], each)?;
    Ok(found)
}

/// The name of the interface that holds `address`; all of 127.0.0.0/8 is the loopback's.
///
/// # Errors
/// Those of netlink sockets.
pub fn interface_of(address: IpAddr) -> io::Result<Option<String>> {
    let all = local_addresses()?;
    Ok(holder(&all, address.to_canonical()))
}

/// The same of a socket's end. A link-local IPv6 address may be that of several interfaces: the scope selects one.
///
/// # Errors
/// Those of netlink sockets.
pub fn interface_at(end: SocketAddr) -> io::Result<Option<String>> {
    let all = local_addresses()?;
    let links = list()?;
    let held = all.into_iter().filter(|(name, _)| {
        let index = links.iter().find(|link| link.name == *name);
        in_scope(end, index.map_or(0, |link| link.index))
    });
    Ok(holder(&held.collect::<Vec<_>>(), end.ip().to_canonical()))
}

/// Whether an address on the interface with this index can be `end`.
fn in_scope(end: SocketAddr, index: u32) -> bool {
    match end {
        SocketAddr::V6(end) if end.ip().is_unicast_link_local() && end.scope_id() != 0 => {
            end.scope_id() == index
        }
        _ => true,
    }
}

fn holder(all: &[(String, IpAddr)], address: IpAddr) -> Option<String> {
    let exact = all.iter().find(|(_, held)| *held == address);
    let loopback = || {
        all.iter()
            .find(|(_, held)| address.is_loopback() && held.is_loopback())
    };
    exact.or_else(loopback).map(|(name, _)| name.clone())
}

/// The local address that the routing table chooses toward `peer` (nothing is sent).
///
/// # Errors
/// `NetworkUnreachable` without a route.
pub fn local_toward(peer: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(peer)?;
    Ok(socket.local_addr()?.ip())
}

/// `struct ifaddrmsg`: family, prefix, flags, scope, index. `IFA_LOCAL` is ours, `IFA_ADDRESS` may be the far end.
fn parse(body: &[u8]) -> Option<Held> {
    let index = u32::from_ne_bytes(body.get(4..8)?.try_into().ok()?);
    let value = |wanted: u16| attributes(body, IFADDRMSG_BYTES).find(|(kind, _)| *kind == wanted);
    let (_, bytes) = value(IFA_LOCAL).or_else(|| value(IFA_ADDRESS))?;
    let address = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        _ => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
    };
    Some(Held {
        index,
        address,
        prefix: *body.get(1)?,
    })
}

const RTM_GETADDR: u16 = 22;
const IFADDRMSG_BYTES: usize = 8;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_local_address_belongs_to_its_scope() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert!(in_scope(at("[fe80::1%3]:1"), 3) && !in_scope(at("[fe80::1%3]:1"), 4));
        assert!(in_scope(at("[fe80::1]:1"), 4), "no scope is known");
        assert!(in_scope(at("[2001:db8::1%3]:1"), 4) && in_scope(at("192.0.2.1:1"), 4));
        let here = |text| interface_at(at(text)).unwrap();
        assert_eq!(here("127.0.0.1:9").as_deref(), Some("lo"));
        assert_eq!(here("[fe80::7357%4000000]:9"), None);
    }

    #[test]
    fn loopback_addresses_belong_to_the_loopback() {
        for address in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
            let name = interface_of(address.parse().unwrap()).unwrap();
            assert_eq!(name.as_deref(), Some("lo"), "{address}");
        }
        let lo = list().unwrap().into_iter().find(|link| link.name == "lo");
        let held = addresses_of(lo.unwrap().index).unwrap();
        assert!(held.contains(&(IpAddr::V4(Ipv4Addr::LOCALHOST), 8)));
        assert_eq!(interface_of("192.0.2.77".parse().unwrap()).unwrap(), None);
        let toward = local_toward("127.0.0.1:9".parse().unwrap()).unwrap();
        assert_eq!(toward, IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
}
