// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Test.counters`: the counters of packets that moved while a test's load was on. Time of processors, interrupts and fill
//! levels are in the samples only.

use linerate_model::output::{MovedCounter, Test};

use super::{Evidence, Source, Window};

/// The counters of packets that moved during the load of `test`.
#[must_use]
pub fn moved_counters<'r>(evidence: &Evidence<'r>, test: &'r Test) -> Vec<MovedCounter> {
    let mut moved = evidence.moved_counters(evidence.window(test));
    moved.retain(is_of_packets);
    moved
}

impl<'r> Evidence<'r> {
    /// Every counter that moved in a window, in the order of host, source, interface and name. A counter that was reset is
    /// left out; one that wrapped counts at least what it shows.
    pub(crate) fn moved_counters(&self, window: Window<'r>) -> Vec<MovedCounter> {
        let lists = self.index.keys().map(|(key, _)| *key);
        let counters = lists.flat_map(|(host, source, interface)| {
            let each = self.at(host, interface, window).each(source);
            let moved = each.filter(|(_, moved)| moved.grew.at_least > 0);
            moved.map(move |(name, moved)| MovedCounter {
                host,
                interface: interface.map(str::to_owned),
                name: name.to_owned(),
                delta: moved.grew.at_least,
                source: source.to_owned(),
            })
        });
        counters.collect()
    }
}

fn is_of_packets(counter: &MovedCounter) -> bool {
    let (source, name) = (counter.source.as_str(), counter.name.as_str());
    match Source::of_text(source) {
        Some(Source::Softnet) => !name.contains('.'),
        Some(Source::LabWire) => name.ends_with("_drops"),
        Some(Source::Qdisc) => !matches!(name, "qlen" | "backlog"),
        _ => !OTHERS.contains(&source),
    }
}

const OTHERS: [&str; 10] = [
    Source::Interrupts.text(),
    "/proc/net/sockstat",
    Source::ArpCache.text(),
    Source::NdiscCache.text(),
    "/proc/pressure",
    "/proc/schedstat",
    "/proc/softirqs",
    Source::Stat.text(),
    Source::Conntrack.text(),
    Source::OwnUsage.text(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_and_fill_levels_are_not() {
        let of = |source: &str, name: &str| {
            is_of_packets(&MovedCounter {
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
