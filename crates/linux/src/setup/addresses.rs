// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip address`: the IPv4 addresses of this host, each with its interface, and the hardware addresses of all interfaces.

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

/// Interface → hardware address.
pub(super) fn hardware() -> RawSetting {
    let links = nic::list().unwrap_or_default().into_iter();
    let ethernet = links.filter(|link| {
        link.address.len() == ETHERNET_BYTES && link.address.iter().any(|byte| *byte != 0)
    });
    let values = ethernet.map(|link| (link.name, text(&link.address)));
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
