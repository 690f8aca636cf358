// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of the kernel's receive path: backlog, budget, packets handed to other processors.

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let ends = vantages(evidence).into_iter();
    for host in ends.filter(Vantage::is_host).map(Vantage::as_host) {
        for (name, counter) in [
            ("softnet_dropped", "dropped"),
            ("softnet_flow_limit", "flow_limit_count"),
            ("time_squeezes", "time_squeeze"),
        ] {
            host.add_counted(facts, name, host.of_host(Source::Softnet, counter));
        }
        for (name, counter) in [
            ("time_squeeze_per_second", "time_squeeze"),
            ("received_rps_per_second", "received_rps"),
        ] {
            host.add_rate(facts, name, Source::Softnet, counter);
        }
    }
}
