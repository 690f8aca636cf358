// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for the knee: the highest rate without loss, and the lowest with it.
//!
//! [`KneeSearch::next_rate`] returns the rate to try, [`KneeSearch::feed`] takes the result. First the search
//! tries a list of rates, or doubles from a start; then it narrows the bracket between the highest lossless
//! rate and the lowest lossy one. After loss, the forwarded rate (RFC 9971) is the best guess of the knee, so it
//! is tried next, and then a rate one resolution away on the other side; where the guess is wrong, the steps
//! grow and the bracket is bisected. Loss curves are not always monotone, so only rates below the first lossy
//! one count as lossless. These rules keep noise and the tester's own limits out of the result:
//!
//! - one trial with loss is not enough: two of up to three must lose before a rate is lossy;
//! - a trial whose sender falls short is never a success: two of them end the search with
//!   [`LimitedBy::Sender`], and the rate that was reached without loss is a lower bound;
//! - a lossless rate is the offered one, not the requested one; where a queue held the excess until the sender had
//!   ended, it is the rate that arrived;
//! - invalid trials are repeated a few times and do not count.
//!
//! The result is confirmed by longer trials: [`KneeSearch::next_confirmation`].

mod confirm;
mod constant_loss;
mod left;
mod rate;

use crate::bound::loss_upper95;
pub use confirm::{CONFIRMATIONS_MAX, Confirmation, Outcome};
pub use constant_loss::ConstantLoss;
use constant_loss::Count;
use rate::{Rate, Verdict};

/// Parameters of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct KneeConfig {
    /// The first phase.
    pub begin: Begin,
    /// Payload of each packet in bytes.
    pub payload_bytes: u32,
    /// The highest loss ratio that counts as lossless; 0 allows none.
    pub goal_loss_ratio: f64,
    /// The search ends when the bracket is narrower than this share of its upper end.
    pub resolution_ratio: f64,
    /// The search ends after this many trials, invalid ones included.
    pub trials_max: u32,
}

/// The first phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// Try each of these rates (bits per second) once, in this order.
    Ladder(Vec<u64>),
    /// Try `start`; double up to `to` without loss, go down to `from` with loss. A start at `to` begins with the
    /// maximum and continues from the rate that got through.
    Around { start: u64, from: u64, to: u64 },
}

/// The result of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// The offered payload rate.
    pub offered_bits_per_second: u64,
    /// The payload rate at the receiver, over a longer time where a queue filled; `None` if no queue was seen.
    pub arrived_bits_per_second: Option<u64>,
    pub sent_packets: u64,
    pub lost_packets: u64,
    /// The sender missed the requested rate by more than its tolerance.
    pub sender_limited: bool,
    /// False if the numbers are useless (contradictory counts, a lost peer).
    pub valid: bool,
}

impl Trial {
    fn loss_ratio(&self) -> f64 {
        self.lost_packets as f64 / self.sent_packets as f64
    }

    /// The share of the offered rate that did not arrive in time: lost, or still in a queue.
    fn excess_ratio(&self) -> f64 {
        let offered = self.offered_bits_per_second.max(1) as f64;
        let arrived = self
            .arrived_bits_per_second
            .map(|rate| rate as f64 / offered);
        self.loss_ratio().max(1.0 - arrived.unwrap_or(1.0))
    }

    /// Of an offered rate, what the path carries without a queue that grows, at this trial's loss ratio.
    fn carried_of(&self, offered_bits_per_second: u64) -> u64 {
        let delivered = (1.0 - self.loss_ratio()).max(f64::MIN_POSITIVE);
        let arrived = self.arrived_bits_per_second;
        let carried = arrived.map_or(u64::MAX, |rate| (rate as f64 / delivered) as u64);
        offered_bits_per_second.min(carried)
    }
}

/// The result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Highest rate without loss below every rate with loss; `None` if there is none. With
    /// [`LimitedBy::Sender`] the knee is there or above.
    pub lossless_bits_per_second: Option<u64>,
    /// Lowest rate with confirmed loss; `None` if there is none. A rate that a longer trial refuted is one, so that it
    /// may be the lossless one, or below it, where no rate was confirmed.
    pub lossy_bits_per_second: Option<u64>,
    /// The same rates in packets per second.
    pub lossless_pps: Option<f64>,
    pub lossy_pps: Option<f64>,
    pub limited_by: LimitedBy,
    /// The 95 % upper bound of the loss ratio at the lossless rate: of the trial that confirmed or refuted it, or else
    /// from the trials of the search.
    pub loss_ratio_upper95: Option<f64>,
    /// The loss ratio at all rates up to one, if it does not grow with the rate: then there is no knee.
    pub constant_loss: Option<ConstantLoss>,
    /// The longer trials at the lossless rate; `None` if there was none.
    pub confirmation: Option<Confirmation>,
    /// Trials fed, invalid and confirming ones included.
    pub trials: u32,
}

