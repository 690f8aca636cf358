// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel's receive path says of itself: backlog, budget, packets handed to other processors.

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for place in vantages(evidence) {
        if place.test.is_none() && place.interface.is_some() {
            continue;
        }
        let counted = |name| place.of_host(SOURCE, name);
        place.add_counted_to_host(facts, "softnet_dropped", "packets", counted("dropped"));
        place.add_counted_to_host(
            facts,
            "softnet_flow_limit",
            "packets",
            counted("flow_limit_count"),
        );
        place.add_counted_to_host(facts, "time_squeezes", "events", counted("time_squeeze"));
        per_second(
            &place,
            "time_squeeze_per_second",
            counted("time_squeeze"),
            facts,
        );
        per_second(
            &place,
            "received_rps_per_second",
            counted("received_rps"),
            facts,
        );
    }
}

fn per_second(place: &Vantage<'_>, name: &str, counted: Option<Counted>, facts: &mut Facts) {
    let span = place.whole_host().span_s(SOURCE);
    if let Some((counted, span)) = counted.zip(span) {
        let rate = counted.value as f64 / span;
        place.add_to_host(facts, name, rate, "1/s", &counted.source);
    }
}

const SOURCE: &str = "/proc/net/softnet_stat";
