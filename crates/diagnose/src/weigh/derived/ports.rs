// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip link`, `ip addr`, `ifconfig`, `brctl show`: what is set up, which ports of a bridge or bond have addresses, wires
//! beside a radio.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use super::Fact;
use crate::weigh::observed::Line;

/// An interface of one listing.
#[derive(Debug, Default)]
struct Port<'t> {
    name: &'t str,
    /// Interfaces of one output: of one host.
    listing: u32,
    /// Set up by an administrator, if its flags are shown.
    is_up: Option<bool>,
    has_carrier: Option<bool>,
    is_slave: bool,
    master: Option<&'t str>,
    addresses: Vec<(Ipv4Addr, u32)>,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut all = listed(lines);
    add_members(lines, &mut all);
    let readers = [
        admin_up,
        up,
        address_on_member,
        two_addresses,
        wifi_and_wire,
    ];
    let mut facts: Vec<Fact> = readers.iter().filter_map(|read| read(&all)).collect();
    if !facts.iter().any(|fact| fact.name == SAME_SUBNET) {
        facts.extend(routes_of_both(lines));
    }
    facts.extend(wired_has_link(&all, lines));
    facts.extend(one_subnet(&all, lines));
    facts.extend(carrier_changes(lines));
    facts
}

fn listed<'t>(lines: &[Line<'t>]) -> Vec<Port<'t>> {
    let mut all: Vec<Port<'t>> = Vec::new();
    let (mut listing, mut number, mut is_open) = (0, 0, false);
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let short = one_line(line).or_else(|| brief(line));
        let is_short = short.is_some();
        if let Some((index, port)) = short.or_else(|| headed(line)) {
            let mut same = all.iter().filter(|one| one.listing == listing);
            let seen = same.any(|one| one.name == port.name);
            // An address more of `ip -o`.
            let again = seen && !is_short;
            if !is_open || again || index.is_some_and(|index| index < number) {
                listing += 1;
            }
            (number, is_open) = (index.unwrap_or(0), true);
            all.push(Port { listing, ..port });
            if all.len() == PORTS_MOST {
                break;
            }
        } else if is_foreign(line.text) {
            is_open = false;
        }
        if let (true, false, Some(last)) = (is_open, is_short, all.last_mut()) {
            last.add(line.text.trim_start());
        }
    }
    all
}

/// A line that ends a listing: not indented and none of its own.
fn is_foreign(text: &str) -> bool {
    text.starts_with(|letter: char| !letter.is_whitespace()) && !is_detail(text)
}

/// `2: eth0    inet 192.0.2.10/24 scope global eth0` of `ip -o addr`.
fn one_line<'t>(line: &Line<'t>) -> Option<(Option<u32>, Port<'t>)> {
    let (before, rest) = line.text.split_once(" inet ")?;
    let (index, name) = before.split_once(':')?;
    let port = Port {
        name: name.trim(),
        addresses: address(&format!("inet {rest}")).into_iter().collect(),
        line: line.number,
        ..Port::default()
    };
    let index = index.trim().parse().ok()?;
    is_name(port.name).then_some((Some(index), port))
}

/// `eth0  UP  192.0.2.10/24 …` of `ip -br addr`, `eth0  DOWN  02:… <BROADCAST,MULTICAST>` of `ip -br link`. The state of an
/// interface without link is DOWN, too.
fn brief<'t>(line: &Line<'t>) -> Option<(Option<u32>, Port<'t>)> {
    let mut words = line.text.split_whitespace();
    let name = words.next()?.split('@').next()?;
    let state = words.next()?;
    let carrier = match state {
        "UP" => Some(true),
        "DOWN" => Some(false),
        "UNKNOWN" => None,
        _ => return None,
    };
    let flags = line
        .text
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    let up = flags.map(|(flags, _)| flags.split(',').any(|one| one == "UP"));
    let all: Vec<(Ipv4Addr, u32)> = words
        .filter_map(|word| address(&format!("inet {word}")))
        .collect();
    let port = Port {
        name,
        is_up: up.or_else(|| carrier.filter(|up| *up)),
        has_carrier: carrier,
        addresses: all,
        line: line.number,
        ..Port::default()
    };
    (is_name(name) && (up.is_some() || !port.addresses.is_empty() || name == "lo"))
        .then_some((None, port))
}

