// SPDX-License-Identifier: MIT OR Apache-2.0
//! The confirmation of a search's result: longer trials at its lossless rate.
//!
//! A search selects the rate whose short trials happened to lose nothing, so that those trials say too much for it. A
//! longer trial at that rate is independent of the selection, and its bound of the loss ratio is the result's. If it
//! loses more than the goal allows, lower rates are confirmed in the same way, a few times at most. Where losses do not
//! grow with the rate, a lower rate would lose as much, and the confirmation ends.

use super::rate::GROSS_LOSS_RATIO;
use super::{KneeSearch, LimitedBy, Trial};
use crate::bound::loss_upper95;

/// The confirming trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confirmation {
    /// The outcome of the last one.
    pub outcome: Outcome,
    /// The payload rate that it offered, or that arrived of it where a queue held the excess.
    pub offered_bits_per_second: u64,
    /// The number of packets that it sent.
    pub sent_packets: u64,
    /// The number of packets that it lost.
    pub lost_packets: u64,
    /// The 95 % upper bound of its loss ratio.
    pub loss_ratio_upper95: Option<f64>,
    /// The number of confirming trials.
    pub trials: u32,
    asked_bits_per_second: u64,
    /// Lost, or still in a queue when the sender had ended.
    excess_ratio: f64,
    /// Of the trials, those that lost more than the goal allows.
    losses: u32,
    /// What they show; `None` if there is none.
    pub(super) refuted: Option<Refuted>,
}

impl Refuted {
    /// The lowest rate that is lossy. A sender may have fallen short of it and lost by accident what a later trial at a
    /// higher rate, which confirmed that one, did not lose.
    pub(super) fn lossy_next_to(&self, confirmed: Option<u64>) -> u64 {
        match confirmed >= Some(self.lowest_bits_per_second) {
            true => self.asked_bits_per_second,
            false => self.lowest_bits_per_second,
        }
    }
}

impl Confirmation {
    /// The rate that it confirmed.
    pub(super) fn confirmed(&self) -> Option<u64> {
        (self.outcome == Outcome::Confirmed).then_some(self.offered_bits_per_second)
    }

    /// The rate that arrived (RFC 9971, forwarding rate), where more was lost than by accident: a queue carried the
    /// search's short trials.
    fn forwarded(&self) -> Option<u64> {
        let forwarded = self.offered_bits_per_second as f64 * (1.0 - self.excess_ratio);
        (self.excess_ratio >= GROSS_LOSS_RATIO).then_some(forwarded as u64)
    }
}

/// Rates that a search found, and that lost more than the goal allows in longer trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Refuted {
    /// The lowest of them, as it was offered.
    pub(super) lowest_bits_per_second: u64,
    /// The lowest of them, as it was requested.
    pub(super) asked_bits_per_second: u64,
    /// The 95 % upper bound of the loss ratio at the first, which is the search's result.
    pub(super) loss_ratio_upper95: Option<f64>,
}

/// The outcome of a confirming trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It lost no more than the goal allows.
    Confirmed,
    /// It lost more.
    Loss,
    /// Its sender fell short of the rate.
    Sender,
    /// Its counts are useless.
    Invalid,
}

impl Outcome {
    /// The name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Loss => "loss",
            Self::Sender => "sender",
            Self::Invalid => "invalid",
        }
    }
}

impl KneeSearch {
    /// Returns the rate of the next confirming trial in bits per second; `None` while the search runs, without a
    /// lossless rate, and at the end.
    pub fn next_confirmation(&self) -> Option<u64> {
        if self.next_rate().is_some() {
            return None;
        }
        let Some(last) = &self.confirmation else {
            return self.found().lossless_bits_per_second;
        };
        match last.outcome {
            Outcome::Confirmed => None,
            _ if self.stopped || last.trials >= CONFIRMATIONS_MAX => None,
            Outcome::Loss => self.next_lower(last),
            Outcome::Sender | Outcome::Invalid => Some(last.asked_bits_per_second),
        }
    }

