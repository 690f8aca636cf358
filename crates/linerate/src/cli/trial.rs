// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches for the highest UDP rate that meets a loss goal: which test comes next, and what it meant.

use super::forecast::{Ahead, Need};
use linerate_method::knee::{self, Begin, KneeConfig, KneeSearch, Trial};
use linerate_model::output::{Confirmation, ConstantLoss, Direction, Knee, Output, Test};

/// The search in one direction, with the tests that it made.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) direction: Direction,
    search: KneeSearch,
    goal_loss_ratio: f64,
    trial_ms: u64,
    confirm_ms: Option<u64>,
    test_ids: Vec<String>,
    pub(super) payload_bytes: u32,
    confirmed_by: Option<Confirmed>,
    /// Trials after the first phase, without those that confirm.
    narrowing: u32,
}

/// The last confirming trial.
#[derive(Debug)]
struct Confirmed {
    test_id: String,
    duration_s: f64,
}

/// The next test of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) bits_per_second: u64,
    /// The length of a confirming trial; `None` for the trials before.
    pub(super) confirm_ms: Option<u64>,
}

/// How far and how fine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scope {
    pub(super) begin: Begin,
    pub(super) resolution_ratio: f64,
    pub(super) trials_max: u32,
    /// UDP payload, or the one that is expected where the engine chooses.
    pub(super) payload_bytes: u32,
    /// The highest loss ratio that counts as lossless.
    pub(super) goal_loss_ratio: f64,
    /// The length of one trial.
    pub(super) trial_ms: u64,
    /// The length of the trial that confirms the result; `None` for none.
    pub(super) confirm_ms: Option<u64>,
}