/// Copied without their indentation.
fn is_detail(text: &str) -> bool {
    [
        "inet",
        "link/",
        "valid_lft",
        "RX",
        "TX",
        "ether",
        "UP ",
        "collisions",
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

impl<'t> Port<'t> {
    fn add(&mut self, text: &'t str) {
        if text.starts_with("inet ") {
            self.addresses.extend(address(text));
        } else if text.contains("MTU:") {
            self.is_up = Some(text.starts_with("UP "));
            self.has_carrier = Some(text.contains("RUNNING"));
            self.is_slave = text.contains(" SLAVE ");
        }
    }
}

/// `2: eth0@if3: <BROADCAST,UP> mtu 1500 … master br0 state UP`, `eth0: flags=4163<UP,RUNNING>`, `eth0  Link encap:…`.
fn headed<'t>(line: &Line<'t>) -> Option<(Option<u32>, Port<'t>)> {
    let text = line.text;
    let port = |name: &'t str| Port {
        name: name.split('@').next().unwrap_or(name).trim(),
        line: line.number,
        ..Port::default()
    };
    if !text.contains('<') {
        let (name, _) = text.split_once("Link encap:")?;
        return Some((None, port(name))).filter(|(_, port)| is_name(port.name));
    }
    let (before, rest) = text.split_once('<')?;
    let (flags, rest) = rest.split_once('>')?;
    let before = before.trim_end();
    let (index, name) = if let Some((name, _)) = before.split_once(": flags=") {
        (None, name.trim())
    } else {
        let (index, name) = before.strip_suffix(':')?.trim().split_once(": ")?;
        (Some(index.parse().ok()?), name)
    };
    let has = |flag: &str| flags.split(',').any(|one| one == flag);
    let carrier = has("LOWER_UP") || (index.is_none() && has("RUNNING"));
    let found = Port {
        is_up: Some(has("UP")),
        has_carrier: Some(carrier),
        is_slave: has("SLAVE"),
        master: after(rest, " master "),
        ..port(name)
    };
    is_name(found.name).then_some((index, found))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() < 32 && !name.contains(' ') && !name.contains(':')
}

/// `br0  8000.0200…  no  eth0`, and the further members on lines of their own.
fn add_members<'t>(lines: &[Line<'t>], all: &mut [Port<'t>]) {
    let mut members: Map<&str, &'t str> = Map::new();
    let mut bridge: Option<&'t str> = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let mut words = line.text.split_whitespace();
        let (first, second) = (words.next(), words.next());
        if second.is_some_and(|id| id.starts_with("8000.")) {
            bridge = first;
            members.extend(words.nth(1).zip(bridge));
        } else if let (true, Some(name), None) = (line.text.starts_with(['\t', ' ']), first, second)
        {
            members.extend(Some(name).zip(bridge));
        } else {
            bridge = None;
        }
    }
    for port in all.iter_mut().filter(|port| port.master.is_none()) {
        port.master = members.get(port.name).copied();
    }
}

