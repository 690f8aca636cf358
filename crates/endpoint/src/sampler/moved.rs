// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the document says of counters: those of packets that moved. Time of processors, interrupts
//! and fill levels are in the samples only.

use linerate_model::counters;
use linerate_model::output::MovedCounter;
use linerate_model::sample::Sample;

/// Counters of packets that moved from the first reading to the last.
pub(super) fn between(first: &[Sample], last: &[Sample]) -> Vec<MovedCounter> {
    let both: Vec<_> = first.iter().chain(last).cloned().collect();
    let mut moved = counters::over(&both);
    moved.retain(of_packets);
    moved
}

fn of_packets(counter: &MovedCounter) -> bool {
    match counter.source.as_str() {
        "/proc/net/softnet_stat" => !counter.name.contains('.'),
        "tc -s qdisc" => !matches!(counter.name.as_str(), "qlen" | "backlog"),
        source => !OTHERS.contains(&source),
    }
}

const OTHERS: [&str; 9] = [
    "/proc/interrupts",
    "/proc/net/sockstat",
    "/proc/net/stat/arp_cache",
    "/proc/net/stat/ndisc_cache",
    "/proc/pressure",
    "/proc/schedstat",
    "/proc/softirqs",
    "/proc/stat",
    "/proc/net/stat/nf_conntrack",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_told_and_processors_are_not() {
        let of = |source: &str, name: &str| {
            of_packets(&MovedCounter {
                source: source.to_owned(),
                name: name.to_owned(),
                ..MovedCounter::default()
            })
        };
        assert!(of("/proc/net/snmp", "UdpInErrors") && of("tc -s qdisc", "drops"));
        assert!(of("/proc/net/softnet_stat", "dropped"));
        assert!(!of("/proc/net/softnet_stat", "cpu0.dropped"));
        assert!(!of("tc -s qdisc", "qlen") && !of("/proc/stat", "cpu.user"));
    }
}
