// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is abnormal in a text and explained by nothing that was named.

use std::collections::BTreeSet;

use linerate_model::output::Passage;

use super::answer::Named;
use super::observed::{Counted, Field, Observed, normal};

pub(super) fn odd(observed: &Observed<'_>, named: &[Named]) -> Vec<Passage> {
    let parts = || named.iter().flat_map(|one| &one.parts);
    let lines: BTreeSet<u64> = parts().filter_map(|part| part.line).collect();
    let explained: BTreeSet<&str> = parts().map(|part| part.what.as_str()).collect();
    let is_open = |line: Option<u64>| line.is_none_or(|line| !lines.contains(&line));
    let mut said = BTreeSet::new();
    let messages = observed
        .logged
        .iter()
        .filter(|one| is_open(Some(one.line.number)));
    let messages = messages.filter(|one| said.insert(one.message.means.as_str()));
    let messages = messages.map(|one| passage(Some(one.line.number), &one.message.means));
    let counters = observed.counters.iter().filter(|one| is_abnormal(one));
    let is_new = |one: &&Counted| !explained.contains(shown(one).as_str()) && is_open(one.line);
    let counters = counters
        .filter(is_new)
        .map(|one| passage(one.line, &shown(one)));
    messages.chain(counters).take(MOST).collect()
}

/// How many messages and counters say that something failed; nothing where nothing counts, or somebody complains.
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

fn shown(counted: &Counted) -> String {
    format!("{} = {}", counted.name, counted.value)
}

fn passage(line: Option<u64>, what: &str) -> Passage {
    let line = line.unwrap_or_default();
    Passage {
        first_line: line,
        last_line: line,
        what: what.to_owned(),
    }
}

/// Whether its name says that something failed, and it is more than chance at this traffic.
fn is_abnormal(counted: &Counted) -> bool {
    let lower = counted.name.to_lowercase();
    let fails = WORDS.iter().any(|word| lower.contains(word));
    let few = counted.packets.is_some_and(|packets| {
        counted.value.saturating_mul(PACKETS_FOR_ONE) < packets
            && !NEVER.iter().any(|word| lower.contains(word))
    });
    fails && counted.value > 0 && !few && !WELL.iter().any(|word| lower.contains(word))
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
/// Words of counters of what went wrong (the kernel's and drivers' names share them).
const WORDS: &[&str] = &[
    "err",
    "drop",
    "discard",
    "miss",
    "overrun",
    "exceed",
    "timeout",
    "fail",
    "crc",
    "fifo",
    "collision",
    "no_buf",
    "nobuf",
];
/// Of these not one is normal.
const NEVER: &[&str] = &["crc", "late_coll", "exceed", "timeout"];
/// What contains such a word and counts no failure.
const WELL: &[&str] = &["ierror_free", "fec_corrected", "corrected_bits", "cache"];
/// Fewer than one in this many packets are no finding.
const PACKETS_FOR_ONE: u64 = 100_000;
const MOST: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(name: &str, value: u64, packets: u64) -> Counted {
        Counted {
            interface: None,
            name: name.to_owned(),
            value,
            packets: Some(packets),
            line: None,
        }
    }

    #[test]
    fn names_and_shares_decide() {
        assert!(is_abnormal(&counted("rx_missed_errors", 1000, 1_000_000)));
        assert!(!is_abnormal(&counted("rx_missed_errors", 1, 1_000_000)));
        assert!(is_abnormal(&counted("rx_crc_errors", 1, 1_000_000)));
        assert!(!is_abnormal(&counted("rx_packets", 1000, 1000)));
        assert!(!is_abnormal(&counted("rx_errors", 0, 0)));
    }
}
