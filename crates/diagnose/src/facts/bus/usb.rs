// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network adapter behind USB: at which speed the bus carries it.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence)
        .iter()
        .filter(|place| place.test.is_none())
    {
        if let Some(rate) = bits_per_second(place) {
            place.add(facts, "usb_bits_per_second", rate, "bit/s", "lsusb -t");
        }
    }
}

/// `lsusb -t` names the driver of each device and its speed in megabits.
fn bits_per_second(place: &Vantage<'_>) -> Option<f64> {
    let driver = place.driver_name()?;
    let speed = place.host_set_up("lsusb -t", driver)?;
    let megabits: f64 = speed.trim_end_matches('M').parse().ok()?;
    (megabits > 0.0).then_some(megabits * 1e6)
}
