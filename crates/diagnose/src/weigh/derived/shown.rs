// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces, routes, neighbours and settings that listings show, read once for all who compare them.

use std::net::{IpAddr, Ipv4Addr};

use linerate_model::map::Map;

use super::marks::{Marks, mask};
use super::{
    Fact, addressing, bridging, captured, families, frames, hardware_addresses, nat, tunnel,
    way_points, ways, window,
};
use crate::weigh::observed::Line;

/// What those who compare find.
pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let shown = Shown::of(lines);
    let all: [fn(&Shown<'_>) -> Vec<Fact>; 12] = [
        addressing::facts,
        bridging::facts,
        bridging::path_mtu,
        captured::facts,
        families::facts,
        frames::facts,
        hardware_addresses::facts,
        nat::facts,
        tunnel::encapsulation,
        way_points::facts,
        ways::facts,
        window::facts,
    ];
    all.iter().flat_map(|read| read(&shown)).collect()
}

/// An interface of `ip link`, `ip addr` or `ifconfig`.
#[derive(Debug, Default)]
pub(super) struct Port<'t> {
    pub(super) name: &'t str,
    pub(super) mac: Option<&'t str>,
    pub(super) mtu: Option<u32>,
    pub(super) master: Option<&'t str>,
    pub(super) addresses: Vec<(Ipv4Addr, u32)>,
    /// Of another than the loopback interface: the scope of its IPv6 addresses.
    pub(super) scopes: Vec<&'t str>,
    /// The whole first line is there.
    pub(super) is_whole: bool,
    pub(super) is_up: bool,
    /// The heading above it, or what stands before it.
    pub(super) place: &'t str,
    pub(super) line: u64,
}

/// `192.0.2.0/24 dev eth0`, `default via 192.0.2.1 dev eth0`.
#[derive(Debug)]
pub(super) struct Route<'t> {
    /// With length 0: the default route.
    pub(super) to: (Ipv4Addr, u32),
    pub(super) via: Option<Ipv4Addr>,
    pub(super) device: &'t str,
    pub(super) text: &'t str,
    pub(super) line: u64,
}

/// `192.0.2.9 via 192.0.2.1 dev eth0 src 192.0.2.7` of `ip route get`.
#[derive(Debug)]
pub(super) struct Chosen<'t> {
    pub(super) to: Ipv4Addr,
    pub(super) device: &'t str,
    pub(super) source: Ipv4Addr,
    pub(super) is_of_other_table: bool,
    pub(super) line: u64,
}

/// What a neighbour table has.
#[derive(Debug)]
pub(super) struct Neighbour<'t> {
    pub(super) address: IpAddr,
    pub(super) mac: Option<&'t str>,
    pub(super) device: &'t str,
    pub(super) line: u64,
}

/// All that is shown.
#[derive(Debug, Default)]
pub(super) struct Shown<'t> {
    pub(super) lines: &'t [Line<'t>],
    pub(super) ports: Vec<Port<'t>>,
    pub(super) routes: Vec<Route<'t>>,
    pub(super) chosen: Vec<Chosen<'t>>,
    pub(super) neighbours: Vec<Neighbour<'t>>,
    /// `net.ipv4.ip_forward` and the like; the last value.
    pub(super) settings: Map<String, (&'t str, u64)>,
    marks: Marks,
    /// The last heading.
    place: &'t str,
}