/// False where no wire is set up, true where all are: in a mixed listing it is unknown which one is meant.
fn admin_up(all: &[Port<'_>]) -> Option<Fact> {
    let wires = || {
        all.iter()
            .filter(|one| is_wire(one.name) && one.is_up.is_some())
    };
    let first = wires().next()?;
    let up = wires().filter(|one| one.is_up == Some(true)).count();
    (up == 0 || up == wires().count()).then(|| Fact::new("interface_admin_up", up > 0, first.line))
}

/// How many wires of one listing are up.
fn up(all: &[Port<'_>]) -> Option<Fact> {
    let mut listings: Map<u32, (u32, u64)> = Map::new();
    let wires = all.iter().filter(|one| is_wire(one.name));
    for port in wires.filter(|one| one.is_up == Some(true)) {
        let entry = listings.entry(port.listing).or_default();
        *entry = (entry.0 + 1, port.line);
    }
    let (count, line) = listings.into_values().max()?;
    Some(Fact::new("interfaces_up", count, line))
}

/// Whether a wire has link where there is a radio, too.
fn wired_has_link(all: &[Port<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let listings: BTreeSet<u32> = all
        .iter()
        .filter(|one| is_radio(one.name))
        .map(|one| one.listing)
        .gather();
    let by_radio = |line: &Line<'_>| route(line.text).is_some_and(|(_, device)| is_radio(device));
    let routed = listings.is_empty() && lines.iter().any(by_radio);
    let is_beside = |one: &&Port<'_>| {
        is_wire(one.name)
            && one.has_carrier.is_some()
            && (routed || listings.contains(&one.listing))
    };
    let beside = || all.iter().filter(is_beside);
    let linked = beside().find(|one| one.has_carrier == Some(true));
    let line = linked.or_else(|| beside().next())?.line;
    Some(Fact::new("wired_has_link", linked.is_some(), line))
}

/// Whether a port of a bridge or bond has an IPv4 address; false only where addresses are listed.
fn address_on_member(all: &[Port<'_>]) -> Option<Fact> {
    let members = || all.iter().filter(|one| is_member(one, all));
    let wrong = members().find(|one| !one.addresses.is_empty());
    let addressed = |of: &Port<'_>| {
        all.iter()
            .any(|one| one.listing == of.listing && one.name != "lo" && !one.addresses.is_empty())
    };
    let first = wrong.or_else(|| members().find(|one| addressed(one)))?;
    Some(Fact::new("address_on_member", wrong.is_some(), first.line))
}

/// Members of a VRF keep their addresses.
fn is_member(port: &Port<'_>, all: &[Port<'_>]) -> bool {
    let named =
        |name: &str| MASTERS.iter().any(|start| name.starts_with(start)) && !is_vrf(name, all);
    port.is_slave || port.master.is_some_and(named)
}

fn is_vrf(name: &str, all: &[Port<'_>]) -> bool {
    name.contains("vrf")
        || all
            .iter()
            .any(|one| one.name == name && one.master.is_some_and(|master| master.contains("vrf")))
}

/// Both the bridge and one of its ports.
fn two_addresses(all: &[Port<'_>]) -> Option<Fact> {
    let mut members = all
        .iter()
        .filter(|one| !one.addresses.is_empty() && is_member(one, all));
    let of_master = |port: &Port<'_>| {
        all.iter().any(|one| {
            Some(one.name) == port.master
                && one.listing == port.listing
                && !one.addresses.is_empty()
        })
    };
    let port = members.find(|one| of_master(one))?;
    Some(Fact::new("two_addresses_bridge_and_port", true, port.line))
}

fn wifi_and_wire(all: &[Port<'_>]) -> Option<Fact> {
    let up = || {
        all.iter()
            .filter(|one| one.is_up != Some(false) && !one.addresses.is_empty())
    };
    let radios: BTreeSet<(u32, u32, u32)> = up()
        .filter(|one| is_radio(one.name))
        .flat_map(networks)
        .gather();
    let mut wires = up().filter(|one| is_wire(one.name)).peekable();
    let line = wires.peek()?.line;
    (!radios.is_empty()).then_some(())?;
    let same = wires.find(|one| networks(one).any(|network| radios.contains(&network)));
    Some(Fact::new(
        SAME_SUBNET,
        same.is_some(),
        same.map_or(line, |one| one.line),
    ))
}

/// How many wires and radios of one listing have addresses in one network, or of one routing table routes to it.
fn one_subnet(all: &[Port<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let mut names: Map<(u32, u32, u32), (BTreeSet<&str>, u64)> = Map::new();
    let cards = all
        .iter()
        .filter(|one| is_wire(one.name) || is_radio(one.name));
    for (port, network) in cards.flat_map(|one| networks(one).map(move |network| (one, network))) {
        let entry = names.entry(network).or_default();
        entry.0.insert(port.name);
        entry.1 = port.line;
    }
    let listed = names
        .values()
        .map(|(names, line)| (names.len(), *line))
        .max();
    let (count, line) = listed.max(routed_by(lines))?;
    Some(Fact::new("interfaces_in_one_subnet", count, line))
}

/// The most devices that one network is on, by routes near each other.
fn routed_by(lines: &[Line<'_>]) -> Option<(usize, u64)> {
    let mut near: Vec<(usize, &str, &str)> = Vec::new();
    let mut most = None;
    for (at, line) in lines.iter().enumerate() {
        let Some((to, device)) = route(line.text).filter(|(to, _)| to.contains('/')) else {
            continue;
        };
        near.retain(|(other, ..)| at - other <= ROUTES_NEAR);
        near.push((at, to, device));
        let devices: BTreeSet<&str> = near
            .iter()
            .filter(|(_, other, _)| *other == to)
            .map(|(.., device)| *device)
            .gather();
        most = most.max((devices.len() > 1).then_some((devices.len(), line.number)));
    }
    most
}

fn networks(port: &Port<'_>) -> impl Iterator<Item = (u32, u32, u32)> {
    let network = |(address, length): &(Ipv4Addr, u32)| {
        let mask = u32::MAX.checked_shl(32 - (*length).min(32)).unwrap_or(0);
        (port.listing, address.to_bits() & mask, *length)
    };
    port.addresses.iter().map(network)
}

/// Two routes of one table, by a wire and by a radio: `192.0.2.0/24 dev wlan0`, `default via 192.0.2.1 dev eth0`.
fn routes_of_both(lines: &[Line<'_>]) -> Option<Fact> {
    let mut near: Vec<(usize, &str, bool)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((to, device)) = route(line.text) else {
            continue;
        };
        near.retain(|(other, ..)| at - other <= ROUTES_NEAR);
        let is_radio = is_radio(device);
        if near
            .iter()
            .any(|(_, other, radio)| *other == to && *radio != is_radio)
        {
            return Some(Fact::new(SAME_SUBNET, true, line.number));
        }
        near.push((at, to, is_radio));
    }
    None
}

/// The network, or the gateway of a default route, and the device, which is a radio or a wire.
fn route(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let starts = text.starts_with("default via ") || text.as_bytes().first()?.is_ascii_digit();
    let device = starts.then(|| after(text, " dev "))??;
    (is_radio(device) || is_wire(device)).then_some(())?;
    if let Some(gateway) = text.strip_prefix("default via ") {
        return Some((gateway.split(' ').next()?, device));
    }
    let to = text.split(' ').next()?;
    (to.contains('/') && !to.ends_with("/32") && text.contains("scope link"))
        .then_some((to, device))
}

/// `/sys/class/net/eth0/carrier_changes:12`, the output of `cat`, the column `transns` of `ip -s -s link`.
fn carrier_changes(lines: &[Line<'_>]) -> Option<Fact> {
    let next = |at: usize| lines.get(at + 1).map(|line| line.text.trim());
    let of = |(at, line): (usize, &Line<'_>)| -> Option<(u64, u64)> {
        let text = line.text;
        if let Some((_, rest)) = text.split_once("/carrier_changes") {
            let value = rest.trim_start_matches([':', ' ', '=', '\t']).trim();
            let value = if value.is_empty() { next(at)? } else { value };
            return Some((value.parse().ok()?, line.number));
        }
        let column = text.split_whitespace().position(|word| word == "transns")?;
        let row: Vec<&str> = next(at)?.split_whitespace().collect();
        // The title has two words before the first column.
        Some((
            row.get(column.checked_sub(2)?)?.parse().ok()?,
            line.number + 1,
        ))
    };
    let is_short = |(_, line): &(usize, &Line<'_>)| {
        line.text.contains("carrier_changes") || line.text.contains("transns")
    };
    let most = lines
        .iter()
        .enumerate()
        .filter(is_short)
        .filter_map(of)
        .max()?;
    Some(Fact::new("carrier_changes_total", most.0, most.1))
}

fn address(text: &str) -> Option<(Ipv4Addr, u32)> {
    let first = text.split_whitespace().nth(1)?;
    if let Some((address, length)) = first.split_once('/') {
        return Some((address.parse().ok()?, length.parse().ok()?));
    }
    let address = first.trim_start_matches("addr:").parse().ok()?;
    let mask = after(text, "netmask ").or_else(|| after(text, "Mask:"))?;
    let mask: Ipv4Addr = mask.parse().ok()?;
    Some((address, mask.to_bits().count_ones()))
}

fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.split_once(mark)?.1.split_whitespace().next()
}

fn is_radio(name: &str) -> bool {
    name.starts_with("wl") || name.starts_with("ath") || name.starts_with("wifi")
}

/// `eth0`, `enp5s0f0np0`, `lan1`; no VLAN.
fn is_wire(name: &str) -> bool {
    let numbered = ["eth", "em", "lan", "p1p", "p2p", "p3p", "p4p"];
    let is_old = numbered.iter().any(|start| name.starts_with(start))
        && name.ends_with(|letter: char| letter.is_ascii_digit());
    (is_old || name.starts_with("en")) && !name.contains('.')
}

const SAME_SUBNET: &str = "same_subnet_on_wifi_and_wire";
/// Names of bridges and bonds.
const MASTERS: &[&str] = &[
    "br",
    "bond",
    "virbr",
    "vmbr",
    "lxdbr",
    "lxcbr",
    "docker",
    "team",
    "ovs-system",
    "xenbr",
    "incusbr",
];
const ROUTES_NEAR: usize = 12;
const LINE_MOST: usize = 400;
/// What a person pastes has fewer; each is compared with the others.
const PORTS_MOST: usize = 300;

#[cfg(test)]
mod tests;
