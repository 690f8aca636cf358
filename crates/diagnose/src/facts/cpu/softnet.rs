// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel's receive path says of itself: backlog, budget, packets handed to other processors.

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence) {
        if vantage.test.is_none() && vantage.interface.is_some() {
            continue;
        }
        let counted = |name| vantage.of_host(SOURCE, name);
        vantage.add_counted_to_host(facts, "softnet_dropped", "packets", counted("dropped"));
        vantage.add_counted_to_host(
            facts,
            "softnet_flow_limit",
            "packets",
            counted("flow_limit_count"),
        );
        vantage.add_counted_to_host(facts, "time_squeezes", "events", counted("time_squeeze"));
        per_second(
            &vantage,
            "time_squeeze_per_second",
            counted("time_squeeze"),
            facts,
        );
        per_second(
            &vantage,
            "received_rps_per_second",
            counted("received_rps"),
            facts,
        );
    }
}

fn per_second(vantage: &Vantage<'_>, name: &str, counted: Option<Counted>, facts: &mut Facts) {
    let span = vantage.host_counters().span_s(SOURCE);
    if let Some((counted, span)) = counted.zip(span) {
        let rate = counted.value as f64 / span;
        vantage.add_to_host(facts, name, rate, "1/s", &counted.source);
    }
}

const SOURCE: &str = Source::Softnet.text();
