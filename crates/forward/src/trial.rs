// SPDX-License-Identifier: MIT OR Apache-2.0
//! One trial: learning, traffic, residual frames, counts. RFC 2544 section 23.

use std::thread;
use std::time::Instant;

use linerate_linux::{clock, nic};
use linerate_method::flow_account::DirectionTotals;
use linerate_method::frame_size::Mix;
use linerate_method::histogram::Histogram;
use linerate_model::output::{Quantiles, Trial, TrialDirection, TrialFlow, TrialPhase};
use linerate_wire::frame::Side;

use super::account::{Account, Expected, Seen};
use super::frames::Frames;
use super::plan::Way;
use super::rig::{Rig, at};
use super::station::{Ended, Station};
use super::traffic::{Sent, Stream};
use super::watch::{Watch, Watched};
use linerate_model::failure::Failure;

/// What a trial is to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    pub purpose: &'static str,
    pub sizes: &'a Mix,
    pub way: Way,
    /// Frames a second and direction; `None`: as fast as it goes.
    pub load_fps: Option<f64>,
    pub duration_s: f64,
    /// How it goes on after that.
    pub then: Option<TrialPhase>,
    /// The wait for residual frames is at least as long, seconds.
    pub residual_s: f64,
    /// Whether the TTL behind the device is known.
    pub judges_ttl: bool,
    /// Beside counting.
    pub watch: Watch,
}

impl<'a> Ask<'a> {
    /// Frames as fast as they go, for no time yet.
    pub(super) fn of(sizes: &'a Mix, way: Way) -> Self {
        Self {
            purpose: "",
            sizes,
            way,
            load_fps: None,
            duration_s: 0.0,
            then: None,
            residual_s: 0.0,
            judges_ttl: true,
            watch: Watch::Nothing,
        }
    }

    /// RFC 2544 section 23 c: the whole frames of load times duration.
    fn intended(&self) -> Option<u64> {
        let first = self.load_fps.map(|fps| (fps * self.duration_s) as u64);
        first.map(|frames| frames + self.then.map_or(0, |then| then.frames()))
    }
}

/// A trial, and what is not written down.
#[derive(Debug)]
pub(super) struct Tried {
    pub trial: Trial,
    /// What else each port saw.
    pub seen: [Seen; 2],
    /// Of each direction, as in the trial.
    pub arrivals: Vec<Arrivals>,
    /// The time in which frames were sent, less that in which the machine kept the tester from it, seconds.
    pub sending_s: f64,
    /// The machine kept the tester from sending what it did not send.
    pub is_kept: bool,
    /// With all waits, seconds.
    pub elapsed_s: f64,
}

/// What arrived of one direction, for those who look closer.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// The number of the last frame lost, from 1.
    pub last_lost: Option<u64>,
    /// Of sending, in the clock of the arrivals.
    pub sent_until_ns: u64,
    pub watched: Watched,
}