/// What ended the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedBy {
    /// The bracket is narrow enough: the path or the receiver loses above it.
    Loss,
    /// The sender cannot send faster.
    Sender,
    /// The whole range is without loss.
    Range,
    /// The trials were used up (or invalid) before the bracket was narrow.
    Trials,
    /// The search was stopped for lack of time before the bracket was narrow.
    Time,
}

impl LimitedBy {
    /// The name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Sender => "sender",
            Self::Range => "range",
            Self::Trials => "trials",
            Self::Time => "time",
        }
    }
}

/// The state of a search.
#[derive(Debug, Clone)]
pub struct KneeSearch {
    config: KneeConfig,
    /// All rates tried, lowest first.
    rates: Vec<Rate>,
    /// The valid trials.
    counts: Vec<Count>,
    trials: u32,
    confirmation: Option<Confirmation>,
    stopped: bool,
}

impl KneeSearch {
    /// Creates a search without trials.
    pub fn new(config: KneeConfig) -> Self {
        Self {
            config,
            rates: Vec::new(),
            counts: Vec::new(),
            trials: 0,
            confirmation: None,
            stopped: false,
        }
    }

    /// Ends the search for lack of time: only one trial may follow, which confirms the result if none did.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether the first phase is over: what follows makes the bracket narrower.
    pub fn is_narrowing(&self) -> bool {
        self.untried_step().is_none()
    }

    /// Returns the next rate in bits per second; `None` when the search is done.
    pub fn next_rate(&self) -> Option<u64> {
        match self.decide() {
            Decision::Try(rate) => Some(rate),
            Decision::Done(_) => None,
        }
    }

    /// Records the result of a trial at the requested rate.
    pub fn feed(&mut self, asked_bits_per_second: u64, trial: Trial) {
        self.trials += 1;
        if !trial.valid || trial.sent_packets == 0 {
            self.rate(asked_bits_per_second).invalid += 1;
            return;
        }
        let excess_ratio = trial.excess_ratio();
        let lossy = self.is_lossy(&trial);
        let offered = self.count(asked_bits_per_second, &trial);
        let carried = trial.carried_of(offered);
        let misses = self.misses_at(asked_bits_per_second);
        let rate = self.rate(asked_bits_per_second);
        rate.misses = rate.misses.max(misses);
        match (trial.sender_limited, lossy) {
            (false, false) => rate.pass(carried),
            (false, true) => rate.lose(excess_ratio),
            (true, false) => rate.fall_short(Some(carried)),
            (true, true) => {
                rate.fall_short(None);
                self.rate(offered).lose(excess_ratio);
            }
        }
    }

    fn is_lossy(&self, trial: &Trial) -> bool {
        trial.loss_ratio() > self.config.goal_loss_ratio
    }

    /// Counts a valid trial; returns the rate that it offered.
    fn count(&mut self, asked_bits_per_second: u64, trial: &Trial) -> u64 {
        let offered = trial.offered_bits_per_second.min(asked_bits_per_second);
        self.counts.push(Count {
            bits_per_second: offered,
            sent: trial.sent_packets,
            lost: trial.lost_packets.min(trial.sent_packets),
        });
        offered
    }

    /// The result: final when [`Self::next_rate`] and [`Self::next_confirmation`] are `None`, else the best so far.
    pub fn knee(&self) -> Knee {
        let found = self.found();
        let Some(confirmation) = self.confirmation else {
            return found;
        };
        let found = Knee {
            trials: found.trials.saturating_add(confirmation.trials),
            confirmation: Some(confirmation),
            ..self.refuted(found, confirmation)
        };
        let Some(rate) = confirmation.confirmed() else {
            return found;
        };
        Knee {
            lossless_bits_per_second: Some(rate),
            lossless_pps: Some(self.pps(rate)),
            loss_ratio_upper95: confirmation.loss_ratio_upper95,
            ..found
        }
    }

    /// The result of the search after its confirming trials: what they refute is lossy, and loss is the limit.
    fn refuted(&self, found: Knee, confirmation: Confirmation) -> Knee {
        let Some(refuted) = confirmation.refuted else {
            return found;
        };
        let lowest = refuted.lossy_next_to(confirmation.confirmed());
        let lossy = found
            .lossy_bits_per_second
            .map_or(lowest, |lossy| lossy.min(lowest));
        Knee {
            lossy_bits_per_second: Some(lossy),
            lossy_pps: Some(self.pps(lossy)),
            limited_by: LimitedBy::Loss,
            loss_ratio_upper95: refuted.loss_ratio_upper95,
            ..found
        }
    }

