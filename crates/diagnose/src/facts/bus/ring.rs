// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receive ring: its size, and what found no place in it.

use crate::facts::Facts;
use crate::facts::counted::{Meaning, Place, places, set_up_number};
use linerate_knowledge::Stage;
use linerate_model::record::{Record, Side};

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for place in places(record)
        .iter()
        .filter(|place| place.interface.is_some())
    {
        if place.side != Some(Side::Sender) {
            let drops = place.meaning(Meaning::Dropped(Stage::RxRing));
            place.add_counted(facts, "rx_ring_drops", "packets", drops);
            let empty = place.of_interface("ethtool -S", "rx_no_buffer_count");
            place.add_counted(facts, "rx_ring_empty", "events", empty);
        }
        if place.test.is_none() {
            size(place, facts, "ring_rx", "RX.current");
            size(place, facts, "ring_rx_max", "RX.max");
        }
    }
}

fn size(place: &Place<'_>, facts: &mut Facts, name: &str, key: &str) {
    let places = set_up_number(place.record, place.host, "ethtool -g", place.interface, key);
    if let Some(places) = places.filter(|places| *places > 0) {
        place.add(facts, name, places as f64, "", &format!("ethtool -g {key}"));
    }
}
