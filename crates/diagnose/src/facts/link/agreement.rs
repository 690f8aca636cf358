// SPDX-License-Identifier: MIT OR Apache-2.0
//! What both ends of a link agreed on, and what they could have.

use linerate_model::output::LinkKind;

use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let speed = vantage.link_bits_per_second();
    let offered = vantage.test.and_then(|test| test.offered_bits_per_second);
    let ratio = offered.zip(speed).map(|(offered, speed)| offered / speed);
    let source = "the test's account, ethtool";
    vantage.add(facts, "offered_link_ratio", ratio, source);
    if !vantage.is_interface_alone() {
        return;
    }
    vantage.add(facts, "driver", vantage.driver_name(), "ethtool -i");
    let mut add = |name, value: Option<f64>| vantage.add(facts, name, value, "ethtool");
    add("link_bits_per_second", speed);
    add(
        "link_common_bits_per_second",
        common_bits_per_second(vantage),
    );
    // A virtual link has no duplex, whatever its driver answers.
    let kind = vantage.described().and_then(|known| known.link_kind);
    if kind.is_none_or(|kind| kind == LinkKind::Wire) {
        let duplex = vantage.set_up("ethtool", "Duplex");
        vantage.add(facts, "duplex", duplex, "ethtool");
        let negotiated = vantage.set_up("ethtool", "Auto-negotiation");
        vantage.add(facts, "autonegotiation", negotiated, "ethtool");
    }
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
