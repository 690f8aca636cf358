// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for the knee: the highest rate without loss, and the lowest with it.
//!
//! The search says which rate to try ([`KneeSearch::next_rate`]) and is told what came of it
//! ([`KneeSearch::feed`]). First it climbs a ladder, or doubles from a start; then it narrows the
//! bracket between the highest lossless rate and the lowest lossy one. Where loss is seen, what got
//! through is the best guess of the knee (RFC 9971 calls it the forwarding rate), so it is tried
//! next, then a rate one resolution away on its other side; where the guess is wrong the steps grow
//! and the bracket is bisected. Loss curves are not always monotone, so only rates below the first
//! lossy one count as lossless. These rules keep noise and the tester's own limits out of the answer:
//!
//! - one trial with loss proves nothing: two of up to three must lose before a rate is lossy;
//! - a sender that cannot reach the rate is never success: two such trials end the search with
//!   [`LimitedBy::Sender`], and the rate that it did reach without loss is a bound from below;
//! - a lossless rate is what was really offered there, not what was asked;
//! - invalid trials are repeated a few times and do not count.

mod rung;

use rung::{Rung, Verdict};

/// What to search.
#[derive(Debug, Clone, PartialEq)]
pub struct KneeConfig {
    /// How the search begins.
    pub begin: Begin,
    /// Payload of each packet in bytes.
    pub payload_bytes: u32,
    /// The highest loss ratio that counts as without loss; 0 is none at all.
    pub goal_loss_ratio: f64,
    /// The search ends when the bracket is narrower than this share of its upper end.
    pub resolution_ratio: f64,
    /// The search ends after this many trials, invalid ones included.
    pub trials_max: u32,
}

/// The first phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// Try each of these rates (bits per second) once, in this order, whatever comes.
    Ladder(Vec<u64>),
    /// Try `start`; double up to `to` while nothing is lost, go down to `from` while it is. A start
    /// at `to` asks for the most at once, and goes on from what of it got through.
    Around { start: u64, from: u64, to: u64 },
}

/// What came of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Payload rate at which the sender really sent.
    pub offered_bits_per_second: u64,
    pub sent_packets: u64,
    pub lost_packets: u64,
    /// The sender missed the asked rate by more than its tolerance.
    pub sender_limited: bool,
    /// False if the numbers mean nothing (counts that contradict each other, a peer that vanished).
    pub valid: bool,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Highest rate without loss below every rate with loss; `None` if there is none. With
    /// [`LimitedBy::Sender`] the knee is there or above.
    pub lossless_bits_per_second: Option<u64>,
    /// Lowest rate with confirmed loss; `None` if there is none.
    pub lossy_bits_per_second: Option<u64>,
    /// The same rates in packets per second.
    pub lossless_pps: Option<f64>,
    pub lossy_pps: Option<f64>,
    pub limited_by: LimitedBy,
    /// Trials fed, invalid ones included.
    pub trials: u32,
}

/// What ended the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedBy {
    /// The bracket is as narrow as asked: the path or the receiver loses above it.
    Loss,
    /// The sender cannot send faster.
    Sender,
    /// The whole range is without loss.
    Range,
    /// Trials ran out (or were invalid, or the search was stopped) before the bracket was narrow.
    Trials,
}

impl LimitedBy {
    /// The word in the documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Sender => "sender",
            Self::Range => "range",
            Self::Trials => "trials",
        }
    }
}

/// The state of a search.
#[derive(Debug, Clone)]
pub struct KneeSearch {
    config: KneeConfig,
    /// All rates known, lowest first.
    rungs: Vec<Rung>,
    trials: u32,
}

impl KneeSearch {
    /// A search that has tried nothing.
    pub fn new(config: KneeConfig) -> Self {
        Self {
            config,
            rungs: Vec::new(),
            trials: 0,
        }
    }

    /// The rate to try next in bits per second; `None` when the search is over.
    pub fn next_rate(&self) -> Option<u64> {
        match self.decide() {
            Decision::Try(rate) => Some(rate),
            Decision::Done(_) => None,
        }
    }

