// SPDX-License-Identifier: MIT OR Apache-2.0
//! A network adapter behind USB: at which speed the bus carries it.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let vantages = vantages(evidence);
    for place in vantages.iter().filter(|vantage| vantage.test.is_none()) {
        let rate = bits_per_second(place);
        place.add(facts, "usb_bits_per_second", rate, "lsusb -t");
    }
}

/// `lsusb -t` names the driver of each device and its speed in megabits.
fn bits_per_second(vantage: &Vantage<'_>) -> Option<f64> {
    let driver = vantage.driver_name()?;
    let speed = vantage.host_set_up("lsusb -t", driver)?;
    let megabits: f64 = speed.trim_end_matches('M').parse().ok()?;
    (megabits > 0.0).then_some(megabits * 1e6)
}
