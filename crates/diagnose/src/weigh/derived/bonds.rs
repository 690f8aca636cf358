// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/bonding/*`: ports of a bond that are not one aggregate, dead ones in use, changes that no carrier explains.

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;

use super::{Fact, number_after};
use crate::weigh::observed::Line;

/// A bond.
#[derive(Debug, Default)]
struct Bond<'t> {
    is_lacp: bool,
    active: Option<&'t str>,
    ports: Vec<Port<'t>>,
}

#[derive(Debug, Default)]
struct Port<'t> {
    name: &'t str,
    is_down: bool,
    aggregator: Option<&'t str>,
    speed: Option<&'t str>,
    /// Key and system of the partner.
    partner: (Option<&'t str>, Option<&'t str>),
    line: u64,
}

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    let bonds = bonds(lines);
    let mut facts = Vec::new();
    facts.extend(aggregators(&bonds, lines));
    facts.extend(differ(&bonds, "bond_member_speeds_differ", |port| {
        port.speed
    }));
    facts.extend(partners(&bonds));
    facts.extend(dead_in_use(&bonds, lines));
    facts.extend(flaps(lines));
    facts
}

fn bonds<'t>(lines: &[Line<'t>]) -> Vec<Bond<'t>> {
    let mut all: Vec<Bond<'t>> = Vec::new();
    let mut of_partner = false;
    for line in lines {
        let Some((key, value)) = line
            .text
            .trim()
            .split_once(": ")
            .or_else(|| Some((line.text.trim().strip_suffix(':')?, "")))
        else {
            continue;
        };
        if key == "Bonding Mode" {
            let is_lacp = value.contains("802.3ad");
            all.push(Bond {
                is_lacp,
                ..Bond::default()
            });
        } else if key == "Currently Active Slave" {
            all.extend(all.is_empty().then(Bond::default));
            if let Some(bond) = all.last_mut() {
                bond.active = Some(value);
            }
        } else if key == "Slave Interface" {
            all.extend(all.is_empty().then(Bond::default));
            let port = Port {
                name: value,
                line: line.number,
                ..Port::default()
            };
            if let Some(bond) = all.last_mut() {
                bond.ports.push(port);
            }
        } else if let Some(port) = all.last_mut().and_then(|bond| bond.ports.last_mut()) {
            of_partner = (of_partner || key == "details partner lacp pdu")
                && key != "details actor lacp pdu";
            port.add(key, value, of_partner);
        }
    }
    all
}

impl<'t> Port<'t> {
    fn add(&mut self, key: &str, value: &'t str, of_partner: bool) {
        match key {
            "MII Status" => self.is_down = value != "up",
            "Aggregator ID" => self.aggregator = Some(value),
            "Speed" => self.speed = value.ends_with("bps").then_some(value),
            "oper key" if of_partner => self.partner.0 = Some(value),
            "system mac address" if of_partner => self.partner.1 = Some(value),
            _ => {}
        }
    }
}

/// The most aggregates that ports with link of one bond are in.
fn aggregators(bonds: &[Bond<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let count = |bond: &Bond<'_>| {
        let all: Vec<(&str, u64)> = up(bond)
            .filter_map(|port| Some((port.aggregator?, port.line)))
            .collect();
        let different: BTreeSet<&str> = all.iter().map(|(id, _)| *id).gather();
        (all.len() > 1).then_some((different.len(), all.last()?.1))
    };
    let (most, line) = bonds
        .iter()
        .filter_map(count)
        .max()
        .or_else(|| of_link(lines))?;
    Some(Fact::new("bond_aggregators", most, line))
}

/// `bond_slave state ACTIVE mii_status UP … ad_aggregator_id 1` of `ip -d link`.
fn of_link(lines: &[Line<'_>]) -> Option<(usize, u64)> {
    let all: Vec<(&str, u64)> = lines.iter().filter_map(aggregator).collect();
    let different: BTreeSet<&str> = all.iter().map(|(id, _)| *id).gather();
    (all.len() > 1).then_some((different.len(), all.last()?.1))
}

fn aggregator<'t>(line: &Line<'t>) -> Option<(&'t str, u64)> {
    let (_, rest) = line.text.split_once("bond_slave ")?;
    let (_, id) = rest.split_once("ad_aggregator_id ")?;
    let id = id.split_whitespace().next()?;
    (!rest.contains("mii_status DOWN")).then_some((id, line.number))
}

fn up<'b, 't>(bond: &'b Bond<'t>) -> impl Iterator<Item = &'b Port<'t>> {
    bond.ports.iter().filter(|port| !port.is_down)
}

/// Whether ports with link of one bond differ.
fn differ<'t>(
    bonds: &[Bond<'t>],
    name: &'static str,
    of: impl Fn(&Port<'t>) -> Option<&'t str>,
) -> Option<Fact> {
    let one = |bond: &Bond<'t>| {
        let known: Vec<(&str, u64)> = up(bond)
            .filter_map(|port| Some((of(port)?, port.line)))
            .collect();
        let different: BTreeSet<&str> = known.iter().map(|(value, _)| *value).gather();
        (known.len() > 1).then_some((different.len() > 1, known.last()?.1))
    };
    let (value, line) = bonds.iter().filter_map(one).max()?;
    Some(Fact::new(name, value, line))
}

