// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Test.counters`: the counters of packets that moved while a test's load was on. Time of processors, interrupts and fill
//! levels are in the samples only.

use linerate_model::output::{MovedCounter, Test};

use super::{Evidence, Source};

/// The counters of packets that moved during the load of `test`, in the order of host, source, interface and name. A
/// counter that was reset is left out; one that wrapped counts at least what it shows.
#[must_use]
pub fn moved_counters<'r>(evidence: &Evidence<'r>, test: &'r Test) -> Vec<MovedCounter> {
    let window = evidence.window(test);
    let mut counters = Vec::new();
    for ((host, source, interface), _) in evidence
        .index
        .keys()
        .filter(|((_, source, _), _)| !OTHERS.contains(source))
    {
        let place = evidence.at(*host, *interface, window);
        for name in place
            .names(source)
            .into_iter()
            .filter(|name| is_of_packets(source, name))
        {
            let moved = place
                .moved(source, name)
                .filter(|moved| moved.grew.at_least > 0);
            counters.extend(moved.map(|moved| MovedCounter {
                host: *host,
                interface: interface.map(str::to_owned),
                name: name.to_owned(),
                delta: moved.grew.at_least,
                source: (*source).to_owned(),
            }));
        }
    }
    counters
}

fn is_of_packets(source: &str, name: &str) -> bool {
    if source == Source::Softnet.text() {
        return !name.contains('.');
    }
    source != Source::Qdisc.text() || !matches!(name, "qlen" | "backlog")
}

const OTHERS: [&str; 9] = [
    Source::Interrupts.text(),
    "/proc/net/sockstat",
    Source::ArpCache.text(),
    Source::NdiscCache.text(),
    "/proc/pressure",
    "/proc/schedstat",
    "/proc/softirqs",
    Source::Stat.text(),
    Source::Conntrack.text(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_and_fill_levels_are_not() {
        assert!(
            is_of_packets("/proc/net/snmp", "UdpInErrors") && is_of_packets("tc -s qdisc", "drops")
        );
        assert!(is_of_packets("/proc/net/softnet_stat", "dropped"));
        assert!(!is_of_packets("/proc/net/softnet_stat", "cpu0.dropped"));
        assert!(!is_of_packets("tc -s qdisc", "qlen"));
    }
}
