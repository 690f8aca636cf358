// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of interfaces: self-assigned ones, those of a provider's translation, prefixes that differ, VRFs.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use linerate_model::order::Gather as _;

use super::Fact;
use super::shown::{Port, Shown, WIRES, contains, is_cgnat, is_one_of, is_public};

pub(super) fn facts(shown: &Shown<'_>) -> Vec<Fact> {
    let one: [fn(&Shown<'_>) -> Option<Fact>; 6] = [
        link_local_only,
        global_6,
        prefixes,
        in_vrf,
        advertisements,
        local_ports,
    ];
    let mut facts: Vec<Fact> = one.iter().filter_map(|read| read(shown)).collect();
    facts.extend(wan(shown));
    facts
}

/// Whether an interface that is up has no other address than one of 169.254.0.0/16.
fn link_local_only(shown: &Shown<'_>) -> Option<Fact> {
    let is_only = |port: &&Port<'_>| {
        let mut all = port.addresses.iter();
        port.is_up
            && is_one_of(port.name, WIRES)
            && !port.addresses.is_empty()
            && all.all(|(address, _)| address.is_link_local())
    };
    let of_port = shown.ports.iter().find(is_only).map(|port| port.line);
    let of_windows = || {
        let is_given = |text: &str| {
            text.contains("Autoconfiguration IPv4 Address") && text.contains("169.254.")
        };
        shown
            .lines
            .iter()
            .find(|line| is_given(line.text))
            .map(|line| line.number)
    };
    let line = of_port.or_else(of_windows)?;
    Some(Fact::new("address_link_local_only", true, line))
}

/// Whether an interface has an IPv6 address of the Internet, where any is listed.
fn global_6(shown: &Shown<'_>) -> Option<Fact> {
    let wires = shown
        .ports
        .iter()
        .filter(|port| is_one_of(port.name, WIRES) || is_one_of(port.name, &["br", "vmbr", "ppp"]));
    let listed: Vec<&Port<'_>> = wires.filter(|port| !port.scopes.is_empty()).collect();
    let global = listed.iter().find(|port| port.scopes.contains(&"global"));
    let line = global.or(listed.first())?.line;
    Some(Fact::new("ipv6_global_address", global.is_some(), line))
}

/// Whether two hosts of one network have different prefix lengths: the same interface with another hardware address.
fn prefixes(shown: &Shown<'_>) -> Option<Fact> {
    let wires = shown
        .ports
        .iter()
        .filter(|port| is_one_of(port.name, WIRES) && port.mac.is_some());
    let wires: Vec<&Port<'_>> = wires.take(PORTS_MOST).collect();
    let differ = |one: &&Port<'_>, other: &&Port<'_>| {
        let are_hosts = one.name == other.name && one.mac != other.mac;
        are_hosts
            && one.addresses.iter().any(|first| {
                other
                    .addresses
                    .iter()
                    .any(|second| lengths_differ(*first, *second))
            })
    };
    let found = wires
        .iter()
        .enumerate()
        .find(|(at, one)| wires[at + 1..].iter().any(|other| differ(one, other)))?;
    Some(Fact::new("prefix_lengths_differ", true, found.1.line))
}

fn lengths_differ(one: (Ipv4Addr, u32), other: (Ipv4Addr, u32)) -> bool {
    let known = [one.1, other.1]
        .iter()
        .all(|length| (8..=30).contains(length));
    known && one.1 != other.1 && contains((one.0, one.1.min(other.1)), other.0)
}

/// Whether an interface belongs to a VRF. Other listings of links show that none does.
fn in_vrf(shown: &Shown<'_>) -> Option<Fact> {
    let vrfs = shown
        .lines
        .iter()
        .filter(|line| line.text.trim_start().starts_with("vrf table "));
    let tables = vrfs.count();
    let whole: Vec<&Port<'_>> = shown
        .ports
        .iter()
        .filter(|port| port.is_whole && port.mtu.is_some())
        .collect();
    let is_vrf = |name: &str| name.contains("vrf") || (tables > 0 && name.starts_with("mgmt"));
    let member = whole.iter().find(|port| port.master.is_some_and(is_vrf));
    let line = member.map(|port| port.line);
    let line = line.or_else(|| {
        whole
            .first()
            .filter(|_| whole.len() > 2 && tables == 0)
            .map(|port| port.line)
    })?;
    Some(Fact::new("interface_in_vrf", member.is_some(), line))
}

