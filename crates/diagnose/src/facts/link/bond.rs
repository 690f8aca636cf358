// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links bundled to one: by what a flow is given to one of them, and what part of one was reached.

use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let host = vantage.as_host();
    let mut values = host.values(SOURCE);
    let Some((_, policy)) = values.find(|(key, _)| *key == "Transmit Hash Policy") else {
        return;
    };
    let policy = policy.split_whitespace().next().unwrap_or_default();
    host.add(facts, "bond_hash", policy, SOURCE);
    let speeds = speeds(&host);
    host.add(facts, "bond_links", speeds.len() as f64, SOURCE);
    let delivered = host.test.and_then(|test| test.delivered_bits_per_second);
    let fastest = speeds.into_iter().reduce(f64::max);
    let ratio = delivered
        .zip(fastest)
        .map(|(delivered, link)| delivered / link);
    host.add(facts, "bond_link_ratio", ratio, "the test's account");
}

/// Of the links in the bundle, in bits a second.
fn speeds(host: &Vantage<'_>) -> Vec<f64> {
    let speed = |value: &str| Some(value.strip_suffix(" Mbps")?.parse::<f64>().ok()? * 1e6);
    let values = host
        .values(SOURCE)
        .filter(|(key, _)| key.ends_with(".Speed"));
    values.filter_map(|(_, value)| speed(value)).collect()
}

const SOURCE: &str = "/proc/net/bonding";
