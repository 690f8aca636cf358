// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool`: a link below what it supports, offers, or what both ends offer.

use super::Fact;
use crate::weigh::observed::{Field, normal};

pub(super) fn facts(fields: &[Field]) -> Vec<Fact> {
    let supported = most(fields, "ethtool Supported link modes");
    let offered = most(fields, "ethtool Advertised link modes");
    let partner = most(fields, "ethtool Link partner advertised link modes");
    let speed = most(fields, "ethtool Speed");
    let below =
        |name: &'static str, low: Option<(f64, Option<u64>)>, high: Option<(f64, Option<u64>)>| {
            let ((low, line), (high, _)) = (low?, high?);
            Some(Fact {
                name,
                value: (low < high).to_string(),
                line,
            })
        };
    let common = offered.zip(partner).map(|(offered, partner)| {
        if offered.0 < partner.0 {
            offered
        } else {
            partner
        }
    });
    let all = [
        below("advertised_below_supported", offered, supported),
        below("link_below_common", speed, common),
        below("partner_offers_less", partner, offered),
    ];
    all.into_iter()
        .flatten()
        .chain(ring(fields))
        .chain(queues(fields))
        .collect()
}

/// The fastest speed of a field, Mbit/s, and its line.
fn most(fields: &[Field], name: &str) -> Option<(f64, Option<u64>)> {
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

fn ring(fields: &[Field]) -> Option<Fact> {
    let (now, most) = pair(fields, "ethtool -g RX")?;
    Some(Fact {
        name: "ring_rx_below_max",
        value: (now.0 < most).to_string(),
        line: now.1,
    })
}

fn queues(fields: &[Field]) -> Option<Fact> {
    let (now, most) = pair(fields, "ethtool -l Combined")?;
    Some(Fact {
        name: "queues_below_max",
        value: (now.0 < most).to_string(),
        line: now.1,
    })
}

/// The value in force, with its line, and the largest possible one.
fn pair(fields: &[Field], name: &str) -> Option<((f64, Option<u64>), f64)> {
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
            .map(|fact| (fact.name, fact.value))
            .collect()
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