impl Rig<'_> {
    /// Runs a trial.
    ///
    /// # Errors
    /// The user interrupted it, or the tester is broken.
    pub(super) fn trial(&mut self, ask: &Ask<'_>) -> Result<Tried, Failure> {
        let begun = Instant::now();
        let waits = self.plan.profile.waits;
        self.learn(ask.way);
        self.pause(waits.learning_s);
        self.runs = self.runs.wrapping_add(1);
        for station in &self.stations {
            station.begin(self.expected(station.side, ask));
        }
        let device = self.plan.device.as_ref().filter(|_| ask.load_fps.is_some());
        device.inspect(|device| device.before());
        let sent = self.send(ask)?;
        device.inspect(|device| device.traffic_ended());
        self.pause(waits.residual_s.max(ask.residual_s));
        let counted = device.and_then(|device| device.after());
        let ended = [self.stations[0].end()?, self.stations[1].end()?];
        if self.interrupt.requested().is_some() {
            return Err(Failure::interrupted("finish the trial"));
        }
        self.ports_are_there()?;
        let mut tried = self.fold(ask, &sent, ended);
        tried.trial.device = counted;
        self.pause(waits.settle_s);
        tried.elapsed_s = begun.elapsed().as_secs_f64();
        self.overhead.learn(ask, tried.elapsed_s);
        Ok(tried)
    }

    /// A port that is down may come back in the next trial; one that was taken out of the machine does not.
    fn ports_are_there(&self) -> Result<(), Failure> {
        let gone = |station: &&Station| nic::link(&station.interface).is_err();
        match self.stations.iter().find(gone) {
            None => Ok(()),
            Some(station) => Err(Failure::measuring(
                format!("go on with port {}", station.interface),
                "the interface is gone",
            )
            .hint("what was measured until then stands; ip link; dmesg")),
        }
    }

    fn expected(&self, receiver: Side, ask: &Ask<'_>) -> Expected {
        Expected {
            run: self.runs,
            stream: at(receiver.opposite()) as u8,
            ttl: ask.judges_ttl.then(|| self.ttl()),
            flows: self.plan.flows,
            turn_frames: ask.sizes.sizes_bytes().len(),
            vlan: self.plan.vlan,
            watch: ask.watch,
        }
    }

    /// Every sender at the same time; one entry a side.
    fn send(&mut self, ask: &Ask<'_>) -> Result<[Option<Sent>; 2], Failure> {
        let senders = ask.way.senders();
        let mut templates: [Frames; 2] = Default::default();
        for side in senders {
            templates[at(*side)] = self.frames(*side, ask.sizes)?;
        }
        let start_ns = clock::monotonic_ns() + HEAD_START_NS;
        let duration_ns = (ask.duration_s * 1e9) as u64;
        let grace_ns = match ask.load_fps {
            Some(_) => GRACE_NS.max(duration_ns / GRACE_SHARE),
            None => 0,
        };
        let (run, interrupt) = (self.runs, self.interrupt);
        let stream = |number: usize, templates| Stream {
            templates,
            run,
            stream: number as u8,
            load_fps: ask.load_fps,
            before_frames: 0,
            frames: ask
                .load_fps
                .map_or(u64::MAX, |fps| (fps * ask.duration_s) as u64),
            start_ns,
            end_ns: start_ns + duration_ns + grace_ns,
        };
        let then = ask.then;
        let work = self.stations.iter_mut().zip(&templates).enumerate();
        Ok(thread::scope(|scope| {
            let threads: Vec<_> = work
                .map(|(number, (station, templates))| {
                    let sends = !templates.is_empty();
                    let stream = stream(number, templates);
                    let sender = &mut station.sender;
                    sends.then(|| {
                        scope.spawn(move || {
                            let sent = stream.send(sender, interrupt);
                            match then.map(|then| stream.then(&sent, then)) {
                                Some(then) => sent.and(then.send(sender, interrupt)),
                                None => sent,
                            }
                        })
                    })
                })
                .collect();
            let mut sent = threads.into_iter().map(|thread| {
                thread.map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
                })
            });
            [sent.next().flatten(), sent.next().flatten()]
        }))
    }

    fn fold(&mut self, ask: &Ask<'_>, sent: &[Option<Sent>; 2], mut ended: [Ended; 2]) -> Tried {
        let seen = [ended[0].account.seen, ended[1].account.seen];
        let dropped = [0, 1].map(|at| {
            let before = std::mem::replace(&mut self.kernel_drops[at], ended[at].kernel_drops);
            ended[at].kernel_drops.saturating_sub(before)
        });
        let totals = [0, 1].map(|at| {
            let offered = sent[1 - at].as_ref().map_or(0, |sent| sent.frames);
            ended[at].account.frames.finish(offered)
        });
        let (mut directions, mut flows, mut arrivals) = (Vec::new(), Vec::new(), Vec::new());
        for side in ask.way.senders() {
            let (own, other) = (at(*side), 1 - at(*side));
            let Some(sent) = &sent[own] else { continue };
            let mut direction = direction(ask, sent, &totals[other], &ended[other].account);
            direction.from = letter(own);
            direction.to = letter(other);
            direction.misforwarded_frames = totals[own].misforwarded;
            direction.receiver_dropped_frames = Some(dropped[other]);
            directions.push(direction);
            arrivals.push(Arrivals {
                last_lost: totals[other].last_lost,
                sent_until_ns: sent.last_ns,
                watched: std::mem::replace(&mut ended[other].account.watched, Watched::Nothing),
            });
            flows.extend(flows_of(
                own,
                ended[other].account.frames.received_by_flow(),
            ));
        }
        let first = ask.way.senders().first().map_or(0, |side| at(*side));
        let sending_ns = sent.iter().flatten().map(Sent::free_ns);
        let sending_s = sending_ns.max().unwrap_or(0) as f64 / 1e9;
        let failure = sent.iter().flatten().find_map(|sent| sent.failure.clone());
        let failure = failure.or_else(|| ended.iter().find_map(|end| end.account.failure.clone()));
        let invalid_reason = invalid(ask, &directions).or(failure);
        let trial = Trial {
            id: 0,
            purpose: ask.purpose.to_owned(),
            frame_bytes: ask.sizes.frame_bytes(),
            genome: genome(ask.sizes),
            load_fps: ask.load_fps.unwrap_or_else(|| {
                let offered: u64 = directions.iter().map(|one| one.offered_frames).sum();
                offered as f64 / sending_s.max(1e-9) / directions.len().max(1) as f64
            }),
            duration_s: ask.duration_s,
            then: ask.then,
            backend: self.stations[first].described.send_backend.clone(),
            loss_ratio: loss_ratio(&directions),
            directions,
            flows,
            device: None,
            valid: invalid_reason.is_none(),
            invalid_reason,
        };
        Tried {
            trial,
            seen,
            arrivals,
            sending_s,
            is_kept: sent.iter().flatten().any(|sent| sent.gave_up),
            elapsed_s: 0.0,
        }
    }
}

