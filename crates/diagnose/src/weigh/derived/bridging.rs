// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bridge`, `brctl`, `virsh`: ports that block, lack a VLAN or an uplink, cards of guests that are in no bridge or another.

use std::collections::BTreeSet;

use linerate_model::map::Map;

use super::Fact;
use super::shown::{Shown, WIRES, is_one_of, word_after};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let members = members(shown);
    let mut facts = Vec::new();
    facts.extend(blocking(shown));
    facts.extend(without_vlan(shown));
    facts.extend(mtu_differs(shown));
    facts.extend(taps(shown, &members));
    facts.extend(without_uplink(&members));
    facts.extend(elsewhere(shown, &members));
    facts
}

/// A port's bridge, and where that stands.
type Members<'t> = Map<&'t str, (&'t str, u64)>;

/// Of `ip link`, `bridge link` and `brctl show`.
fn members<'t>(shown: &Shown<'t>) -> Members<'t> {
    let mut members = Members::new();
    for port in shown.ports.iter().filter(|port| port.master.is_some()) {
        members.extend(port.master.map(|master| (port.name, (master, port.line))));
    }
    let mut bridge = None;
    for line in shown.lines {
        if line.text.starts_with("bridge name") {
            bridge = Some("");
        } else if let Some(current) = bridge {
            let words: Vec<&str> = line.text.split_whitespace().collect();
            bridge = match words.as_slice() {
                [name, id, _, port] if id.contains('.') => {
                    members.insert(port, (name, line.number));
                    Some(*name)
                }
                [name, id, _] if id.contains('.') => Some(*name),
                [port] if line.text.starts_with([' ', '\t']) => {
                    members.insert(port, (current, line.number));
                    Some(current)
                }
                _ => None,
            };
        }
    }
    members
}

/// Whether spanning tree keeps a port silent.
fn blocking(shown: &Shown<'_>) -> Option<Fact> {
    let states = shown.with(&["state"]).filter_map(|line| {
        let text = line.text;
        let is_port = (text.contains(" master ") && text.contains(" state "))
            || text.trim_start().starts_with("port id")
            || text.contains("bridge_slave state");
        let state = text.rsplit_once("state").filter(|_| is_port)?.1;
        // `ip link` has the state of the link at this place.
        let state = text
            .split(" state ")
            .nth(1)
            .filter(|_| text.contains(" state "))
            .unwrap_or(state);
        Some((state.split_whitespace().next()?, line.number))
    });
    let all: Vec<(&str, u64)> = states.collect();
    let silent = all
        .iter()
        .find(|(state, _)| ["blocking", "listening", "learning", "discarding"].contains(state));
    let known = silent.or_else(|| all.iter().find(|(state, _)| *state == "forwarding"))?;
    Some(Fact::new(
        "bridge_port_state_not_forwarding",
        silent.is_some(),
        known.1,
    ))
}

/// Whether a VLAN has only one port of a bridge: it leads nowhere.
fn without_vlan(shown: &Shown<'_>) -> Option<Fact> {
    let head = shown
        .lines
        .iter()
        .position(|line| line.text.starts_with("port") && line.text.contains("vlan"))?;
    let mut ports: Map<u32, BTreeSet<&str>> = Map::new();
    let (mut port, mut names) = ("", BTreeSet::new());
    for line in shown.lines.get(head + 1..)?.iter().take(ROWS_MOST) {
        let mut words = line.text.split_whitespace().peekable();
        let is_named = line
            .text
            .starts_with(|letter: char| letter.is_ascii_alphabetic());
        port = if is_named {
            words.next().unwrap_or(port)
        } else {
            port
        };
        let Some(first) = words.peek() else {
            continue;
        };
        let Ok(id) = first.split('-').next().unwrap_or(first).parse::<u32>() else {
            break;
        };
        names.insert(port);
        if !first.contains('-') {
            ports.entry(id).or_default().insert(port);
        }
    }
    let alone = ports.iter().any(|(id, on)| *id != 1 && on.len() == 1);
    let line = shown.lines.get(head)?.number;
    (names.len() > 2 && alone).then(|| Fact::new("bridge_port_without_vlan", true, line))
}