impl<'t> Shown<'t> {
    pub(super) fn of(lines: &'t [Line<'t>]) -> Self {
        let mut shown = Self {
            lines,
            marks: Marks::of(lines),
            ..Self::default()
        };
        for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
            shown.take(line);
        }
        shown
    }

    fn take(&mut self, line: &Line<'t>) {
        let text = line.text.trim();
        if let Some((name, value)) = setting(text) {
            self.settings.insert(name, (value, line.number));
        } else if !(is_addressed(text) && self.entry(text, line.number)) {
            self.port(line.text, line.number);
        }
    }

    /// Whether the line is an entry of a table.
    fn entry(&mut self, text: &'t str, line: u64) -> bool {
        if let Some(one) = neighbour(text, line) {
            push(&mut self.neighbours, one);
        } else if let Some(one) = chosen(text, line) {
            push(&mut self.chosen, one);
        } else if let Some(one) = route(text, line) {
            push(&mut self.routes, one);
        } else {
            return false;
        }
        true
    }

    fn port(&mut self, text: &'t str, number: u64) {
        if let Some(port) = headed(text, number).filter(|_| self.ports.len() < PORTS_MOST) {
            // `ip -o addr` has a line for each address.
            let port = Port {
                place: if port.place.is_empty() || port.place.starts_with(port.name) {
                    self.place
                } else {
                    port.place
                },
                ..port
            };
            let is_again = |last: &Port<'_>| last.name == port.name && !port.is_whole;
            if !self.ports.last().is_some_and(is_again) {
                self.ports.push(port);
            }
        }
        if text.len() < PLACE_MOST && text.trim_end().ends_with(':') {
            self.place = text.trim();
        }
        let goes_on = ["inet", "link/", "ether", "UP "];
        let start = text.trim_start();
        if let Some(port) = self.ports.last_mut()
            && (port.line == number || is_one_of(start, &goes_on))
        {
            port.take(text);
        }
    }

    /// The lines that have one of these marks, of the table in `marks`.
    pub(super) fn with(&self, marks: &[&str]) -> impl Iterator<Item = &'t Line<'t>> + Clone {
        let mask = mask(marks);
        let places = self.lines.iter().enumerate();
        places
            .filter(move |(at, line)| self.marks.has(*at, mask) && line.text.len() < MARKED_MOST)
            .map(|(_, line)| line)
    }

    /// The number that a setting has.
    pub(super) fn number(&self, name: &str) -> Option<(f64, u64)> {
        let (value, line) = self.settings.get(name)?;
        Some((value.parse().ok()?, *line))
    }

    /// Who has this address.
    pub(super) fn owner(&self, address: Ipv4Addr) -> Option<&Port<'t>> {
        let has = |port: &&Port<'_>| port.addresses.iter().any(|(own, _)| *own == address);
        self.ports.iter().find(has)
    }

    /// Interfaces whose network this address is in.
    pub(super) fn connected(&self, address: Ipv4Addr) -> Vec<&'t str> {
        let of_ports = self.ports.iter().flat_map(|port| {
            let networks = port
                .addresses
                .iter()
                .filter(|(_, length)| (8..=30).contains(length));
            networks.map(move |network| (port.name, *network))
        });
        let direct = self.routes.iter().filter(|route| route.via.is_none());
        let direct = direct.filter(|route| (8..=30).contains(&route.to.1));
        let all = of_ports.chain(direct.map(|route| (route.device, route.to)));
        all.filter(|(_, network)| contains(*network, address))
            .map(|(name, _)| name)
            .collect()
    }
}

impl<'t> Port<'t> {
    fn take(&mut self, text: &'t str) {
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let next = words.peek().copied();
            match word {
                "mtu" => self.mtu = self.mtu.or(next.and_then(|next| next.parse().ok())),
                "master" => self.master = self.master.or(next),
                "link/ether" | "ether" | "HWaddr" => {
                    self.mac = self.mac.or(next.filter(|mac| is_mac(mac)))
                }
                "inet" => self.addresses.extend(address(next, text)),
                "inet6" => self.scopes.extend(scope(next, text)),
                _ => {}
            }
            if let Some(mtu) = word.strip_prefix("MTU:") {
                self.mtu = self.mtu.or(mtu.parse().ok());
            }
        }
        self.is_up |= text.trim_start().starts_with("UP ");
    }
}

fn push<T>(all: &mut Vec<T>, one: T) {
    if all.len() < LISTED_MOST {
        all.push(one);
    }
}

/// Whether a line may begin with an address or a default route.
fn is_addressed(text: &str) -> bool {
    let named = ["default ", "local ", "multicast ", "broadcast ", "? ("];
    text.starts_with(|letter: char| letter.is_ascii_digit())
        || is_one_of(text, &named)
        || text.contains(") at ")
        || text.get(..5).is_some_and(|first| first.contains(':'))
}

/// `192.0.2.1/24`; `192.0.2.1 netmask 255.255.255.0`; `addr:192.0.2.1 … Mask:255.255.255.0`.
fn address(word: Option<&str>, text: &str) -> Option<(Ipv4Addr, u32)> {
    let word = word?;
    if let Some((address, length)) = word.split_once('/') {
        return Some((address.parse().ok()?, length.parse().ok()?));
    }
    let address = word.trim_start_matches("addr:").parse().ok()?;
    let after = |mark| {
        text.split_once(mark)
            .and_then(|(_, rest): (&str, &str)| rest.split_whitespace().next())
    };
    if text.contains(" peer ") || text.contains("P-t-P") || text.contains(" destination ") {
        return Some((address, 32));
    }
    let mask = after("netmask ").or_else(|| after("Mask:"))?;
    Some((address, mask_length(mask)?))
}

