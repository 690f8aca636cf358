// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether an interface takes frames that XDP redirects to it (Linux 6.3). Source: include/uapi/linux/netdev.h.

use std::io;

use linerate_wire::netlink::attribute::{find, push, unsigned};
use linerate_wire::netlink::generic;

use crate::netlink::Netlink;
use crate::nic::Link;

/// Why the interface would lose redirected frames; `None` if it takes them, or is no veth and nothing is known.
pub(super) fn refuses_frames(link: &Link) -> Option<String> {
    let name = &link.name;
    match features(link.index) {
        Ok(features) if features & TAKES_FRAMES != 0 => None,
        Ok(_) => Some(format!(
            "{name} takes no redirected frames{}",
            if is_veth(link) { VETH_REMEDY } else { "" }
        )),
        Err(error) if is_veth(link) => Some(format!(
            "whether {name} takes redirected frames is unknown: {error}"
        )),
        Err(_) => None,
    }
}

fn is_veth(link: &Link) -> bool {
    link.kind.as_deref() == Some("veth")
}

fn features(interface_index: u32) -> io::Result<u64> {
    let mut socket = Netlink::generic()?;
    let family = socket.family("netdev")?;
    let mut wanted = Vec::new();
    push(&mut wanted, INTERFACE, &interface_index.to_ne_bytes());
    let mut found = None;
    socket.ask(family, false, &generic::command(GET, &wanted), |answer| {
        found = found.or_else(|| unsigned(find(generic::attributes(answer), FEATURES)?));
    })?;
    found.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

const VETH_REMEDY: &str = ": its other end needs GRO (ethtool -K PEER gro on) or an XDP program";
/// `NETDEV_CMD_DEV_GET`, `NETDEV_A_DEV_IFINDEX`, `NETDEV_A_DEV_XDP_FEATURES`, `NETDEV_XDP_ACT_NDO_XMIT`.
const GET: u8 = 1;
const INTERFACE: u16 = 1;
const FEATURES: u16 = 3;
const TAKES_FRAMES: u64 = 4;
