// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heartbeats: from the start signal to the end, two linerates send a message at least once a second.
//!
//! The kernel of a stopped process may continue to acknowledge. Everything that arrives counts as a sign
//! of life: bytes of the control connection; payload, because a stream that fills the link may delay the
//! control connection; latency probes, because a client whose terminal is paused (Ctrl-S) blocks in its
//! output. Silence is summed over this end's checks, so time in which this process itself did not run
//! does not count.

/// One end's view of the other.
#[derive(Debug, Default)]
pub(super) struct Heartbeat {
    beats: bool,
    next_beat_ns: u64,
    silence_limit_ns: Option<u64>,
    looked_ns: u64,
    silent_ns: u64,
    signs: u64,
}

impl Heartbeat {
    /// Starts at `now_ns` (monotonic). `beats`: both ends announced heartbeats; without `silence_limit_ns`
    /// silence is not limited.
    pub(super) fn begin(beats: bool, silence_limit_ns: Option<u64>, now_ns: u64) -> Self {
        Self {
            beats,
            next_beat_ns: now_ns,
            silence_limit_ns,
            looked_ns: now_ns,
            ..Self::default()
        }
    }

    /// Whether a heartbeat is due; true once per period.
    pub(super) fn is_due(&mut self, now_ns: u64) -> bool {
        let due = self.beats && now_ns >= self.next_beat_ns;
        if due {
            self.next_beat_ns = now_ns + BEAT_NS;
        }
        due
    }

    /// Checks `signs`, a number that grows with every sign of life. Returns the silence in ns once it
    /// is too long; call it after reading, many times a second.
    pub(super) fn look(&mut self, signs: u64, now_ns: u64) -> Option<u64> {
        let step_ns = now_ns.saturating_sub(self.looked_ns).min(LONGEST_STEP_NS);
        self.looked_ns = now_ns;
        self.silent_ns = if signs == self.signs {
            self.silent_ns + step_ns
        } else {
            0
        };
        self.signs = signs;
        let silence_limit_ns = self.silence_limit_ns?;
        (self.silent_ns >= silence_limit_ns).then_some(self.silent_ns)
    }
}

/// Longer than five retransmissions in a row of one beat (6.2 s with Linux's smallest time-out).
pub(super) const SILENCE_LIMIT_NS: u64 = 8_000_000_000;
const BEAT_NS: u64 = 1_000_000_000;
/// Both ends check about every 50 ms; a longer step means that this process did not run.
const LONGEST_STEP_NS: u64 = 200_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Checks every 50 ms from `from_ms`; returns when the silence was too long.
    fn lost_ms(heart: &mut Heartbeat, from_ms: u64, signs: impl Fn(u64) -> u64) -> Option<u64> {
        (from_ms..from_ms + 60_000)
            .step_by(50)
            .find(|&at_ms| heart.look(signs(at_ms), at_ms * MS).is_some())
    }

    #[test]
    fn silence_is_counted_from_the_last_sign() {
        let mut heart = Heartbeat::begin(true, Some(SILENCE_LIMIT_NS), 0);
        let signs = |at_ms: u64| at_ms.min(5_000) / 1_000;
        assert_eq!(lost_ms(&mut heart, 50, signs), Some(13_000));
    }

    #[test]
    fn one_that_speaks_is_never_lost() {
        let mut heart = Heartbeat::begin(true, Some(SILENCE_LIMIT_NS), 0);
        assert_eq!(lost_ms(&mut heart, 50, |at_ms| at_ms / 7_000), None);
    }

    #[test]
    fn an_end_without_heartbeats_is_never_lost() {
        let mut heart = Heartbeat::begin(false, None, 0);
        assert_eq!(lost_ms(&mut heart, 50, |_| 0), None);
        assert!(!heart.is_due(5_000 * MS), "and it gets none");
    }

    #[test]
    fn time_while_this_process_was_stopped_is_no_silence() {
        let mut heart = Heartbeat::begin(true, Some(SILENCE_LIMIT_NS), 0);
        assert_eq!(heart.look(0, 7_000 * MS), None);
        assert_eq!(heart.look(0, 3_600_000 * MS), None);
        assert_eq!(lost_ms(&mut heart, 3_600_050, |_| 0), Some(3_607_600));
    }

    #[test]
    fn a_beat_a_second() {
        let mut heart = Heartbeat::begin(true, None, 0);
        let beats = (0..10_000)
            .filter(|&at_ms| heart.is_due(at_ms * MS))
            .count();
        assert_eq!(beats, 10);
    }
}
