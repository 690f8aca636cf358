// SPDX-License-Identifier: MIT OR Apache-2.0
//! The link and the PHY: speed, duplex, what both ends advertise, errors on the wire, energy saving, MTU.

mod frames;

use super::counted::{driver, places};
use super::{Facts, Known};
use crate::record::Record;

pub(super) const KNOWN: &[Known] = &[
    Known {
        name: "driver",
        unit: "",
        means: "the driver of the interface",
        tells: "ethtool -i {interface}",
    },
    Known {
        name: "rx_length_errors",
        unit: "frames",
        means: "frames that came with an impossible length: too long, or not what their header says",
        tells: "ip -s -s link show dev {interface}",
    },
];

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for place in places(record) {
        if let Some(driver) =
            driver(record, place.host, place.interface).filter(|_| place.test.is_none())
        {
            place.add(facts, "driver", driver, "", "ethtool -i");
        }
        frames::collect(&place, facts);
    }
}