/// Whether an interface takes router advertisements only while it does not forward, and forwards.
fn advertisements(shown: &Shown<'_>) -> Option<Fact> {
    let accepting = shown.settings.iter().filter_map(|(name, (value, line))| {
        let interface = name
            .strip_prefix("net.ipv6.conf.")?
            .strip_suffix(".accept_ra")?;
        let number =
            |interface: &str| shown.number(&format!("net.ipv6.conf.{interface}.forwarding"));
        let (forwards, _) = number(interface).or_else(|| number("all"))?;
        let is_own = !["lo", "default"].contains(&interface);
        is_own.then_some((*value == "1" && forwards == 1.0, *line))
    });
    let all: Vec<(bool, u64)> = accepting.collect();
    let (value, line) = all.iter().find(|(value, _)| *value).or(all.first())?;
    Some(Fact::new("accept_ra_1_and_forwarding", value, *line))
}

/// How many ports the kernel chooses from.
fn local_ports(shown: &Shown<'_>) -> Option<Fact> {
    let (value, line) = shown.settings.get("net.ipv4.ip_local_port_range")?;
    let mut words = value.split_whitespace();
    let (first, last): (f64, f64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    (last > first).then(|| Fact::new("local_ports", last - first + 1.0, *line))
}

/// The address at the provider's side: private, of the provider's translation, or another than the Internet sees.
fn wan(shown: &Shown<'_>) -> Vec<Fact> {
    let outside: BTreeSet<&str> = shown
        .routes
        .iter()
        .filter(|route| route.to.1 == 0)
        .map(|route| route.device)
        .gather();
    let has = |port: &Port<'_>, address: Ipv4Addr| {
        is_one_of(port.name, WANS)
            || (is_cgnat(address) && is_one_of(port.name, WIRES) && outside.contains(port.name))
    };
    let each = shown.ports.iter().flat_map(|port| {
        port.addresses
            .iter()
            .map(move |(address, _)| (port, *address))
    });
    let own = each
        .clone()
        .filter(|(port, address)| has(port, *address))
        .map(|(port, address)| (address, port.line));
    let own = own
        .chain(labelled(shown))
        .find(|(address, _)| !address.is_loopback());
    let mut facts = Vec::new();
    if let Some((address, line)) = own {
        facts.push(Fact::new("wan_address_is_cgnat", is_cgnat(address), line));
        facts.push(Fact::new("wan_address_private", address.is_private(), line));
    }
    let Some((public, line)) = asked(shown) else {
        return facts;
    };
    let is_own = own.map(|(address, _)| address == public).or_else(|| {
        each.clone()
            .any(|(_, address)| address == public)
            .then_some(true)
    });
    facts.extend(is_own.map(|is_own| Fact::new("wan_address_differs_from_public", !is_own, line)));
    facts
}

/// `WAN IP: 100.71.12.9`, `WAN address 192.168.1.7`.
fn labelled<'t>(shown: &'t Shown<'_>) -> impl Iterator<Item = (Ipv4Addr, u64)> + 't {
    shown.lines.iter().filter_map(|line| {
        let text = line.text.trim_start();
        let rest = ["WAN IP", "WAN address", "wan ip", "IPv4 WAN", "WAN IPv4"]
            .iter()
            .find_map(|mark| text.strip_prefix(mark))?;
        let mut words = rest.split([' ', ':', '=', '/', '\t']).take(WORDS_MOST);
        Some((words.find_map(|word| word.parse().ok())?, line.number))
    })
}

