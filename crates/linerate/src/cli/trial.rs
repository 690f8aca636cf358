// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches for the highest UDP rate without loss: which test comes next, and what it meant.

use linerate_method::knee::{Begin, KneeConfig, KneeSearch, Trial};
use linerate_model::output::{ConstantLoss, Direction, Knee, Output, Test};

/// The search in one direction, with the tests that it made.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) direction: Direction,
    search: KneeSearch,
    goal_loss_ratio: f64,
    test_ids: Vec<String>,
    payload_bytes: u32,
}

/// How far and how fine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scope {
    pub(super) begin: Begin,
    pub(super) resolution_ratio: f64,
    pub(super) trials_max: u32,
    /// UDP payload, or the one that is expected where the engine chooses.
    pub(super) payload_bytes: u32,
}

impl Search {
    /// Nothing tried yet. Without loss means without any.
    pub(super) fn new(direction: Direction, scope: Scope) -> Self {
        let Scope {
            begin,
            resolution_ratio,
            trials_max,
            payload_bytes,
        } = scope;
        let goal_loss_ratio = 0.0;
        Self {
            direction,
            search: KneeSearch::new(KneeConfig {
                begin,
                payload_bytes,
                goal_loss_ratio,
                resolution_ratio,
                trials_max,
            }),
            goal_loss_ratio,
            test_ids: Vec::new(),
            payload_bytes,
        }
    }

    /// The rate to try next; `None` at the end.
    pub(super) fn next_rate(&self) -> Option<u64> {
        self.search.next_rate()
    }

    /// Takes the entry of its direction in.
    pub(super) fn feed(&mut self, asked_bits_per_second: u64, test: &Test) {
        self.payload_bytes = test.payload_bytes;
        self.test_ids.push(test.id.clone());
        self.search
            .feed(asked_bits_per_second, meaning(asked_bits_per_second, test));
    }

    /// The answer; packets by the payload that was really sent.
    pub(super) fn knee(&self) -> Knee {
        let found = self.search.knee();
        let pps = |rate: u64| rate as f64 / (f64::from(self.payload_bytes.max(1)) * 8.0);
        Knee {
            test_ids: self.test_ids.clone(),
            direction: self.direction,
            payload_bytes: self.payload_bytes,
            lossless_bits_per_second: found.lossless_bits_per_second.map(|rate| rate as f64),
            lossy_bits_per_second: found.lossy_bits_per_second.map(|rate| rate as f64),
            lossless_pps: found.lossless_bits_per_second.map(pps),
            lossy_pps: found.lossy_bits_per_second.map(pps),
            goal_loss_ratio: self.goal_loss_ratio,
            limited_by: found.limited_by.as_str().to_owned(),
            loss_ratio_upper95: found.loss_ratio_upper95,
            constant_loss: found.constant_loss.map(|constant| ConstantLoss {
                loss_ratio: constant.loss_ratio,
                lower95: constant.lower95,
                upper95: constant.upper95,
            }),
            trials: found.trials,
            ..Knee::default()
        }
    }

    /// Adds the knee to the document, if anything was tried.
    pub(super) fn record(&self, output: &mut Output) {
        if !self.test_ids.is_empty() {
            output.knees.push(self.knee());
        }
    }
}

fn meaning(asked_bits_per_second: u64, test: &Test) -> Trial {
    Trial {
        offered_bits_per_second: test.offered_bits_per_second.unwrap_or(0.0) as u64,
        sent_packets: test.sent_packets.unwrap_or(0),
        lost_packets: test.lost_packets.unwrap_or(0),
        sender_limited: test.fell_short_of(asked_bits_per_second as f64),
        valid: test.valid && test.sent_packets.is_some() && test.lost_packets.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: u64 = 1_000_000;

    /// A path that drops what exceeds 430 Mbit/s.
    fn path(rate: u64, number: usize) -> Test {
        let sent = rate / 11_584;
        let lost = if rate > 430 * M { sent / 10 } else { 0 };
        Test {
            id: format!("t{number}"),
            duration_s: 1.0,
            payload_bytes: 1448,
            offered_bits_per_second: Some(rate as f64),
            sent_packets: Some(sent),
            lost_packets: Some(lost),
            valid: true,
            ..Test::default()
        }
    }

    #[test]
    fn the_search_brackets_the_knee() {
        let begin = Begin::Ladder((1..=20).map(|n| n * 50 * M).collect());
        let scope = Scope {
            begin,
            resolution_ratio: 0.01,
            trials_max: 40,
            payload_bytes: 1000,
        };
        let mut search = Search::new(Direction::Up, scope);
        while let Some(rate) = search.next_rate() {
            let test = path(rate, search.test_ids.len());
            search.feed(rate, &test);
        }
        let knee = search.knee();
        let (lossless, lossy) = (
            knee.lossless_bits_per_second.unwrap(),
            knee.lossy_bits_per_second.unwrap(),
        );
        assert!(
            lossless <= 430e6 && 430e6 < lossy && lossy - lossless < 6e6,
            "{knee:?}"
        );
        assert_eq!(
            (knee.payload_bytes, knee.limited_by.as_str()),
            (1448, "loss")
        );
        assert_eq!(knee.test_ids.len(), knee.trials as usize);
    }

    #[test]
    fn unknown_counts_are_no_success() {
        let mut unknown = path(100 * M, 0);
        unknown.lost_packets = None;
        assert!(!meaning(100 * M, &unknown).valid);
        let mut slow = path(100 * M, 0);
        slow.offered_bits_per_second = Some(98e6);
        assert!(meaning(100 * M, &slow).sender_limited);
    }
}
