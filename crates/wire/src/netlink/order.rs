// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests to the kernel about interfaces, addresses, routes and neighbours (rtnetlink(7),
//! include/uapi/linux/{if_link,if_addr,rtnetlink,neighbour}.h). Queueing disciplines: [`super::discipline`].

use std::net::IpAddr;

use super::attribute::push;

/// A message to the kernel that it acknowledges or refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What it is.
    pub kind: u16,
    /// `NLM_F_…` beyond request and acknowledgement.
    pub flags: u16,
    /// The header of its family, then attributes.
    pub payload: Vec<u8>,
}

impl Order {
    /// Makes what does not exist yet.
    pub(super) fn create(kind: u16, header: &[u8]) -> Self {
        Self::new(kind, CREATE | EXCLUSIVE, header)
    }

    pub(super) fn new(kind: u16, flags: u16, header: &[u8]) -> Self {
        let payload = header.to_vec();
        Self {
            kind,
            flags,
            payload,
        }
    }

    /// With one more attribute.
    pub(super) fn with(mut self, kind: u16, value: &[u8]) -> Self {
        push(&mut self.payload, kind, value);
        self
    }
}

/// One end of a virtual Ethernet pair.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// Name, at most 15 bytes.
    pub name: &'a str,
    /// The kernel's number of the interface, not in use yet.
    pub index: u32,
    /// Descriptor of the network namespace that it is made in.
    pub namespace: i32,
    /// 0: the kernel's own number.
    pub receive_queues: u32,
    /// 0: the kernel's own number.
    pub transmit_queues: u32,
}

/// Makes a pair of virtual Ethernet interfaces.
#[must_use]
pub fn veth(near: End<'_>, far: End<'_>) -> Order {
    let mut peer = link_header(far.index, 0, 0).to_vec();
    push_end(&mut peer, far);
    let mut data = Vec::new();
    push(&mut data, VETH_INFO_PEER, &peer);
    let mut order = Order::create(NEW_LINK, &link_header(near.index, 0, 0));
    push_end(&mut order.payload, near);
    order.with(LINK_INFO, &link_info("veth", Some(&data)))
}

/// Makes a bridge; `ageing` is how long it remembers where an address is, in hundredths of a
/// second, the kernel's own if `None`.
#[must_use]
pub fn bridge(name: &str, ageing: Option<u32>) -> Order {
    let data = ageing.map(|time| {
        let mut data = Vec::new();
        push(&mut data, BRIDGE_AGEING_TIME, &time.to_ne_bytes());
        data
    });
    Order::create(NEW_LINK, &link_header(0, 0, 0))
        .with(LINK_NAME, &terminated(name))
        .with(LINK_INFO, &link_info("bridge", data.as_deref()))
}

/// Puts an interface under the bridge of number `bridge`; 0 takes it out of the one that it is under.
#[must_use]
pub fn enslave(index: u32, bridge: u32) -> Order {
    set_link(index).with(LINK_MASTER, &bridge.to_ne_bytes())
}

/// Sets the MTU (bytes of IP packet).
#[must_use]
pub fn set_mtu(index: u32, mtu_bytes: u32) -> Order {
    set_link(index).with(LINK_MTU, &mtu_bytes.to_ne_bytes())
}

/// Sets how many packets its queue holds (`txqueuelen` of ip-link(8)).
#[must_use]
pub fn set_tx_queue_length(index: u32, packets: u32) -> Order {
    set_link(index).with(LINK_TX_QUEUE_LENGTH, &packets.to_ne_bytes())
}

/// Sets the longest packet that is left to the interface to cut (`gso_max_size` of ip-link(8)).
#[must_use]
pub fn set_gso_max_size(index: u32, bytes: u32) -> Order {
    set_link(index).with(LINK_GSO_MAX_SIZE, &bytes.to_ne_bytes())
}

/// Takes an interface up or down.
#[must_use]
pub fn set_up(index: u32, up: bool) -> Order {
    let flags = if up { IFF_UP } else { 0 };
    Order::new(SET_LINK, 0, &link_header(index, flags, IFF_UP))
}

/// Removes an interface.
#[must_use]
pub fn delete(index: u32) -> Order {
    Order::new(DELETE_LINK, 0, &link_header(index, 0, 0))
}

/// Adds an address, usable at once (no duplicate detection).
#[must_use]
pub fn add_address(index: u32, ip: IpAddr, prefix: u8) -> Order {
    let mut header = vec![family(ip), prefix, 0, 0];
    header.extend(index.to_ne_bytes());
    let address = octets(ip);
    Order::create(NEW_ADDRESS, &header)
        .with(ADDRESS_LOCAL, &address)
        .with(ADDRESS_ADDRESS, &address)
        .with(ADDRESS_FLAGS, &NO_DUPLICATE_DETECTION.to_ne_bytes())
}

/// Adds a route to `to`/`prefix` through `gateway`.
#[must_use]
pub fn add_route(to: IpAddr, prefix: u8, gateway: IpAddr) -> Order {
    let mut header = vec![family(to), prefix, 0, 0];
    header.extend([TABLE_MAIN, PROTOCOL_STATIC, SCOPE_UNIVERSE, UNICAST]);
    header.extend([0; 4]);
    Order::create(NEW_ROUTE, &header)
        .with(ROUTE_DESTINATION, &octets(to))
        .with(ROUTE_GATEWAY, &octets(gateway))
}

/// Forgets the hardware address of a neighbour.
#[must_use]
pub fn forget_neighbour(index: u32, ip: IpAddr) -> Order {
    let mut header = vec![family(ip), 0, 0, 0];
    header.extend(index.to_ne_bytes());
    header.extend([0; 4]);
    Order::new(DELETE_NEIGHBOUR, 0, &header).with(NEIGHBOUR_DESTINATION, &octets(ip))
}

