// SPDX-License-Identifier: MIT OR Apache-2.0
//! `latency.hlog` and `latency.csv`: the probe's round-trip times as a histogram, and over time.

use crate::output::Phase;

/// Round trips under one load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// The load.
    pub phase: Phase,
    /// Upper bound of each bucket in nanoseconds, and the number of round trips in it; ascending.
    pub buckets: Vec<(u64, u64)>,
    /// When answered (monotonic, in nanoseconds), and the time that it took; in order of time. Of many, the slowest of
    /// each stretch.
    pub over_time: Vec<(u64, u64)>,
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

/// Parses a histogram and the round trips over time, by phase. Malformed lines are ignored.
#[must_use]
pub fn read(histogram: &str, over_time: &str) -> Vec<RoundTrips> {
    let mut all: Vec<RoundTrips> = Vec::new();
    each(histogram, ' ', &mut all, |trips| &mut trips.buckets);
    each(over_time, ',', &mut all, |trips| &mut trips.over_time);
    all
}

/// Adds the lines of a file: phase and two numbers.
fn each(
    text: &str,
    gap: char,
    all: &mut Vec<RoundTrips>,
    list: fn(&mut RoundTrips) -> &mut Vec<(u64, u64)>,
) {
    for (phase, pair) in text.lines().filter_map(|line| self::line(line, gap)) {
        let known = all.iter().position(|known| known.phase == phase);
        let at = known.unwrap_or(all.len());
        if known.is_none() {
            all.push(RoundTrips {
                phase,
                ..RoundTrips::default()
            });
        }
        list(&mut all[at]).push(pair);
    }
    for trips in all {
        list(trips).sort_unstable();
    }
}

fn line(line: &str, gap: char) -> Option<(Phase, (u64, u64))> {
    let mut fields = line.split(gap).map(str::trim);
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
        let all = read(
            text,
            "phase,t_ns,rtt_ns\nup,9,200\nup,5,100\ndown,7,x\nboth,8,70\n",
        );
        assert_eq!(all.len(), 3);
        assert_eq!(all[0].over_time, [(5, 100), (9, 200)]);
        assert_eq!((all[2].phase, all[2].buckets.len()), (Phase::Both, 0));
        assert_eq!(all[0].cumulative(), [(100, 0.5), (200, 0.75), (300, 1.0)]);
        assert_eq!(all[1].cumulative(), [(50, 1.0)]);
    }
}
