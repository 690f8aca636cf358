// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the runs of a comparison take: as estimated before the first, then as the mean of those that have ended.
//! All in seconds since the begin; no clock.

/// The duration of a run with its set-up, and the runs that have ended.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Pace {
    estimated_s: Option<f64>,
    /// What the user read last.
    said_s: Option<f64>,
    done: usize,
    ended_s: f64,
}

impl Pace {
    /// No run has ended; the user reads the estimate, if there is one.
    pub(in crate::cli) fn new(estimated_s: Option<f64>) -> Self {
        Self {
            estimated_s,
            said_s: estimated_s,
            done: 0,
            ended_s: 0.0,
        }
    }

    /// The number of runs that have ended.
    pub(in crate::cli) fn done(&self) -> usize {
        self.done
    }

    /// One more has ended.
    pub(in crate::cli) fn ended(&mut self, now_s: f64) {
        self.done += 1;
        self.ended_s = now_s;
    }

    /// The duration of a run; `None` if it is unknown.
    pub(in crate::cli) fn each_s(&self) -> Option<f64> {
        match self.done {
            0 => self.estimated_s,
            done => Some(self.ended_s / done as f64),
        }
    }

    /// The duration of a run, if another was said, or none.
    pub(in crate::cli) fn corrected(&mut self) -> Option<f64> {
        let each_s = self.each_s()?;
        let is_right = |said_s: f64| (each_s - said_s).abs() <= TOLERANCE * each_s;
        if self.said_s.is_some_and(is_right) {
            return None;
        }
        self.said_s = Some(each_s);
        Some(each_s)
    }

    /// The duration of this many runs, without what the one under way has taken.
    pub(in crate::cli) fn left_s(&self, now_s: f64, runs: usize) -> Option<f64> {
        let each_s = self.each_s()?;
        let under_way_s = (now_s - self.ended_s).min(each_s);
        Some((each_s * runs as f64 - under_way_s).max(0.0))
    }
}

/// Another duration is said if it differs by this share.
const TOLERANCE: f64 = 0.15;

#[cfg(test)]
mod recorded;
