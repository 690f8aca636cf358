// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a campaign takes: as estimated before the first trial, then by what runs really took. All in seconds; no clock.

use std::collections::{BTreeMap, BTreeSet};

use linerate_method::campaign::{Campaign, Step};
use linerate_method::experiment::FEWEST_BLOCKS;
use linerate_report::live::duration;

/// What is known of the runs of a campaign.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    /// The group of each candidate.
    pub(super) groups: Vec<usize>,
    /// A run of each group, with what is set up before it; nothing where that is unknown.
    pub(super) each_s: BTreeMap<usize, f64>,
    /// Groups that had a trial.
    pub(super) begun: BTreeSet<usize>,
    /// Blocks of A against A before the first trial of a group.
    pub(super) noise_blocks: usize,
    /// The most blocks of a trial.
    pub(super) most_blocks: usize,
    /// The check, and so the fresh one.
    pub(super) check_s: f64,
}

impl Times {
    /// A trial of this group had this number of runs.
    pub(super) fn took(&mut self, group: usize, runs: usize, seconds: f64) {
        self.begun.insert(group);
        if runs > 0 {
            self.each_s.insert(group, seconds / runs as f64);
        }
    }

    /// The time to the end: if the next change that is tried is better and the others are not; and the longest.
    /// Nothing where the duration of a run is unknown.
    pub(super) fn left_s(&self, campaign: &Campaign) -> Option<[f64; 2]> {
        let usual = |step: &Step| match step {
            Step::Try { with, .. } => with.is_empty(),
            _ => true,
        };
        let blocks = |step: &Step| match usual(step) {
            true => FEWEST_BLOCKS,
            false => usize::midpoint(FEWEST_BLOCKS, self.most_blocks),
        };
        let usual_s = self.sum_s(&campaign.ahead(usual), blocks)?;
        let most_s = self.sum_s(&campaign.ahead(|_| true), |_| self.most_blocks)?;
        Some([usual_s, most_s.max(usual_s)])
    }

    fn sum_s(&self, steps: &[Step], blocks: impl Fn(&Step) -> usize) -> Option<f64> {
        let mut begun = self.begun.clone();
        let mut all_s = self.check_s;
        for step in steps {
            let group = self.group(step)?;
            let noise = match begun.insert(group) {
                true => self.noise_blocks,
                false => 0,
            };
            let runs = RUNS_OF_A_BLOCK * (noise + blocks(step));
            all_s += runs as f64 * self.each_s.get(&group)?;
        }
        Some(all_s)
    }

    fn group(&self, step: &Step) -> Option<usize> {
        match step {
            Step::Try { candidate, .. } | Step::Needed { candidate, .. } => {
                self.groups.get(*candidate).copied()
            }
            Step::Whole { group, .. } => Some(*group),
            Step::Done => None,
        }
    }
}

/// Before the first trial.
pub(super) fn announced(left_s: Option<[f64; 2]>) -> String {
    match left_s {
        Some([usual_s, most_s]) => {
            let [usual, most] = [usual_s, most_s].map(duration);
            format!("the campaign takes about {usual}, at most {most}")
        }
        None => "the duration will be known after the first trial".to_owned(),
    }
}

/// After a trial.
pub(super) fn left(left_s: Option<[f64; 2]>) -> Option<String> {
    let [usual, most] = left_s?.map(duration);
    Some(format!("about {usual} left, at most {most}"))
}

const RUNS_OF_A_BLOCK: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn times(groups: &[usize]) -> Times {
        Times {
            groups: groups.to_vec(),
            each_s: groups.iter().map(|group| (*group, 1.0)).collect(),
            begun: BTreeSet::new(),
            noise_blocks: 2,
            most_blocks: 12,
            check_s: 10.0,
        }
    }

    #[test]
    fn a_campaign_takes_its_trials_the_noise_of_each_measurement_and_a_fresh_check() {
        let campaign = |groups: &[usize]| Campaign::new(groups.to_vec());
        // A trial with its noise, and the whole: 4 · (2 + 6 + 6) to 4 · (2 + 12 + 12).
        let one = times(&[0]);
        assert_eq!(one.left_s(&campaign(&[0])), Some([66.0, 114.0]));
        // Another of the same measurement: 9 blocks more, or 12 and a second trial of both.
        let two = times(&[0, 0]);
        assert_eq!(two.left_s(&campaign(&[0, 0])), Some([102.0, 258.0]));
        // One of another measurement: its noise, and a whole of its own.
        let other = times(&[0, 1]);
        assert_eq!(other.left_s(&campaign(&[0, 1])), Some([110.0, 218.0]));
    }

    #[test]
    fn what_runs_took_replaces_the_estimate() {
        let mut times = times(&[0, 0]);
        let mut campaign = Campaign::new(vec![0, 0]);
        campaign.report(false);
        times.took(0, 32, 64.0);
        // One trial and the whole, 2 s a run, no noise.
        assert_eq!(times.left_s(&campaign), Some([106.0, 202.0]));
        times.took(0, 0, 0.0);
        assert_eq!(times.left_s(&campaign), Some([106.0, 202.0]), "no run");
    }

    #[test]
    fn what_is_not_known_is_said_to_be_so() {
        let unknown = Times {
            each_s: BTreeMap::new(),
            ..times(&[0])
        };
        let left_s = unknown.left_s(&Campaign::new(vec![0]));
        assert_eq!(left_s, None);
        assert_eq!(
            announced(left_s),
            "the duration will be known after the first trial"
        );
        assert_eq!(left(left_s), None);
        let said = announced(Some([360.0, 2520.0]));
        assert_eq!(said, "the campaign takes about 6 min, at most 42 min");
    }
}