    /// Takes the result of a trial at the asked rate.
    pub fn feed(&mut self, asked_bits_per_second: u64, trial: Trial) {
        self.trials += 1;
        if !trial.valid || trial.sent_packets == 0 {
            self.rung(asked_bits_per_second).invalid += 1;
            return;
        }
        let loss_ratio = trial.lost_packets as f64 / trial.sent_packets as f64;
        let lossy = loss_ratio > self.config.goal_loss_ratio;
        let offered = trial.offered_bits_per_second.min(asked_bits_per_second);
        let misses = self.misses_at(asked_bits_per_second);
        let rung = self.rung(asked_bits_per_second);
        rung.misses = rung.misses.max(misses);
        match (trial.sender_limited, lossy) {
            (false, false) => rung.pass(offered),
            (false, true) => rung.lose(loss_ratio),
            (true, false) => rung.fall_short(Some(offered)),
            (true, true) => {
                rung.fall_short(None);
                self.rung(offered).lose(loss_ratio);
            }
        }
    }

    /// The answer: final when [`Self::next_rate`] is `None`, the best known before.
    pub fn knee(&self) -> Knee {
        let first_bad = self.first_bad();
        let passed = self.lossless_below(first_bad).and_then(|rung| rung.offered);
        let reached = first_bad.and_then(Rung::reached_at_most);
        let limited_by = match self.decide() {
            _ if reached > passed => LimitedBy::Sender,
            Decision::Try(_) => LimitedBy::Trials,
            Decision::Done(limited_by) => limited_by,
        };
        let lossless = passed.max(reached);
        let lossy = self
            .rungs
            .iter()
            .find(|rung| rung.verdict() == Verdict::Lossy);
        let lossy = lossy.map(|rung| rung.bits_per_second);
        Knee {
            lossless_bits_per_second: lossless,
            lossy_bits_per_second: lossy,
            lossless_pps: lossless.map(|rate| self.pps(rate)),
            lossy_pps: lossy.map(|rate| self.pps(rate)),
            limited_by,
            trials: self.trials,
        }
    }

    fn decide(&self) -> Decision {
        if self.trials >= self.config.trials_max {
            return Decision::Done(self.exhausted());
        }
        if let Some(rate) = self.untried_step() {
            return Decision::Try(rate);
        }
        if self
            .rungs
            .iter()
            .any(|rung| rung.verdict() == Verdict::Unusable)
        {
            return Decision::Done(LimitedBy::Trials);
        }
        self.settled()
    }

    /// Out of trials: still a proper answer if the last one completed it.
    fn exhausted(&self) -> LimitedBy {
        match self.settled() {
            Decision::Done(limited_by) if self.untried_step().is_none() => limited_by,
            _ => LimitedBy::Trials,
        }
    }

    /// The rest of the first phase, where it is a list; a rate without a valid trial comes again.
    fn untried_step(&self) -> Option<u64> {
        let untried = |rate: &u64| match self.find(*rate) {
            Some(rung) => rung.verdict() == Verdict::Untried,
            None => true,
        };
        match &self.config.begin {
            Begin::Ladder(rates) => rates.iter().copied().find(untried),
            Begin::Around { start, from, to } if self.rungs.is_empty() => {
                Some((*start).min(*to).max(*from))
            }
            Begin::Around { .. } => {
                let again = self
                    .rungs
                    .iter()
                    .find(|rung| rung.verdict() == Verdict::Untried);
                again.map(|rung| rung.bits_per_second)
            }
        }
    }

