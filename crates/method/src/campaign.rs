// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which of several changes to keep: each is tried on top of those that are kept, and what is kept is confirmed.
//!
//! A change is kept if a trial proves it better, and if a second trial with fresh runs confirms that. Each trial has an
//! error of at most 5 %, half of it in the direction of *better*, so that a change without effect is kept in about one
//! of 1600 campaigns (0.025²).
//!
//! ```
//! use linerate_method::campaign::{Campaign, Step};
//! let mut campaign = Campaign::new(2);
//! assert_eq!(campaign.next(), Step::Try { candidate: 0, with: vec![] });
//! campaign.report(true);
//! assert_eq!(campaign.next(), Step::Try { candidate: 1, with: vec![0] });
//! campaign.report(false);
//! assert_eq!(campaign.next(), Step::Whole { set: vec![0] });
//! campaign.report(true);
//! assert_eq!((campaign.next(), campaign.kept()), (Step::Done, &[0][..]));
//! ```

/// The next trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A: the changes `with`; B: this candidate as well.
    Try {
        /// Its number, from 0.
        candidate: usize,
        /// What was kept before.
        with: Vec<usize>,
    },
    /// A: the changes `with`; B: this candidate as well, which was kept: is it still needed?
    Needed {
        /// Its number, from 0.
        candidate: usize,
        /// The others that are kept.
        with: Vec<usize>,
    },
    /// A: the original configuration; B: all that is kept.
    Whole {
        /// What is kept.
        set: Vec<usize>,
    },
    /// All is decided.
    Done,
}

/// A campaign under way.
#[derive(Debug, Clone)]
pub struct Campaign {
    candidates: usize,
    kept: Vec<usize>,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The next candidate.
    Forward(usize),
    /// The place of the next one among those that are kept.
    Backward(usize),
    Whole,
    Over,
}

impl Campaign {
    /// A campaign with this number of candidates, in the order in which they are tried.
    #[must_use]
    pub fn new(candidates: usize) -> Self {
        let mut campaign = Self {
            candidates,
            kept: Vec::new(),
            part: Part::Forward(0),
        };
        campaign.advance();
        campaign
    }

    /// The next trial; the same until it is reported.
    #[must_use]
    pub fn next(&self) -> Step {
        match self.part {
            Part::Forward(candidate) => Step::Try {
                candidate,
                with: self.kept.clone(),
            },
            Part::Backward(place) => Step::Needed {
                candidate: self.kept[place],
                with: self.others(place),
            },
            Part::Whole => Step::Whole {
                set: self.kept.clone(),
            },
            Part::Over => Step::Done,
        }
    }

    /// Takes in whether B was proven better.
    pub fn report(&mut self, better: bool) {
        self.part = match self.part {
            Part::Forward(candidate) => {
                if better {
                    self.kept.push(candidate);
                }
                Part::Forward(candidate + 1)
            }
            Part::Backward(place) if better => Part::Backward(place + 1),
            Part::Backward(place) => {
                self.kept.remove(place);
                Part::Backward(place)
            }
            Part::Whole | Part::Over => {
                if !better {
                    self.kept.clear();
                }
                Part::Over
            }
        };
        self.advance();
    }

    /// What is kept so far.
    #[must_use]
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// One that is left alone is confirmed by the trial of the whole.
    fn advance(&mut self) {
        self.part = match self.part {
            Part::Forward(candidate) if candidate >= self.candidates => match self.kept.len() {
                0 => Part::Over,
                1 => Part::Whole,
                _ => Part::Backward(0),
            },
            Part::Backward(_) if self.kept.is_empty() => Part::Over,
            Part::Backward(place) if place >= self.kept.len() => Part::Whole,
            part => part,
        };
    }

    fn others(&self, place: usize) -> Vec<usize> {
        let other = |(at, candidate): (usize, &usize)| (at != place).then_some(*candidate);
        self.kept.iter().enumerate().filter_map(other).collect()
    }
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    /// The trials of a campaign, `A+B` where B is tried on top of A, and what it keeps.
    fn course(candidates: usize, better: impl Fn(&Step) -> bool) -> (Vec<String>, Vec<usize>) {
        let mut campaign = Campaign::new(candidates);
        let mut course = Vec::new();
        loop {
            let step = campaign.next();
            course.push(match &step {
                Step::Try { candidate, with } => format!("try {with:?}+{candidate}"),
                Step::Needed { candidate, with } => format!("needed {with:?}+{candidate}"),
                Step::Whole { set } => format!("whole {set:?}"),
                Step::Done => return (course, campaign.kept().to_vec()),
            });
            campaign.report(better(&step));
        }
    }

    #[test]
    fn each_is_tried_on_top_of_those_kept_and_confirmed() {
        let is_good = |step: &Step| match step {
            Step::Try { candidate, .. } => *candidate != 1,
            // The third had helped only by chance.
            Step::Needed { candidate, .. } => *candidate != 2,
            Step::Whole { .. } | Step::Done => true,
        };
        let (course, kept) = course(4, is_good);
        assert_eq!(
            course,
            [
                "try []+0",
                "try [0]+1",
                "try [0]+2",
                "try [0, 2]+3",
                "needed [2, 3]+0",
                "needed [0, 3]+2",
                "needed [0]+3",
                "whole [0, 3]"
            ]
        );
        assert_eq!(kept, [0, 3]);
    }

    #[test]
    fn nothing_is_kept_that_the_trial_of_the_whole_does_not_confirm() {
        let is_good = |step: &Step| !matches!(step, Step::Whole { .. });
        assert_eq!(course(1, is_good).1, []);
        assert_eq!(course(3, is_good).1, []);
        assert_eq!(
            course(3, |_| false),
            (
                vec!["try []+0".into(), "try []+1".into(), "try []+2".into()],
                vec![]
            )
        );
        assert_eq!(course(0, |_| true).1, []);
    }

    #[test]
    fn when_none_is_needed_any_more_nothing_is_kept() {
        let is_good = |step: &Step| !matches!(step, Step::Needed { .. });
        let (course, kept) = course(2, is_good);
        assert_eq!(course.last().map(String::as_str), Some("needed []+1"));
        assert_eq!(kept, []);
    }
}