    /// Records the result of a confirming trial at the requested rate.
    pub fn feed_confirmation(&mut self, asked_bits_per_second: u64, trial: Trial) {
        let outcome = self.outcome(&trial);
        if trial.valid {
            self.count(asked_bits_per_second, &trial);
        }
        let last = self.confirmation;
        let lost = outcome == Outcome::Loss;
        let offered = trial.offered_bits_per_second.min(asked_bits_per_second);
        let offered = match lost {
            true => offered,
            false => trial.carried_of(offered),
        };
        let loss_ratio_upper95 = loss_upper95(trial.lost_packets, trial.sent_packets)
            .filter(|_| outcome != Outcome::Invalid);
        let before = last.and_then(|last| last.refuted);
        let refuted = Refuted {
            lowest_bits_per_second: before
                .map_or(offered, |it| it.lowest_bits_per_second.min(offered)),
            asked_bits_per_second,
            loss_ratio_upper95: before.map_or(loss_ratio_upper95, |it| it.loss_ratio_upper95),
        };
        self.confirmation = Some(Confirmation {
            outcome,
            offered_bits_per_second: offered,
            sent_packets: trial.sent_packets,
            lost_packets: trial.lost_packets,
            loss_ratio_upper95,
            trials: last.map_or(0, |last| last.trials) + 1,
            asked_bits_per_second,
            excess_ratio: trial.excess_ratio(),
            losses: last.map_or(0, |last| last.losses) + u32::from(lost),
            refuted: if lost { Some(refuted) } else { before },
        });
    }

    /// A sender that fell short confirms the rate that it offered only if the search ended for that reason, too.
    fn outcome(&self, trial: &Trial) -> Outcome {
        let sender_limited = self.found().limited_by == LimitedBy::Sender;
        if !trial.valid || trial.sent_packets == 0 || trial.offered_bits_per_second == 0 {
            Outcome::Invalid
        } else if self.is_lossy(trial) {
            Outcome::Loss
        } else if trial.sender_limited && !sender_limited {
            Outcome::Sender
        } else {
            Outcome::Confirmed
        }
    }

    /// One resolution below a rate that lost, then more, or below what the path forwarded of a rate that was much too
    /// high, which its queue still holds;
    /// `None` if no lower rate would lose less.
    fn next_lower(&self, last: &Confirmation) -> Option<u64> {
        if self.loses_alike() {
            return None;
        }
        let asked = last.asked_bits_per_second;
        let misses = last.losses.saturating_sub(1);
        let forwarded = last.forwarded().map(|rate| self.down(rate, 0));
        let lower = self.down(asked, misses);
        let lower = forwarded.map_or(lower, |rate| rate.min(lower));
        let lower = lower.max(self.lowest());
        (lower < asked).then_some(lower)
    }
}