/// Whether ports of one bridge have different MTUs.
fn mtu_differs(shown: &Shown<'_>) -> Option<Fact> {
    let mut known: Map<&str, (u32, u64)> = Map::new();
    let is_bridge = |name: &str| !is_one_of(name, &["bond", "team", "vrf", "mgmt"]);
    let ports = shown.ports.iter().filter_map(|port| {
        Some((
            port.master.filter(|name| is_bridge(name))?,
            port.mtu?,
            port.line,
        ))
    });
    let mut seen = false;
    for (master, mtu, line) in ports {
        let (first, _) = *known.entry(master).or_insert((mtu, line));
        if first != mtu {
            return Some(Fact::new("bridge_ports_mtu_differs", true, line));
        }
        seen = true;
    }
    let line = known.values().next()?.1;
    seen.then(|| Fact::new("bridge_ports_mtu_differs", false, line))
}

/// `vnet3` of libvirt, `tap100i0` of Proxmox: the host's end of a guest's card.
fn is_of_guest(name: &str) -> bool {
    let number =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|letter| letter.is_ascii_digit());
    let of_proxmox = name
        .strip_prefix("tap")
        .and_then(|rest| rest.split_once('i'));
    name.strip_prefix("vnet").is_some_and(number)
        || of_proxmox.is_some_and(|(guest, card)| number(guest) && number(card))
}

/// Whether the end of a guest's card is in no bridge.
fn taps(shown: &Shown<'_>, members: &Members<'_>) -> Option<Fact> {
    let whole = shown
        .ports
        .iter()
        .filter(|port| is_of_guest(port.name) && port.is_whole && port.mtu.is_some());
    let is_listed = |line: u64| {
        shown
            .lines
            .iter()
            .find(|one| one.number == line)
            .is_some_and(|line| line.text.contains(" qdisc "))
    };
    let known: Vec<(bool, u64)> = whole
        .map(|port| (!members.contains_key(port.name), port.line))
        .filter(|(_, line)| is_listed(*line))
        .take(PORTS_MOST)
        .collect();
    let (alone, line) = known.iter().find(|(alone, _)| *alone).or(known.first())?;
    Some(Fact::new("tap_without_bridge", alone, *line))
}

