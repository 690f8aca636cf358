// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which of several changes to keep: each is tried on top of those that are kept, and what is kept is confirmed.
//!
//! A change is kept if a trial proves it better, and if a second trial with fresh runs confirms that. Each trial has an
//! error of at most 5 %, half of it in the direction of *better*, so that a change without effect is kept in about one
//! of 1600 campaigns (0.025²).
//!
//! Candidates that are judged by the same measurement are of one group. Where several of a group are kept, each is tried
//! once more with and without it, as one may do what another did; one that is alone in its group is confirmed by the trial
//! of all that is kept against the original configuration, which each group has.
//!
//! ```
//! use linerate_method::campaign::{Campaign, Step};
//! let mut campaign = Campaign::new(vec![0, 0]);
//! assert_eq!(campaign.next(), Step::Try { candidate: 0, with: vec![] });
//! campaign.report(true);
//! assert_eq!(campaign.next(), Step::Try { candidate: 1, with: vec![0] });
//! campaign.report(false);
//! assert_eq!(campaign.next(), Step::Whole { set: vec![0], group: 0 });
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
        /// The group whose measurement decides.
        group: usize,
    },
    /// All is decided.
    Done,
}

/// A campaign under way.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// Of each candidate.
    groups: Vec<usize>,
    kept: Vec<usize>,
    /// Those that need no further trial of their own.
    confirmed: Vec<usize>,
    /// Groups whose trial of the whole is done.
    whole: Vec<usize>,
    /// The next candidate that was not tried yet.
    next: usize,
}

impl Campaign {
    /// A campaign with these candidates, by their groups, in the order in which they are tried.
    #[must_use]
    pub fn new(groups: Vec<usize>) -> Self {
        Self {
            groups,
            kept: Vec::new(),
            confirmed: Vec::new(),
            whole: Vec::new(),
            next: 0,
        }
    }

    /// The next trial; the same until it is reported.
    #[must_use]
    pub fn next(&self) -> Step {
        if self.next < self.groups.len() {
            return Step::Try {
                candidate: self.next,
                with: self.kept.clone(),
            };
        }
        if let Some(candidate) = self.doubtful() {
            let others = self.kept.iter().filter(|one| **one != candidate);
            return Step::Needed {
                candidate,
                with: others.copied().collect(),
            };
        }
        match self.unjudged() {
            Some(group) => Step::Whole {
                set: self.kept.clone(),
                group,
            },
            None => Step::Done,
        }
    }

    /// Takes in whether B was proven better.
    pub fn report(&mut self, better: bool) {
        match self.next() {
            Step::Try { candidate, .. } => {
                self.next += 1;
                if better {
                    self.kept.push(candidate);
                }
            }
            Step::Needed { candidate, .. } if better => self.confirmed.push(candidate),
            Step::Needed { candidate, .. } => self.kept.retain(|one| *one != candidate),
            Step::Whole { group, .. } => {
                self.whole.push(group);
                if !better {
                    let groups = &self.groups;
                    self.kept.retain(|one| groups[*one] != group);
                    // The others were judged together with these.
                    self.whole.clear();
                }
            }
            Step::Done => {}
        }
    }

    /// The trials to come, if they end as `better` says.
    #[must_use]
    pub fn ahead(&self, better: impl Fn(&Step) -> bool) -> Vec<Step> {
        let (mut later, mut steps) = (self.clone(), Vec::new());
        loop {
            let step = later.next();
            if step == Step::Done {
                return steps;
            }
            later.report(better(&step));
            steps.push(step);
        }
    }

    /// What is kept so far.
    #[must_use]
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The first kept one that another of its group may have made needless.
    fn doubtful(&self) -> Option<usize> {
        let companions = |group| {
            let same = move |one: &&usize| self.groups[**one] == group;
            self.kept.iter().filter(same).count()
        };
        let mut all = self.kept.iter().copied();
        all.find(|one| !self.confirmed.contains(one) && companions(self.groups[*one]) > 1)
    }

    fn unjudged(&self) -> Option<usize> {
        let groups = self.kept.iter().map(|one| self.groups[*one]);
        groups.into_iter().find(|group| !self.whole.contains(group))
    }
}

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_ahead_decides_nothing() {
        let mut campaign = Campaign::new(vec![0, 0, 0]);
        campaign.report(true);
        assert_eq!(campaign.ahead(|_| false).len(), 3, "two, and the whole");
        assert_eq!(campaign.ahead(|_| true).len(), 6, "a second trial of each");
        let next = Step::Try {
            candidate: 1,
            with: vec![0],
        };
        assert_eq!(campaign.next(), next);
    }

    /// The trials of a campaign, `A+B` where B is tried on top of A, and what it keeps.
    fn course(groups: &[usize], better: impl Fn(&Step) -> bool) -> (Vec<String>, Vec<usize>) {
        let mut campaign = Campaign::new(groups.to_vec());
        let mut course = Vec::new();
        loop {
            let step = campaign.next();
            course.push(match &step {
                Step::Try { candidate, with } => format!("try {with:?}+{candidate}"),
                Step::Needed { candidate, with } => format!("needed {with:?}+{candidate}"),
                Step::Whole { set, group } => format!("whole {set:?} by {group}"),
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
        let (course, kept) = course(&[7; 4], is_good);
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
                "whole [0, 3] by 7"
            ]
        );
        assert_eq!(kept, [0, 3]);
    }

    #[test]
    fn one_that_is_alone_in_its_group_is_confirmed_by_the_trial_of_the_whole() {
        let is_good = |step: &Step| !matches!(step, Step::Whole { group: 1, .. });
        let (course, kept) = course(&[0, 1], is_good);
        let tries = ["try []+0", "try [0]+1"];
        let wholes = ["whole [0, 1] by 0", "whole [0, 1] by 1", "whole [0] by 0"];
        assert_eq!(course, [&tries[..], &wholes].concat());
        assert_eq!(kept, [0]);
    }

    #[test]
    fn nothing_is_kept_that_no_second_trial_confirms() {
        let only_first = |step: &Step| matches!(step, Step::Try { .. });
        for groups in [&[0][..], &[0, 0], &[0, 1], &[0, 1, 0]] {
            assert_eq!(course(groups, only_first).1, [], "{groups:?}");
        }
        let tries = vec!["try []+0".to_owned(), "try []+1".to_owned()];
        assert_eq!(course(&[0, 0], |_| false), (tries, vec![]));
        assert_eq!(course(&[], |_| true).1, []);
    }
}