fn partners(bonds: &[Bond<'_>]) -> Option<Fact> {
    let name = "bond_partner_keys_differ";
    let keys = differ(bonds, name, |port| port.partner.0);
    let systems = differ(bonds, name, |port| port.partner.1);
    let is_true = |fact: &Fact| fact.value == "true";
    systems.filter(is_true).or(keys)
}

/// A port that the bond uses and that has no carrier.
fn dead_in_use(bonds: &[Bond<'_>], lines: &[Line<'_>]) -> Option<Fact> {
    let used: BTreeSet<&str> = bonds
        .iter()
        .filter(|bond| !bond.is_lacp)
        .flat_map(|bond| up(bond).map(|port| port.name).chain(bond.active))
        .gather();
    (!used.is_empty()).then_some(())?;
    let dead = |line: &&Line<'_>| {
        let Some((before, _)) = line.text.split_once("NO-CARRIER") else {
            return false;
        };
        let name = before.trim_end_matches([' ', '<']).trim_end_matches(':');
        let name = name.rsplit(' ').next().unwrap_or(name);
        used.contains(name.split('@').next().unwrap_or(name))
    };
    let line = lines.iter().find(dead)?;
    Some(Fact::new(
        "bond_member_no_carrier_but_up",
        true,
        line.number,
    ))
}

/// With the ARP monitor: ports that the bond takes for dead while no driver lost its link.
fn flaps(lines: &[Line<'_>]) -> Option<Fact> {
    let monitors = lines.iter().any(|line| {
        let text = line.text;
        number_after(text, "ARP Polling Interval (ms): ")
            .or_else(|| number_after(text, "arp_interval="))
            .is_some_and(|ms| ms > 0.0)
    });
    monitors.then_some(())?;
    let of_bond = |line: &&Line<'_>| {
        line.text.contains("definitely down") || line.text.contains("backup interface is now down")
    };
    let of_driver = |line: &&Line<'_>| {
        let text = line.text;
        ["ink is Down", "ink is down", "ink Down"]
            .iter()
            .any(|mark| text.contains(mark))
    };
    let last = lines.iter().filter(of_bond).nth(1)?;
    let explained = lines.iter().any(|line| of_driver(&line));
    Some(Fact::new(
        "bond_flaps_without_carrier_change",
        !explained,
        last.number,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{assertions, values};
    use super::*;

    assertions!(is, facts);

    fn lacp(second: &str) -> String {
        format!(
            "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nMII Status: up\n\nSlave Interface: eth0\nMII Status: up\nSpeed: 1000 Mbps\nAggregator ID: 1\ndetails actor lacp pdu:\n    oper key: 9\ndetails partner lacp pdu:\n    oper key: 15\n\nSlave Interface: eth1\n{second}"
        )
    }

    #[test]
    fn links_that_are_not_one_aggregate() {
        let apart = lacp(
            "MII Status: up\nSpeed: 100 Mbps\nAggregator ID: 2\ndetails partner lacp pdu:\n    oper key: 1\n",
        );
        is(&apart, "bond_aggregators", Some("2"));
        is(&apart, "bond_member_speeds_differ", Some("true"));
        is(&apart, "bond_partner_keys_differ", Some("true"));
        let one = lacp(
            "MII Status: up\nSpeed: 1000 Mbps\nAggregator ID: 1\ndetails partner lacp pdu:\n    oper key: 15\n",
        );
        is(&one, "bond_aggregators", Some("1"));
        is(&one, "bond_partner_keys_differ", Some("false"));
        let unplugged = lacp("MII Status: down\nSpeed: Unknown\nAggregator ID: 2\n");
        is(&unplugged, "bond_aggregators", None);
        assert_eq!(values("Speed: 1000Mb/s\nMII Status: up\n", facts), []);
    }

    #[test]
    fn aggregates_of_ip_link() {
        let port = |id: u32| {
            format!(
                "    bond_slave state ACTIVE mii_status UP link_failure_count 0 queue_id 0 ad_aggregator_id {id} ad_actor_oper_port_state 61\n"
            )
        };
        is(&(port(1) + &port(2)), "bond_aggregators", Some("2"));
        is(&(port(1) + &port(1)), "bond_aggregators", Some("1"));
        is(&port(1), "bond_aggregators", None);
    }

    #[test]
    fn a_dead_link_in_use() {
        let text = "Bonding Mode: load balancing (round-robin)\nMII Polling Interval (ms): 0\nSlave Interface: eth0\nMII Status: up\n3: eth0: <NO-CARRIER,BROADCAST,SLAVE,UP> mtu 1500 master bond0\n";
        is(text, "bond_member_no_carrier_but_up", Some("true"));
        is(
            &text.replace("3: eth0", "3: eth7"),
            "bond_member_no_carrier_but_up",
            None,
        );
    }

    #[test]
    fn changes_without_a_carrier() {
        let text = "ARP Polling Interval (ms): 1000\nbond0: (slave eth0): link status definitely down, disabling slave\nbond0: (slave eth1): link status definitely down, disabling slave\n";
        is(text, "bond_flaps_without_carrier_change", Some("true"));
        is(
            &format!("{text}igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n"),
            "bond_flaps_without_carrier_change",
            Some("false"),
        );
        is(
            &text.replace("1000", "0"),
            "bond_flaps_without_carrier_change",
            None,
        );
    }
}
