// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the sender's congestion control paces it, and how much of that rate it sent.
//!
//! BBR sends at its estimate of what the path carries, and measures only what it sent: where something else than the path
//! slowed it for a moment, the estimate stays low. The rate alone does not show which of the two it is; another test that
//! carried more does.

use linerate_model::map::Map;
use linerate_model::output::{Direction, Protocol, Test};
use linerate_model::record::Record;

use super::directions::both_ways;
use crate::facts::Facts;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let tcp = |test: &&Test| test.protocol == Protocol::Tcp;
    let carried = MostCarried::of(record);
    for test in record.tests().filter(tcp) {
        let mut add = |name, value: Option<f64>, source| {
            facts.add_to_test(&test.id, name, value, source);
        };
        add("pacing_bits_per_second", test.pacing_bits_per_second, INFO);
        add("pacing_use_ratio", use_ratio(test), INFO);
        let most = carried.ratio(test);
        let source = "the accounts of all tests";
        add("most_carried_ratio", most, source);
        let more = most.zip(test.delivered_bits_per_second);
        let more = more.map(|(ratio, own)| (ratio - 1.0) * own);
        add("carried_more_bits_per_second", more, source);
    }
}

/// What TCP delivered of the rate at which its congestion control paced it; `None` for others, which pace only under `fq`
/// and faster than they send, where a rate was requested, and where the samples of the rate caught moments in which it was
/// lowered (BBR drains its queue, or looks for the shortest round trip): nothing delivers more than it is paced at.
pub(crate) fn use_ratio(test: &Test) -> Option<f64> {
    let free = test.requested_bits_per_second.is_none();
    let paced = test.pacing_bits_per_second.filter(|rate| *rate > 0.0)?;
    let ratio = test.delivered_bits_per_second? / paced;
    (free && paces_itself(test) && ratio <= LOWERED).then_some(ratio)
}

/// BBR's gain is 0.75 of its estimate in one of eight rounds.
const LOWERED: f64 = 1.4;

/// A sender that uses this share of its pacing rate is held back by it: BBR's own gain varies by a quarter.
pub(crate) const HELD_BACK: f64 = 0.8;
/// Another test that carried this much more shows that the estimate of the path is low.
pub(crate) const CARRIED_MORE: f64 = 1.2;
/// A sender that neither the receiver's window nor its own buffer held up for this share of the time.
pub(crate) const CONTROL_LIMITED: f64 = 0.7;

/// Congestion controls that the kernel paces whatever the qdisc (`SK_PACING_NEEDED`).
pub(crate) fn paces_itself(test: &Test) -> bool {
    test.congestion.as_deref().is_some_and(is_bbr)
}

/// Whether a congestion control (`net.ipv4.tcp_congestion_control`) is a version of BBR.
pub(super) fn is_bbr(name: &str) -> bool {
    ["bbr", "bbr2", "bbr3"].contains(&name)
}

/// The most that any valid test delivered in one direction alone, by direction and number of streams.
pub(crate) struct MostCarried(Map<(bool, u32), f64>);

impl MostCarried {
    pub(crate) fn of(record: &Record) -> Self {
        let groups = both_ways(record);
        let alone = |test: &&Test| test.valid && !groups.contains(test.group.as_str());
        let mut most: Map<_, f64> = Map::new();
        for test in record.tests().filter(alone) {
            let best = most.entry(way(test)).or_default();
            *best = best.max(test.delivered_bits_per_second.unwrap_or(0.0));
        }
        Self(most)
    }

    /// Of what `test` delivered: 1 or more.
    pub(crate) fn ratio(&self, test: &Test) -> Option<f64> {
        let own = test.delivered_bits_per_second.filter(|rate| *rate > 0.0)?;
        let most = self.0.get(&way(test)).copied();
        Some(most.map_or(1.0, |most| most.max(own) / own))
    }
}

fn way(test: &Test) -> (bool, u32) {
    (test.direction == Direction::Down, test.streams)
}

const INFO: &str = "tcpi_pacing_rate, delivered rate";
