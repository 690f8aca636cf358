// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip link`, `ip neigh`, `tc qdisc` and `/proc/net/packet` of one interface.

use super::{RawSetting, setting};
use crate::{nic, proc};

/// `ip link show dev X`.
pub(super) fn link(name: &str) -> RawSetting {
    let Ok(link) = nic::link(name) else {
        return setting("ip link", Vec::new());
    };
    let mut values = vec![
        ("mtu".to_owned(), link.mtu_bytes.to_string()),
        ("state".to_owned(), link.operstate.to_uppercase()),
        ("flags".to_owned(), flags(link.flags)),
    ];
    values.extend(link.qdisc.map(|qdisc| ("qdisc".to_owned(), qdisc)));
    values.extend(
        link.tx_queue_length
            .map(|length| ("txqueuelen".to_owned(), length.to_string())),
    );
    setting("ip link", values)
}

/// `ip neigh show dev X`: the hardware addresses that answer for IPv4 addresses.
pub(super) fn neighbours(name: &str) -> RawSetting {
    let table = proc::net("arp").unwrap_or_default();
    // IP address, HW type, Flags, HW address, Mask, Device
    let entry = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, _, flags, hardware, _, device] = words[..] else {
            return None;
        };
        let flags = u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()?;
        (device == name && flags & COMPLETE != 0).then(|| (address.to_owned(), hardware.to_owned()))
    };
    let entries = table.lines().skip(1).filter_map(entry);
    setting("ip neigh", entries.take(NEIGHBOURS_MOST).collect())
}

/// An answer has come (ATF_COM, include/uapi/linux/if_arp.h).
const COMPLETE: u32 = 0x2;
/// As many as the kernel keeps by default (gc_thresh3).
const NEIGHBOURS_MOST: usize = 1024;

/// `tc qdisc show dev X`: the kind of the root, how much it holds, and the kinds below it.
pub(super) fn queueing(name: &str) -> RawSetting {
    let qdiscs = nic::Counters::open(name)
        .map(|mut counters| counters.qdiscs())
        .unwrap_or_default();
    let mut values = Vec::new();
    for qdisc in &qdiscs {
        if qdisc.is_root() {
            values.push(("root".to_owned(), qdisc.kind.clone()));
            values.extend(
                qdisc
                    .limit
                    .map(|limit| ("limit".to_owned(), limit.to_string())),
            );
        } else {
            let limit = qdisc
                .limit
                .map_or_else(|| "present".to_owned(), |limit| format!("limit {limit}"));
            values.push((qdisc.name(), limit));
        }
    }
    setting("tc qdisc", values)
}

/// How many packet sockets listen on the interface, or on all (`tcpdump`, a DHCP client …).
pub(super) fn captures(name: &str) -> RawSetting {
    let index = nic::link(name).map(|link| link.index.to_string());
    let (Ok(index), Ok(table)) = (index, proc::net("packet")) else {
        return setting("/proc/net/packet", Vec::new());
    };
    // sk RefCnt Type Proto Iface R Rmem User Inode
    let listens = |line: &&str| {
        line.split_whitespace()
            .nth(4)
            .is_some_and(|on| on == index || on == "0")
    };
    let sockets = table.lines().skip(1).filter(listens).count();
    setting(
        "/proc/net/packet",
        vec![("sockets".to_owned(), sockets.to_string())],
    )
}

/// In `ip`'s words and order.
fn flags(flags: u32) -> String {
    let set = FLAGS.iter().filter(|(bit, _)| flags & bit != 0);
    let names: Vec<&str> = set.map(|(_, name)| *name).collect();
    names.join(",")
}

/// include/uapi/linux/if.h
const FLAGS: [(u32, &str); 12] = [
    (1 << 3, "LOOPBACK"),
    (1 << 1, "BROADCAST"),
    (1 << 4, "POINTOPOINT"),
    (1 << 12, "MULTICAST"),
    (1 << 7, "NOARP"),
    (1 << 9, "ALLMULTI"),
    (1 << 8, "PROMISC"),
    (1 << 10, "MASTER"),
    (1 << 11, "SLAVE"),
    (1 << 15, "DYNAMIC"),
    (1, "UP"),
    (1 << 16, "LOWER_UP"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_the_words_of_ip() {
        assert_eq!(flags(0x11003), "BROADCAST,MULTICAST,UP,LOWER_UP");
        assert_eq!(flags(0x1103), "BROADCAST,MULTICAST,PROMISC,UP");
    }

    #[test]
    fn the_loopback_queues_nothing_and_an_absent_one_tells_nothing() {
        assert_eq!(
            queueing("lo").values,
            [("root".to_owned(), "noqueue".to_owned())]
        );
        assert_eq!(captures("lo").values[0].0, "sockets");
        assert_eq!(
            (link("no-such-if").values, captures("no-such-if").values),
            (vec![], vec![])
        );
    }
}
