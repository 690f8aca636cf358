// SPDX-License-Identifier: MIT OR Apache-2.0
//! The longest burst without loss: a binary search with loss verification.

/// One independent search.
#[derive(Debug, Clone, PartialEq)]
pub struct BurstSearch {
    /// The longest burst that lost nothing; 0 before one did.
    longest: u64,
    /// The shortest burst that failed; above the limit before one did.
    shortest_failed: u64,
    limit: u64,
    resolution: u64,
    /// The same as a share of the shortest burst that failed.
    resolution_ratio: f64,
    tries: u32,
    /// How often the burst asked for has lost already.
    losses: u32,
    bursts: u32,
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Longest {
    /// So many frames, within the resolution.
    Frames(u64),
    /// The limit itself lost nothing: repeat with a higher one (RFC 9004 §6.2, at most 30 s).
    AtLimit,
}

impl BurstSearch {
    /// A search up to `limit_frames` (burst time limit times line rate) that ends within
    /// `resolution_frames`, the step size to be reported. A burst fails when `tries` of the same
    /// length lose in succession: 2 for TST 009's `max(r) = 2`, 1 without verification.
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

    /// The same search, which also ends when the two are within this share of the shortest burst
    /// that failed.
    #[must_use]
    pub fn within(self, resolution_ratio: f64) -> Self {
        Self {
            resolution_ratio,
            ..self
        }
    }

    /// The burst to send, in frames; `None` when the search is over. The limit comes first.
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

    /// What the burst lost. Ignored when the search is over.
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

    /// The answer; `None` while the search goes on.
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

    /// Bursts sent, repetitions included.
    pub fn bursts(&self) -> u32 {
        self.bursts
    }
}
