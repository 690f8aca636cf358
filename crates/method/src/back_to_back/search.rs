// SPDX-License-Identifier: MIT OR Apache-2.0
//! The longest burst without loss: a binary search with loss verification.

/// One independent search.
#[derive(Debug, Clone, PartialEq)]
pub struct BurstSearch {
    /// The longest burst without loss; 0 at first.
    longest: u64,
    /// The shortest failed burst; above the limit at first.
    shortest_failed: u64,
    limit: u64,
    resolution: u64,
    /// The resolution relative to the shortest failed burst.
    resolution_ratio: f64,
    tries: u32,
    /// Tries of the current burst that had loss.
    losses: u32,
    bursts: u32,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Longest {
    /// This many frames, within the resolution.
    Frames(u64),
    /// A burst at the limit had no loss: repeat with a higher limit (RFC 9004 §6.2, at most 30 s).
    AtLimit,
}

impl BurstSearch {
    /// Creates a search up to `limit_frames` (burst time limit times line rate) with a step size of
    /// `resolution_frames`. A burst fails if `tries` of the same length in succession have loss: 2 for TST 009's
    /// `max(r) = 2`, 1 without verification.
    pub fn new(limit_frames: u64, resolution_frames: u64, tries: u32) -> Self {
        Self {
            longest: 0,
            shortest_failed: limit_frames.saturating_add(1),
            limit: limit_frames,
            resolution: resolution_frames.max(1),
            resolution_ratio: 0.0,
            tries: tries.max(1),
            losses: 0,
            bursts: 0,
        }
    }

    /// Sets a resolution relative to the shortest failed burst, too.
    #[must_use]
    pub fn within(self, resolution_ratio: f64) -> Self {
        Self {
            resolution_ratio,
            ..self
        }
    }

    /// Returns the next burst in frames, the limit first; `None` when the search is done.
    pub fn next_frames(&self) -> Option<u64> {
        if self.limit == 0 || self.longest >= self.limit {
            return None;
        }
        if self.shortest_failed > self.limit {
            return Some(self.limit);
        }
        let open = self.shortest_failed - self.longest;
        let share = (self.shortest_failed as f64 * self.resolution_ratio) as u64;
        (open > self.resolution.max(share)).then(|| self.longest + open / 2)
    }

    /// Records the loss of the burst. Ignored when the search is done.
    pub fn report(&mut self, lost_frames: u64) {
        let Some(frames) = self.next_frames() else {
            return;
        };
        self.bursts += 1;
        if lost_frames == 0 {
            self.longest = frames;
            self.losses = 0;
            return;
        }
        self.losses += 1;
        if self.losses == self.tries {
            self.shortest_failed = frames;
            self.losses = 0;
        }
    }

    /// The result; `None` while the search is running.
    pub fn longest(&self) -> Option<Longest> {
        if self.next_frames().is_some() {
            return None;
        }
        Some(if self.longest >= self.limit {
            Longest::AtLimit
        } else {
            Longest::Frames(self.longest)
        })
    }

    /// The number of bursts, repetitions included.
    pub fn bursts(&self) -> u32 {
        self.bursts
    }
}
