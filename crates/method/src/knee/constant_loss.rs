// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether losses grow with the rate at all.
//!
//! Where each packet is lost with the same small probability whatever the rate, a trial is without loss if it is short
//! enough, and the search for a knee finds the length of its trials. If losses do not depend on the rate, they are spread
//! over the trials as the packets are: given how many were lost in all, the number at the higher rates is binomial. A
//! search without that excess has no knee.

use crate::bound::loss_interval95;
use crate::stats::beta::regularised;

/// One trial, as far as it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) bits_per_second: u64,
    pub(super) sent: u64,
    pub(super) lost: u64,
}

/// A loss ratio that does not grow with the rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConstantLoss {
    /// Of all trials.
    pub loss_ratio: f64,
    /// The lower end of its two-sided 95 % confidence interval.
    pub lower95: f64,
    /// The upper end.
    pub upper95: f64,
}

impl ConstantLoss {
    /// Returns the common loss ratio of all trials; `None` if more is lost at higher rates than at lower ones, and where
    /// too little or at one rate only is lost.
    pub(super) fn of(trials: &[Count]) -> Option<Self> {
        let all = total(trials.iter());
        let mut lossy: Vec<u64> = trials.iter().filter(|one| one.lost > 0).map(rate).collect();
        lossy.sort_unstable();
        lossy.dedup();
        let is_known = all.lost >= LEAST_LOSSES && lossy.len() >= 2;
        if !is_known || grows(trials, all) {
            return None;
        }
        let (lower95, upper95) = loss_interval95(all.lost, all.sent)?;
        Some(Self {
            loss_ratio: all.lost as f64 / all.sent as f64,
            lower95,
            upper95,
        })
    }
}

/// Whether at any rate and above more was lost than the packets sent there account for: an exact test at each rate, 5 % for
/// all of them together.
fn grows(trials: &[Count], all: Count) -> bool {
    let mut rates: Vec<u64> = trials.iter().map(rate).collect();
    rates.sort_unstable();
    rates.dedup();
    let splits = rates.iter().skip(1);
    let alpha = ALPHA / splits.len().max(1) as f64;
    splits.into_iter().any(|from| {
        let above = total(trials.iter().filter(|one| rate(one) >= *from));
        at_least(above.lost, all.lost, above.sent as f64 / all.sent as f64) < alpha
    })
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

/// With fewer losses every distribution is possible.
const LEAST_LOSSES: u64 = 3;
const ALPHA: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knee::{Begin, Knee, KneeConfig, KneeSearch, Trial};
    use crate::rng::Rng;

    /// A link of 941 Mbit/s that loses each packet with probability `ratio`, and what exceeds its rate.
    fn search(ratio: f64, link: f64, seed: u64) -> Knee {
        let mut rng = Rng::new(seed);
        let mut search = KneeSearch::new(KneeConfig {
            begin: Begin::Ladder((1..=10).map(|n| n * 94_000_000).collect()),
            payload_bytes: 1448,
            goal_loss_ratio: 0.0,
            resolution_ratio: 0.02,
            trials_max: 60,
        });
        while let Some(rate) = search.next_rate() {
            let sent = rate / (1448 * 8);
            let through = (link / rate as f64).min(1.0) * sent as f64;
            let beyond = sent - through as u64;
            let lost = poisson(&mut rng, (sent - beyond) as f64 * ratio).min(sent - beyond);
            let trial = Trial {
                offered_bits_per_second: rate,
                sent_packets: sent,
                lost_packets: lost + beyond,
                sender_limited: false,
                valid: true,
            };
            search.feed(rate, trial);
        }
        search.knee()
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
        for ratio in [0.0, 5e-5, 1e-3] {
            assert_eq!(stated(ratio, 500e6), 0, "{ratio}");
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
