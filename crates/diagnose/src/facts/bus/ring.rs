// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receive ring: its size, and what found no place in it.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, set_up_number, vantages};
use linerate_knowledge::Stage;
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence)
        .iter()
        .filter(|place| place.interface.is_some())
    {
        if place.side != Some(Side::Sender) {
            let drops = place.dropped(Stage::RxRing);
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

fn size(place: &Vantage<'_>, facts: &mut Facts, name: &str, key: &str) {
    let places = set_up_number(place.record, place.host, "ethtool -g", place.interface, key);
    if let Some(places) = places.filter(|places| *places > 0) {
        place.add(facts, name, places as f64, "", &format!("ethtool -g {key}"));
    }
}