/// `255.255.255.0`, `0xffffff00`.
pub(super) fn mask_length(mask: &str) -> Option<u32> {
    let bits = match mask.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => mask.parse::<Ipv4Addr>().ok()?.to_bits(),
    };
    (bits.leading_ones() == bits.count_ones()).then_some(bits.count_ones())
}

fn scope<'t>(word: Option<&'t str>, text: &str) -> Option<&'t str> {
    let word = word?.trim_start_matches("addr:");
    let word = if word.is_empty() {
        text.split_once("addr:")?.1.trim()
    } else {
        word
    };
    let is_unique_local = word.starts_with("fc") || word.starts_with("fd");
    let is_global =
        text.contains("scope global") || text.contains("Scope:Global") || text.contains("<global>");
    match (is_global, is_unique_local) {
        _ if word.starts_with("fe80") => Some("link"),
        (true, false) => Some("global"),
        (true, true) => Some("site"),
        _ => None,
    }
}

/// `2: eth0: <UP> mtu 1500`, `2: eth0    inet …`, `eth0: flags=4163<UP>`, `eth0 Link encap:Ethernet`, `pppoe-wan: inet …`.
fn headed(text: &str, number: u64) -> Option<Port<'_>> {
    let (name, is_whole) = head(text)?;
    let name = name.split('@').next().unwrap_or(name);
    let is_name = !name.is_empty() && name.len() < 32 && !name.contains([' ', '/', '(', '[']);
    let is_up = text.contains("<UP") || text.contains(",UP,") || text.contains(",UP>");
    is_name.then_some(Port {
        name,
        is_whole,
        is_up: is_up || !is_whole,
        place: text
            .split_once(": ")
            .map_or("", |(place, _)| place.trim())
            .trim_start_matches(|letter: char| letter.is_ascii_digit()),
        line: number,
        ..Port::default()
    })
}

fn head(text: &str) -> Option<(&str, bool)> {
    let is_flagged = text.as_bytes().contains(&b'<');
    (is_flagged || text.contains("inet") || text.contains(" Link encap:")).then_some(())?;
    if let Some((name, _)) = text.split_once(" Link encap:") {
        return Some((name.trim(), true));
    }
    if let Some((name, _)) = text.split_once(": flags=") {
        return Some((name.trim(), true));
    }
    if let Some((before, rest)) = text.split_once(": <") {
        // `host a: 2: eth0: <UP>`.
        let listed = rest.contains(" mtu ") || rest.trim_end().ends_with('>');
        let mut words = before.rsplit(": ");
        let (name, index) = (words.next()?, words.next()?);
        let index = index.split_whitespace().next_back()?;
        return (listed && index.parse::<u32>().is_ok()).then_some((name, true));
    }
    let (before, _) = text
        .split_once(" inet ")
        .or_else(|| text.split_once(" inet6 "))?;
    let mut words = before.split_whitespace().rev();
    let name = words.next()?;
    let index = words
        .next()
        .map(|word| word.trim_end_matches(':').parse::<u32>().is_ok());
    let is_listed = name.ends_with(':') || index == Some(true);
    is_listed.then_some((name.trim_end_matches(':'), false))
}

/// `net.ipv4.ip_forward = 1`, `/proc/sys/net/ipv4/ip_forward:1`; no comment.
fn setting(text: &str) -> Option<(String, &str)> {
    text.contains("net").then_some(())?;
    let rest = text.trim_start_matches("/proc/sys/");
    let at = rest.find("net.").or_else(|| rest.find("net/"))?;
    let before = &rest[..at];
    let is_named = before.is_empty() || before.ends_with(' ') || before.ends_with("sysctl ");
    (is_named && at < PREFIX_MOST && !text.starts_with(['#', ';'])).then_some(())?;
    let (name, value) = rest[at..]
        .split_once('=')
        .or_else(|| rest[at..].split_once(':'))?;
    let name = name.trim();
    let is_name = name.len() < 80
        && !name.contains(' ')
        && (name.contains(".ipv")
            || name.contains("/ipv")
            || name.contains("netfilter")
            || name.contains("core"));
    is_name.then(|| (name.replace('/', "."), value.trim()))
}