/// The confirming trials of one search.
pub const CONFIRMATIONS_MAX: u32 = 3;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::knee::{Begin, Knee, KneeConfig};
    use crate::rng::Rng;

    const M: u64 = 1_000_000;

    /// A link that loses what exceeds its rate, each other packet with a probability, and a share of its trials.
    #[derive(Debug, Clone, Copy)]
    struct Link {
        rate: u64,
        loss_ratio: f64,
        accident_ratio: f64,
        invalid_ratio: f64,
        sender_ceiling: u64,
    }

    impl Link {
        const CLEAN: Self = Self {
            rate: 423 * M,
            loss_ratio: 0.0,
            accident_ratio: 0.0,
            invalid_ratio: 0.0,
            sender_ceiling: u64::MAX,
        };

        fn trial(&self, asked: u64, seconds: f64, rng: &mut Rng) -> Trial {
            let offered = asked.min(self.sender_ceiling);
            let sent = (offered as f64 * seconds / (1448.0 * 8.0)).ceil() as u64;
            let beyond = sent as f64 * (1.0 - (self.rate as f64 / offered as f64).min(1.0));
            let accident = u64::from(rng.chance(self.accident_ratio)) * 8;
            let noise = (sent as f64 * self.loss_ratio * 2.0 * rng.unit()).round() as u64;
            Trial {
                arrived_bits_per_second: None,
                offered_bits_per_second: offered,
                sent_packets: sent,
                lost_packets: (beyond.ceil() as u64 + accident + noise).min(sent),
                sender_limited: offered < asked,
                valid: !rng.chance(self.invalid_ratio),
            }
        }
    }

    fn config(goal_loss_ratio: f64) -> KneeConfig {
        KneeConfig {
            begin: Begin::Ladder((1..=10).map(|n| n * 100 * M).collect()),
            payload_bytes: 1448,
            goal_loss_ratio,
            resolution_ratio: 0.01,
            trials_max: 40,
        }
    }

    struct Searched {
        before: Knee,
        after: Knee,
        /// The rates that were confirmed, and whether their trials met the goal.
        confirming: Vec<(u64, Trial)>,
    }

    fn searched(link: Link, goal_loss_ratio: f64, seed: u64) -> Searched {
        let mut rng = Rng::new(seed);
        let mut search = KneeSearch::new(config(goal_loss_ratio));
        while let Some(rate) = search.next_rate() {
            assert_eq!(search.next_confirmation(), None, "the search comes first");
            search.feed(rate, link.trial(rate, 0.5, &mut rng));
        }
        let before = search.knee();
        let mut confirming = Vec::new();
        while let Some(rate) = search.next_confirmation() {
            let trial = link.trial(rate, 5.0, &mut rng);
            search.feed_confirmation(rate, trial);
            confirming.push((rate, trial));
        }
        Searched {
            before,
            after: search.knee(),
            confirming,
        }
    }

    #[test]
    fn a_clean_link_is_confirmed_by_one_trial_whose_bound_is_the_result_s() {
        let found = searched(Link::CLEAN, 0.0, 1);
        let confirmation = found.after.confirmation.unwrap();
        assert_eq!(
            (confirmation.outcome, confirmation.trials),
            (Outcome::Confirmed, 1)
        );
        let upper = found.after.loss_ratio_upper95.unwrap();
        assert!(upper < found.before.loss_ratio_upper95.unwrap() / 2.0);
        assert_eq!(Some(upper), confirmation.loss_ratio_upper95);
        assert_eq!(
            found.after.lossless_bits_per_second,
            found.before.lossless_bits_per_second
        );
    }

    /// Trials of 0.5 s lose nothing at 400 Mbit/s in most cases, trials of 5 s do.
    #[test]
    fn where_longer_trials_lose_the_rate_goes_down_or_is_not_confirmed() {
        let rare = Link {
            loss_ratio: 2e-5,
            ..Link::CLEAN
        };
        let (mut lower, mut unconfirmed) = (0, 0);
        for seed in 0..60 {
            let found = searched(rare, 0.0, seed);
            let Some(confirmation) = found.after.confirmation else {
                continue;
            };
            match confirmation.outcome {
                Outcome::Confirmed if confirmation.trials > 1 => lower += 1,
                Outcome::Confirmed => {}
                _ => unconfirmed += 1,
            }
        }
        assert!(lower + unconfirmed > 20, "{lower} {unconfirmed}");
        assert!(unconfirmed > 0);
    }

    /// The sender of the first confirming trial had no processor time and lost what it sent late.
    #[test]
    fn a_confirmed_rate_is_below_the_lossy_one() {
        let mut search = KneeSearch::new(config(0.0));
        let clean = |offered: u64| Trial {
            arrived_bits_per_second: None,
            offered_bits_per_second: offered,
            sent_packets: 10_000,
            lost_packets: 0,
            sender_limited: false,
            valid: true,
        };
        while let Some(rate) = search.next_rate() {
            search.feed(rate, clean(rate));
        }
        let first = search.next_confirmation().unwrap();
        let late = Trial {
            arrived_bits_per_second: None,
            lost_packets: 1,
            sender_limited: true,
            ..clean(first / 2)
        };
        search.feed_confirmation(first, late);
        let unconfirmed = search.knee().lossy_bits_per_second;
        assert_eq!(unconfirmed, Some(first / 2));
        let second = search.next_confirmation().unwrap();
        search.feed_confirmation(second, clean(second));
        let knee = search.knee();
        assert_eq!(knee.lossless_bits_per_second, Some(second));
        assert_eq!(knee.lossy_bits_per_second, Some(first));
    }

    /// A queue of 4 Mbit carries trials of 0.5 s at 8 Mbit/s more than the rate.
    #[test]
    fn the_first_rate_that_a_queue_carried_leads_to_the_one_that_is_forwarded() {
        let queue = |asked: u64, seconds: f64| {
            let packets = |bits: f64| (bits / (1448.0 * 8.0)) as u64;
            let excess = asked.saturating_sub(423 * M) as f64 * seconds - 4e6;
            Trial {
                arrived_bits_per_second: None,
                offered_bits_per_second: asked,
                sent_packets: packets(asked as f64 * seconds),
                lost_packets: packets(excess.max(0.0)),
                sender_limited: false,
                valid: true,
            }
        };
        let mut search = KneeSearch::new(config(0.0));
        while let Some(rate) = search.next_rate() {
            search.feed(rate, queue(rate, 0.5));
        }
        let short = search.knee().lossless_bits_per_second.unwrap();
        assert!(short > 429 * M, "{short}");
        while let Some(rate) = search.next_confirmation() {
            search.feed_confirmation(rate, queue(rate, 2.5));
        }
        let confirmation = search.knee().confirmation.unwrap();
        assert_eq!(
            (confirmation.outcome, confirmation.trials),
            (Outcome::Confirmed, 2)
        );
        let rate = confirmation.offered_bits_per_second;
        assert!((418 * M..426 * M).contains(&rate), "{rate}");
    }

    #[test]
    fn a_loss_goal_finds_a_higher_rate_where_little_is_lost_everywhere() {
        let lossy = Link {
            loss_ratio: 5e-4,
            ..Link::CLEAN
        };
        let knee = |goal| searched(lossy, goal, 3).after;
        let (ndr, pdr) = (knee(0.0), knee(0.005));
        assert_eq!(ndr.lossless_bits_per_second, None, "{ndr:?}");
        let rate = pdr.lossless_bits_per_second.unwrap();
        assert!((420 * M..=426 * M).contains(&rate), "{pdr:?}");
        let confirmation = pdr.confirmation.unwrap();
        assert_eq!(confirmation.outcome, Outcome::Confirmed);
        assert!(confirmation.lost_packets > 0);
    }

    #[test]
    fn a_sender_that_falls_short_confirms_only_what_it_offered() {
        let slow = Link {
            sender_ceiling: 250 * M,
            ..Link::CLEAN
        };
        let found = searched(slow, 0.0, 1);
        assert_eq!(found.after.limited_by, LimitedBy::Sender);
        assert_eq!(found.after.lossless_bits_per_second, Some(250 * M));
        let mut search = KneeSearch::new(config(0.0));
        while let Some(rate) = search.next_rate() {
            search.feed(rate, Link::CLEAN.trial(rate, 0.5, &mut Rng::new(1)));
        }
        let mut stalled = 0;
        while let Some(rate) = search.next_confirmation() {
            search.feed_confirmation(rate, slow.trial(rate, 5.0, &mut Rng::new(1)));
            stalled += 1;
        }
        let knee = search.knee();
        assert_eq!(knee.confirmation.unwrap().outcome, Outcome::Sender);
        assert_eq!((stalled, knee.limited_by), (3, LimitedBy::Loss));
        assert!(knee.lossless_bits_per_second > Some(400 * M));
    }

    /// Short trials lose nothing up to the end of the range, or what the sender can; longer ones do above 990 Mbit/s.
    #[test]
    fn a_rate_that_its_longer_trial_refutes_is_the_lossy_one() {
        for (ceiling, range, found) in [
            (u64::MAX, LimitedBy::Range, 1000 * M),
            (995 * M, LimitedBy::Sender, 995 * M),
        ] {
            let [short, long] = [u64::MAX, 992 * M].map(|rate| Link {
                rate,
                sender_ceiling: ceiling,
                ..Link::CLEAN
            });
            let mut rng = Rng::new(1);
            let mut search = KneeSearch::new(config(0.0));
            while let Some(rate) = search.next_rate() {
                search.feed(rate, short.trial(rate, 0.5, &mut rng));
            }
            let before = search.knee();
            assert_eq!(
                (before.limited_by, before.lossy_bits_per_second),
                (range, None)
            );
            let first = search.next_confirmation().unwrap();
            search.feed_confirmation(first, long.trial(first, 5.0, &mut rng));
            let refuted = search.knee();
            assert_eq!(
                (refuted.limited_by, refuted.lossy_bits_per_second),
                (LimitedBy::Loss, Some(found))
            );
            assert!(refuted.lossy_pps.is_some());
            assert_eq!(
                refuted.loss_ratio_upper95,
                refuted.confirmation.unwrap().loss_ratio_upper95,
                "not pooled with the trials that were selected for losing nothing"
            );
            while let Some(rate) = search.next_confirmation() {
                search.feed_confirmation(rate, long.trial(rate, 5.0, &mut rng));
            }
            let knee = search.knee();
            assert_eq!(knee.confirmation.unwrap().outcome, Outcome::Confirmed);
            assert_eq!(
                (knee.limited_by, knee.lossy_bits_per_second),
                (LimitedBy::Loss, Some(found))
            );
        }
    }

    proptest! {
        /// A rate is confirmed only by a trial that offered it and met the goal, and then it is the result; without
        /// one the search's own result stays, as not confirmed.
        #[test]
        fn what_is_confirmed_was_carried(
            rate in 50_u64..1200,
            loss_ratio in prop_oneof![Just(0.0), 1e-6..1e-2_f64],
            accident_ratio in prop_oneof![Just(0.0), 0.0..0.4_f64],
            invalid_ratio in prop_oneof![Just(0.0), 0.0..0.5_f64],
            sender in prop_oneof![Just(u64::MAX), (50_u64..1200).prop_map(|rate| rate * M)],
            goal in prop_oneof![Just(0.0), Just(0.005), 0.0..0.2_f64],
            seed in any::<u64>(),
        ) {
            let link = Link {
                rate: rate * M,
                loss_ratio,
                accident_ratio,
                invalid_ratio,
                sender_ceiling: sender,
            };
            let Searched { before, after, confirming } = searched(link, goal, seed);
            prop_assert!(confirming.len() <= CONFIRMATIONS_MAX as usize);
            prop_assert_eq!(before.confirmation, None);
            prop_assert_eq!(confirming.is_empty(), before.lossless_bits_per_second.is_none());
            let rates: Vec<u64> = confirming.iter().map(|(rate, _)| *rate).collect();
            prop_assert!(rates.windows(2).all(|pair| pair[1] <= pair[0]));
            let confirmed = after.confirmation.filter(|one| one.outcome == Outcome::Confirmed);
            match (confirmed, confirming.last()) {
                (Some(confirmation), Some((_, trial))) => {
                    prop_assert!(trial.valid);
                    prop_assert!(trial.lost_packets as f64 <= goal * trial.sent_packets as f64);
                    prop_assert_eq!(after.lossless_bits_per_second, Some(trial.offered_bits_per_second));
                    prop_assert_eq!(after.loss_ratio_upper95, confirmation.loss_ratio_upper95);
                    prop_assert!(after.lossless_bits_per_second <= before.lossless_bits_per_second);
                }
                _ => prop_assert_eq!(after.lossless_bits_per_second, before.lossless_bits_per_second),
            }
            let above_goal = |(_, trial): &&(u64, Trial)| {
                trial.valid && trial.lost_packets as f64 > goal * trial.sent_packets as f64
            };
            let refuted = confirming.iter().filter(above_goal).map(|(_, trial)| trial.offered_bits_per_second).min();
            match refuted {
                Some(lowest) => {
                    prop_assert_eq!(after.limited_by, LimitedBy::Loss);
                    prop_assert!(after.lossy_bits_per_second <= Some(lowest));
                    prop_assert!(after.lossy_bits_per_second > after.lossless_bits_per_second || confirmed.is_none());
                    prop_assert!(after.loss_ratio_upper95 > Some(goal) || confirmed.is_some());
                }
                None => {
                    prop_assert_eq!(after.limited_by, before.limited_by);
                    prop_assert_eq!(after.lossy_bits_per_second, before.lossy_bits_per_second);
                }
            }
        }
    }
}
