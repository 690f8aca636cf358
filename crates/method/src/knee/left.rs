// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many trials a search has ahead: it is continued against a path with a sharp limit, where the trials so far
//! place it.

use super::{KneeSearch, Rate, Trial};

impl KneeSearch {
    /// Returns the number of trials to come and of those that confirm the result, if the path stays as seen so far.
    pub fn left(&self) -> (u32, u32) {
        let bad = self.first_bad();
        let lossy = bad.filter(|bad| bad.lost > 0);
        let lossless = || {
            self.lossless_below(bad)
                .map_or(0, |rate| rate.bits_per_second)
        };
        let capacity = lossy.map_or(u64::MAX, |bad| bad.forwarded().max(lossless()));
        let sender = bad.and_then(Rate::reached_at_most);
        self.left_on(capacity, sender.unwrap_or(u64::MAX))
    }

    /// As [`Self::left`], on a path that loses what exceeds `capacity`, in bits per second.
    pub fn left_at(&self, capacity: u64) -> (u32, u32) {
        self.left_on(capacity, u64::MAX)
    }

    /// Whether the lowest rate that did not pass lost packets.
    pub fn is_limited_by_loss(&self) -> bool {
        self.first_bad().is_some_and(|bad| bad.lost > 0)
    }

    fn left_on(&self, capacity: u64, sender: u64) -> (u32, u32) {
        let mut rest = self.clone();
        while let Some(rate) = rest.next_rate() {
            rest.feed(rate, trial(rate, capacity, sender.max(1)));
        }
        let confirming = rest.next_confirmation().is_some();
        (rest.trials - self.trials, u32::from(confirming))
    }
}

fn trial(rate: u64, capacity: u64, sender: u64) -> Trial {
    let offered = rate.min(sender);
    let lost_ratio = offered.saturating_sub(capacity) as f64 / offered.max(1) as f64;
    Trial {
        arrived_bits_per_second: None,
        offered_bits_per_second: offered,
        sent_packets: PACKETS,
        lost_packets: (PACKETS as f64 * lost_ratio).ceil() as u64,
        sender_limited: offered < rate,
        valid: true,
    }
}

const PACKETS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::super::{Begin, KneeConfig, Verdict};
    use super::*;

    const M: u64 = 1_000_000;

    fn search(begin: Begin) -> KneeSearch {
        KneeSearch::new(KneeConfig {
            begin,
            payload_bytes: 1472,
            goal_loss_ratio: 0.0,
            resolution_ratio: 0.01,
            trials_max: 40,
        })
    }

    fn ladder() -> KneeSearch {
        search(Begin::Ladder((1..=10).map(|n| n * 100 * M).collect()))
    }

    #[test]
    fn a_ladder_without_loss_has_its_rungs_and_one_confirmation() {
        assert_eq!(ladder().left(), (10, 1));
    }

    /// The search itself against the same path: its forecast is right at every step after the first loss.
    #[test]
    fn the_forecast_is_what_the_search_then_does() {
        let path = 437 * M;
        let mut real = ladder();
        let (planned, _) = real.left_at(path);
        let mut forecasts = Vec::new();
        while let Some(rate) = real.next_rate() {
            real.feed(rate, trial(rate, path, u64::MAX));
            let is_lossy = real
                .rates
                .iter()
                .any(|rate| rate.verdict() == Verdict::Lossy || rate.lost > 0);
            forecasts.extend(is_lossy.then(|| real.trials + real.left().0));
        }
        assert_eq!(real.trials, planned);
        assert!(planned > 10, "{planned}: the bracket is narrowed");
        let wrong = forecasts.iter().filter(|all| all.abs_diff(planned) > 2);
        assert_eq!(wrong.count(), 0, "{planned}: {forecasts:?}");
        assert_eq!(real.left(), (0, 1));
        assert!(real.is_limited_by_loss() && !ladder().is_limited_by_loss());
    }

    #[test]
    fn a_sender_that_falls_short_ends_the_search_soon() {
        let begin = Begin::Around {
            start: 1_000_000 * M,
            from: M,
            to: 1_000_000 * M,
        };
        let mut search = search(begin);
        search.feed(1_000_000 * M, trial(1_000_000 * M, u64::MAX, 800 * M));
        assert_eq!(search.left(), (1, 1));
    }
}
