// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends the frames of one direction of a trial at an even pace.
//!
//! Hot path: neither allocates nor locks; one system call a batch.

use linerate_linux::clock::{self, Sleeper};
use linerate_linux::port;
use linerate_linux::signal::Interrupt;
use linerate_method::pacing::{Pace, Pacer, PacerConfig, default_burst_packets};
use linerate_model::output::TrialPhase;
use linerate_wire::frame::Signature;

use super::frames::Frames;

/// What one port sends in a trial.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    pub templates: &'a Frames,
    pub run: u16,
    pub stream: u8,
    /// `None`: as fast as it goes.
    pub load_fps: Option<f64>,
    /// So many were sent before.
    pub before_frames: u64,
    pub frames: u64,
    pub start_ns: u64,
    /// Nothing is sent from here on.
    pub end_ns: u64,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// Frames that the kernel took.
    pub frames: u64,
    /// How late the sender was at most while it could run.
    pub behind_ns_max: u64,
    /// How long it could not run, in pieces of some milliseconds.
    pub stalled_ns: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub failure: Option<String>,
}

impl Sent {
    /// What came of sending on.
    pub(super) fn and(self, later: Self) -> Self {
        Self {
            frames: self.frames + later.frames,
            behind_ns_max: self.behind_ns_max.max(later.behind_ns_max),
            stalled_ns: self.stalled_ns + later.stalled_ns,
            first_ns: self.first_ns,
            last_ns: later.last_ns,
            failure: self.failure.or(later.failure),
        }
    }

    fn stand_still(&mut self, late_ns: u64) {
        if late_ns > STALL_NS {
            self.stalled_ns += late_ns;
        }
    }
}

impl Stream<'_> {
    /// Sends until all is sent, the time is over or the user interrupts.
    ///
    /// Where the machine does not let the thread run, the rest of the schedule moves: what a device
    /// is offered is never faster than the load. The sum of it is told.
    pub(super) fn send(&self, sender: &mut port::Sender, interrupt: &Interrupt) -> Sent {
        clock::precise_sleep();
        let mut pacer = self.pacer();
        let mut sleeper = Sleeper::new(SPIN_LIMIT_NS);
        let mut sent = Sent::default();
        let mut now = sleeper.until(self.start_ns);
        sent.stand_still(now - self.start_ns);
        sent.first_ns = now;
        while sent.frames < self.frames
            && now < self.end_ns + sent.stalled_ns.min(self.patience_ns())
            && interrupt.requested().is_none()
        {
            match pacer.next(now.saturating_sub(sent.stalled_ns)) {
                Pace::WaitUntil(at_ns) => {
                    let wake_ns = (at_ns + sent.stalled_ns).min(now + NAP_NS);
                    now = sleeper.until(wake_ns);
                    sent.stand_still(now.saturating_sub(wake_ns));
                }
                Pace::Send(batch) => {
                    let left = self.frames - sent.frames;
                    let taken = self.batch(sender, u64::from(batch).min(left), &mut sent);
                    let begun_ns = std::mem::replace(&mut now, clock::monotonic_ns());
                    sent.stand_still(now - begun_ns);
                    pacer.sent(taken, now.saturating_sub(sent.stalled_ns));
                    if taken == 0 {
                        now = clock::sleep_until_ns(now + FULL_PAUSE_NS, 0);
                    }
                }
            }
        }
        sent.last_ns = now;
        sent.behind_ns_max = match self.load_fps {
            Some(_) => pacer.lateness(now).behind_ns_max,
            None => 0,
        };
        sent
    }

    /// How it goes on at another rate, at once.
    pub(super) fn then(&self, sent: &Sent, then: TrialPhase) -> Self {
        let duration_ns = (then.duration_s * 1e9) as u64;
        Self {
            load_fps: Some(then.load_fps),
            before_frames: self.before_frames + sent.frames,
            frames: then.frames(),
            start_ns: sent.last_ns,
            end_ns: sent.last_ns + duration_ns + (self.end_ns - self.start_ns) / 100,
            ..*self
        }
    }

    /// Standing still may take three times as long as the trial itself, and a little.
    fn patience_ns(&self) -> u64 {
        3 * (self.end_ns - self.start_ns) + PATIENCE_NS
    }

    fn batch(&self, sender: &mut port::Sender, count: u64, sent: &mut Sent) -> u32 {
        let first = self.before_frames + sent.frames + 1;
        let fill = |number: usize, frame: &mut [u8]| {
            let sequence = first + number as u64;
            let template = self.templates.at(sequence);
            frame.copy_from_slice(template.bytes());
            template.stamp(
                frame,
                &Signature {
                    run: self.run,
                    stream: self.stream,
                    sequence,
                    sent_ns: clock::monotonic_ns(),
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
        match taken {
            Ok(taken) => {
                sent.frames += taken as u64;
                taken as u32
            }
            Err(error) => {
                sent.failure.get_or_insert_with(|| error.to_string());
                0
            }
        }
    }

    /// A millionth of a frame a second is the pacer's bit.
    fn pacer(&self) -> Pacer {
        let bits_per_second = self.load_fps.map(|fps| (fps * FRAME_BITS) as u64);
        Pacer::new(PacerConfig {
            bits_per_second,
            payload_bytes: (FRAME_BITS / 8.0) as u32,
            burst_packets: match self.load_fps {
                Some(_) => default_burst_packets(bits_per_second, (FRAME_BITS / 8.0) as u32),
                None => UNPACED_BURST_FRAMES,
            },
            start_ns: self.start_ns,
        })
    }
}

const FRAME_BITS: f64 = 1e6;
/// The pacer hands out an eighth of it at once.
const UNPACED_BURST_FRAMES: u32 = 512;
const SPIN_LIMIT_NS: u64 = 40_000;
/// Longer than this a thread that wants to run was kept from it.
const STALL_NS: u64 = 3_000_000;
const PATIENCE_NS: u64 = 500_000_000;
/// The longest sleep before an interruption is looked for.
const NAP_NS: u64 = 20_000_000;
/// A port without room gets this long.
const FULL_PAUSE_NS: u64 = 20_000;
