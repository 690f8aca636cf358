// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether losses grow with the rate at all.
//!
//! Where each packet is lost with the same small probability whatever the rate, a trial is without loss if it is short
//! enough, and the search for a knee finds the length of its trials. If losses do not depend on the rate, they are spread
//! over the trials as the packets are: given how many were lost in all, the number at the higher rates is binomial.
//!
//! That no excess at the higher rates was proven shows nothing if few packets were sent at the lower ones. So the lower
//! half of the rates must have had to lose some, and must have lost some. Trials that lose much are left out: what
//! exceeds the rate of a link says nothing about the rates below it.

use super::rate::GROSS_LOSS_RATIO;
use crate::bound::loss_interval95;
use crate::stats::beta::regularised;

/// One trial, as far as it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) bits_per_second: u64,
    pub(super) sent: u64,
    pub(super) lost: u64,
}

/// A loss ratio that does not grow with the rate, up to the highest one without much loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConstantLoss {
    /// Of these trials.
    pub loss_ratio: f64,
    /// The lower end of its two-sided 95 % confidence interval.
    pub lower95: f64,
    /// The upper end.
    pub upper95: f64,
    /// The highest rate whose trials are counted.
    pub highest_bits_per_second: u64,
}

impl ConstantLoss {
    /// Returns the common loss ratio of the trials; `None` if more is lost at higher rates than at lower ones, and where
    /// the trials cannot show that.
    pub(super) fn of(trials: &[Count]) -> Option<Self> {
        let trials = &not_overloaded(trials);
        let all = total(trials.iter());
        if grows(trials, all) || !is_shown(trials, all) {
            return None;
        }
        let (lower95, upper95) = loss_interval95(all.lost, all.sent)?;
        Some(Self {
            loss_ratio: all.lost as f64 / all.sent as f64,
            lower95,
            upper95,
            highest_bits_per_second: trials.iter().map(rate).max()?,
        })
    }
}

/// The trials that lost little, or all if none did.
fn not_overloaded(trials: &[Count]) -> Vec<Count> {
    let little = |one: &&Count| (one.lost as f64) < GROSS_LOSS_RATIO * one.sent as f64;
    let kept: Vec<Count> = trials.iter().filter(little).copied().collect();
    match kept.is_empty() {
        true => trials.to_vec(),
        false => kept,
    }
}

/// Whether the trials of the lower half of the rates lost some, and sent enough for that.
fn is_shown(trials: &[Count], all: Count) -> bool {
    let highest = trials.iter().map(rate).max().unwrap_or(0);
    let lower = total(trials.iter().filter(|one| rate(one) <= highest / 2));
    let expected = all.lost as f64 * (lower.sent as f64 / all.sent.max(1) as f64);
    expected >= LEAST_EXPECTED && lower.lost > 0
}

/// Whether the losses begin at a rate, or at any rate and above more was lost than the packets sent there account for:
/// exact tests, 5 % for all of them together.
fn grows(trials: &[Count], all: Count) -> bool {
    let mut rates: Vec<u64> = trials.iter().map(rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let splits = rates.iter().skip(1);
    let alpha = ALPHA / 2.0 / splits.len().max(1) as f64;
    begins(trials, all) < ALPHA / 2.0
        || splits.into_iter().any(|from| {
            let above = total(trials.iter().filter(|one| rate(one) >= *from));
            at_least(above.lost, all.lost, above.sent as f64 / all.sent as f64) < alpha
        })
}

/// The probability that the rates below the lowest one with loss lose nothing, by chance.
fn begins(trials: &[Count], all: Count) -> f64 {
    let lowest = trials.iter().filter(|one| one.lost > 0).map(rate).min();
    let from = |one: &&Count| Some(rate(one)) >= lowest;
    let above = total(trials.iter().filter(from));
    (above.sent as f64 / all.sent.max(1) as f64).powf(all.lost as f64)
}

fn rate(trial: &Count) -> u64 {
    trial.bits_per_second
}

fn total<'a>(trials: impl Iterator<Item = &'a Count>) -> Count {
    let none = Count {
        bits_per_second: 0,
        sent: 0,
        lost: 0,
    };
    trials.fold(none, |sum, one| Count {
        bits_per_second: 0,
        sent: sum.sent.saturating_add(one.sent),
        lost: sum.lost.saturating_add(one.lost),
    })
}

/// The probability of `count` or more of `all`, each with probability `share`.
fn at_least(count: u64, all: u64, share: f64) -> f64 {
    match count {
        0 => 1.0,
        count => regularised(share, count as f64, (all - count) as f64 + 1.0),
    }
}

