// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends the frames of one direction of a trial at a constant rate.
//!
//! Hot path: neither allocates nor locks; one system call a batch.

use std::time::Duration;

use linerate_linux::clock::{self, Sleeper};
use linerate_linux::signal::Interrupt;
use linerate_linux::{cpu, port};
use linerate_method::histogram::Histogram;
use linerate_method::pacing::{Pace, Pacer, PacerConfig, default_burst_packets};
use linerate_model::output::TrialPhase;
use linerate_wire::frame::Signature;

use crate::frames::Frames;

/// What one port sends in a trial.
#[derive(Debug)]
pub(crate) struct Stream<'a> {
    pub templates: &'a Frames,
    pub run: u16,
    pub stream: u8,
    /// `None`: unpaced.
    pub load_fps: Option<f64>,
    /// The number of frames sent in an earlier phase.
    pub before_frames: u64,
    pub frames: u64,
    pub start_ns: u64,
    /// Nothing is sent after this time.
    pub end_ns: u64,
}

/// The result of sending.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent {
    /// Frames that the port took and did not drop at once.
    pub frames: u64,
    /// Frames that it dropped at once: each has a number of its own, which never arrives.
    pub dropped: u64,
    /// The longest delay behind schedule while the sender could run.
    pub behind_ns_max: u64,
    /// The time in which it could not run, in stalls of [`Stream::stall_ns`] or more: the schedule moved by as much.
    pub stalled_ns: u64,
    /// How much of that passed before the first frame.
    pub began_late_ns: u64,
    /// The time in which others had its CPU, of any length; 0 where the kernel does not report it.
    pub waited_ns: u64,
    /// The host blocked it until its time limit.
    pub gave_up: bool,
    pub first_ns: u64,
    pub last_ns: u64,
    /// The time from one frame to the next, by their timestamps.
    pub gaps: Histogram,
    pub failure: Option<String>,
}

impl Sent {
    /// The number of the last frame.
    pub(crate) const fn numbered(&self) -> u64 {
        self.frames + self.dropped
    }

    /// Adds the result of the next phase.
    pub(crate) fn and(self, later: Self) -> Self {
        let mut gaps = self.gaps;
        gaps.merge(&later.gaps);
        Self {
            frames: self.frames + later.frames,
            dropped: self.dropped + later.dropped,
            behind_ns_max: self.behind_ns_max.max(later.behind_ns_max),
            stalled_ns: self.stalled_ns + later.stalled_ns,
            began_late_ns: self.began_late_ns,
            waited_ns: self.waited_ns + later.waited_ns,
            gave_up: self.gave_up || later.gave_up,
            first_ns: self.first_ns,
            last_ns: later.last_ns,
            gaps,
            failure: self.failure.or(later.failure),
        }
    }

    /// The time from the first frame to the last, without the time in which the host blocked it.
    pub(crate) fn free_ns(&self) -> u64 {
        let span_ns = self.last_ns - self.first_ns;
        let free_ns = span_ns.saturating_sub(self.stalled_since_first_ns().max(self.waited_ns));
        // Both are estimates: no rate is made of what is left of almost nothing.
        free_ns.max(span_ns / LEAST_FREE_SHARE)
    }

    /// The share of the time from the first frame to the last in which it could not run: the mean load was lower by as
    /// much.
    pub(crate) fn stalled_ratio(&self) -> f64 {
        let stalled_ns = self.stalled_since_first_ns();
        let sending_ns = self.last_ns.saturating_sub(self.first_ns).max(1);
        (stalled_ns as f64 / sending_ns as f64).min(1.0)
    }

    /// The stalls after the first frame.
    const fn stalled_since_first_ns(&self) -> u64 {
        self.stalled_ns.saturating_sub(self.began_late_ns)
    }

    /// The time in which the host kept it from running.
    pub(crate) fn blocked_ns(&self) -> u64 {
        self.stalled_ns.max(self.waited_ns)
    }

    /// Takes back what the port dropped.
    fn drop_frames(&mut self, dropped: port::Dropped) {
        self.frames = self.frames.saturating_sub(dropped.counted);
        self.dropped += dropped.frames;
    }

    fn add_stall(&mut self, late_ns: u64, stall_ns: u64) {
        if late_ns > stall_ns {
            self.stalled_ns += late_ns;
        }
    }
}

