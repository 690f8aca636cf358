// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip link`, `ip addr`, `ifconfig`: MTUs that do not fit, interfaces in one network, addresses that occur twice.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use linerate_model::order::Gather as _;

use super::Fact;
use crate::weigh::observed::Line;

/// An interface as a listing shows it.
#[derive(Debug, Default)]
struct Interface {
    name: String,
    is_up: bool,
    is_tunnel: bool,
    mtu: Option<u32>,
    mac: Option<String>,
    /// Addresses and prefix lengths.
    addresses: Vec<(Ipv4Addr, u32)>,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut all = listed(lines);
    all.retain(|one| one.name != "lo" && !one.name.starts_with("lo:"));
    let readers = [inner_mtu, mtu_differs, tunnel, address_twice, prefix_32];
    readers.iter().filter_map(|read| read(&all)).collect()
}

fn listed(lines: &[Line<'_>]) -> Vec<Interface> {
    let mut all: Vec<Interface> = Vec::new();
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        if let Some(one) = headed(line) {
            if all.len() == INTERFACES_MOST {
                break;
            }
            all.push(one);
        }
        let Some(last) = all.last_mut() else {
            continue;
        };
        let text = line.text.trim_start();
        last.mtu = last.mtu.or_else(|| mtu(text));
        if text.starts_with("inet ") {
            last.addresses.extend(address(text));
        }
        last.is_up |= text.starts_with("UP ");
        let mac = ["link/ether ", "ether "]
            .iter()
            .find_map(|mark| text.strip_prefix(mark));
        last.mac = last
            .mac
            .take()
            .or_else(|| Some(mac?.split_whitespace().next()?.to_owned()));
    }
    all
}

/// `2: eth0: <BROADCAST,UP> mtu 1500`, `eth0: flags=4163<UP> mtu 1500`, `eth0  Link encap:Ethernet`.
fn headed(line: &Line<'_>) -> Option<Interface> {
    let text = line.text;
    let flags = |rest: &str| {
        rest.split_once('<')
            .and_then(|(_, rest)| rest.split('>').next().map(str::to_owned))
    };
    let (name, flags) = if let Some((name, _)) = text.split_once(" Link encap:") {
        (name.trim(), String::new())
    } else if let Some((name, rest)) = text.split_once(": flags=") {
        (name, flags(rest)?)
    } else {
        let (number, rest) = text.trim_start().split_once(": ")?;
        number.parse::<u32>().ok()?;
        let (name, rest) = rest.split_once(": <")?;
        (name, flags(&format!("<{rest}"))?)
    };
    let name = name.split('@').next().unwrap_or(name);
    (!name.is_empty() && !name.contains(' ')).then_some(())?;
    let has = |flag: &str| flags.split(',').any(|one| one == flag);
    Some(Interface {
        name: name.to_owned(),
        is_up: has("UP"),
        is_tunnel: has("POINTOPOINT") || is_one_of(name, TUNNELS),
        mtu: mtu(text),
        line: line.number,
        ..Interface::default()
    })
}

fn mtu(text: &str) -> Option<u32> {
    let mark = ["mtu ", "MTU:"]
        .iter()
        .find_map(|mark| text.split_once(mark))?;
    let digits = mark
        .1
        .split(|letter: char| !letter.is_ascii_digit())
        .next()?;
    digits.parse().ok()
}

/// `inet 192.0.2.1/24`, `inet 192.0.2.1  netmask 255.255.255.0`, `inet addr:192.0.2.1 … Mask:255.255.255.0`.
fn address(text: &str) -> Option<(Ipv4Addr, u32)> {
    let first = text.split_whitespace().nth(1)?;
    if let Some((address, length)) = first.split_once('/') {
        return Some((address.parse().ok()?, length.parse().ok()?));
    }
    let address = first.trim_start_matches("addr:").parse().ok()?;
    let mask = text
        .split_once("netmask ")
        .or_else(|| text.split_once("Mask:"))?
        .1;
    let mask: Ipv4Addr = mask.split_whitespace().next()?.parse().ok()?;
    Some((address, mask.to_bits().count_ones()))
}

/// Whether what runs inside another device has an MTU above that device's.
fn inner_mtu(all: &[Interface]) -> Option<Fact> {
    let up = || all.iter().filter(|one| one.is_up);
    let is_inner = |one: &&Interface| is_one_of(&one.name, INNER);
    let outer = up().filter(|one| !is_inner(one) && is_one_of(&one.name, WIRES));
    let outer = outer.filter_map(|one| one.mtu).min()?;
    let inner = up().filter(is_inner).filter(|one| one.mtu.is_some());
    let inner = inner.max_by_key(|one| one.mtu)?;
    let is_above = inner.mtu > Some(outer);
    Some(Fact::new("inner_mtu_above_outer", is_above, inner.line))
}

