// SPDX-License-Identifier: MIT OR Apache-2.0
//! `latency.hlog`: a histogram of the probe's round-trip times.

use crate::output::Phase;

/// Round trips under one load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// The load.
    pub phase: Phase,
    /// Upper bound of each bucket in nanoseconds, and the number of round trips in it; ascending.
    pub buckets: Vec<(u64, u64)>,
}

impl RoundTrips {
    /// Returns the upper bounds, each with the share of round trips that took no longer.
    #[must_use]
    pub fn cumulative(&self) -> Vec<(u64, f64)> {
        let all: u64 = self.buckets.iter().map(|(_, count)| count).sum();
        let mut until = 0;
        let share = |(upper_ns, count): &(u64, u64)| {
            until += count;
            (*upper_ns, until as f64 / all.max(1) as f64)
        };
        self.buckets.iter().map(share).collect()
    }
}

/// Parses a file, by phase. Malformed lines are ignored.
#[must_use]
pub fn read(text: &str) -> Vec<RoundTrips> {
    let mut all: Vec<RoundTrips> = Vec::new();
    for (phase, bucket) in text.lines().filter_map(line) {
        match all.iter_mut().find(|known| known.phase == phase) {
            Some(known) => known.buckets.push(bucket),
            None => all.push(RoundTrips {
                phase,
                buckets: vec![bucket],
            }),
        }
    }
    for trips in &mut all {
        trips.buckets.sort_unstable();
    }
    all
}

fn line(line: &str) -> Option<(Phase, (u64, u64))> {
    let mut fields = line.split_ascii_whitespace();
    let phase = match fields.next()? {
        "idle" => Phase::Idle,
        "up" => Phase::Up,
        "down" => Phase::Down,
        "both" => Phase::Both,
        _ => return None,
    };
    Some((
        phase,
        (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_a_phase_are_joined_and_add_up() {
        let text = "# linerate.latency/1: …\nup 300 1\nup 100 2\ngarbage\nidle 50 4\nup 200 1\n";
        let all = read(text);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].cumulative(), [(100, 0.5), (200, 0.75), (300, 1.0)]);
        assert_eq!(all[1].cumulative(), [(50, 1.0)]);
    }
}