    /// The result of the search alone.
    fn found(&self) -> Knee {
        let first_bad = self.first_bad();
        let passed = self.lossless_below(first_bad).and_then(|rate| rate.offered);
        let reached = first_bad.and_then(Rate::reached_at_most);
        let limited_by = match self.decide() {
            _ if reached > passed => LimitedBy::Sender,
            Decision::Try(_) => LimitedBy::Trials,
            Decision::Done(limited_by) => limited_by,
        };
        let lossless = passed.max(reached);
        let lossy = self
            .rates
            .iter()
            .find(|rate| rate.verdict() == Verdict::Lossy);
        let lossy = lossy.map(|rate| rate.bits_per_second);
        Knee {
            lossless_bits_per_second: lossless,
            lossy_bits_per_second: lossy,
            lossless_pps: lossless.map(|rate| self.pps(rate)),
            lossy_pps: lossy.map(|rate| self.pps(rate)),
            limited_by,
            loss_ratio_upper95: lossless.and_then(|rate| self.upper95_at(rate)),
            constant_loss: ConstantLoss::of(&self.counts),
            confirmation: None,
            trials: self.trials,
        }
    }

    fn upper95_at(&self, bits_per_second: u64) -> Option<f64> {
        let at = |count: &&Count| count.bits_per_second == bits_per_second;
        let (lost, sent) = self
            .counts
            .iter()
            .filter(at)
            .fold((0, 0), |(lost, sent), one| {
                (lost + one.lost, sent + one.sent)
            });
        loss_upper95(lost, sent)
    }

    fn decide(&self) -> Decision {
        if self.stopped || self.trials >= self.config.trials_max {
            return Decision::Done(self.exhausted());
        }
        if let Some(rate) = self.untried_step() {
            return Decision::Try(rate);
        }
        if self
            .rates
            .iter()
            .any(|rate| rate.verdict() == Verdict::Unusable)
        {
            return Decision::Done(LimitedBy::Trials);
        }
        self.settled()
    }

    /// After the last trial: the search may be complete nevertheless.
    fn exhausted(&self) -> LimitedBy {
        match self.settled() {
            Decision::Done(limited_by) if self.untried_step().is_none() => limited_by,
            _ if self.stopped => LimitedBy::Time,
            _ => LimitedBy::Trials,
        }
    }

    /// The next rate of the first phase; a rate without a valid trial is repeated.
    fn untried_step(&self) -> Option<u64> {
        let untried = |rate: &u64| match self.find(*rate) {
            Some(rate) => rate.verdict() == Verdict::Untried,
            None => true,
        };
        match &self.config.begin {
            Begin::Ladder(rates) => rates.iter().copied().find(untried),
            Begin::Around { start, from, to } if self.rates.is_empty() => {
                Some((*start).min(*to).max(*from))
            }
            Begin::Around { .. } => {
                let again = self
                    .rates
                    .iter()
                    .find(|rate| rate.verdict() == Verdict::Untried);
                again.map(|rate| rate.bits_per_second)
            }
        }
    }

    /// The next step, given the lowest rate that is not lossless.
    fn settled(&self) -> Decision {
        let Some(bad) = self.first_bad() else {
            return self.climb();
        };
        let (upper, again) = (bad.bits_per_second, Decision::Try(bad.bits_per_second));
        match (bad.verdict(), self.lossless_below(Some(bad))) {
            (Verdict::Doubtful, _) if !bad.gross() => again,
            (Verdict::SenderLimited, _) => Decision::Done(LimitedBy::Sender),
            (_, Some(lower)) if self.apart(lower.bits_per_second, upper) => {
                Decision::Try(self.between(lower.bits_per_second, bad))
            }
            (_, None) if upper > self.lowest() && !self.loses_alike() => {
                Decision::Try(self.below(bad))
            }
            (Verdict::Doubtful, _) => again,
            _ => Decision::Done(LimitedBy::Loss),
        }
    }

    /// Whether a lower rate would lose as much.
    fn loses_alike(&self) -> bool {
        ConstantLoss::of(&self.counts).is_some()
    }

    /// The forwarded rate after gross loss, at least one resolution lower. Little loss may occur at any rate and
    /// gives no guess; and a guess from a guess would creep.
    fn guess(&self) -> Option<u64> {
        let bad = self.first_bad()?;
        let upper = bad.bits_per_second;
        let guess = bad.forwarded().min(self.down(upper, 0)).max(self.lowest());
        (bad.gross() && bad.misses == 0 && guess < upper).then_some(guess)
    }

    /// Without a lossless rate: the guess, a growing step below a lossy guess, or half.
    fn below(&self, bad: &Rate) -> u64 {
        let step = match bad.misses {
            0 => bad.bits_per_second / 2,
            misses => self.down(bad.bits_per_second, misses - 1),
        };
        self.guess().unwrap_or(step).max(self.lowest())
    }

