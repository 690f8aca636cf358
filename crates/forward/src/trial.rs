// SPDX-License-Identifier: MIT OR Apache-2.0
//! One trial: learning, traffic, residual frames, counts. RFC 2544 section 23.

use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::clock;
use linerate_method::flow_account::DirectionTotals;
use linerate_method::frame_size::Mix;
use linerate_method::histogram::Histogram;
use linerate_method::search::Measurement;
use linerate_model::failure::Failure;
use linerate_model::output::{Quantiles, Trial, TrialDirection, TrialFlow, TrialPhase};
use linerate_wire::frame::Side;

use crate::account::{Account, Expected, Seen};
use crate::frames::Frames;
use crate::plan::Way;
use crate::residual;
use crate::sender::{Sent, Stream};
use crate::tester::port::Ended;
use crate::tester::{Tester, index};
use crate::watch::{Watch, Watched};

/// The parameters of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialRequest<'a> {
    pub purpose: &'static str,
    pub sizes: &'a Mix,
    pub way: Way,
    /// Frames per second and direction; `None`: unpaced.
    pub load_fps: Option<f64>,
    pub duration_s: f64,
    /// A second phase at another load, which follows at once.
    pub then: Option<TrialPhase>,
    /// The minimum wait for residual frames, seconds.
    pub residual_s: f64,
    /// Whether frames with an unexpected TTL count as errors.
    pub judges_ttl: bool,
    /// What to observe in addition to the counters.
    pub watch: Watch,
    /// The highest loss ratio of a good trial.
    pub tolerated_loss_ratio: f64,
}

impl<'a> TrialRequest<'a> {
    /// An unpaced trial of duration 0, to be completed by the caller.
    pub(crate) fn of(sizes: &'a Mix, way: Way) -> Self {
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
            tolerated_loss_ratio: 0.0,
        }
    }

    /// RFC 2544 section 23 c: the whole frames of load times duration.
    fn intended_frames(&self) -> Option<u64> {
        let second = self.then.map_or(0, |then| then.frames());
        self.first_frames().map(|first| first + second)
    }

    fn first_frames(&self) -> Option<u64> {
        self.load_fps.map(|fps| (fps * self.duration_s) as u64)
    }
}

/// A trial with the details that its record leaves out.
#[derive(Debug)]
pub(crate) struct TrialRun {
    pub trial: Trial,
    /// Frames other than test frames that each port saw.
    pub seen: [Seen; 2],
    /// In the order of the trial's directions.
    pub arrivals: Vec<Arrivals>,
    /// The time spent sending, without the time in which the host blocked the sender, seconds.
    pub sending_s: f64,
    /// The host blocked the sender, which left frames unsent.
    pub is_blocked: bool,
    /// Including all waits, seconds.
    pub elapsed_s: f64,
}

impl TrialRun {
    /// The sum of a count over all directions.
    pub(crate) fn sum(&self, count: impl Fn(&TrialDirection) -> u64) -> u64 {
        self.trial.directions.iter().map(count).sum()
    }

    /// Frames sent per second, mean of the directions.
    pub(crate) fn offered_fps(&self) -> f64 {
        self.per_second(self.sum(|one| one.offered_frames))
    }

    /// Frames received per second, mean of the directions.
    pub(crate) fn received_fps(&self) -> f64 {
        self.per_second(self.sum(|one| one.received_frames))
    }

    /// Whether the trial was good (a loss ratio of `tolerated` at most) while the load was interrupted: queues of the
    /// device drained meanwhile, so that it says nothing about a constant load. A bad one would be worse without.
    pub(crate) fn is_good_but_interrupted(&self, tolerated: f64) -> bool {
        let bad = self.sum(TrialDirection::bad_frames) as f64;
        let is_good = bad <= tolerated * self.sum(|one| one.intended_frames) as f64;
        is_good && self.trial.stalled_ratio > Trial::STALLED_RATIO_MAX
    }

    fn per_second(&self, frames: u64) -> f64 {
        let directions = self.trial.directions.len().max(1) as f64;
        frames as f64 / (self.sending_s.max(1e-9) * directions)
    }

    pub(crate) fn measurement(&self) -> Measurement {
        Measurement {
            intended_frames: self.sum(|one| one.intended_frames),
            offered_frames: self.sum(|one| one.offered_frames),
            lost_frames: self.sum(|one| one.lost_frames),
            effective_duration_s: None,
            elapsed_s: Some(self.elapsed_s),
        }
    }
}