/// `192.0.2.7 dev eth0 lladdr 02:… REACHABLE`, `? (192.0.2.7) at 02:… [ether] on eth0`, `192.0.2.7 ether 02:… C eth0`.
fn neighbour(text: &str, line: u64) -> Option<Neighbour<'_>> {
    let is_table = text.contains(" lladdr ")
        || text.contains(" at ") && text.contains(" on ")
        || text.contains(" ether ")
        || text.contains("incomplete)")
        || ["FAILED", "INCOMPLETE"]
            .iter()
            .any(|state| text.ends_with(state))
        || text.contains(" 0x1 ") && text.contains(" 0x2 ");
    is_table.then_some(())?;
    let mut words = text.split_whitespace();
    let mut first = words.next()?;
    if text.contains(" at ") {
        first = words
            .find(|word| word.starts_with('('))?
            .trim_matches(['(', ')']);
    }
    let address: IpAddr = first.parse().ok()?;
    let mac = text.split_whitespace().find(|word| is_mac(word));
    let after = |mark: &str| {
        text.split_once(mark)
            .and_then(|(_, rest)| rest.split_whitespace().next())
    };
    let device = after(" dev ")
        .or_else(|| after(" on "))
        .or_else(|| text.split_whitespace().next_back())?;
    Some(Neighbour {
        address,
        mac: mac.filter(|mac| !mac.starts_with("00:00:00:00:00:0")),
        device,
        line,
    })
}

fn chosen(text: &str, line: u64) -> Option<Chosen<'_>> {
    text.contains(" src ").then_some(())?;
    let listed = [" proto ", " scope ", " metric ", " lladdr "];
    (!listed.iter().any(|mark| text.contains(mark))).then_some(())?;
    let text = ["local ", "multicast ", "broadcast "]
        .iter()
        .find_map(|kind| text.strip_prefix(kind))
        .unwrap_or(text);
    let to = text.split_whitespace().next()?.parse().ok()?;
    let device = word_after(text, " dev ")?;
    let source = word_after(text, " src ")?.parse().ok()?;
    let is_of_other_table = word_after(text, " table ").is_some();
    Some(Chosen {
        to,
        device,
        source,
        is_of_other_table,
        line,
    })
}

fn route(text: &str, line: u64) -> Option<Route<'_>> {
    if let Some(device) = word_after(text, " dev ") {
        let first = text.split_whitespace().next()?;
        let is_route = [" via ", " scope ", " proto ", " metric "]
            .iter()
            .any(|mark| text.contains(mark))
            || first == "default"
            || first.contains('/');
        let via = word_after(text, " via ");
        let via = via.and_then(|via| via.parse().ok());
        return is_route.then_some(Route {
            to: network(first)?,
            via,
            device,
            text,
            line,
        });
    }
    // `0.0.0.0 192.0.2.1 0.0.0.0 UG 0 0 0 eth0`.
    let starts = text.starts_with(|letter: char| letter.is_ascii_digit());
    (starts && text.contains(" U")).then_some(())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let [to, via, mask, flags, .., device] = words.as_slice() else {
        return None;
    };
    (words.len() == 8 && flags.starts_with('U')).then_some(())?;
    let via: Ipv4Addr = via.parse().ok()?;
    let to = (to.parse().ok()?, mask_length(mask)?);
    let via = Some(via).filter(|_| flags.contains('G'));
    Some(Route {
        to,
        via,
        device,
        text,
        line,
    })
}

/// `default`, `192.0.2.0/24`, `192.0.2.7`.
pub(super) fn network(word: &str) -> Option<(Ipv4Addr, u32)> {
    if word == "default" {
        return Some((Ipv4Addr::UNSPECIFIED, 0));
    }
    let Some((address, length)) = word.split_once('/') else {
        return Some((word.parse().ok()?, 32));
    };
    let length: u32 = length.parse().ok()?;
    Some((
        address.parse().ok()?,
        Some(length).filter(|length| *length <= 32)?,
    ))
}

pub(super) fn contains((network, length): (Ipv4Addr, u32), address: Ipv4Addr) -> bool {
    let mask = u32::MAX.checked_shl(32 - length.min(32)).unwrap_or(0);
    network.to_bits() & mask == address.to_bits() & mask
}

pub(super) fn is_mac(word: &str) -> bool {
    word.len() == 17
        && word.bytes().enumerate().all(|(at, letter)| match at % 3 {
            2 => letter == b':' || letter == b'-',
            _ => letter.is_ascii_hexdigit(),
        })
}

pub(super) fn is_cgnat(address: Ipv4Addr) -> bool {
    contains((Ipv4Addr::new(100, 64, 0, 0), 10), address)
}

