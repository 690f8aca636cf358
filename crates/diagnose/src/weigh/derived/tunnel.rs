// SPDX-License-Identifier: MIT OR Apache-2.0
//! `wg show`, captures and interface names: handshakes of peers, addresses that two peers have, what wraps the packets.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;

use super::Fact;
use super::shown::{Shown, word_after};
use crate::weigh::observed::Line;

/// A peer of `wg show` or of a configuration.
#[derive(Debug, Default)]
struct Peer<'t> {
    /// Which interface it belongs to.
    interface: usize,
    has_endpoint: bool,
    has_traffic: bool,
    minutes: Option<f64>,
    allowed: Vec<&'t str>,
    /// Of `wg show`, not of a configuration.
    is_shown: bool,
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let peers = peers(lines);
    let readers = [missing, minutes, overlap];
    readers.iter().filter_map(|read| read(&peers)).collect()
}

fn peers<'t>(lines: &[Line<'t>]) -> Vec<Peer<'t>> {
    let mut peers: Vec<Peer<'t>> = Vec::new();
    let mut interface = 0;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text.trim();
        let is_shown = text.starts_with("peer: ");
        interface += usize::from(text.starts_with("interface: ") || text == "[Interface]");
        if (is_shown || text == "[Peer]") && peers.len() < PEERS_MOST {
            peers.push(Peer {
                interface,
                is_shown,
                line: line.number,
                ..Peer::default()
            });
        }
        if let Some(peer) = peers.last_mut().filter(|peer| peer.interface == interface) {
            peer.take(text);
        }
    }
    peers
}

impl<'t> Peer<'t> {
    fn take(&mut self, text: &'t str) {
        if text.starts_with("endpoint: ") {
            self.has_endpoint = true;
        } else if text.starts_with("transfer: ") {
            self.has_traffic = true;
        } else if let Some(since) = text.strip_prefix("latest handshake: ") {
            self.minutes = Some(minutes_of(since));
        } else if let Some(allowed) = text
            .strip_prefix("allowed ips: ")
            .or_else(|| configured(text))
        {
            self.allowed.extend(allowed.split(',').map(str::trim));
        }
    }
}

fn configured(text: &str) -> Option<&str> {
    Some(
        text.strip_prefix("AllowedIPs")?
            .trim_start()
            .strip_prefix('=')?
            .trim(),
    )
}

/// `1 hour, 12 minutes, 3 seconds ago`, `Now`.
fn minutes_of(text: &str) -> f64 {
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let mut sum = 0.0;
    while let Some(word) = words.next() {
        let scale = words
            .next()
            .map_or(0.0, |unit| match unit.trim_end_matches('s') {
                "day" => 1440.0,
                "hour" => 60.0,
                "minute" => 1.0,
                "second" => 1.0 / 60.0,
                _ => 0.0,
            });
        sum += word.parse::<f64>().unwrap_or(0.0) * scale;
    }
    sum
}

/// Whether a peer to which something was sent has never answered.
fn missing(peers: &[Peer<'_>]) -> Option<Fact> {
    let is_silent = |peer: &&Peer<'_>| {
        peer.is_shown && peer.has_endpoint && peer.has_traffic && peer.minutes.is_none()
    };
    let peer = peers.iter().find(is_silent)?;
    Some(Fact::new("wg_latest_handshake_missing", true, peer.line))
}

/// The age of the last handshake; of several peers the youngest.
fn minutes(peers: &[Peer<'_>]) -> Option<Fact> {
    let known = peers
        .iter()
        .filter_map(|peer| Some((peer.minutes?, peer.line)));
    let (minutes, line) = known.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Fact::new("wg_latest_handshake_minutes", minutes, line))
}