/// The arrivals of one direction in detail.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// The sequence number of the last frame lost, from 1.
    pub last_lost: Option<u64>,
    /// The end of sending, by the clock of the arrivals.
    pub sent_until_ns: u64,
    pub watched: Watched,
}

/// Runs a trial.
///
/// # Errors
/// The user interrupted it, or a port failed.
pub(crate) fn run(
    tester: &mut Tester<'_>,
    request: &TrialRequest<'_>,
) -> Result<TrialRun, Failure> {
    let begun = Instant::now();
    let waits = tester.plan.profile.waits;
    tester.learn(request.way);
    tester.pause(waits.learning_s);
    tester.run = tester.run.wrapping_add(1);
    for port in &tester.ports {
        port.begin(expected(tester, port.side, request));
    }
    let is_paced = request.load_fps.is_some();
    let device = tester.plan.device.as_ref().filter(|_| is_paced);
    device.inspect(|device| device.before());
    let sent = send(tester, request)?;
    device.inspect(|device| device.traffic_ended());
    residual::wait(tester, &sent, waits.residual_s.max(request.residual_s));
    let counted = device.and_then(|device| device.after());
    let ended = [tester.ports[0].end()?, tester.ports[1].end()?];
    tester.check_interrupt()?;
    tester.check_ports()?;
    let mut run = fold(tester, request, &sent, ended);
    run.trial.device = counted;
    tester.pause(waits.settle_s);
    let elapsed = begun.elapsed();
    run.elapsed_s = elapsed.as_secs_f64();
    // Trials with longer waits would distort the mean.
    if request.residual_s == 0.0 && request.then.is_none() {
        let traffic = Duration::from_secs_f64(request.duration_s);
        let is_stalled = run.trial.stalled_ratio > Trial::STALLED_RATIO_MAX;
        let overhead = elapsed.saturating_sub(traffic);
        tester.overhead.record(overhead, is_stalled);
    }
    Ok(run)
}

fn expected(tester: &Tester<'_>, receiver: Side, request: &TrialRequest<'_>) -> Expected {
    Expected {
        run: tester.run,
        stream: index(receiver.opposite()) as u8,
        ttl: request.judges_ttl.then(|| tester.ttl()),
        flows: tester.plan.flows,
        turn_frames: request.sizes.sizes_bytes().len(),
        vlan: tester.plan.vlan,
        watch: request.watch,
    }
}

/// Starts every sender at the same time; returns one entry per side.
fn send(tester: &mut Tester<'_>, request: &TrialRequest<'_>) -> Result<[Option<Sent>; 2], Failure> {
    let mut templates: [Frames; 2] = Default::default();
    for side in request.way.senders() {
        templates[index(*side)] = tester.frames(*side, request.sizes)?;
    }
    let start_ns = clock::monotonic_ns() + HEAD_START_NS;
    let duration_ns = (request.duration_s * 1e9) as u64;
    let grace_ns = match request.load_fps {
        Some(_) => GRACE_NS.max(duration_ns / GRACE_SHARE),
        None => 0,
    };
    let (run, interrupt) = (tester.run, tester.interrupt);
    let stream = |number: usize, templates| Stream {
        templates,
        run,
        stream: number as u8,
        load_fps: request.load_fps,
        before_frames: 0,
        frames: request.first_frames().unwrap_or(u64::MAX),
        start_ns,
        end_ns: start_ns + duration_ns + grace_ns,
    };
    let then = request.then;
    let work = tester.ports.iter_mut().zip(&templates).enumerate();
    Ok(thread::scope(|scope| {
        let threads: Vec<_> = work
            .map(|(number, (port, templates))| {
                let sends = !templates.is_empty();
                let stream = stream(number, templates);
                let sender = &mut port.sender;
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
            let joined = thread?.join();
            Some(joined.unwrap_or_else(|panicked| std::panic::resume_unwind(panicked)))
        });
        [sent.next().flatten(), sent.next().flatten()]
    }))
}