impl Stream<'_> {
    /// Sends until all is sent, the time is over or the user interrupts.
    ///
    /// While the host keeps the thread from running, the rest of the schedule moves: the offered load
    /// is never exceeded. The sum of the delays is part of the result.
    pub(crate) fn send(&self, sender: &mut port::Sender, interrupt: &Interrupt) -> Sent {
        clock::precise_sleep();
        cpu::set_short_timeslice();
        let mut pacer = self.pacer();
        let mut sleeper = Sleeper::new(SPIN_LIMIT_NS);
        let mut sent = Sent::default();
        let stall_ns = self.stall_ns();
        let waited = cpu::WaitTime::of_this_thread();
        let mut now = sleeper.until(self.start_ns);
        sent.add_stall(now - self.start_ns, stall_ns);
        sent.began_late_ns = sent.stalled_ns;
        let waited = Waited::from_now(waited.as_ref());
        sent.first_ns = now;
        let mut stamp_ns = None;
        while sent.frames < self.frames
            && (now < self.ends_ns(sent.stalled_ns) || {
                sent.waited_ns = waited.ns();
                now < self.ends_ns(sent.blocked_ns().min(sent.stalled_ns + self.slack_ns()))
            })
            && interrupt.requested().is_none()
        {
            match pacer.next(now.saturating_sub(sent.stalled_ns)) {
                Pace::WaitUntil(at_ns) => {
                    let wake_ns = (at_ns + sent.stalled_ns).min(now + NAP_NS);
                    now = sleeper.until(wake_ns);
                    sent.add_stall(now.saturating_sub(wake_ns), stall_ns);
                }
                Pace::Send(batch) => {
                    let left = self.frames - sent.frames;
                    let taken =
                        self.batch(sender, u64::from(batch).min(left), &mut sent, &mut stamp_ns);
                    let begun_ns = std::mem::replace(&mut now, clock::monotonic_ns());
                    sent.add_stall(now - begun_ns, stall_ns);
                    pacer.sent(taken);
                    if taken == 0 {
                        now = clock::sleep_until_ns(now + FULL_PAUSE_NS, 0);
                    }
                }
            }
        }
        sent.last_ns = now;
        sent.waited_ns = waited.ns();
        sent.gave_up = sent.frames < self.frames && sent.blocked_ns() >= self.patience_ns();
        match sender.flush(FLUSH_WITHIN) {
            Ok(left) => sent.frames -= left as u64,
            Err(error) => sent.failure = Some(error.to_string()),
        }
        sent.drop_frames(sender.take_dropped());
        sent.behind_ns_max = match self.load_fps {
            Some(_) => pacer.lateness(now).behind_ns_max,
            None => 0,
        };
        sent
    }

    /// The next phase at another rate, which begins at once.
    pub(crate) fn then(&self, sent: &Sent, then: TrialPhase) -> Self {
        let duration_ns = (then.duration_s * 1e9) as u64;
        Self {
            load_fps: Some(then.load_fps),
            before_frames: self.before_frames + sent.numbered(),
            frames: then.frames(),
            start_ns: sent.last_ns,
            end_ns: sent.last_ns + duration_ns + (self.end_ns - self.start_ns) / 100,
            ..*self
        }
    }

    /// The limit of what it catches up after stalls shorter than [`Stream::stall_ns`]: without a limit it would also make
    /// up for a link that was down on a busy machine.
    fn slack_ns(&self) -> u64 {
        (self.end_ns - self.start_ns) / 10
    }

    /// The shortest stall: longer than the smallest burst makes up for.
    fn stall_ns(&self) -> u64 {
        let gap_ns = self.load_fps.map_or(0.0, |fps| 1e9 / fps);
        ((gap_ns * SMALLEST_BURST_FRAMES) as u64).clamp(SHORTEST_STALL_NS, LONGEST_STALL_NS)
    }

    /// The latest end of the trial, after being blocked for this long.
    fn ends_ns(&self, blocked_ns: u64) -> u64 {
        self.end_ns + blocked_ns.min(self.patience_ns())
    }

    /// Stalls may take three times as long as the trial, and a little more.
    fn patience_ns(&self) -> u64 {
        3 * (self.end_ns - self.start_ns) + PATIENCE_NS
    }

    fn batch(
        &self,
        sender: &mut port::Sender,
        count: u64,
        sent: &mut Sent,
        stamp_ns: &mut Option<u64>,
    ) -> u32 {
        let first = self.before_frames + sent.numbered() + 1;
        let gaps = &mut sent.gaps;
        let fill = |number: usize, frame: &mut [u8]| {
            let sequence = first + number as u64;
            let template = self.templates.at(sequence);
            frame.copy_from_slice(template.bytes());
            let sent_ns = clock::monotonic_ns();
            if let Some(before_ns) = stamp_ns.replace(sent_ns) {
                gaps.record(sent_ns - before_ns);
            }
            template.stamp(
                frame,
                &Signature {
                    run: self.run,
                    stream: self.stream,
                    sequence,
                    sent_ns,
                },
            );
        };
        let count = count as usize;
        let taken = match self.templates.only_length() {
            Some(length) => sender.send(count, length, fill),
            None => {
                let length = |number| self.templates.at(first + number as u64).bytes().len();
                sender.send_mixed(count, length, fill)
            }
        };
        let taken = match taken {
            Ok(taken) => taken as u32,
            Err(error) => {
                sent.failure.get_or_insert_with(|| error.to_string());
                0
            }
        };
        sent.frames += u64::from(taken);
        sent.drop_frames(sender.take_dropped());
        taken
    }

    /// The pacer's bit is a millionth of a frame.
    fn pacer(&self) -> Pacer {
        let bits_per_second = self.load_fps.map(|fps| (fps * FRAME_BITS) as u64);
        let usual_burst = default_burst_packets(bits_per_second, (FRAME_BITS / 8.0) as u32);
        Pacer::new(PacerConfig {
            bits_per_second,
            payload_bytes: (FRAME_BITS / 8.0) as u32,
            burst_packets: match self.load_fps {
                Some(fps) if fps <= ONE_BY_ONE_FPS => usual_burst.min(ONE_BY_ONE_BURST_FRAMES),
                Some(_) => usual_burst,
                None => UNPACED_BURST_FRAMES,
            },
            start_ns: self.start_ns,
        })
    }
}