/// The address that a server of the Internet names: `curl ifconfig.me`, and a line of an address alone.
fn asked(shown: &Shown<'_>) -> Option<(Ipv4Addr, u64)> {
    let servers = [
        "ifconfig.",
        "icanhazip",
        "ipify",
        "ipinfo.io",
        "checkip",
        "myip.opendns",
        "ident.me",
        "whatismyip",
    ];
    let at = shown.lines.iter().position(|line| {
        line.text.len() < 200 && servers.iter().any(|server| line.text.contains(server))
    })?;
    let after = shown.lines.get(at..)?.iter().take(LINES_MOST);
    let mut words = after.flat_map(|line| {
        line.text
            .split([' ', '"', ':'])
            .map(move |word| (word, line.number))
    });
    words.find_map(|(word, line)| {
        Some((
            word.parse().ok().filter(|address| is_public(*address))?,
            line,
        ))
    })
}

const WANS: &[&str] = &["ppp", "pppoe", "wan", "wwan"];
const WORDS_MOST: usize = 6;
const LINES_MOST: usize = 4;
const PORTS_MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::super::shown::values;
    use super::*;

    assertions!(has and lacks, values, facts);

    #[test]
    fn addresses_nobody_gave() {
        let text = |address: &str| {
            format!(
                "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    inet {address}/16 scope link eth0\n    inet6 fe80::1/64 scope link\n"
            )
        };
        has(&text("169.254.7.7"), "address_link_local_only", "true");
        lacks(&text("192.0.2.7"), "address_link_local_only");
        has(&text("192.0.2.7"), "ipv6_global_address", "false");
        has(
            &format!(
                "{}    inet6 2001:db8::1/64 scope global\n",
                text("192.0.2.7")
            ),
            "ipv6_global_address",
            "true",
        );
    }

    #[test]
    fn hosts_with_other_prefixes() {
        let host = |mac: &str, length: u32| {
            format!(
                "2: eth0: <UP> mtu 1500 qdisc mq state UP\n    link/ether {mac} brd ff:ff:ff:ff:ff:ff\n    inet 10.1.2.3/{length} scope global eth0\n"
            )
        };
        has(
            &(host("02:00:00:00:00:01", 16) + &host("02:00:00:00:00:02", 24)),
            "prefix_lengths_differ",
            "true",
        );
        lacks(
            &(host("02:00:00:00:00:01", 16) + &host("02:00:00:00:00:01", 24)),
            "prefix_lengths_differ",
        );
    }

    #[test]
    fn an_address_of_the_provider() {
        let text = "pppoe-wan: inet 100.71.12.9 peer 100.64.0.1/32\n$ curl -4 https://ifconfig.me\n203.0.113.99\n";
        has(text, "wan_address_is_cgnat", "true");
        has(text, "wan_address_differs_from_public", "true");
        let own =
            "5: ppp0    inet 203.0.113.99 peer 203.0.113.1/32\ncurl ifconfig.me\n203.0.113.99\n";
        has(own, "wan_address_differs_from_public", "false");
        has(own, "wan_address_is_cgnat", "false");
        lacks(
            "3: tailscale0    inet 100.71.12.9/32 scope global tailscale0\n",
            "wan_address_is_cgnat",
        );
        lacks(
            "2: eth0    inet 192.168.1.7/24 scope global eth0\ncurl ifconfig.me\n203.0.113.99\n",
            "wan_address_differs_from_public",
        );
    }

    #[test]
    fn settings_and_vrfs() {
        let text = |forwards: u32| {
            format!(
                "net.ipv6.conf.eth0.accept_ra = 1\nnet.ipv6.conf.eth0.forwarding = {forwards}\n"
            )
        };
        has(&text(1), "accept_ra_1_and_forwarding", "true");
        has(&text(0), "accept_ra_1_and_forwarding", "false");
        has(
            "net.ipv4.ip_local_port_range = 32768\t60999\n",
            "local_ports",
            "28232",
        );
        has(
            "5: eth1: <BROADCAST,UP> mtu 1500 qdisc mq master vrf-mgmt state UP\n",
            "interface_in_vrf",
            "true",
        );
        lacks(
            "5: eth1: <BROADCAST,UP> mtu 1500 qdisc mq master br0 state UP\n",
            "interface_in_vrf",
        );
    }
}
