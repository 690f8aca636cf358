// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both ends of a link agreed on, and what they could have.

use linerate_model::output::LinkKind;

use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let offered = vantage.test.and_then(|test| test.offered_bits_per_second);
    if let (Some(offered), Some(speed)) = (offered, vantage.link_bits_per_second()) {
        vantage.add(
            facts,
            "offered_link_ratio",
            offered / speed,
            "ratio",
            "the test's account, ethtool",
        );
    }
    if vantage.test.is_some() || vantage.interface.is_none() {
        return;
    }
    if let Some(driver) = vantage.driver_name() {
        vantage.add(facts, "driver", driver, "", "ethtool -i");
    }
    if let Some(speed) = vantage.link_bits_per_second() {
        vantage.add(facts, "link_bits_per_second", speed, "bit/s", "ethtool");
    }
    if let Some(common) = common_bits_per_second(vantage) {
        vantage.add(
            facts,
            "link_common_bits_per_second",
            common,
            "bit/s",
            "ethtool",
        );
    }
    for (name, key) in [
        ("duplex", "Duplex"),
        ("autonegotiation", "Auto-negotiation"),
    ] {
        if let Some(word) = vantage
            .set_up("ethtool", key)
            .filter(|_| !is_virtual(vantage))
        {
            vantage.add(facts, name, word, "", "ethtool");
        }
    }
}

/// A virtual link has no duplex, whatever its driver answers.
fn is_virtual(vantage: &Vantage<'_>) -> bool {
    let described = vantage
        .record
        .host(vantage.host)
        .map(|host| &host.interfaces);
    let mut described = described.into_iter().flatten();
    let kind = described
        .find(|known| Some(known.name.as_str()) == vantage.interface)
        .and_then(|known| known.link_kind);
    kind.is_some_and(|kind| kind != LinkKind::Wire)
}

/// The fastest mode that stands in both ends' lists.
fn common_bits_per_second(vantage: &Vantage<'_>) -> Option<f64> {
    let ours = vantage.set_up("ethtool", "Advertised link modes")?;
    let theirs = vantage.set_up("ethtool", "Link partner advertised link modes")?;
    let shared = ours
        .split_whitespace()
        .filter(|mode| theirs.split_whitespace().any(|other| other == *mode));
    let megabits = shared.filter_map(megabits_of).max()?;
    Some(megabits as f64 * 1e6)
}

/// `1000baseT/Full` → 1000.
fn megabits_of(mode: &str) -> Option<u64> {
    mode.split_once("base")?.0.parse().ok()
}