/// With fewer expected losses, none is no surprise (5 %).
const LEAST_EXPECTED: f64 = 3.0;
const ALPHA: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knee::{Begin, Knee, KneeConfig, KneeSearch, LimitedBy, Trial};
    use crate::rng::Rng;

    /// A link that loses each packet with probability `ratio`, what exceeds `rate`, and `few` packets at most in each
    /// trial above 0.9 of that rate.
    #[derive(Clone, Copy)]
    struct Link {
        ratio: f64,
        rate: f64,
        few: u64,
    }

    impl Link {
        fn trial(self, rate: u64, seconds: f64, rng: &mut Rng) -> Trial {
            let sent = (rate as f64 * seconds) as u64 / (1448 * 8);
            let through = (self.rate / rate as f64).min(1.0) * sent as f64;
            let beyond = sent - through as u64;
            let few = match rate as f64 > 0.9 * self.rate {
                true => self.few.min(1 + rng.below(2)),
                false => 0,
            };
            let lost = poisson(rng, (sent - beyond) as f64 * self.ratio).min(sent - beyond);
            Trial {
                arrived_bits_per_second: None,
                offered_bits_per_second: rate,
                sent_packets: sent,
                lost_packets: (lost + beyond + few).min(sent),
                sender_limited: false,
                valid: true,
            }
        }

        fn knee(self, begin: Begin, trials_max: u32, seed: u64) -> Knee {
            let mut rng = Rng::new(seed);
            let mut search = KneeSearch::new(KneeConfig {
                begin,
                payload_bytes: 1448,
                goal_loss_ratio: 0.0,
                resolution_ratio: 0.02,
                trials_max,
            });
            while let Some(rate) = search.next_rate() {
                search.feed(rate, self.trial(rate, 1.0, &mut rng));
            }
            while let Some(rate) = search.next_confirmation() {
                search.feed_confirmation(rate, self.trial(rate, 5.0, &mut rng));
            }
            search.knee()
        }
    }

    fn search(ratio: f64, rate: f64, seed: u64) -> Knee {
        let ladder = Begin::Ladder((1..=10).map(|n| n * 94_000_000).collect());
        Link {
            ratio,
            rate,
            few: 0,
        }
        .knee(ladder, 60, seed)
    }

    /// Rare losses (Knuth 1969): products of uniform numbers.
    fn poisson(rng: &mut Rng, mean: f64) -> u64 {
        let (mut product, mut count) = (rng.unit(), 0);
        while product > (-mean).exp() {
            product *= rng.unit();
            count += 1;
        }
        count
    }

    fn stated(ratio: f64, link: f64) -> usize {
        let seeds = 0..SEARCHES as u64;
        seeds
            .filter(|seed| search(ratio, link, *seed).constant_loss.is_some())
            .count()
    }

    const SEARCHES: usize = 60;

    /// Whatever the ratio: the knee that such a search finds is none.
    #[test]
    fn loss_that_does_not_depend_on_the_rate_has_no_knee() {
        for ratio in [5e-5, 2e-4, 1e-3] {
            assert!(
                stated(ratio, 2e9) >= SEARCHES * 9 / 10,
                "{ratio}: {}",
                stated(ratio, 2e9)
            );
        }
        let found = search(2e-4, 2e9, 1).constant_loss.unwrap();
        assert!(found.lower95 < 2e-4 && 2e-4 < found.upper95, "{found:?}");
    }

    #[test]
    fn a_link_that_loses_what_exceeds_its_rate_has_one() {
        assert_eq!(stated(0.0, 500e6), 0);
    }

    /// Half the rate loses as much: no lower one is tried.
    #[test]
    fn a_search_below_constant_loss_ends_when_it_is_shown() {
        let around = Begin::Around {
            start: 900_000_000,
            from: 100_000,
            to: 1_000_000_000,
        };
        let link = Link {
            ratio: 5e-3,
            rate: 2e9,
            few: 0,
        };
        let knees = (0..SEARCHES as u64).map(|seed| link.knee(around.clone(), 40, seed));
        let knees: Vec<Knee> = knees.collect();
        let is_short = |knee: &&Knee| knee.trials <= 4 && knee.constant_loss.is_some();
        assert!(
            knees.iter().filter(is_short).count() >= SEARCHES * 9 / 10,
            "{knees:?}"
        );
        for knee in knees {
            assert_eq!(
                (knee.limited_by, knee.lossless_bits_per_second),
                (LimitedBy::Loss, None)
            );
        }
    }

    /// Trials above the rate of the link lose far more, and that hides nothing.
    #[test]
    fn constant_loss_below_the_rate_of_a_link_has_no_knee_there() {
        let ladder = || Begin::Ladder((1..=20).map(|n| n * 50_000_000).collect());
        let link = Link {
            ratio: 1e-4,
            rate: 500e6,
            few: 0,
        };
        let found =
            (0..SEARCHES as u64).filter_map(|seed| link.knee(ladder(), 60, seed).constant_loss);
        let found: Vec<ConstantLoss> = found.collect();
        assert!(found.len() >= SEARCHES * 9 / 10, "{}", found.len());
        assert!(
            found
                .iter()
                .all(|one| one.highest_bits_per_second <= 505_000_000)
        );
    }

    /// One or two lost packets a trial show a knee, not a loss at rates at which none was lost.
    #[test]
    fn a_few_packets_lost_near_the_rate_of_a_link_are_no_constant_loss() {
        let ladder = || Begin::Ladder((1..=20).map(|n| n * 50_000_000).collect());
        let around = |start| Begin::Around {
            start,
            from: 10_000_000,
            to: 1_000_000_000,
        };
        for few in [1, 2] {
            let link = Link {
                ratio: 0.0,
                rate: 1e9,
                few,
            };
            for seed in 0..SEARCHES as u64 {
                for (begin, trials_max) in [
                    (ladder(), 36),
                    (around(900_000_000), 8),
                    (around(1_000_000_000), 8),
                ] {
                    let knee = link.knee(begin, trials_max, seed);
                    assert_eq!(knee.constant_loss, None, "{few} {seed} {knee:?}");
                }
            }
        }
    }

    #[test]
    fn two_lost_packets_show_nothing() {
        let count = |rate, lost| Count {
            bits_per_second: rate,
            sent: 10_000,
            lost,
        };
        assert_eq!(ConstantLoss::of(&[]), None);
        assert_eq!(ConstantLoss::of(&[count(1, 1), count(2, 1)]), None);
        assert_eq!(ConstantLoss::of(&[count(1, 0), count(2, 9)]), None);
        assert!(ConstantLoss::of(&[count(1, 4), count(2, 5)]).is_some());
        assert!(
            ConstantLoss::of(&[count(1, 9), count(2, 1)]).is_some(),
            "it does not grow"
        );
    }
}
