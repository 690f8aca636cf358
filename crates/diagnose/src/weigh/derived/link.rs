// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool`: a link below what it supports, offers, or what both ends offer.

use linerate_model::order::Gather as _;
use std::collections::BTreeSet;

use super::Fact;
use crate::weigh::observed::{Field, normal};

/// Of each interface on its own: two cards of one text are not compared with each other.
pub(super) fn facts(fields: &[Field]) -> Vec<(Option<String>, Fact)> {
    let interfaces: BTreeSet<&Option<String>> =
        fields.iter().map(|field| &field.interface).gather();
    let of_one = |interface: &Option<String>| -> Vec<(Option<String>, Fact)> {
        let own = fields.iter().filter(|field| field.interface == *interface);
        let own: Vec<&Field> = own.collect();
        let facts = speed_facts(&own).into_iter();
        let facts = facts.chain(negotiation(&own)).chain(ring(&own));
        facts
            .chain(queues(&own))
            .map(|fact| (interface.clone(), fact))
            .collect()
    };
    interfaces.into_iter().flat_map(of_one).collect()
}

fn speed_facts(fields: &[&Field]) -> Vec<Fact> {
    let supported = most(fields, "ethtool Supported link modes");
    let offered = most(fields, "ethtool Advertised link modes");
    let partner = most(fields, "ethtool Link partner advertised link modes");
    let speed = most(fields, "ethtool Speed");
    let slower = |one: Speed, other: Speed| if one.0 < other.0 { one } else { other };
    let common = offered.zip(partner).map(|(one, other)| slower(one, other));
    let all = [
        below("advertised_below_supported", offered, supported),
        below("link_below_common", speed, common),
        below("partner_offers_less", partner, offered),
    ];
    all.into_iter().flatten().collect()
}

fn below(name: &'static str, low: Option<Speed>, high: Option<Speed>) -> Option<Fact> {
    let ((low, line), (high, _)) = (low?, high?);
    Some(Fact {
        name,
        value: (low < high).to_string(),
        line,
    })
}

/// Negotiation is off on a port that has it: twisted pair up to 1 Gbit/s. Optics, backplanes and virtual ports run without.
fn negotiation(fields: &[&Field]) -> Option<Fact> {
    let value = |name: &str| {
        let name = normal(name);
        fields.iter().find(|field| field.name == name).copied()
    };
    let state = value("ethtool Auto-negotiation")?;
    let is_fixed = |field: &Field| {
        !field.value.is_empty() && !matches!(field.value.as_str(), "Twisted Pair" | "MII" | "TP")
    };
    let has_none = value("ethtool Port").is_some_and(is_fixed)
        || value("ethtool Supports auto-negotiation").is_some_and(|field| field.value == "No")
        || value("ethtool Supported link modes")
            .is_some_and(|modes| !modes.value.contains("baseT/"))
        || most(fields, "ethtool Speed").is_some_and(|(speed, _)| speed > 1000.0);
    Some(Fact {
        name: "negotiation_off",
        value: (state.value == "off" && !has_none).to_string(),
        line: state.line,
    })
}

/// In Mbit/s, and the line that shows it.
type Speed = (f64, Option<u64>);

/// The fastest speed of a field.
fn most(fields: &[&Field], name: &str) -> Option<Speed> {
    let name = normal(name);
    let named = fields.iter().filter(|field| field.name == name);
    let speeds = named.flat_map(|field| speeds(&field.value).map(move |speed| (speed, field.line)));
    speeds.max_by(|one, other| one.0.total_cmp(&other.0))
}

/// Of `10baseT/Half 1000baseT/Full 2500baseX/Full`, `1000Mb/s`, `1000`.
fn speeds(value: &str) -> impl Iterator<Item = f64> {
    let number = |word: &str| {
        let end = word
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(word.len());
        word[..end].parse::<f64>().ok()
    };
    value
        .split_whitespace()
        .filter_map(number)
        .filter(|speed| *speed >= 10.0)
}

fn ring(fields: &[&Field]) -> Option<Fact> {
    let (now, most) = pair(fields, "ethtool -g RX")?;
    Some(Fact {
        name: "ring_rx_below_max",
        value: (now.0 < most).to_string(),
        line: now.1,
    })
}

fn queues(fields: &[&Field]) -> Option<Fact> {
    let (now, most) = pair(fields, "ethtool -l Combined")?;
    Some(Fact {
        name: "queues_below_max",
        value: (now.0 < most).to_string(),
        line: now.1,
    })
}

/// The value in force, with its line, and the largest possible one.
fn pair(fields: &[&Field], name: &str) -> Option<((f64, Option<u64>), f64)> {
    let value = |kind: &str| {
        let name = normal(&format!("{name}.{kind}"));
        let field = fields.iter().find(|field| field.name == name)?;
        Some((field.value.parse::<f64>().ok()?, field.line))
    };
    Some((value("current")?, value("max")?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(settings: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        let field = |(name, value): &(&str, &str)| Field {
            interface: None,
            name: normal(name),
            title: String::new(),
            value: (*value).to_owned(),
            line: None,
        };
        let fields: Vec<Field> = settings.iter().map(field).collect();
        facts(&fields)
            .into_iter()
            .map(|(_, fact)| (fact.name, fact.value))
            .collect()
    }

    #[test]
    fn only_a_port_that_negotiates_has_it_off() {
        let off = ("ethtool Auto-negotiation", "off");
        let is_off = |others: &[(&str, &str)]| {
            let facts = found(&[&[off], others].concat());
            facts.contains(&("negotiation_off", "true".to_owned()))
        };
        assert!(is_off(&[
            ("ethtool Speed", "100Mb/s"),
            ("ethtool Port", "Twisted Pair")
        ]));
        assert!(
            !is_off(&[
                ("ethtool Speed", "10000Mb/s"),
                ("ethtool Port", "Twisted Pair")
            ]),
            "veth"
        );
        assert!(!is_off(&[
            ("ethtool Speed", "1000Mb/s"),
            ("ethtool Port", "FIBRE")
        ]));
        assert!(!is_off(&[(
            "ethtool Supported link modes",
            "1000baseX/Full"
        )]));
    }

    #[test]
    fn two_cards_are_not_compared() {
        let of = |interface: &str, name: &str, value: &str| Field {
            interface: Some(interface.to_owned()),
            name: normal(name),
            title: String::new(),
            value: value.to_owned(),
            line: None,
        };
        let fields = [
            of("eth0", "ethtool Advertised link modes", "100baseT/Full"),
            of("eth1", "ethtool Supported link modes", "1000baseT/Full"),
        ];
        assert!(facts(&fields).is_empty());
    }

    #[test]
    fn a_link_below_what_both_offer() {
        let both = "10baseT/Half 100baseT/Full 1000baseT/Full";
        let all = [
            ("ethtool Supported link modes", both),
            ("ethtool Advertised link modes", both),
            ("ethtool Link partner advertised link modes", both),
            ("ethtool Speed", "100"),
        ];
        let found = found(&all);
        assert!(found.contains(&("link_below_common", "true".to_owned())));
        assert!(found.contains(&("advertised_below_supported", "false".to_owned())));
    }
}
