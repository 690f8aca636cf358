// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a text is abnormal at all.

use super::observed::{Field, Observed, normal};
use super::odd::is_abnormal;

/// How many messages and counters say that something failed; nothing where nothing counts, or where the author reports a
/// problem.
pub(super) fn anomalies(observed: &Observed<'_>) -> Option<Field> {
    let counters = observed.counters.iter().filter(|one| is_abnormal(one));
    let lines = observed.logged.iter().map(|one| Some(one.line.number));
    let all: Vec<Option<u64>> = lines.chain(counters.map(|one| one.line)).collect();
    let complains = observed
        .said
        .symptoms
        .keys()
        .any(|id| COMPLAINTS.contains(id));
    let shows = !all.is_empty() || (!observed.counters.is_empty() && !complains);
    shows.then(|| Field {
        interface: None,
        name: normal("fact anomalies"),
        title: "anomalies".to_owned(),
        value: all.len().to_string(),
        line: all.first().copied().flatten(),
    })
}

/// Symptoms of something that does not work.
const COMPLAINTS: &[&str] = &[
    "slow",
    "slow-one-way",
    "stalls",
    "no-traffic",
    "loss",
    "latency-high",
    "jitter",
    "link-flaps",
    "link-down",
    "disconnects",
    "timeouts",
    "resets",
    "corruption",
    "tx-hang",
    "oom",
];