/// Of a mix, as RFC 6985 wants it printed.
pub(super) fn genome(sizes: &Mix) -> Option<String> {
    sizes.is_mixed().then(|| sizes.to_string())
}

fn direction(
    ask: &Ask<'_>,
    sent: &Sent,
    totals: &DirectionTotals,
    account: &Account,
) -> TrialDirection {
    let intended_frames = ask.intended().unwrap_or(sent.frames);
    TrialDirection {
        intended_frames,
        offered_frames: sent.frames,
        unsent_frames: intended_frames.saturating_sub(sent.frames),
        received_frames: totals.received,
        lost_frames: totals.lost,
        duplicate_frames: totals.duplicates,
        reordered_frames: totals.reordered,
        corrupt_frames: totals.corrupt + totals.bad_length + account.seen.unsigned,
        foreign_frames: totals.foreign,
        wrong_ttl_frames: totals.bad_ttl,
        fragment_frames: account.seen.fragments,
        sender_behind_ns_max: sent.behind_ns_max,
        sender_stalled_ns: sent.stalled_ns,
        sender_waited_ns: sent.waited_ns,
        sender_gap_ns: quantiles(&sent.gaps),
        latency_ns: quantiles(&account.latency),
        ..TrialDirection::default()
    }
}

fn quantiles(times: &Histogram) -> Option<Quantiles> {
    times.percentiles().map(Quantiles::from)
}

fn flows_of(from: usize, received: &[u64]) -> Vec<TrialFlow> {
    if received.len() < 2 {
        return Vec::new();
    }
    let flows = received
        .iter()
        .zip(0..)
        .map(|(received_frames, id)| TrialFlow {
            from: letter(from),
            id,
            received_frames: *received_frames,
        });
    flows.collect()
}

/// Lost and unsent of all directions.
fn loss_ratio(directions: &[TrialDirection]) -> f64 {
    let intended: u64 = directions.iter().map(|one| one.intended_frames).sum();
    let bad: u64 = directions.iter().map(TrialDirection::bad_frames).sum();
    if intended == 0 {
        1.0
    } else {
        bad as f64 / intended as f64
    }
}

/// What the tester itself did wrong.
fn invalid(ask: &Ask<'_>, directions: &[TrialDirection]) -> Option<String> {
    let unsent: u64 = directions.iter().map(|one| one.unsent_frames).sum();
    let dropped = directions
        .iter()
        .filter_map(|one| one.receiver_dropped_frames);
    let dropped: u64 = dropped.sum();
    if unsent > 0 {
        Some(format!("the tester could not send {unsent} frames in time"))
    } else if dropped > 0 && ask.load_fps.is_some() {
        Some(format!(
            "the tester itself lost {dropped} frames on receiving"
        ))
    } else {
        None
    }
}

fn letter(at: usize) -> String {
    ["a", "b"][at.min(1)].to_owned()
}

/// Until every thread stands ready.
const HEAD_START_NS: u64 = 3_000_000;
/// So much longer than asked a trial may take to send what is due: a five-hundredth, at least this. What the machine
/// kept the tester from sending comes on top.
const GRACE_NS: u64 = 1_000_000;
const GRACE_SHARE: u64 = 500;
