// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round-trip times, idle and under load: a host that is slow to wake answers sooner when busy.

use linerate_model::output::{Latency, Phase};

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let of = |wanted: fn(Phase) -> bool| {
        let here = record
            .run
            .latency
            .iter()
            .filter(|latency| wanted(latency.phase));
        here.filter_map(median_ms).reduce(f64::min)
    };
    let idle = of(|phase| phase == Phase::Idle);
    let loaded = of(|phase| phase != Phase::Idle);
    let source = "the run's latency probe";
    facts.add_to_run("idle_rtt_ms", idle, source);
    facts.add_to_run("loaded_rtt_ms", loaded, source);
}

fn median_ms(latency: &Latency) -> Option<f64> {
    Some(latency.rtt_ns?.p50 as f64 / 1e6).filter(|milliseconds| *milliseconds > 0.0)
}