    /// The guess if it divides the bracket; else a growing step up, at most to the middle.
    fn between(&self, lower: u64, bad: &Rate) -> u64 {
        let forwarded = bad.forwarded();
        let middle = middle(lower, bad.bits_per_second);
        match self.guess().filter(|guess| *guess > lower) {
            Some(guess) if self.apart(lower, guess) => guess,
            _ if forwarded > lower && self.apart(lower, forwarded) => middle,
            _ => self.up(lower, self.passed_above(forwarded)).min(middle),
        }
    }

    /// The number of lossless rates above one that seemed to be the knee.
    fn passed_above(&self, bits_per_second: u64) -> u32 {
        let above = |rate: &&Rate| {
            rate.verdict() == Verdict::Lossless && rate.bits_per_second > bits_per_second
        };
        let count = self.rates.iter().filter(above).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The number of steps below a guess that a rate would be; 0 is none.
    fn misses_at(&self, bits_per_second: u64) -> u32 {
        let lossy = self.first_bad().filter(|bad| bad.lost > 0);
        match lossy {
            Some(bad) if self.guess() == Some(bits_per_second) => bad.misses + 1,
            Some(bad) if bad.misses > 0 && self.below(bad) == bits_per_second => bad.misses + 1,
            _ => 0,
        }
    }

    /// One resolution lower, or more after misses; at most half.
    fn down(&self, bits_per_second: u64, misses: u32) -> u64 {
        (bits_per_second as f64 * (1.0 - self.step_ratio(misses))) as u64
    }

    fn up(&self, bits_per_second: u64, misses: u32) -> u64 {
        let up = bits_per_second as f64 / (1.0 - self.step_ratio(misses));
        (up as u64).max(bits_per_second.saturating_add(1))
    }

    /// Slightly less than the resolution, so that the step closes the bracket.
    fn step_ratio(&self, misses: u32) -> f64 {
        let growth = STEP_GROWTH.powi(i32::try_from(misses).unwrap_or(i32::MAX));
        (self.config.resolution_ratio * 0.99 * growth).min(0.5)
    }

    /// Without loss so far: go up, or finish at the end of the range.
    fn climb(&self) -> Decision {
        let highest = self.rates.last().map_or(0, |rate| rate.bits_per_second);
        match self.config.begin {
            Begin::Around { to, .. } if highest < to => {
                Decision::Try(to.min(highest.saturating_mul(2)))
            }
            _ => Decision::Done(LimitedBy::Range),
        }
    }

    fn apart(&self, lower: u64, upper: u64) -> bool {
        let width = (upper - lower) as f64;
        upper - lower > 1 && width > self.config.resolution_ratio * upper as f64
    }

    /// The lowest rate that may be tried.
    fn lowest(&self) -> u64 {
        match &self.config.begin {
            Begin::Ladder(rates) => rates.iter().copied().min().unwrap_or(0),
            Begin::Around { from, .. } => *from,
        }
    }

    fn first_bad(&self) -> Option<&Rate> {
        let bad = |rate: &&Rate| !matches!(rate.verdict(), Verdict::Lossless | Verdict::Untried);
        self.rates.iter().find(bad)
    }

    fn lossless_below(&self, bad: Option<&Rate>) -> Option<&Rate> {
        let end = bad.map_or(u64::MAX, |rate| rate.bits_per_second);
        let below = self
            .rates
            .iter()
            .take_while(|rate| rate.bits_per_second < end);
        below
            .filter(|rate| rate.verdict() == Verdict::Lossless)
            .last()
    }

    fn find(&self, bits_per_second: u64) -> Option<&Rate> {
        let found = self
            .rates
            .binary_search_by_key(&bits_per_second, |rate| rate.bits_per_second);
        found.ok().map(|index| &self.rates[index])
    }

    fn rate(&mut self, bits_per_second: u64) -> &mut Rate {
        let found = self
            .rates
            .binary_search_by_key(&bits_per_second, |rate| rate.bits_per_second);
        let index = found.unwrap_or_else(|index| {
            self.rates.insert(index, Rate::new(bits_per_second));
            index
        });
        &mut self.rates[index]
    }

    fn pps(&self, bits_per_second: u64) -> f64 {
        bits_per_second as f64 / (f64::from(self.config.payload_bytes.max(1)) * 8.0)
    }
}

enum Decision {
    Try(u64),
    Done(LimitedBy),
}

/// The geometric middle, strictly between two rates that are more than 1 apart.
fn middle(lower: u64, upper: u64) -> u64 {
    let middle = (lower as f64 * upper as f64).sqrt() as u64;
    middle.clamp(lower + 1, upper - 1)
}

/// The growth of a step after each miss.
const STEP_GROWTH: f64 = 8.0;

#[cfg(test)]
mod tests;