fn set_link(index: u32) -> Order {
    Order::new(SET_LINK, 0, &link_header(index, 0, 0))
}

/// `struct ifinfomsg`: family, type, index, flags, the mask of flags to change.
fn link_header(index: u32, flags: u32, change: u32) -> [u8; 16] {
    let mut header = [0; 16];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..].copy_from_slice(&change.to_ne_bytes());
    header
}

fn push_end(bytes: &mut Vec<u8>, end: End<'_>) {
    push(bytes, LINK_NAME, &terminated(end.name));
    push(bytes, LINK_NAMESPACE, &end.namespace.to_ne_bytes());
    let queues = [
        (LINK_RX_QUEUES, end.receive_queues),
        (LINK_TX_QUEUES, end.transmit_queues),
    ];
    for (kind, count) in queues.into_iter().filter(|(_, count)| *count > 0) {
        push(bytes, kind, &count.to_ne_bytes());
    }
}

fn link_info(kind: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut info = Vec::new();
    push(&mut info, INFO_KIND, &terminated(kind));
    if let Some(data) = data {
        push(&mut info, INFO_DATA, data);
    }
    info
}

/// Text with its NUL.
pub(super) fn terminated(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}

fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}

fn family(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { INET } else { INET6 }
}

/// `NLM_F_CREATE`.
pub(super) const CREATE: u16 = 0x400;
/// `NLM_F_EXCL`.
const EXCLUSIVE: u16 = 0x200;
const INET: u8 = 2;
const INET6: u8 = 10;

const NEW_LINK: u16 = 16;
const DELETE_LINK: u16 = 17;
const SET_LINK: u16 = 19;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const DELETE_NEIGHBOUR: u16 = 29;

const IFF_UP: u32 = 1;
const LINK_NAME: u16 = 3;
const LINK_MTU: u16 = 4;
const LINK_TX_QUEUE_LENGTH: u16 = 13;
const LINK_MASTER: u16 = 10;
const LINK_INFO: u16 = 18;
const LINK_NAMESPACE: u16 = 28;
const LINK_TX_QUEUES: u16 = 31;
const LINK_RX_QUEUES: u16 = 32;
const LINK_GSO_MAX_SIZE: u16 = 41;
const INFO_KIND: u16 = 1;
const INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const BRIDGE_AGEING_TIME: u16 = 4;
const ADDRESS_ADDRESS: u16 = 1;
const ADDRESS_LOCAL: u16 = 2;
const ADDRESS_FLAGS: u16 = 8;
const NO_DUPLICATE_DETECTION: u32 = 2;
const ROUTE_DESTINATION: u16 = 1;
const ROUTE_GATEWAY: u16 = 5;
const TABLE_MAIN: u8 = 254;
const PROTOCOL_STATIC: u8 = 4;
const SCOPE_UNIVERSE: u8 = 0;
const UNICAST: u8 = 1;
const NEIGHBOUR_DESTINATION: u16 = 1;

#[cfg(test)]
mod tests {
    use super::super::attribute::{find, text, word};
    use super::*;

    #[test]
    fn both_ends_of_a_pair_are_named_numbered_and_placed() {
        let end = |name, index, namespace, receive_queues| End {
            name,
            index,
            namespace,
            receive_queues,
            transmit_queues: 0,
        };
        let order = veth(end("near", 100, 7, 4), end("far", 101, 8, 0));
        let decoded = |bytes: &[u8]| {
            let body = bytes.get(16..).unwrap();
            let value = |kind| find(body, kind);
            (
                word(&bytes[4..]),
                value(LINK_NAME).map(text),
                value(LINK_NAMESPACE).and_then(word),
            )
        };
        assert_eq!(
            decoded(&order.payload),
            (Some(100), Some("near".into()), Some(7))
        );
        let queues = [LINK_RX_QUEUES, LINK_TX_QUEUES].map(|kind| find(&order.payload[16..], kind));
        assert_eq!(queues.map(|count| count.and_then(word)), [Some(4), None]);
        let info = find(&order.payload[16..], LINK_INFO).unwrap();
        assert_eq!(find(info, INFO_KIND).map(text).as_deref(), Some("veth"));
        let peer = find(info, INFO_DATA).and_then(|data| find(data, VETH_INFO_PEER));
        assert_eq!(
            decoded(peer.unwrap()),
            (Some(101), Some("far".into()), Some(8))
        );
        assert_eq!((order.kind, order.flags), (16, 0x600));
    }

    #[test]
    fn up_and_down_tell_only_of_that_flag() {
        let words = |up| {
            let payload = set_up(5, up).payload;
            (word(&payload[8..]), word(&payload[12..]))
        };
        assert_eq!(words(true), (Some(1), Some(1)));
        assert_eq!(words(false), (Some(0), Some(1)));
    }

    #[test]
    fn addresses_and_routes_are_of_their_family() {
        let v4 = add_address(3, [10, 0, 0, 1].into(), 24).payload;
        assert_eq!(v4[..4], [2, 24, 0, 0]);
        assert_eq!(find(&v4[8..], ADDRESS_LOCAL), Some(&[10, 0, 0, 1][..]));
        let to = "fd00::".parse().unwrap();
        let v6 = add_route(to, 64, "fe80::1".parse().unwrap()).payload;
        assert_eq!(v6[..8], [10, 64, 0, 0, 254, 4, 0, 1]);
        let gateway = find(&v6[12..], ROUTE_GATEWAY).unwrap();
        assert_eq!((gateway.len(), gateway[15]), (16, 1));
    }
}