/// Whether two peers of one interface have the same addresses: only the last keeps them, `wg show` has `(none)` for the other.
fn overlap(peers: &[Peer<'_>]) -> Option<Fact> {
    let mut seen = BTreeSet::new();
    let each = peers
        .iter()
        .flat_map(|peer| peer.allowed.iter().map(move |allowed| (peer, *allowed)));
    let mut found = None;
    for (peer, allowed) in each {
        let is_none = allowed == "(none)" && peer.is_shown;
        let is_address =
            allowed.starts_with(|letter: char| letter.is_ascii_hexdigit() || letter == ':');
        if is_none || (is_address && !seen.insert((peer.interface, allowed))) {
            found = Some(peer);
        }
    }
    let peer = found?;
    Some(Fact::new("allowed_ips_overlap", true, peer.line))
}

/// `pppoe`, `gre`, `ipsec`, `qinq`: each that an interface, a policy or a capture shows.
pub(super) fn encapsulation(shown: &Shown<'_>) -> Vec<Fact> {
    let mut found: Vec<Fact> = Vec::new();
    for line in shown.with(WRAPS) {
        for kind in kinds(line.text).into_iter().flatten() {
            if !found.iter().any(|fact| fact.value == kind) {
                found.push(Fact::new("encapsulation", kind, line.number));
            }
        }
    }
    found
}

fn kinds(text: &str) -> [Option<&'static str>; 4] {
    let is_ppp = text.contains("pppoe-")
        || text.contains("PPPoE [ses")
        || text.contains("PPP session is ")
        || (text.contains("link/ppp") && !text.contains("peer"));
    let is_up = text.contains("UP,LOWER_UP") || text.contains(",UP>");
    let is_gre = (text.contains(": gre") && is_up && !text.contains(": gre0@"))
        || text.contains(": GREv0, ");
    let is_ipsec = text.contains("proto esp spi")
        || text.contains(": ESP(spi=")
        || text.contains("INSTALLED, TUNNEL");
    let is_double = text.contains("802.1ad")
        && (text.contains("vlan protocol") || text.contains("ethertype 802.1Q-QinQ"))
        || text.contains("ethertype 802.1Q-QinQ");
    [
        is_ppp.then_some("pppoe"),
        is_gre.then_some("gre"),
        is_ipsec.then_some("ipsec"),
        is_double.then_some("qinq"),
    ]
}

/// Distinct hosts that are master of one instance of VRRP at a time.
pub(super) fn masters(lines: &[Line<'_>]) -> Vec<Fact> {
    let mut speaking: linerate_model::map::Map<&str, Vec<&str>> = linerate_model::map::Map::new();
    let mut states: linerate_model::map::Map<(&str, &str), bool> = linerate_model::map::Map::new();
    let mut last = 0;
    for line in lines
        .iter()
        .filter(|line| line.text.contains("VRRP") || line.text.contains("rrp"))
    {
        if let Some((instance, source)) = advertised(line.text) {
            let row = speaking.entry(instance).or_default();
            if row.last() != Some(&source) && row.len() < PEERS_MOST {
                row.push(source);
            }
            last = line.number;
        } else if let Some((instance, host, is_master)) = entered(line.text) {
            states.insert((instance, host), is_master);
            last = line.number;
        }
    }
    // One who speaks again after another has not given up.
    let of_captures = speaking.values().filter(|row| row.len() > 1).map(|row| {
        if row.len() > 2 {
            row.iter().gather::<BTreeSet<&&str>>().len()
        } else {
            1
        }
    });
    let instances: BTreeSet<&str> = states.keys().map(|(instance, _)| *instance).gather();
    let of_logs = instances.iter().filter_map(|instance| {
        let all: Vec<bool> = states
            .iter()
            .filter(|((one, _), _)| one == instance)
            .map(|(_, is)| *is)
            .collect();
        (all.len() > 1).then(|| all.iter().filter(|is| **is).count())
    });
    let most = of_captures.chain(of_logs).max();
    most.map(|most| Fact::new("vrrp_masters", most, last))
        .into_iter()
        .collect()
}

/// `IP 192.0.2.2 > 224.0.0.18: VRRPv2, Advertisement, vrid 51, prio 150`.
fn advertised(text: &str) -> Option<(&str, &str)> {
    (text.contains("VRRPv") && text.contains("dvertisement")).then_some(())?;
    let instance = word_after(text, "vrid ")?.trim_end_matches(',');
    let (before, _) = text.split_once(" > ")?;
    Some((instance, before.split_whitespace().next_back()?))
}

/// `gw1 Keepalived_vrrp[812]: (VI_1) Entering MASTER STATE`.
fn entered(text: &str) -> Option<(&str, &str, bool)> {
    let (before, rest) = text.split_once("Keepalived_vrrp")?;
    let host = before.split_whitespace().next_back()?;
    let (instance, state) = rest.split_once('(')?.1.split_once(')')?;
    let state = word_after(state, "Entering ").or_else(|| word_after(state, "entering "))?;
    Some((instance, host, state == "MASTER"))
}

const LINE_MOST: usize = 400;
const WRAPS: &[&str] = &[
    "pppoe-",
    "PPPoE [ses",
    "PPP session is ",
    "link/ppp",
    ": gre",
    ": GREv0, ",
    "proto esp spi",
    ": ESP(spi=",
    "INSTALLED, TUNNEL",
    "802.1Q",
    "802.1ad",
];
const PEERS_MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::super::{assertions, values};
    use super::*;

    assertions!(has and lacks, values, facts);

    #[test]
    fn handshakes() {
        let peer = "interface: wg0\n\npeer: AAAA=\n  endpoint: 203.0.113.7:51820\n  allowed ips: 10.8.0.2/32\n";
        let sent = "  transfer: 0 B received, 12.14 KiB sent\n";
        has(
            &format!("{peer}{sent}"),
            "wg_latest_handshake_missing",
            "true",
        );
        lacks(peer, "wg_latest_handshake_missing");
        let shaken =
            format!("{peer}  latest handshake: 1 hour, 12 minutes, 30 seconds ago\n{sent}");
        lacks(&shaken, "wg_latest_handshake_missing");
        has(&shaken, "wg_latest_handshake_minutes", "72.5");
    }

    #[test]
    fn addresses_of_two_peers() {
        let two = |second: &str| {
            format!(
                "[Interface]\n[Peer]\nAllowedIPs = 10.8.0.2/32, 10.9.0.0/24\n[Peer]\nAllowedIPs={second}\n"
            )
        };
        has(&two("10.9.0.0/24"), "allowed_ips_overlap", "true");
        lacks(&two("10.8.0.3/32"), "allowed_ips_overlap");
        lacks(
            "[Interface]\n[Peer]\nAllowedIPs = 0.0.0.0/0\n[Interface]\n[Peer]\nAllowedIPs = 0.0.0.0/0\n",
            "allowed_ips_overlap",
        );
    }

    #[test]
    fn wrapping() {
        let found = |text: &str| super::super::shown::values(text, encapsulation);
        let one = |kind: &str| vec![("encapsulation", kind.to_owned())];
        assert_eq!(found("PPPoE router (pppoe-wan over eth1)\n"), one("pppoe"));
        let esp = "IP 192.0.2.1 > 192.0.2.2: ESP(spi=0xc8122,seq=0x1), length 136\n";
        assert_eq!(found(esp), one("ipsec"));
        let idle = "4: gre0@NONE: <NOARP> mtu 1476 qdisc noop state DOWN\n";
        assert_eq!(found(idle), []);
    }

    #[test]
    fn two_masters() {
        let log = |host: &str, state: &str| {
            format!("{host} Keepalived_vrrp: (VI_1) Entering {state} STATE\n")
        };
        let found = values(&(log("gw1", "MASTER") + &log("gw2", "MASTER")), masters);
        assert_eq!(found, [("vrrp_masters", "2".to_owned())]);
        let found = values(&(log("gw1", "MASTER") + &log("gw2", "BACKUP")), masters);
        assert_eq!(found, [("vrrp_masters", "1".to_owned())]);
        assert_eq!(values(&log("gw1", "MASTER"), masters), []);
        let said = |last: u32| {
            format!("IP 192.0.2.{last} > 224.0.0.18: VRRPv2, Advertisement, vrid 51, prio 150\n")
        };
        let both = values(&(said(2) + &said(3) + &said(2)), masters);
        assert_eq!(both, [("vrrp_masters", "2".to_owned())]);
    }
}