/// Whether a bridge of guests has no card of the host. Those of programs have a network of their own.
fn without_uplink(members: &Members<'_>) -> Option<Fact> {
    let is_bridge = |name: &str| {
        let rest = ["vmbr", "xenbr", "br"]
            .iter()
            .find_map(|begin| name.strip_prefix(begin));
        rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    let guests = members
        .iter()
        .filter(|(port, (bridge, _))| is_of_guest(port) && is_bridge(bridge));
    let judged = guests.map(|(_, (bridge, line))| {
        let mut ports = members.iter().filter(|(_, (other, _))| other == bridge);
        (
            !ports.any(|(port, _)| {
                is_one_of(port, WIRES) || is_one_of(port, &["vxlan", "vlan", "fwpr", "sfp"])
            }),
            *line,
        )
    });
    let all: Vec<(bool, u64)> = judged.take(PORTS_MOST).collect();
    let (alone, line) = all.iter().find(|(alone, _)| *alone).or(all.first())?;
    Some(Fact::new("bridge_without_uplink", alone, *line))
}

/// Whether `virsh domiflist` names another bridge than the one that has the card.
fn elsewhere(shown: &Shown<'_>, members: &Members<'_>) -> Option<Fact> {
    let odd = shown.lines.iter().find(|line| {
        let mut words = line.text.split_whitespace();
        let (Some(port), Some("bridge"), Some(bridge)) = (words.next(), words.next(), words.next())
        else {
            return false;
        };
        is_of_guest(port)
            && members
                .get(port)
                .is_some_and(|(other, _)| *other != bridge && !other.starts_with("ovs"))
    });
    Some(Fact::new("tap_in_other_bridge", true, odd?.number))
}

/// The smallest path MTU that the kernel keeps for a destination, and the smallest that the path has shown.
pub(super) fn path_mtu(shown: &Shown<'_>) -> Vec<Fact> {
    let lines = || shown.with(&["mtu"]);
    let least = |read: fn(&str) -> Option<f64>| {
        let known = lines().filter_map(|line| Some((read(line.text)?, line.number)));
        known.min_by(|one, other| one.0.total_cmp(&other.0))
    };
    let cached = least(|text| {
        let is_cached =
            text.contains("expires ") && text.contains("sec") && !text.contains("proto ra");
        is_cached
            .then(|| super::number_after(text, " mtu "))?
            .or_else(|| super::number_after(text, " pmtu:"))
    });
    let cached = cached.or_else(|| {
        least(|text| super::number_after(text, " pmtu:").filter(|_| text.contains("mss:")))
    });
    let path = least(|text| {
        let is_found = text.contains("Resume: pmtu")
            || text.contains("need to frag")
            || text.contains("Frag needed")
            || text.contains("DF set (mtu");
        let number = ["(mtu = ", "(mtu ", "pmtu ", "mtu="]
            .iter()
            .find_map(|mark| super::number_after(text, mark));
        number.filter(|_| is_found && word_after(text, "mtu").is_some())
    });
    let all = [("cached_pmtu", cached), ("path_mtu", path)];
    all.into_iter()
        .filter_map(|(name, found)| {
            found
                .filter(|(mtu, _)| *mtu >= 68.0)
                .map(|(mtu, line)| Fact::new(name, mtu, line))
        })
        .collect()
}

const ROWS_MOST: usize = 2000;
const PORTS_MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::super::shown::values;
    use super::*;

    assertions!(has and lacks, values, facts);

    fn port(name: &str, mtu: u32, rest: &str) -> String {
        format!(
            "7: {name}: <BROADCAST,UP,LOWER_UP> mtu {mtu} qdisc noqueue {rest} state UNKNOWN mode DEFAULT\n"
        )
    }

    #[test]
    fn cards_of_guests() {
        has(&port("vnet3", 1500, ""), "tap_without_bridge", "true");
        has(
            &port("vnet3", 1500, "master br1"),
            "tap_without_bridge",
            "false",
        );
        lacks(&port("tap0", 1500, ""), "tap_without_bridge");
        has(
            &port("vnet3", 1500, "master br1"),
            "bridge_without_uplink",
            "true",
        );
        has(
            &(port("vnet3", 1500, "master br1") + &port("enp1s0", 1500, "master br1")),
            "bridge_without_uplink",
            "false",
        );
        lacks(
            &port("vnet3", 1500, "master virbr0"),
            "bridge_without_uplink",
        );
        has(
            &(port("vnet3", 1500, "master br1")
                + " vnet3  bridge  br0  virtio  52:54:00:00:00:03\n"),
            "tap_in_other_bridge",
            "true",
        );
        has(
            "bridge name\tbridge id\t\tSTP enabled\tinterfaces\nbr1\t\t8000.020000000001\tno\t\tenp1s0\n\t\t\t\t\t\t\tvnet3\n",
            "bridge_without_uplink",
            "false",
        );
    }

    #[test]
    fn states_and_vlans() {
        has(
            "3: eth1: <BROADCAST,UP> mtu 1500 master br0 state blocking priority 32 cost 4\n",
            "bridge_port_state_not_forwarding",
            "true",
        );
        has(
            "3: eth1: <BROADCAST,UP> mtu 1500 master br0 state forwarding priority 32 cost 4\n",
            "bridge_port_state_not_forwarding",
            "false",
        );
        lacks(
            &port("eth1", 1500, "master br0"),
            "bridge_port_state_not_forwarding",
        );
        let table = |uplink: &str| {
            format!(
                "port              vlan-id\neth0              1 PVID Egress Untagged\n{uplink}eth1              1 PVID Egress Untagged\nvnet3             20 PVID Egress Untagged\n"
            )
        };
        has(&table(""), "bridge_port_without_vlan", "true");
        lacks(&table("                  20\n"), "bridge_port_without_vlan");
        has(
            &(port("eth0", 9000, "master br0") + &port("vnet3", 1500, "master br0")),
            "bridge_ports_mtu_differs",
            "true",
        );
    }

    #[test]
    fn mtus_of_paths() {
        let found = values("    cache expires 511sec mtu 552\n", path_mtu);
        assert_eq!(found, [("cached_pmtu", "552".to_owned())]);
        let found = values("     Resume: pmtu 1420 hops 9 back 9\n", path_mtu);
        assert_eq!(found, [("path_mtu", "1420".to_owned())]);
        let found = values(
            "IP 10.8.0.1 > 203.0.113.2: ICMP 10.8.0.1 unreachable - need to frag (mtu 1400), length 556\n",
            path_mtu,
        );
        assert_eq!(found, [("path_mtu", "1400".to_owned())]);
        assert_eq!(values("2: eth0: <UP> mtu 1500\n", path_mtu), []);
    }
}
