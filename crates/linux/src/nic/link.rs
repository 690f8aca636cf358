// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTM_GETLINK` (rtnetlink(7), include/uapi/linux/if_link.h), decoded leniently: what an old kernel lacks is absent.

use std::io;

use linerate_model::output::LinkKind;
use linerate_wire::netlink::attribute::{self, text, word};
use linerate_wire::netlink::link as wire_link;

use crate::netlink::Netlink;

/// One interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Interface index.
    pub index: u32,
    /// Name, at most 15 bytes.
    pub name: String,
    /// `IFF_…`, as the kernel has them.
    pub flags: u32,
    /// `IFF_UP`: administratively up.
    pub up: bool,
    /// `IFF_LOWER_UP`: carrier.
    pub carrier: bool,
    /// RFC 2863 state in `ip`'s words: `up`, `down`, `lowerlayerdown`, `unknown`…
    pub operstate: &'static str,
    /// MTU in bytes; 0 if not reported.
    pub mtu_bytes: u32,
    /// Hardware address.
    pub address: Vec<u8>,
    /// Transmit queue length, packets.
    pub tx_queue_length: Option<u32>,
    /// Root queueing discipline.
    pub qdisc: Option<String>,
    /// The kind of virtual interface in `ip`'s words (`veth`, `tun`, `bridge`, `vlan`…); `None` for a device.
    pub kind: Option<String>,
    /// Physical or virtual.
    pub link_kind: LinkKind,
    /// The bridge or bond it belongs to.
    pub controller: Option<u32>,
}

/// All interfaces.
///
/// # Errors
/// Those of netlink sockets.
pub fn list() -> io::Result<Vec<Link>> {
    let mut links = Vec::new();
    let each = |body: &[u8]| links.extend(parse(body));
    Netlink::route()?.ask(wire_link::GET, true, &[0; IFINFOMSG_BYTES], each)?;
    Ok(links)
}

/// The interface called `name`.
///
/// # Errors
/// `NotFound` if there is none; those of netlink sockets.
pub fn link(name: &str) -> io::Result<Link> {
    list()?
        .into_iter()
        .find(|link| link.name == name)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The attributes after a fixed header of `skip` bytes, up to the first malformed one.
pub(super) fn attributes(body: &[u8], skip: usize) -> impl Iterator<Item = (u16, &[u8])> {
    attribute::attributes(body.get(skip..).unwrap_or(&[]))
}

fn parse(body: &[u8]) -> Option<Link> {
    let hardware = u16::from_ne_bytes(body.get(2..4)?.try_into().ok()?);
    let index = word(body.get(4..8)?)?;
    let flags = word(body.get(8..12)?)?;
    let mut link = Link {
        index,
        name: String::new(),
        flags,
        up: flags & IFF_UP != 0,
        carrier: flags & IFF_LOWER_UP != 0,
        operstate: "unknown",
        mtu_bytes: 0,
        address: Vec::new(),
        tx_queue_length: None,
        qdisc: None,
        kind: None,
        link_kind: LinkKind::Wire,
        controller: None,
    };
    for (kind, value) in attributes(body, IFINFOMSG_BYTES) {
        note(&mut link, kind, value);
    }
    link.link_kind = link_kind(hardware, link.kind.as_deref());
    Some(link)
}

fn note(link: &mut Link, kind: u16, value: &[u8]) {
    match kind {
        IFLA_ADDRESS => link.address = value.to_vec(),
        IFLA_IFNAME => link.name = text(value),
        IFLA_MTU => link.mtu_bytes = word(value).unwrap_or(0),
        IFLA_QDISC => link.qdisc = Some(text(value)),
        IFLA_MASTER => link.controller = word(value),
        IFLA_TXQLEN => link.tx_queue_length = word(value),
        IFLA_OPERSTATE => link.operstate = operstate(value.first().copied().unwrap_or(0)),
        IFLA_LINKINFO => {
            link.kind = attributes(value, 0)
                .find(|(kind, _)| *kind == IFLA_INFO_KIND)
                .map(|(_, name)| text(name));
        }
        _ => {}
    }
}

fn link_kind(hardware: u16, kind: Option<&str>) -> LinkKind {
    match kind {
        _ if hardware == ARPHRD_LOOPBACK => LinkKind::Loopback,
        Some("veth") => LinkKind::Veth,
        Some("tun") => LinkKind::Tap,
        _ => LinkKind::Wire,
    }
}

fn operstate(state: u8) -> &'static str {
    match state {
        1 => "notpresent",
        2 => "down",
        3 => "lowerlayerdown",
        4 => "testing",
        5 => "dormant",
        6 => "up",
        _ => "unknown",
    }
}

const IFINFOMSG_BYTES: usize = 16;
const IFF_UP: u32 = 1;
const IFF_LOWER_UP: u32 = 1 << 16;
const ARPHRD_LOOPBACK: u16 = 772;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_QDISC: u16 = 6;
const IFLA_MASTER: u16 = 10;
const IFLA_TXQLEN: u16 = 13;
const IFLA_OPERSTATE: u16 = 16;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_listed() {
        let loopback = link("lo").unwrap();
        assert_eq!(
            (loopback.link_kind, loopback.up, loopback.index),
            (LinkKind::Loopback, true, 1)
        );
        assert!(loopback.mtu_bytes >= 16_436);
        assert_eq!(
            link("no-such-if").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_cut_message_is_no_link() {
        assert_eq!(parse(&[0; 11]), None);
        assert_eq!(parse(&[0; 16]).unwrap().name, "");
    }
}
