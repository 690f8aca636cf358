// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links bundled to one: by what a flow is given to one of them, and what part of one was reached.

use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let known = |key: &str| {
        let all = vantage.record.run.settings.iter();
        let mut bonds =
            all.filter(|setting| setting.host == vantage.host && setting.source == SOURCE);
        bonds.find_map(|setting| setting.values.get(key).cloned())
    };
    let Some(policy) = known("Transmit Hash Policy") else {
        return;
    };
    let policy = policy.split_whitespace().next().unwrap_or_default();
    vantage.add_to_host(facts, "bond_hash", policy, "", SOURCE);
    let speeds = speeds(vantage);
    vantage.add_to_host(facts, "bond_links", speeds.len() as f64, "", SOURCE);
    let delivered = vantage.test.and_then(|test| test.delivered_bits_per_second);
    let fastest = speeds.into_iter().reduce(f64::max);
    if let Some((delivered, link)) = delivered.zip(fastest) {
        let ratio = delivered / link;
        vantage.add_to_host(
            facts,
            "bond_link_ratio",
            ratio,
            "ratio",
            "the test's account",
        );
    }
}

/// Of the links in the bundle, in bits a second.
fn speeds(vantage: &Vantage<'_>) -> Vec<f64> {
    let settings = vantage.record.run.settings.iter();
    let bonds = settings.filter(|setting| setting.host == vantage.host && setting.source == SOURCE);
    let speed = |value: &String| Some(value.strip_suffix(" Mbps")?.parse::<f64>().ok()? * 1e6);
    bonds
        .flat_map(|setting| &setting.values)
        .filter(|(key, _)| key.ends_with(".Speed"))
        .filter_map(|(_, value)| speed(value))
        .collect()
}

const SOURCE: &str = "/proc/net/bonding";
