// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip route get`.

use std::io;
use std::net::IpAddr;

use linerate_wire::netlink::route;

use super::link::list;
use crate::netlink::Netlink;

/// The name of the interface on the route to `destination`.
///
/// # Errors
/// `NetworkUnreachable` without a route; those of netlink sockets.
pub fn route(destination: IpAddr) -> io::Result<Option<String>> {
    let mut index = None;
    let request = route::request(destination.to_canonical());
    Netlink::route()?.ask(route::GET, false, &request, |answer| {
        index = index.or(route::interface(answer));
    })?;
    let named = list()?.into_iter().find(|link| Some(link.index) == index);
    Ok(named.map(|link| link.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_reached_by_the_loopback() {
        let found = route(IpAddr::from([127, 1, 2, 3])).unwrap();
        assert_eq!(found.as_deref(), Some("lo"));
    }
}
