// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip address`: the IPv4 addresses of this host, each with its interface, and the hardware addresses of all that answer ARP.

use std::fmt::Write as _;

use super::{RawSetting, setting};
use crate::nic;

/// Address → interface.
pub(super) fn held() -> RawSetting {
    let all = nic::local_addresses().unwrap_or_default();
    let outside = all
        .into_iter()
        .filter(|(_, ip)| ip.is_ipv4() && !ip.is_loopback());
    let values = outside.map(|(interface, ip)| (ip.to_string(), interface));
    setting("ip address", values.collect())
}

/// Interface → hardware address, and `master BOND` or `master BRIDGE` as `ip link` has it.
pub(super) fn hardware() -> RawSetting {
    let links = nic::list().unwrap_or_default();
    let master = |link: &nic::Link| {
        let is_it = |other: &&nic::Link| Some(other.index) == link.controller;
        let master = links.iter().find(is_it);
        master.map_or_else(String::new, |other| format!(" master {}", other.name))
    };
    let answers = |link: &&nic::Link| {
        let is_ethernet = link.address.len() == ETHERNET_BYTES;
        is_ethernet && link.address.iter().any(|byte| *byte != 0) && link.flags & NOARP == 0
    };
    let values = links.iter().filter(answers);
    let values = values.map(|link| {
        let hardware = text(&link.address) + &master(link);
        (link.name.clone(), hardware)
    });
    setting("ip link address", values.collect())
}

/// `02:00:5e:10:00:01`
fn text(address: &[u8]) -> String {
    let mut text = String::new();
    for byte in address {
        let colon = if text.is_empty() { "" } else { ":" };
        let _written = write!(text, "{colon}{byte:02x}");
    }
    text
}

const ETHERNET_BYTES: usize = 6;
/// IFF_NOARP (include/uapi/linux/if.h): a tunnel, a dummy.
const NOARP: u32 = 1 << 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hardware_address_is_written_as_ip_writes_it() {
        assert_eq!(text(&[2, 0, 0x5e, 0x10, 0, 1]), "02:00:5e:10:00:01");
    }

    #[test]
    fn the_loopback_has_none() {
        assert!(hardware().values.iter().all(|(name, _)| name != "lo"));
        assert!(held().values.iter().all(|(ip, _)| !ip.starts_with("127.")));
    }
}