fn fold(
    tester: &Tester<'_>,
    request: &TrialRequest<'_>,
    sent: &[Option<Sent>; 2],
    mut ended: [Ended; 2],
) -> TrialRun {
    let seen = [ended[0].account.seen, ended[1].account.seen];
    let totals = [0, 1].map(|at| {
        let numbered = sent[1 - at].as_ref().map_or(0, Sent::numbered);
        ended[at].account.frames.finish(numbered)
    });
    let (mut directions, mut flows, mut arrivals) = (Vec::new(), Vec::new(), Vec::new());
    for side in request.way.senders() {
        let (from, to) = (index(*side), 1 - index(*side));
        let Some(sent) = &sent[from] else { continue };
        directions.push(TrialDirection {
            from: letter(from),
            to: letter(to),
            misforwarded_frames: totals[from].misforwarded,
            receiver_dropped_frames: Some(ended[to].kernel_drops),
            ..direction(request, sent, &totals[to], &ended[to].account)
        });
        let account = &mut ended[to].account;
        arrivals.push(Arrivals {
            last_lost: totals[to].last_lost,
            sent_until_ns: sent.last_ns,
            watched: std::mem::replace(&mut account.watched, Watched::Nothing),
        });
        flows.extend(flows_of(from, account.frames.received_by_flow()));
    }
    let sending_ns = sent.iter().flatten().map(Sent::free_ns);
    let sending_s = sending_ns.max().unwrap_or(0) as f64 / 1e9;
    let mut failures = sent
        .iter()
        .flatten()
        .filter_map(|sent| sent.failure.clone());
    let mut rx_failures = ended.iter().filter_map(|end| end.account.failure.clone());
    let first = request.way.senders().first().map_or(0, |side| index(*side));
    let mut run = TrialRun {
        trial: Trial {
            purpose: request.purpose.to_owned(),
            frame_bytes: request.sizes.frame_bytes(),
            genome: genome(request.sizes),
            duration_s: request.duration_s,
            then: request.then,
            backend: tester.ports[first].described.send_backend.clone(),
            directions,
            flows,
            ..Trial::default()
        },
        seen,
        arrivals,
        sending_s,
        is_blocked: sent.iter().flatten().any(|sent| sent.gave_up),
        elapsed_s: 0.0,
    };
    let stalled = sent.iter().flatten().map(Sent::stalled_ratio);
    run.trial.stalled_ratio = stalled.fold(0.0, f64::max);
    let failure = invalid(request, &run).or_else(|| failures.next().or_else(|| rx_failures.next()));
    run.trial.load_fps = request.load_fps.unwrap_or_else(|| run.offered_fps());
    run.trial.loss_ratio = match run.sum(|one| one.intended_frames) {
        0 => 1.0,
        intended => run.sum(TrialDirection::bad_frames) as f64 / intended as f64,
    };
    run.trial.valid = failure.is_none();
    run.trial.invalid_reason = failure;
    run
}

/// The sequence of sizes of a mix, as RFC 6985 prints it.
pub(crate) fn genome(sizes: &Mix) -> Option<String> {
    sizes.is_mixed().then(|| sizes.to_string())
}

fn direction(
    request: &TrialRequest<'_>,
    sent: &Sent,
    totals: &DirectionTotals,
    account: &Account,
) -> TrialDirection {
    let intended_frames = request.intended_frames().unwrap_or(sent.frames);
    TrialDirection {
        intended_frames,
        offered_frames: sent.frames,
        unsent_frames: intended_frames.saturating_sub(sent.frames),
        received_frames: totals.received,
        // The port dropped these, and never offered them to the device.
        lost_frames: totals.lost.saturating_sub(sent.dropped),
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
    let flow = |(received_frames, id): (&u64, u32)| TrialFlow {
        from: letter(from),
        id,
        received_frames: *received_frames,
    };
    received.iter().zip(0..).map(flow).collect()
}

/// Why the tester spoilt the trial.
pub(crate) fn invalid(request: &TrialRequest<'_>, run: &TrialRun) -> Option<String> {
    let unsent = run.sum(|one| one.unsent_frames);
    let dropped = run.sum(|one| one.receiver_dropped_frames.unwrap_or(0));
    if unsent > 0 {
        Some(format!("the tester could not send {unsent} frames in time"))
    } else if dropped > 0 && request.load_fps.is_some() {
        Some(format!("the tester's receiver dropped {dropped} frames"))
    } else if request.load_fps.is_some()
        && run.is_good_but_interrupted(request.tolerated_loss_ratio)
    {
        let percent = run.trial.stalled_ratio * 100.0;
        Some(format!(
            "{}: the tester could not run for {percent:.1} % of the time, in which the device could recover",
            Trial::NOT_CONSTANT
        ))
    } else {
        None
    }
}

fn letter(at: usize) -> String {
    ["a", "b"][at.min(1)].to_owned()
}

/// The time that the threads need to get ready.
const HEAD_START_NS: u64 = 3_000_000;
/// A trial may take longer than requested by a five-hundredth, at least by this, and by the time in which the host
/// blocked the sender.
const GRACE_NS: u64 = 1_000_000;
const GRACE_SHARE: u64 = 500;
