// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for the knee: the highest rate without loss, and the lowest with it.
//!
//! The search says which rate to try ([`KneeSearch::next_rate`]) and is told what came of it
//! ([`KneeSearch::feed`]). First it climbs a ladder, or doubles and halves from a start; then it bisects
//! between the highest lossless rate and the lowest lossy one. Loss curves are not always monotone, so
//! only rates below the first lossy one count as lossless. These rules keep noise and the tester's own
//! limits out of the answer:
//!
//! - one trial with loss proves nothing: two of up to three must lose before a rate is lossy;
//! - a sender that cannot reach the rate is never success: two such trials end the search with
//!   [`LimitedBy::Sender`], and the rate that it did reach without loss is the answer;
//! - invalid trials are repeated a few times and do not count.

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
    /// Try `start`; double up to `to` while nothing is lost, halve down to `from` while it is.
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
    /// Highest rate without loss below every rate with loss; `None` if there is none.
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
        let offered = trial.offered_bits_per_second;
        match (trial.sender_limited, lossy) {
            (false, false) => self.rung(asked_bits_per_second).passed += 1,
            (false, true) => self.rung(asked_bits_per_second).lose(loss_ratio),
            (true, false) => self.rung(asked_bits_per_second).fall_short(Some(offered)),
            (true, true) => {
                self.rung(asked_bits_per_second).fall_short(None);
                self.rung(offered).lose(loss_ratio);
            }
        }
    }

    /// The answer: final when [`Self::next_rate`] is `None`, the best known before.
    pub fn knee(&self) -> Knee {
        let limited_by = match self.decide() {
            Decision::Try(_) => LimitedBy::Trials,
            Decision::Done(limited_by) => limited_by,
        };
        let first_bad = self.first_bad();
        let reached = first_bad.and_then(|rung| rung.reached);
        let lossless = self.lossless_below(first_bad).max(reached);
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
            (_, Some(lower)) if self.apart(lower, upper) => {
                Decision::Try(u64::midpoint(lower, upper))
            }
            (_, None) if upper > self.lowest() => Decision::Try(self.lowest().max(upper / 2)),
            (Verdict::Doubtful, _) => again,
            _ => Decision::Done(LimitedBy::Loss),
        }
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

    fn lossless_below(&self, bad: Option<&Rung>) -> Option<u64> {
        let end = bad.map_or(u64::MAX, |rung| rung.bits_per_second);
        let below = self
            .rungs
            .iter()
            .take_while(|rung| rung.bits_per_second < end);
        let lossless = below.filter(|rung| rung.verdict() == Verdict::Lossless);
        lossless.last().map(|rung| rung.bits_per_second)
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
            self.rungs.insert(
                index,
                Rung {
                    bits_per_second,
                    ..Rung::default()
                },
            );
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

/// What is known of one rate.
#[derive(Debug, Clone, Copy, Default)]
struct Rung {
    bits_per_second: u64,
    passed: u32,
    lost: u32,
    fell_short: u32,
    invalid: u32,
    loss_ratio_max: f64,
    /// The rate that a sender reached without loss when asked for this one.
    reached: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// No valid trial yet.
    Untried,
    /// No valid trial, and no patience left.
    Unusable,
    /// Not lossless, and one trial is too little to say so.
    Doubtful,
    Lossless,
    Lossy,
    SenderLimited,
}

impl Rung {
    fn lose(&mut self, loss_ratio: f64) {
        self.lost += 1;
        self.loss_ratio_max = self.loss_ratio_max.max(loss_ratio);
    }

    fn fall_short(&mut self, reached: Option<u64>) {
        self.fell_short += 1;
        self.reached = self.reached.max(reached);
    }

    fn verdict(&self) -> Verdict {
        match (self.passed, self.lost, self.fell_short) {
            (0, 0, 0) if self.invalid > INVALID_MAX => Verdict::Unusable,
            (0, 0, 0) => Verdict::Untried,
            (_, 2.., _) => Verdict::Lossy,
            (_, _, 2..) => Verdict::SenderLimited,
            (1.., 0, _) | (2.., _, _) => Verdict::Lossless,
            _ if self.invalid > INVALID_MAX => Verdict::Lossy,
            _ => Verdict::Doubtful,
        }
    }

    /// Too much loss for an accident: the search goes on below at once, and the rate is tried again
    /// only if it ends up as the edge of the bracket.
    fn gross(&self) -> bool {
        self.loss_ratio_max >= GROSS_LOSS_RATIO
    }
}

/// Invalid trials of one rate that are repeated.
const INVALID_MAX: u32 = 2;
const GROSS_LOSS_RATIO: f64 = 0.01;

#[cfg(test)]
mod tests;