impl Search {
    /// Nothing tried yet.
    pub(super) fn new(direction: Direction, scope: Scope) -> Self {
        let Scope {
            begin,
            resolution_ratio,
            trials_max,
            payload_bytes,
            goal_loss_ratio,
            trial_ms,
            confirm_ms,
        } = scope;
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
            trial_ms,
            confirm_ms,
            test_ids: Vec::new(),
            payload_bytes,
            confirmed_by: None,
            narrowing: 0,
        }
    }

    /// What to try next; `None` at the end.
    pub(super) fn next_step(&self) -> Option<Step> {
        if let Some(bits_per_second) = self.search.next_rate() {
            return Some(Step {
                bits_per_second,
                confirm_ms: None,
            });
        }
        let confirm_ms = Some(self.confirm_ms?);
        let bits_per_second = self.search.next_confirmation()?;
        Some(Step {
            bits_per_second,
            confirm_ms,
        })
    }

    /// The next step, if the search can end without it, with what the result then still needs.
    fn optional_step(&self) -> Option<(Need, Ahead)> {
        let once = |ms| Ahead::of(1.0, ms);
        let confirm = self.confirm_ms.map(once).unwrap_or_default();
        let next = self.next_step()?;
        if self.search.knee().lossless_bits_per_second.is_none() {
            let is_enough = self.test_ids.len() >= SUFFICIENT_TRIALS;
            return is_enough.then_some((Need::Important, once(self.trial_ms) + confirm));
        }
        match next.confirm_ms {
            Some(_) if self.confirmed_by.is_some() => Some((Need::Important, confirm)),
            None if self.search.is_narrowing() && self.test_ids.len() >= NECESSARY_TRIALS => {
                Some((Need::Useful, once(self.trial_ms) + confirm))
            }
            _ => None,
        }
    }

    /// What confirms its result, if the first such trial may refute it.
    pub(super) fn confirming(&self) -> Ahead {
        let times = match (&self.confirmed_by, self.search.is_limited_by_loss()) {
            (Some(_), _) => 0.0,
            (None, false) => 1.0,
            (None, true) => 2.0,
        };
        let each = self.confirm_ms.map(|ms| Ahead::of(times, ms));
        each.unwrap_or_default()
    }

    /// Ends the search if it can do without its next step and there is no time for it: only its result is still
    /// confirmed.
    pub(super) fn keep_to(&mut self, has_time: impl Fn((Need, Ahead)) -> bool) {
        if !self.optional_step().is_none_or(has_time) {
            self.search.stop();
        }
    }

    /// What the search still does, if the path stays as seen so far.
    pub(super) fn ahead(&self) -> Ahead {
        self.steps(self.search.left())
    }

    /// The same on a path that loses what exceeds a rate.
    pub(super) fn ahead_at(&self, capacity: u64) -> Ahead {
        self.steps(self.search.left_at(capacity))
    }

    /// What a queue on the path costs, where loss is the limit: short trials pass at rates that it cannot carry for long,
    /// so that more of them narrow the bracket, and the first confirming trial often refutes what they found.
    pub(super) fn queued(&self) -> Ahead {
        if self.confirmed_by.is_some() || !self.search.is_limited_by_loss() {
            return Ahead::default();
        }
        let narrowing = f64::from(self.queued_trials().saturating_sub(self.narrowing));
        let again = self.confirm_ms.map(|ms| Ahead::of(1.0, ms));
        Ahead::of(narrowing, self.trial_ms + DRAIN_MS) + again.unwrap_or_default()
    }

    /// The same before the first trial, at most.
    pub(super) fn queued_at_most(&self) -> Ahead {
        let again = self.confirm_ms.map(|ms| Ahead::of(2.0, ms));
        let narrowing = f64::from(self.queued_trials());
        Ahead::of(narrowing, self.trial_ms + DRAIN_MS) + again.unwrap_or_default()
    }

    /// Trials that a queue adds to those of a sharp limit: the longer they are, the less.
    fn queued_trials(&self) -> u32 {
        let trials = QUEUED_MS / self.trial_ms.max(1);
        u32::try_from(trials).unwrap_or(u32::MAX).min(QUEUED_TRIALS)
    }

    fn steps(&self, (trials, confirming): (u32, u32)) -> Ahead {
        let of = |number: u32, each_ms| Ahead::of(f64::from(number), each_ms);
        let confirm = self.confirm_ms.map(|each_ms| of(confirming, each_ms));
        of(trials, self.trial_ms) + confirm.unwrap_or_default()
    }

    /// Whether nothing was tried.
    pub(super) fn is_new(&self) -> bool {
        self.test_ids.is_empty()
    }

    /// Takes the entry of its direction in.
    pub(super) fn feed(&mut self, step: Step, test: &Test) {
        self.payload_bytes = test.payload_bytes;
        self.test_ids.push(test.id.clone());
        let asked = step.bits_per_second;
        let trial = meaning(asked, test);
        if step.confirm_ms.is_none() {
            self.narrowing += u32::from(self.search.is_narrowing());
            return self.search.feed(asked, trial);
        }
        self.search.feed_confirmation(asked, trial);
        self.confirmed_by = Some(Confirmed {
            test_id: test.id.clone(),
            duration_s: test.duration_s,
        });
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
                highest_bits_per_second: Some(constant.highest_bits_per_second as f64),
            }),
            confirmation: self.confirmation(found.confirmation),
            trials: found.trials,
            ..Knee::default()
        }
    }

    fn confirmation(&self, found: Option<knee::Confirmation>) -> Option<Confirmation> {
        let (found, by) = (found?, self.confirmed_by.as_ref()?);
        Some(Confirmation {
            outcome: found.outcome.as_str().to_owned(),
            test_id: by.test_id.clone(),
            duration_s: by.duration_s,
            offered_bits_per_second: found.offered_bits_per_second as f64,
            sent_packets: found.sent_packets,
            lost_packets: found.lost_packets,
            loss_ratio_upper95: found.loss_ratio_upper95,
            trials: found.trials,
        })
    }

    /// Adds the knee to the document, if anything was tried.
    pub(super) fn record(&self, output: &mut Output) {
        if !self.test_ids.is_empty() {
            output.knees.push(self.knee());
        }
    }
}

/// In the mean of recorded sweeps; each trial waits for lost datagrams.
const QUEUED_TRIALS: u32 = 3;
const QUEUED_MS: u64 = 1500;
const DRAIN_MS: u64 = 200;
/// A flood and the rate that it delivered.
const NECESSARY_TRIALS: usize = 2;
/// Where each of these loses, one more seldom finds a rate that does not.
const SUFFICIENT_TRIALS: usize = 3;

fn meaning(asked_bits_per_second: u64, test: &Test) -> Trial {
    Trial {
        offered_bits_per_second: test.offered_bits_per_second.unwrap_or(0.0) as u64,
        arrived_bits_per_second: queued_bits_per_second(test),
        sent_packets: test.sent_packets.unwrap_or(0),
        lost_packets: test.lost_packets.unwrap_or(0),
        sender_limited: test.fell_short_of(asked_bits_per_second as f64),
        valid: test.valid && test.sent_packets.is_some() && test.lost_packets.is_some(),
    }
}

