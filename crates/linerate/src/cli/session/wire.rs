// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters of the lab's wire, read around each test as those of a host.

use std::collections::BTreeMap;

use super::Session;
use linerate_diagnose::evidence::Source;
use linerate_endpoint::TestPlan;
use linerate_lab::DirectionCounters;
use linerate_linux::clock;
use linerate_model::order::Gather as _;
use linerate_model::output::Role;
use linerate_model::sample::{Phase, Sample};

impl Session {
    /// Adds a reading of the wire to the samples of the test, if the session measures over a wire.
    pub(super) fn read_wire(&mut self, plan: &TestPlan) {
        let Some(counters) = &self.wire_counters else {
            return;
        };
        let sample = Sample {
            host: Role::Local,
            t_ns: clock::monotonic_ns(),
            wall_ns: i64::try_from(clock::wall_ns()).ok(),
            source: Source::LabWire.text().to_owned(),
            interface: None,
            group: Some(plan.group.clone()),
            phase: Some(Phase::Load),
            counters: named(counters.read()).into(),
        };
        self.store.sample(&sample);
        self.samples.take(&sample);
    }
}

fn named(directions: [DirectionCounters; 2]) -> BTreeMap<String, u64> {
    let both = ["up", "down"].into_iter().zip(directions);
    let all = both.flat_map(|(way, counted)| {
        [
            (format!("{way}_frames"), counted.frames),
            (format!("{way}_overload_drops"), counted.overload_drops),
        ]
    });
    all.gather()
}
