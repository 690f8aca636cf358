// SPDX-License-Identifier: MIT OR Apache-2.0
//! How good the signal is that the PHY receives: its own index, and what forward error correction had to correct.

use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let errors = vantage.of_interface(Source::Phydev, "RxErrors");
    vantage.add_counted(facts, "phy_rx_errors", errors);
    symbols(vantage, facts);
    if vantage.is_interface_alone()
        && let Some((index, most)) = quality(vantage)
    {
        vantage.add(facts, "sqi", index, "ethtool");
        vantage.add(facts, "sqi_ratio", index / most, "ethtool");
    }
}

/// `SQI: 3/7`; an index of 0 of a link that is down says nothing.
fn quality(vantage: &Vantage<'_>) -> Option<(f64, f64)> {
    let (index, most) = vantage.set_up("ethtool", "SQI")?.split_once('/')?;
    let (index, most): (f64, f64) = (index.trim().parse().ok()?, most.trim().parse().ok()?);
    let has_link = vantage.set_up("ethtool", "Link detected") == Some("yes");
    (has_link && most > 0.0).then_some((index, most))
}

/// The worst code word that was corrected, and the last bin, which is what the code can correct at most.
fn symbols(vantage: &Vantage<'_>, facts: &mut Facts) {
    let counters = vantage.counters();
    let bins = counters.each(Source::Fec).filter_map(|(name, moved)| {
        let (low, high) = name.strip_prefix("symbol_errors ")?.split_once('-')?;
        let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
        Some((low, high, moved.grew.at_least))
    });
    let bins: Vec<(u32, u32, u64)> = bins.collect();
    let worst = bins.iter().filter(|(.., count)| *count > 0).map(|(low, ..)| *low).max();
    let most = bins.iter().map(|(_, high, _)| *high).max();
    let source = Source::Fec.text();
    vantage.add(facts, "fec_symbols_worst", worst.map(f64::from), source);
    vantage.add(facts, "fec_symbols_most", most.map(f64::from), source);
}