/// The increase of the wait time.
struct Waited<'a>(Option<(&'a cpu::WaitTime, u64)>);

impl<'a> Waited<'a> {
    fn from_now(time: Option<&'a cpu::WaitTime>) -> Self {
        Self(time.and_then(|time| Some((time, time.ns()?))))
    }

    fn ns(&self) -> u64 {
        let since =
            |(time, before_ns): &(&cpu::WaitTime, u64)| Some(time.ns()?.saturating_sub(*before_ns));
        self.0.as_ref().and_then(since).unwrap_or(0)
    }
}

/// At least this part of the time from the first frame to the last was free.
const LEAST_FREE_SHARE: u64 = 10;
const FRAME_BITS: f64 = 1e6;
/// The pacer releases an eighth of it at once.
const UNPACED_BURST_FRAMES: u32 = 512;
/// Up to this rate each frame is sent on time, with its own system call.
const ONE_BY_ONE_FPS: f64 = 200_000.0;
/// The largest burst of which the pacer releases one frame at a time.
const ONE_BY_ONE_BURST_FRAMES: u32 = 15;
const SPIN_LIMIT_NS: u64 = 60_000;
const SMALLEST_BURST_FRAMES: f64 = 8.0;
/// Ten times what a batch takes.
const SHORTEST_STALL_NS: u64 = 300_000;
const LONGEST_STALL_NS: u64 = 3_000_000;
const FLUSH_WITHIN: Duration = Duration::from_millis(20);
const PATIENCE_NS: u64 = 500_000_000;
/// The longest sleep before it checks for an interruption.
const NAP_NS: u64 = 20_000_000;
/// The pause of a full port.
const FULL_PAUSE_NS: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_frames_keep_their_numbers_and_are_not_sent() {
        let mut sent = Sent {
            frames: 10,
            ..Sent::default()
        };
        // Three dropped, of which one was counted by an earlier call.
        sent.drop_frames(port::Dropped {
            frames: 3,
            counted: 1,
        });
        assert_eq!((sent.frames, sent.dropped, sent.numbered()), (9, 3, 12));
        let both = sent.clone().and(sent);
        assert_eq!((both.frames, both.numbered()), (18, 24));
    }

    #[test]
    fn a_sender_that_waited_all_the_time_has_no_endless_rate() {
        let sent = Sent {
            waited_ns: 9_000,
            first_ns: 1_000,
            last_ns: 3_000,
            ..Sent::default()
        };
        assert_eq!(sent.free_ns(), 200);
    }

    /// 40 % of the load in one trial "without loss": the mean is what the device saw.
    #[test]
    fn the_stalled_share_is_that_of_the_sending_time() {
        let sent = Sent {
            stalled_ns: 330_000_000,
            began_late_ns: 2_000_000,
            first_ns: 1_000_000_000,
            last_ns: 1_820_000_000,
            ..Sent::default()
        };
        assert!((sent.stalled_ratio() - 0.4).abs() < 1e-9);
        assert_eq!(Sent::default().stalled_ratio(), 0.0);
        assert_eq!(sent.free_ns(), 492_000_000, "what began late is not in it");
    }
}
