// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ip link`, `ip addr`, `ifconfig`, `brctl show`: what is set up, which ports of a bridge or bond have addresses, wires
//! beside a radio.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use linerate_model::order::Gather as _;

use super::Fact;
use crate::weigh::observed::Line;

/// An interface of one listing.
#[derive(Debug, Default)]
struct Port<'t> {
    name: &'t str,
    /// Interfaces of one output: of one host.
    listing: u32,
    /// Set up by somebody, if its flags are shown.
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
    let mut members: BTreeMap<&str, &'t str> = BTreeMap::new();
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

/// False where no wire is set up, true where all are: of a mixed listing nobody knows which one is meant.
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
    let mut listings: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
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
    let mut names: BTreeMap<(u32, u32, u32), (BTreeSet<&str>, u64)> = BTreeMap::new();
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
mod tests {
    use super::super::values;
    use super::*;

    fn value(text: &str, name: &str) -> Option<String> {
        let found = values(text, facts).into_iter();
        found
            .filter(|(one, _)| *one == name)
            .map(|(_, value)| value)
            .next()
    }

    #[test]
    fn a_port_that_nobody_sets_up() {
        let down = "3: eno2: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT\n    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n";
        assert_eq!(value(down, "interface_admin_up").as_deref(), Some("false"));
        let old = "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:02\n          BROADCAST MULTICAST  MTU:1500  Metric:1\n";
        assert_eq!(value(old, "interface_admin_up").as_deref(), Some("false"));
        let up = "2: eth0: <NO-CARRIER,BROADCAST,UP> mtu 1500 state DOWN\n";
        assert_eq!(value(up, "interface_admin_up").as_deref(), Some("true"));
        let both = format!("{up}{down}");
        assert_eq!(value(&both, "interface_admin_up"), None);
        assert_eq!(value(&both, "interfaces_up").as_deref(), Some("1"));
        // Flags that are not shown say nothing.
        let cut = "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:02\n          RX packets:4201981 errors:61203\n";
        assert_eq!(value(cut, "interface_admin_up"), None);
        let brief = "lo               UNKNOWN        127.0.0.1/8\neno1             DOWN           02:00:00:00:00:02 <BROADCAST,MULTICAST>\n";
        assert_eq!(value(brief, "interface_admin_up").as_deref(), Some("false"));
        assert_eq!(
            value(
                "eth0             DOWN           192.0.2.1/24\n",
                "interface_admin_up"
            ),
            None
        );
        assert_eq!(
            values(
                "eth0: is down, <UP> says nobody\nit went DOWN at 10/24 of us\n",
                facts
            ),
            []
        );
    }

    #[test]
    fn an_address_on_a_port() {
        let text = |master: &str, first: &str| {
            format!(
                "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq master {master} state UP\n{first}4: {master}: <BROADCAST,UP,LOWER_UP> mtu 1500 state UP\n    inet 192.0.2.11/24 scope global {master}\n"
            )
        };
        let own = "    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0\n";
        let wrong = text("br0", own);
        assert_eq!(value(&wrong, "address_on_member").as_deref(), Some("true"));
        assert_eq!(
            value(&wrong, "two_addresses_bridge_and_port").as_deref(),
            Some("true")
        );
        let right = text("br0", "");
        assert_eq!(value(&right, "address_on_member").as_deref(), Some("false"));
        assert_eq!(value(&text("vrf-red", own), "address_on_member"), None);
    }

    #[test]
    fn a_port_by_brctl() {
        let text = "bridge name\tbridge id\t\tSTP enabled\tinterfaces\nbr0\t\t8000.020000000001\tno\t\teth0\n\t\t\t\t\t\teth1\n\neth1      Link encap:Ethernet  HWaddr 02:00:00:00:00:02\n          inet addr:192.0.2.3  Bcast:192.0.2.255  Mask:255.255.255.0\n          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n";
        assert_eq!(value(text, "address_on_member").as_deref(), Some("true"));
    }

    #[test]
    fn a_radio_and_a_wire() {
        let listing = |wire: &str, flags: &str| {
            format!(
                "2: {wire}: <BROADCAST,{flags}> mtu 1500\n    inet 192.0.2.10/24 scope global\n3: wlp2s0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 192.0.2.11/24 scope global\n"
            )
        };
        let both = listing("enp3s0", "UP,LOWER_UP");
        assert_eq!(value(&both, SAME_SUBNET).as_deref(), Some("true"));
        assert_eq!(value(&both, "wired_has_link").as_deref(), Some("true"));
        let unplugged = listing("enp3s0", "NO-CARRIER,UP");
        assert_eq!(
            value(&unplugged, "wired_has_link").as_deref(),
            Some("false")
        );
        let routes = "default via 192.0.2.1 dev wlan0 proto dhcp metric 100\ndefault via 192.0.2.1 dev enp3s0 proto dhcp metric 600\n";
        assert_eq!(value(routes, SAME_SUBNET).as_deref(), Some("true"));
        let other = "192.0.2.0/24 dev wlan0 scope link\n198.51.100.0/24 dev eth0 scope link\n";
        assert_eq!(value(other, SAME_SUBNET), None);
    }

    #[test]
    fn two_cards_in_one_network() {
        let name = "interfaces_in_one_subnet";
        let one = |number: u32, card: &str, host: u32| {
            format!("{number}: {card}    inet 192.0.2.{host}/24 scope global {card}\n")
        };
        assert_eq!(
            value(&(one(2, "eth0", 10) + &one(3, "eth1", 11)), name).as_deref(),
            Some("2")
        );
        // Those of two hosts.
        assert_eq!(
            value(&(one(3, "eth0", 10) + &one(2, "enp1s0", 11)), name).as_deref(),
            Some("1")
        );
        let apart = format!(
            "{}and the other one:\n{}",
            one(2, "eth0", 10),
            one(3, "eth1", 11)
        );
        assert_eq!(value(&apart, name).as_deref(), Some("1"));
        let routes = "192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.10\n192.0.2.0/24 dev eth1 proto kernel scope link src 192.0.2.11\n";
        assert_eq!(value(routes, name).as_deref(), Some("2"));
    }

    #[test]
    fn carrier_changes_of_files() {
        assert_eq!(
            value(
                "/sys/class/net/eth0/carrier_changes:12\n",
                "carrier_changes_total"
            )
            .as_deref(),
            Some("12")
        );
        assert_eq!(
            value(
                "cat /sys/class/net/eth0/carrier_changes\n31\n",
                "carrier_changes_total"
            )
            .as_deref(),
            Some("31")
        );
        let link = "    TX errors:  aborted    fifo   window heartbt transns\n                  0        0        0       0       14\n";
        assert_eq!(value(link, "carrier_changes_total").as_deref(), Some("14"));
        assert_eq!(
            value(
                "watch carrier_changes for a while\n",
                "carrier_changes_total"
            ),
            None
        );
    }
}
