// SPDX-License-Identifier: MIT OR Apache-2.0
//! The card's PCIe link and the IOMMU before it.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, set_up, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let vantages = vantages(evidence);
    for place in vantages.iter().filter(|vantage| vantage.test.is_none()) {
        let mode = setting(place, "iommu_group_type");
        place.add(facts, "iommu_mode", mode, SOURCE);
        let rate = |which| bits_per_second(place, which);
        place.add(facts, "pcie_bits_per_second", rate("current"), SOURCE);
        place.add(facts, "pcie_max_bits_per_second", rate("max"), SOURCE);
        let rate = place.link_bits_per_second().or_else(|| fastest(place));
        place.add(facts, "nic_bits_per_second", rate, "ethtool");
    }
}

fn setting<'r>(vantage: &Vantage<'r>, key: &str) -> Option<&'r str> {
    set_up(vantage.record, vantage.host, SOURCE, vantage.interface, key)
}

fn bits_per_second(vantage: &Vantage<'_>, which: &str) -> Option<f64> {
    let speed = setting(vantage, &format!("{which}_link_speed"))?;
    let width = setting(vantage, &format!("{which}_link_width"))?;
    let width: f64 = width.trim_start_matches('x').parse().ok()?;
    Some(lane(speed)? * width)
}

/// One lane of this many transfers per second: one bit each, less the line code (PCI Express Base
/// Specification: 8b/10b up to 5 GT/s, then 128b/130b).
fn lane(speed: &str) -> Option<f64> {
    let digits = speed
        .trim()
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()?;
    let gigatransfers: f64 = digits.parse().ok().filter(|speed| *speed > 0.0)?;
    let coded = if gigatransfers <= 5.0 {
        8.0 / 10.0
    } else {
        128.0 / 130.0
    };
    Some(gigatransfers * 1e9 * coded)
}

/// `10000baseT/Full` and so on.
fn fastest(vantage: &Vantage<'_>) -> Option<f64> {
    let modes = vantage.set_up("ethtool", "Supported link modes")?;
    let speed = |mode: &str| mode.split_once("base")?.0.parse::<f64>().ok();
    let fastest = modes
        .split_whitespace()
        .filter_map(speed)
        .reduce(f64::max)?;
    Some(fastest * 1e6)
}

const SOURCE: &str = "/sys/class/net/device";

#[cfg(test)]
mod tests {
    use super::lane;

    #[test]
    fn what_a_lane_carries() {
        for (speed, gigabits) in [
            ("2.5 GT/s PCIe", 2.0),
            ("5GT/s", 4.0),
            ("8.0 GT/s PCIe", 7.877),
        ] {
            let found = lane(speed).unwrap() / 1e9;
            assert!((found - gigabits).abs() < 0.001, "{speed}: {found}");
        }
        assert_eq!(lane("Unknown"), None);
    }
}
