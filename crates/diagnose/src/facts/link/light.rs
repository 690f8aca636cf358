// SPDX-License-Identifier: MIT OR Apache-2.0
//! The light and the temperature of a pluggable module, against the module's own limits.

use crate::facts::Facts;
use crate::facts::vantage::Vantage;

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if !vantage.is_interface_alone() {
        return;
    }
    // Modules report hundredths.
    let mut add = |name, value: Option<f64>| {
        let value = value.map(|value| (value * 100.0).round() / 100.0);
        vantage.add(facts, name, value, SOURCE);
    };
    let limit = |name: &str| number(vantage.set_up(SOURCE, name)?);
    let received = lanes(vantage, &RECEIVED, |_| true);
    let (darkest, brightest) = (least(&received), most(&received));
    let low = limit("Laser rx power low alarm threshold");
    let high = limit("Laser rx power high alarm threshold");
    add("module_rx_power_dbm", darkest);
    add(
        "module_rx_margin_db",
        darkest.zip(low).map(|(power, low)| power - low),
    );
    add(
        "module_rx_headroom_db",
        brightest.zip(high).map(|(power, high)| high - power),
    );
    // A laser without current is switched off.
    let sent = lanes(vantage, &SENT, has_current);
    let low = limit("Laser output power low alarm threshold");
    add("module_tx_power_dbm", least(&sent));
    add(
        "module_tx_margin_db",
        least(&sent).zip(low).map(|(power, low)| power - low),
    );
    let temperature = limit("Module temperature");
    let high = limit("Module temperature high alarm threshold");
    add("module_temperature_celsius", temperature);
    add(
        "module_temperature_headroom",
        temperature.zip(high).map(|(now, high)| high - now),
    );
}

/// The powers in dBm of the lanes in use: of several lanes, those whose laser has current; of a single one, where
/// `is_used` says so of its current in mA.
fn lanes(vantage: &Vantage<'_>, names: &[&str], is_used: fn(Option<f64>) -> bool) -> Vec<f64> {
    let all: Vec<(&str, &str)> = vantage.own_values(SOURCE).collect();
    let currents: Vec<_> = all.iter().filter_map(|one| reading(&BIAS, one)).collect();
    let powers = all.iter().filter_map(|one| reading(names, one));
    let in_use = |(lane, _): &(Option<&str>, f64)| {
        let current = currents.iter().find(|(of, _)| of == lane);
        let current = current.map(|(_, milliamperes)| *milliamperes);
        match lane {
            None => is_used(current),
            Some(_) => has_current(current),
        }
    };
    powers.filter(in_use).map(|(_, power)| power).collect()
}

/// A lane and its reading, if this value has one of the names.
fn reading<'v>(
    names: &[&str],
    (name, value): &(&'v str, &'v str),
) -> Option<(Option<&'v str>, f64)> {
    let lane = lane_of(name);
    let is_it = |start: &&str| name == start || lane.is_some() && name.starts_with(start);
    let value = names.iter().any(is_it).then(|| number(value))??;
    Some((lane, value))
}

fn has_current(milliamperes: Option<f64>) -> bool {
    milliamperes.is_none_or(|milliamperes| milliamperes > 0.0)
}

/// `2` of `Laser tx bias current (Channel 2)`.
fn lane_of(name: &str) -> Option<&str> {
    let (_, lane) = name.split_once("(Channel ")?;
    lane.strip_suffix(')')
}

fn least(powers: &[f64]) -> Option<f64> {
    powers.iter().copied().reduce(f64::min)
}

fn most(powers: &[f64]) -> Option<f64> {
    powers.iter().copied().reduce(f64::max)
}

/// The number with which a value begins. No light at all is the least that a module can report, 0.1 µW.
fn number(text: &str) -> Option<f64> {
    if text.starts_with("-inf") {
        return Some(DARK_DBM);
    }
    text.split_whitespace().next()?.parse().ok()
}

const SOURCE: &str = "ethtool -m";
const DARK_DBM: f64 = -40.0;
const RECEIVED: [&str; 3] = [
    "Receiver signal average optical power",
    "Receiver signal OMA",
    "Rcvr signal avg optical power",
];
const SENT: [&str; 2] = ["Laser output power", "Transmit avg optical power"];
const BIAS: [&str; 2] = ["Laser bias current", "Laser tx bias current"];