/// Whether the Internet routes it; addresses of documents count as such.
pub(super) fn is_public(address: Ipv4Addr) -> bool {
    let [first, ..] = address.octets();
    let is_special = address.is_private() || address.is_loopback() || address.is_link_local();
    !is_special && !is_cgnat(address) && (1..224).contains(&first)
}

pub(super) fn word_after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.split_once(mark)?.1.split_whitespace().next()
}

pub(super) fn is_one_of(name: &str, begins: &[&str]) -> bool {
    begins.iter().any(|begin| name.starts_with(begin))
}

/// Names of network cards.
pub(super) const WIRES: &[&str] = &[
    "eth", "en", "em", "p1", "p2", "p3", "p4", "lan", "wan", "ib", "wl", "bond", "team",
];
/// Bridges that a program of this host made, with networks of its own.
pub(super) const LOCAL_BRIDGES: &[&str] = &[
    "docker", "br-", "virbr", "lxdbr", "lxcbr", "cni", "podman", "vmnet", "incusbr",
];
pub(super) const TUNNELS: &[&str] = &[
    "wg",
    "tun",
    "tap",
    "ppp",
    "gre",
    "ipip",
    "vti",
    "xfrm",
    "ipsec",
    "tailscale",
    "zt",
    "nordlynx",
];

const LINE_MOST: usize = 400;
/// Longer lines are no output of these tools.
const MARKED_MOST: usize = 1000;
const PREFIX_MOST: usize = 40;
const PLACE_MOST: usize = 60;
const PORTS_MOST: usize = 500;
const LISTED_MOST: usize = 5000;

#[cfg(test)]
pub(super) fn values(text: &str, read: fn(&Shown<'_>) -> Vec<Fact>) -> Vec<(&'static str, String)> {
    let lines = text.lines().zip(1..);
    let lines: Vec<Line<'_>> = lines.map(|(text, number)| Line { number, text }).collect();
    let facts = read(&Shown::of(&lines)).into_iter();
    facts.map(|fact| (fact.name, fact.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line<'_>> {
        let lines = text.lines().zip(1..);
        lines.map(|(text, number)| Line { number, text }).collect()
    }

    #[test]
    fn listings_of_all_ages() {
        let text = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq master br0 state UP\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.7/24 scope global eth0\n\
            eth1      Link encap:Ethernet  HWaddr 02:00:00:00:00:02\n          inet addr:198.51.100.7  Bcast:198.51.100.255  Mask:255.255.255.0\n          inet6 addr: fe80::1/64 Scope:Link\n          UP BROADCAST MTU:1500  Metric:1\n\
            3: eth2    inet 203.0.113.7/24 scope global eth2\npppoe-wan: inet 100.71.12.9 peer 100.64.0.1/32\n";
        let lines = lines(text);
        let all = Shown::of(&lines).ports;
        let seen: Vec<_> = all
            .iter()
            .map(|one| {
                (
                    one.name,
                    one.mtu,
                    one.addresses.first().map(|first| first.1),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("eth0", Some(9000), Some(24)),
                ("eth1", Some(1500), Some(24)),
                ("eth2", None, Some(24)),
                ("pppoe-wan", None, Some(32))
            ]
        );
        assert_eq!(all[0].master, Some("br0"));
        assert_eq!(all[1].scopes, ["link"]);
    }

    #[test]
    fn routes_neighbours_and_settings() {
        let text = "default via 192.0.2.1 dev eth0 proto dhcp metric 100\n0.0.0.0         192.0.2.1       0.0.0.0         UG    0      0        0 eth0\n172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1\n192.0.2.9 dev eth0 src 192.0.2.7 uid 0\n\
            192.0.2.8 dev eth0 lladdr 02:00:00:00:00:08 REACHABLE\n? (192.0.2.6) at 02:00:00:00:00:06 [ether] on eth0\n192.0.2.5   ether   02:00:00:00:00:05   C   eth0\nnet.ipv4.ip_forward = 1\n/proc/sys/net/ipv6/conf/eth0/accept_ra:2\n#net.ipv4.tcp_sack = 0\n";
        let lines = lines(text);
        let all = Shown::of(&lines);
        assert_eq!(
            all.routes.iter().map(|one| one.to.1).collect::<Vec<_>>(),
            [0, 0, 16]
        );
        assert_eq!(all.chosen.len(), 1);
        assert_eq!(all.neighbours.len(), 3);
        assert_eq!(all.number("net.ipv6.conf.eth0.accept_ra"), Some((2.0, 9)));
        assert_eq!(all.settings.len(), 2);
    }
}