/// The delivered rate of a test whose packets arrived over a longer time than they were sent in: a queue held them.
/// Where some were lost, the edges of that time are less certain.
fn queued_bits_per_second(test: &Test) -> Option<u64> {
    let (offered, delivered) = (
        test.offered_bits_per_second?,
        test.delivered_bits_per_second?,
    );
    let loss_ratio = test.lost_packets? as f64 / test.sent_packets?.max(1) as f64;
    let certain = if loss_ratio > 0.0 { QUEUED_RATIO } else { 1.0 };
    (delivered < offered * (1.0 - loss_ratio) * certain).then_some(delivered as u64)
}

/// What arrives in time of a rate that fills a queue, at most.
const QUEUED_RATIO: f64 = 0.95;

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
    fn the_search_brackets_the_knee_and_confirms_it() {
        let begin = Begin::Ladder((1..=20).map(|n| n * 50 * M).collect());
        let scope = Scope {
            begin,
            resolution_ratio: 0.01,
            trials_max: 40,
            payload_bytes: 1000,
            goal_loss_ratio: 0.0,
            trial_ms: 1000,
            confirm_ms: Some(5000),
        };
        let mut search = Search::new(Direction::Up, scope);
        let mut confirming = Vec::new();
        while let Some(step) = search.next_step() {
            let test = path(step.bits_per_second, search.test_ids.len());
            search.feed(step, &test);
            confirming.extend(step.confirm_ms);
        }
        let knee = search.knee();
        assert_eq!(confirming, [5000]);
        let confirmation = knee.confirmation.as_ref().unwrap();
        assert!(confirmation.is_confirmed());
        assert_eq!(knee.test_ids.last(), Some(&confirmation.test_id));
        assert_eq!(knee.loss_ratio_upper95, confirmation.loss_ratio_upper95);
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

    /// Recorded: `check --lab --quick --fault rate=50M:1M`, the rates that arrived by hand where none were lost. 48.5
    /// Mbit/s of payload pass; the queue carries more for as long as these trials are.
    #[test]
    fn a_queue_is_not_a_rate() {
        let recorded = [
            (44_049_583, 571, 0, 44.1e6),
            (88_099_166, 1141, 0, 48.5e6),
            (176_198_332, 1873, 497, 48.5e6),
            (106_263_892, 927, 0, 48.5e6),
            (48_500_000, 1256, 0, 48.5e6),
        ];
        let begin = Begin::Around {
            start: recorded[0].0,
            from: M / 10,
            to: 1_000_000 * M,
        };
        let mut search = Search::new(
            Direction::Down,
            Scope {
                begin,
                resolution_ratio: 0.1,
                trials_max: 4,
                payload_bytes: 1448,
                goal_loss_ratio: 0.0,
                trial_ms: 150,
                confirm_ms: Some(300),
            },
        );
        let mut asked = Vec::new();
        for (number, (_, sent, lost, delivered)) in recorded.into_iter().enumerate() {
            let step = search.next_step().unwrap();
            asked.push(step);
            let seconds = step.confirm_ms.map_or(0.15, |ms| ms as f64 / 1e3);
            let test = Test {
                duration_s: seconds,
                offered_bits_per_second: Some((sent * 1448 * 8) as f64 / seconds),
                delivered_bits_per_second: Some(delivered),
                sent_packets: Some(sent),
                lost_packets: Some(lost),
                ..path(step.bits_per_second, number)
            };
            search.feed(step, &test);
        }
        let confirmed = asked.last().unwrap();
        assert_eq!(confirmed.confirm_ms, Some(300), "{asked:?}");
        assert!(
            (43 * M..49 * M).contains(&confirmed.bits_per_second),
            "{asked:?}"
        );
        let knee = search.knee();
        assert!(
            knee.confirmation.as_ref().unwrap().is_confirmed(),
            "{knee:?}"
        );
        let rate = knee.lossless_bits_per_second.unwrap();
        assert!((43e6..=48.5e6).contains(&rate), "{knee:?}");
        assert_eq!(search.next_step(), None);
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