    /// Where the lowest rate that is not lossless stands, and what that asks for.
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
            (_, None) if upper > self.lowest() => Decision::Try(self.below(bad)),
            (Verdict::Doubtful, _) => again,
            _ => Decision::Done(LimitedBy::Loss),
        }
    }

    /// What got through where much was lost, and at least one resolution below it. Little loss may
    /// be there at any rate and tells nothing; and a guess made from a guess would creep.
    fn guess(&self) -> Option<u64> {
        let bad = self.first_bad()?;
        let upper = bad.bits_per_second;
        let guess = bad.forwarded().min(self.down(upper, 0)).max(self.lowest());
        (bad.gross() && bad.misses == 0 && guess < upper).then_some(guess)
    }

    /// Nothing is lossless yet: the guess, a growing step below a guess that was lossy, or half.
    fn below(&self, bad: &Rung) -> u64 {
        let step = match bad.misses {
            0 => bad.bits_per_second / 2,
            misses => self.down(bad.bits_per_second, misses - 1),
        };
        self.guess().unwrap_or(step).max(self.lowest())
    }

    /// The guess where it parts the bracket; else a growing step up from it, as far as the middle.
    fn between(&self, lower: u64, bad: &Rung) -> u64 {
        let forwarded = bad.forwarded();
        let middle = middle(lower, bad.bits_per_second);
        match self.guess().filter(|guess| *guess > lower) {
            Some(guess) if self.apart(lower, guess) => guess,
            _ if forwarded > lower && self.apart(lower, forwarded) => middle,
            _ => self.up(lower, self.passed_above(forwarded)).min(middle),
        }
    }

    /// Lossless rates above one that seemed to be the knee.
    fn passed_above(&self, bits_per_second: u64) -> u32 {
        let above = |rung: &&Rung| {
            rung.verdict() == Verdict::Lossless && rung.bits_per_second > bits_per_second
        };
        let count = self.rungs.iter().filter(above).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// How many steps below a guess a rate would be that is tried next; 0 is none.
    fn misses_at(&self, bits_per_second: u64) -> u32 {
        let lossy = self.first_bad().filter(|bad| bad.lost > 0);
        match lossy {
            Some(bad) if self.guess() == Some(bits_per_second) => bad.misses + 1,
            Some(bad) if bad.misses > 0 && self.below(bad) == bits_per_second => bad.misses + 1,
            _ => 0,
        }
    }

    /// A resolution lower, or more after misses; at most half.
    fn down(&self, bits_per_second: u64, misses: u32) -> u64 {
        (bits_per_second as f64 * (1.0 - self.step_ratio(misses))) as u64
    }

    fn up(&self, bits_per_second: u64, misses: u32) -> u64 {
        let up = bits_per_second as f64 / (1.0 - self.step_ratio(misses));
        (up as u64).max(bits_per_second.saturating_add(1))
    }

    /// A little less than the resolution, so that the step closes the bracket.
    fn step_ratio(&self, misses: u32) -> f64 {
        let growth = STEP_GROWTH.powi(i32::try_from(misses).unwrap_or(i32::MAX));
        (self.config.resolution_ratio * 0.99 * growth).min(0.5)
    }

    /// Nothing was lost so far: go on upwards, or the range is done.
    fn climb(&self) -> Decision {
        let highest = self.rungs.last().map_or(0, |rung| rung.bits_per_second);
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

    fn first_bad(&self) -> Option<&Rung> {
        let bad = |rung: &&Rung| !matches!(rung.verdict(), Verdict::Lossless | Verdict::Untried);
        self.rungs.iter().find(bad)
    }

    fn lossless_below(&self, bad: Option<&Rung>) -> Option<&Rung> {
        let end = bad.map_or(u64::MAX, |rung| rung.bits_per_second);
        let below = self
            .rungs
            .iter()
            .take_while(|rung| rung.bits_per_second < end);
        below
            .filter(|rung| rung.verdict() == Verdict::Lossless)
            .last()
    }

    fn find(&self, bits_per_second: u64) -> Option<&Rung> {
        let found = self
            .rungs
            .binary_search_by_key(&bits_per_second, |rung| rung.bits_per_second);
        found.ok().map(|index| &self.rungs[index])
    }

    fn rung(&mut self, bits_per_second: u64) -> &mut Rung {
        let found = self
            .rungs
            .binary_search_by_key(&bits_per_second, |rung| rung.bits_per_second);
        let index = found.unwrap_or_else(|index| {
            self.rungs.insert(index, Rung::new(bits_per_second));
            index
        });
        &mut self.rungs[index]
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

/// By how much a step grows after each miss.
const STEP_GROWTH: f64 = 8.0;

#[cfg(test)]
mod tests;
