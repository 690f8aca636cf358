// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several independent searches in little time: the first begins with a short limit, which is raised if it was
//! too low (RFC 9004 §6.2); the others begin a little above the last result.

use super::{BurstSearch, Longest};

/// Parameters of the searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The rate of the bursts in frames per second.
    pub burst_fps: f64,
    /// The initial limit of the first search in seconds; raised if such a burst has no loss.
    pub first_limit_s: f64,
    /// The longest burst in seconds (RFC 9004 §6.2: up to 30).
    pub limit_s: f64,
    /// A search ends when the longest good and the shortest failed burst are this close, relative to the latter.
    pub step_ratio: f64,
    /// A burst fails if this many tries in succession have loss.
    pub tries: u32,
    /// The number of searches.
    pub searches: u32,
}

/// The searches for one frame size, one after another.
#[derive(Debug, Clone)]
pub struct Campaign {
    plan: Plan,
    search: BurstSearch,
    limit_frames: u64,
    longest_frames: Vec<u64>,
    is_endless: bool,
}

impl Campaign {
    /// A campaign without bursts.
    pub fn new(plan: Plan) -> Self {
        let first = frames(plan.first_limit_s.min(plan.limit_s), plan.burst_fps);
        Self {
            plan,
            search: search(&plan, first),
            limit_frames: first,
            longest_frames: Vec::new(),
            is_endless: false,
        }
    }

    /// Returns the next burst in frames; `None` when all searches are done.
    pub fn next_frames(&self) -> Option<u64> {
        let is_over = self.is_endless || self.longest_frames.len() >= self.plan.searches as usize;
        self.search.next_frames().filter(|_| !is_over)
    }

    /// Records the loss of the burst. Ignored when all searches are done.
    pub fn report(&mut self, lost_frames: u64) {
        if self.next_frames().is_none() {
            return;
        }
        self.search.report(lost_frames);
        match self.search.longest() {
            None => {}
            Some(Longest::AtLimit) => self.raise(),
            Some(Longest::Frames(longest)) => {
                self.longest_frames.push(longest);
                self.begin(longest.saturating_mul(ABOVE).max(FEW_FRAMES));
            }
        }
    }

    /// The longest burst without loss of each completed search.
    pub fn longest_frames(&self) -> &[u64] {
        &self.longest_frames
    }

    /// Whether the longest allowed burst had no loss: there is no benchmark.
    pub fn is_endless(&self) -> bool {
        self.is_endless
    }

    fn raise(&mut self) {
        if self.limit_frames >= self.most_frames() {
            self.is_endless = true;
        } else {
            self.begin(self.limit_frames.saturating_mul(RAISE));
        }
    }

    fn begin(&mut self, limit_frames: u64) {
        self.limit_frames = limit_frames.min(self.most_frames());
        self.search = search(&self.plan, self.limit_frames);
    }

    fn most_frames(&self) -> u64 {
        frames(self.plan.limit_s, self.plan.burst_fps)
    }
}

fn search(plan: &Plan, limit_frames: u64) -> BurstSearch {
    BurstSearch::new(limit_frames, 1, plan.tries).within(plan.step_ratio)
}

fn frames(seconds: f64, fps: f64) -> u64 {
    ((seconds * fps) as u64).max(1)
}

/// The factor by which a limit without loss is raised.
const RAISE: u64 = 4;
/// The limit of the next search, relative to the last result.
const ABOVE: u64 = 2;
const FEW_FRAMES: u64 = 16;

#[cfg(test)]
mod tests {
    use super::super::Benchmark;
    use super::*;
    use proptest::prelude::*;

    const PLAN: Plan = Plan {
        burst_fps: 1e6,
        first_limit_s: 0.1,
        limit_s: 30.0,
        step_ratio: 0.01,
        tries: 2,
        searches: 3,
    };

    /// A device with a buffer that is drained at its throughput; returns bursts and seconds of them.
    fn against(plan: Plan, buffer: u64, throughput_fps: f64) -> (Campaign, u32, f64) {
        let mut campaign = Campaign::new(plan);
        let (mut bursts, mut sent) = (0, 0);
        while let Some(burst) = campaign.next_frames() {
            let forwarded = (burst as f64 * throughput_fps / plan.burst_fps) as u64;
            campaign.report(burst.saturating_sub(forwarded + buffer));
            bursts += 1;
            sent += burst;
        }
        (campaign, bursts, sent as f64 / plan.burst_fps)
    }

    proptest! {
        #[test]
        fn the_buffer_is_found_whatever_it_is(buffer in 1_u64..2_000_000, share in 0.0..0.9_f64) {
            let throughput_fps = share * PLAN.burst_fps;
            let (campaign, ..) = against(PLAN, buffer, throughput_fps);
            prop_assert_eq!(campaign.longest_frames().len(), 3);
            let found = Benchmark::new(campaign.longest_frames(), PLAN.burst_fps, throughput_fps);
            let found = found.unwrap().buffer_frames;
            prop_assert!((found - buffer as f64).abs() <= 0.012 * buffer as f64 + 1.0, "{found}");
        }
    }

    #[test]
    fn long_bursts_are_sent_to_deep_buffers_only() {
        let (_, bursts, seconds) = against(PLAN, 500, 0.5e6);
        assert!(bursts < 80 && seconds < 0.5, "{bursts} bursts, {seconds} s");
        let (deep, ..) = against(PLAN, 4_000_000, 0.5e6);
        assert!(deep.longest_frames()[0] > 7_900_000);
    }

    #[test]
    fn a_burst_of_thirty_seconds_without_loss_is_no_buffer() {
        let (campaign, bursts, _) = against(PLAN, u64::MAX / 2, 0.0);
        assert!(campaign.is_endless());
        assert_eq!((campaign.longest_frames(), bursts), (&[][..], 6));
    }

    #[test]
    fn not_even_one_frame() {
        let mut campaign = Campaign::new(PLAN);
        while let Some(burst) = campaign.next_frames() {
            campaign.report(burst);
        }
        assert_eq!(campaign.longest_frames(), [0, 0, 0]);
    }
}
