// SPDX-License-Identifier: MIT OR Apache-2.0
//! Temperatures near the point at which the hardware or the kernel switches off.

use crate::setup::{RawSetting, thermal};

/// The sensors of the processors and of some interfaces that were not hot at a moment.
#[derive(Debug, Default)]
pub(super) struct Heat {
    interfaces: Vec<String>,
    /// By source and name.
    sensors: Vec<(String, String)>,
}

impl Heat {
    /// Those that are not hot now. One that is hot already says nothing about a change.
    pub(super) fn of<'a>(interfaces: impl Iterator<Item = &'a str>) -> Self {
        let interfaces: Vec<String> = interfaces.map(str::to_owned).collect();
        let cool = readings(&read(&interfaces)).into_iter();
        let cool = cool.filter(|one| !one.is_hot());
        Self {
            sensors: cool.map(|one| (one.source, one.name)).collect(),
            interfaces,
        }
    }

    /// The first that has become hot.
    pub(super) fn reached(&self) -> Option<String> {
        if self.sensors.is_empty() {
            return None;
        }
        self.hot(&read(&self.interfaces))
    }

    fn hot(&self, read: &[RawSetting]) -> Option<String> {
        let known = |one: &Reading| {
            let mut sensors = self.sensors.iter();
            sensors.any(|(source, name)| *source == one.source && *name == one.name)
        };
        let mut all = readings(read).into_iter();
        let one = all.find(|one| one.is_hot() && known(one))?;
        Some(format!(
            "{}/{} is {} °C, its limit {} °C",
            one.source,
            one.name,
            one.now / 1000,
            one.limit / 1000
        ))
    }
}

/// A temperature and its limit, in m°C.
#[derive(Debug, PartialEq, Eq)]
struct Reading {
    source: String,
    name: String,
    now: i64,
    limit: i64,
}

impl Reading {
    fn is_hot(&self) -> bool {
        self.now >= self.limit - MARGIN
    }
}

fn read(interfaces: &[String]) -> Vec<RawSetting> {
    let own = interfaces
        .iter()
        .flat_map(|name| thermal::of_interface(name));
    // The critical value of a processor's sensor is often where it begins to slow down, not where it stops.
    let of_zones = thermal::sensors().into_iter().map(|mut one| {
        one.values.retain(|(name, _)| !name.ends_with("_crit"));
        one
    });
    of_zones.chain(own).collect()
}

fn readings(all: &[RawSetting]) -> Vec<Reading> {
    all.iter().flat_map(of_source).collect()
}

/// Of a thermal zone (`temp`, `trip_N_critical`, `trip_N_hot`), or of a sensor (`tempN_input`, `tempN_crit`).
fn of_source(one: &RawSetting) -> Vec<Reading> {
    let value = |name: &str| {
        let (_, text) = one.values.iter().find(|(other, _)| other == name)?;
        // Some firmware has 0 or less where there is none.
        text.parse::<i64>().ok()
    };
    let is_trip = |name: &str| name.ends_with("_critical") || name.ends_with("_hot");
    let trips = one.values.iter().filter(|(name, _)| is_trip(name));
    let trip = trips.filter_map(|(name, _)| value(name).filter(|point| *point > 0));
    let reading = |name: &str, limit| {
        Some(Reading {
            source: one.source.clone(),
            name: name.to_owned(),
            now: value(name)?,
            limit,
        })
    };
    let zone = trip.min().and_then(|limit| reading("temp", limit));
    let inputs = one.values.iter().filter_map(|(name, _)| {
        let limit = value(&format!("{}_crit", name.strip_suffix("_input")?))?;
        reading(name, limit).filter(|one| one.limit > 0)
    });
    zone.into_iter().chain(inputs).collect()
}

/// Before it: a critical trip point switches the machine off.
const MARGIN: i64 = 5000;

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, values: &[(&str, &str)]) -> RawSetting {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        RawSetting {
            source: name.to_owned(),
            values: values.iter().map(pair).collect(),
        }
    }

    fn at(zone: &str, sensor: &str) -> Vec<RawSetting> {
        let zone = [
            ("temp", zone),
            ("trip_0_passive", "80000"),
            ("trip_1_critical", "105000"),
        ];
        let sensor = [
            ("temp1_crit", "100000"),
            ("temp1_input", sensor),
            ("temp1_max", "70000"),
            ("temp2_input", "200000"),
        ];
        vec![source("zone", &zone), source("hwmon", &sensor)]
    }

    fn since(read: &[RawSetting]) -> Heat {
        let cool = readings(read).into_iter().filter(|one| !one.is_hot());
        Heat {
            interfaces: Vec::new(),
            sensors: cool.map(|one| (one.source, one.name)).collect(),
        }
    }

    #[test]
    fn what_becomes_hot_is_named_and_what_only_slows_a_processor_is_not() {
        let heat = since(&at("50000", "50000"));
        assert_eq!(heat.hot(&at("99999", "94999")), None, "passive, max");
        let why = heat.hot(&at("100000", "50000"));
        assert_eq!(
            why.as_deref(),
            Some("zone/temp is 100 °C, its limit 105 °C")
        );
        let why = heat.hot(&at("50000", "95000"));
        let expected = "hwmon/temp1_input is 95 °C, its limit 100 °C";
        assert_eq!(why.as_deref(), Some(expected));
    }

    #[test]
    fn what_was_hot_before_says_nothing() {
        let heat = since(&at("50000", "96000"));
        assert_eq!(heat.hot(&at("50000", "99000")), None);
        assert!(heat.hot(&at("101000", "99000")).is_some());
    }

    #[test]
    fn a_limit_of_zero_is_none() {
        let zone = source("zone", &[("temp", "50000"), ("trip_0_critical", "0")]);
        let sensor = source("hwmon", &[("temp1_input", "50000"), ("temp1_crit", "0")]);
        assert_eq!(readings(&[zone, sensor]), []);
    }
}
