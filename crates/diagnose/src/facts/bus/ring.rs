// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receive ring: its size, and what found no place in it.

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_knowledge::Stage;
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let vantages = vantages(evidence);
    for vantage in vantages
        .iter()
        .filter(|vantage| vantage.interface.is_some())
    {
        if vantage.side != Some(Side::Sender) {
            let drops = vantage.dropped(Stage::RxRing);
            vantage.add_counted(facts, "rx_ring_drops", drops);
            let empty = vantage.of_interface(Source::Ethtool, "rx_no_buffer_count");
            vantage.add_counted(facts, "rx_ring_empty", empty);
        }
        if vantage.test.is_none() {
            size(vantage, facts, "ring_rx", "RX.current");
            size(vantage, facts, "ring_rx_max", "RX.max");
        }
    }
}

fn size(vantage: &Vantage<'_>, facts: &mut Facts, name: &str, key: &str) {
    let places = vantage.number("ethtool -g", key);
    let places = places.filter(|places| *places > 0);
    let places = places.map(|places| places as f64);
    vantage.add(facts, name, places, &format!("ethtool -g {key}"));
}
