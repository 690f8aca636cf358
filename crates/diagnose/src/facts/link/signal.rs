// SPDX-License-Identifier: MIT OR Apache-2.0
//! How good the signal is that the PHY receives: its own index, and what forward error correction had to correct.

use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, set_up};
use linerate_model::output::Role;
use linerate_model::record::Record;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let errors = vantage.of_interface(Source::Phydev, "RxErrors");
    vantage.add_counted(facts, "phy_rx_errors", errors);
    symbols(vantage, facts);
    if vantage.is_interface_alone()
        && let Some((index, most)) = quality(vantage.record, vantage.host, vantage.interface)
    {
        vantage.add(facts, "sqi", index, "ethtool");
        vantage.add(facts, "sqi_ratio", index / most, "ethtool");
    }
    if vantage.is_interface_alone() {
        vantage.add(facts, "cable_faults", cable_faults(vantage), CABLE);
    }
}

/// `Pair B Open Circuit at 4.20m, Pair C …`; `none` after a test that found none.
fn cable_faults(vantage: &Vantage<'_>) -> Option<String> {
    let codes = vantage.own_values(CABLE).filter_map(|(name, code)| {
        let pair = name.strip_suffix(" code")?;
        Some((pair, code))
    });
    let codes: Vec<(&str, &str)> = codes.collect();
    let fault = |(pair, code): &(&str, &str)| {
        let length = vantage.set_up(CABLE, &format!("{pair}, fault length"));
        let at = length.map_or_else(String::new, |length| format!(" at {length}"));
        FAULTS
            .iter()
            .any(|fault| code.starts_with(fault))
            .then(|| format!("{pair} {code}{at}"))
    };
    let faults: Vec<String> = codes.iter().filter_map(fault).collect();
    (!codes.is_empty()).then(|| match faults.is_empty() {
        true => "none".to_owned(),
        false => faults.join(", "),
    })
}

const CABLE: &str = "ethtool --cable-test";
/// Noise and a missing resolution are no fault of the cable.
const FAULTS: [&str; 3] = ["Open", "Short", "Impedance"];

/// `SQI: 3/7`; an index of 0 of a link that is down says nothing.
pub(crate) fn quality(record: &Record, host: Role, interface: Option<&str>) -> Option<(f64, f64)> {
    let said = |key| set_up(record, host, "ethtool", Some(interface?), key);
    let (index, most) = said("SQI")?.split_once('/')?;
    let (index, most): (f64, f64) = (index.trim().parse().ok()?, most.trim().parse().ok()?);
    let has_link = said("Link detected") == Some("yes");
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
    let worst = bins
        .iter()
        .filter(|(.., count)| *count > 0)
        .map(|(low, ..)| *low)
        .max();
    let most = bins.iter().map(|(_, high, _)| *high).max();
    let source = Source::Fec.text();
    vantage.add(facts, "fec_symbols_worst", worst.map(f64::from), source);
    vantage.add(facts, "fec_symbols_most", most.map(f64::from), source);
}