/// Whether two wires have different MTUs.
fn mtu_differs(all: &[Interface]) -> Option<Fact> {
    let wires = all
        .iter()
        .filter(|one| one.is_up && is_one_of(&one.name, WIRES));
    let known: Vec<(u32, u64)> = wires.filter_map(|one| Some((one.mtu?, one.line))).collect();
    (known.len() > 1).then_some(())?;
    let (first, line) = known.first()?;
    let other = known.iter().find(|(mtu, _)| mtu != first);
    Some(Fact::new(
        "mtu_differs",
        other.is_some(),
        other.map_or(*line, |(_, line)| *line),
    ))
}

fn tunnel(all: &[Interface]) -> Option<Fact> {
    let tunnel = all.iter().find(|one| one.is_tunnel)?;
    Some(Fact::new("tunnel_present", true, tunnel.line))
}

/// One address with two hardware addresses: two hosts.
fn address_twice(all: &[Interface]) -> Option<Fact> {
    let owners = |address: Ipv4Addr| {
        let same = all
            .iter()
            .filter(|one| one.addresses.iter().any(|(other, _)| *other == address));
        same.filter_map(|one| one.mac.as_deref())
            .gather::<BTreeSet<_>>()
            .len()
    };
    let mut each = all.iter().flat_map(|one| {
        one.addresses
            .iter()
            .map(move |(address, _)| (*address, one.line))
    });
    let (_, line) = each.find(|(address, _)| owners(*address) > 1)?;
    Some(Fact::new("same_dhcp_address_on_two_hosts", true, line))
}

fn prefix_32(all: &[Interface]) -> Option<Fact> {
    let wires = all.iter().filter(|one| is_one_of(&one.name, WIRES));
    let mut addressed = wires.filter(|one| !one.addresses.is_empty());
    let one = addressed.find(|one| one.addresses.iter().all(|(_, length)| *length == 32))?;
    Some(Fact::new("address_prefix_32", true, one.line))
}

fn is_one_of(name: &str, begins: &[&str]) -> bool {
    begins.iter().any(|begin| name.starts_with(begin))
}

/// Names of network cards.
const WIRES: &[&str] = &[
    "eth", "en", "em", "p1", "p2", "p3", "p4", "lan", "wan", "ib", "wl",
];
const TUNNELS: &[&str] = &[
    "wg",
    "tun",
    "ppp",
    "gre",
    "sit",
    "ipip",
    "vxlan",
    "geneve",
    "flannel",
    "pppoe",
    "l2tp",
    "nebula",
    "tailscale",
    "zt",
];
/// What sends through another device of the host.
const INNER: &[&str] = &[
    "docker", "br-", "veth", "cali", "cni", "flannel", "vxlan", "cilium", "weave", "lxc", "podman",
    "virbr", "tun", "wg", "ppp", "gre",
];
const LINE_MOST: usize = 400;
/// What a person pastes has fewer; each is compared with the others.
const INTERFACES_MOST: usize = 500;

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    #[test]
    fn an_inner_mtu_above_the_outer_one() {
        let text = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1400 qdisc fq state UP\n    inet 192.0.2.7/24 scope global eth0\n3: docker0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n";
        let found = values(text, facts);
        assert!(
            found.contains(&("inner_mtu_above_outer", "true".to_owned())),
            "{found:?}"
        );
        let fits = values(&text.replace("1400", "1500"), facts);
        assert!(fits.contains(&("inner_mtu_above_outer", "false".to_owned())));
    }

    #[test]
    fn two_hosts_with_one_address() {
        let host = |mac: &str| {
            format!(
                "eth0: flags=4163<UP,RUNNING>  mtu 1500\n        inet 192.0.2.3  netmask 255.255.255.0  broadcast 192.0.2.255\n        ether {mac}  txqueuelen 1000\n"
            )
        };
        let two = values(
            &(host("02:00:00:00:00:01") + &host("02:00:00:00:00:02")),
            facts,
        );
        assert!(
            two.contains(&("same_dhcp_address_on_two_hosts", "true".to_owned())),
            "{two:?}"
        );
        let same = values(
            &(host("02:00:00:00:00:01") + &host("02:00:00:00:00:01")),
            facts,
        );
        assert!(
            !same
                .iter()
                .any(|(name, _)| *name == "same_dhcp_address_on_two_hosts")
        );
    }
}
