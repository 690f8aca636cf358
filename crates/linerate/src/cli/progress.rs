// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress of a running test, on stderr.

use linerate_model::output::{
    Benchmarks, Direction, ForwardResult, Latency, Output, Subject, Test, Trial,
};
use linerate_model::printable::Printable;
use linerate_model::units::format::{BIT_RATES, PACKET_RATES, TIMES, UNKNOWN, percent, with_unit};
use linerate_model::units::rate_unit::RateUnit;
use linerate_report::interval::{Stream, interval_header, interval_line, stream_line};
use linerate_report::term::{self, Style};

use crate::output::{Console, ascii};
use linerate_endpoint::{Event, Peer, Protocol, TestPlan};

/// How much progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// One line per interval, like iperf3, in the unit of -f: `tcp`, `udp`.
    Lines(Option<RateUnit>),
    /// One line per test and direction, when it has ended: `check`, `sweep`.
    Status,
}

impl Progress {
    /// The unit of -f.
    pub(super) const fn rates(self) -> Option<RateUnit> {
        match self {
            Self::Lines(rates) => rates,
            Self::Status => None,
        }
    }

    /// Shows a test that has ended.
    pub(super) fn ended(self, console: &mut Console, plan: &TestPlan, test: &Test) {
        if self == Self::Status {
            let is_narrow = console.look.width < NARROW;
            console.row(&row(&plan.name, test, is_narrow));
        }
    }

    /// Shows the latency of the path at rest.
    pub(super) fn rested(self, console: &mut Console, plan: &TestPlan, latency: &[Latency]) {
        let median = latency.iter().find_map(|one| Some(one.rtt_ns?.p50 as f64));
        if let (Some(median), Self::Status) = (median, self) {
            let (name, median) = (&plan.name, with_unit(median, TIMES));
            console.row(&format!("{name:<14} round trip {median}"));
        }
    }

    /// Shows one event.
    pub(super) fn show(self, console: &mut Console, plan: &TestPlan, event: &Event<'_>) {
        match (event, self) {
            (Event::Stopping, _) => console.say(STOPPING),
            (Event::Note(text), _) => console.detail(text),
            (Event::Connected { peer, address }, Self::Lines(_)) => console.say(&format!(
                "connected to {} port {}, {}",
                address.ip().to_canonical(),
                address.port(),
                who(peer)
            )),
            (Event::Stream { id, local, remote }, Self::Lines(_)) => {
                console.say(&stream_line(*id, *local, *remote))
            }
            (
                Event::StreamInterval {
                    id,
                    direction,
                    interval,
                },
                Self::Lines(rates),
            ) => {
                let stream = Stream {
                    id: Some(*id),
                    ..sum(plan, *direction, rates)
                };
                console.say(&interval_line(stream, interval));
            }
            (Event::Stream { .. } | Event::StreamInterval { .. }, Self::Status) => {}
            (Event::Connected { peer, address }, Self::Status) => {
                console.detail(&format!("{}: {address}, {}", plan.name, who(peer)))
            }
            (Event::Started, Self::Lines(_)) if plan.interval_ms > 0 => {
                console.say(&interval_header(plan.protocol))
            }
            (
                Event::Interval {
                    direction,
                    interval,
                },
                Self::Lines(rates),
            ) => {
                console.say(&interval_line(sum(plan, *direction, rates), interval));
            }
            _ => {}
        }
    }
}

const STOPPING: &str = "stopping: waiting for packets in flight (press again to skip)";

/// The document as text.
pub(super) fn render(output: &Output, look: Style) -> Printable {
    let text = term::render(output, &look);
    // Names and messages from elsewhere may hold anything.
    match look.ascii && !text.is_ascii() {
        true => Printable::coloured(&ascii(&text)),
        false => text,
    }
}

/// A trial of a device in one line.
pub(super) fn trial(trial: &Trial) -> String {
    let load = with_unit(trial.load_fps, PACKET_RATES);
    let loss = percent(trial.loss_ratio);
    let stalled = match trial.stalled_ratio {
        0.0 => String::new(),
        ratio => format!("  stalled {:.0} %", ratio * 100.0),
    };
    format!(
        "{} bytes  {}  {load} for {:.1} s  lost {loss} %{stalled}",
        trial.frame_bytes, trial.purpose, trial.duration_s
    )
}

/// The result of a search in one line.
pub(super) fn found(result: &ForwardResult) -> String {
    let rate = match result.throughput_fps {
        Some(fps) => with_unit(fps, PACKET_RATES),
        None => "no rate".to_owned(),
    };
    let (bytes, way, goal) = (result.frame_bytes, &result.direction, &result.goal);
    let trials = || format!("{} trials", result.trials);
    let irregular = result.irregular.as_deref();
    let short = irregular.and_then(|why| why.split(':').next());
    let ended = short.map_or_else(trials, str::to_owned);
    format!("{bytes:>5} bytes  {way:<4} {goal:<4} {rate:>12}  {ended}")
}

/// Each benchmark of a device in one line.
pub(super) fn benchmark(measured: &Benchmarks) -> Vec<String> {
    let line = |subject: &Subject, what: &str, number: Option<String>, why: &Option<String>| {
        let value = number.or_else(|| why.clone()).unwrap_or_default();
        format!(
            "{} bytes  {}  {what}  {value}",
            subject.frame_bytes, subject.direction
        )
    };
    let ns = |ns: u64| with_unit(ns as f64, TIMES);
    let seconds = |seconds: f64| with_unit(seconds * 1e9, TIMES);
    let mut lines = Vec::new();
    for one in &measured.loss_curves {
        let points = one.points.iter().filter_map(|point| point.loss_ratio);
        let losses: Vec<_> = points.map(percent).collect();
        let losses = Some(format!(
            "{} % lost, down from the highest load",
            losses.join(", ")
        ));
        lines.push(line(&one.subject, "loss-curve", losses, &None));
    }
    for one in &measured.back_to_back {
        let frames = one.mean_frames.map(|frames| format!("{frames:.0} frames"));
        lines.push(line(
            &one.subject,
            "back-to-back",
            frames,
            &one.not_measured,
        ));
    }
    for one in &measured.latency {
        let typical = one.typical_ns.map(|spread| ns(spread.median));
        lines.push(line(&one.subject, "latency", typical, &one.not_measured));
    }
    for one in &measured.recovery {
        let mean = one.mean_s.map(seconds);
        lines.push(line(&one.subject, "recovery", mean, &one.not_measured));
    }
    for one in &measured.reset {
        let mean = one.mean_s.map(seconds);
        lines.push(line(&one.subject, "reset", mean, &one.not_measured));
    }
    lines
}

pub(super) fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
    }
}

/// A test in one line: its name, its ways, the rate that it asks for.
pub(super) fn heading(plan: &TestPlan) -> String {
    let way = match plan.direction {
        _ if is_idle(plan) => "round trips",
        linerate_endpoint::Direction::Up => "up",
        linerate_endpoint::Direction::Down => "down",
        linerate_endpoint::Direction::Both => "both directions",
    };
    match (plan.protocol, plan.bits_per_second) {
        (Protocol::Udp, Some(rate)) => {
            format!(
                "{}  {way}  {}",
                plan.name,
                with_unit(rate as f64, BIT_RATES)
            )
        }
        _ => format!("{}  {way}", plan.name),
    }
}

/// Whether the path is at rest: it has no rate.
pub(super) fn is_idle(plan: &TestPlan) -> bool {
    plan.name == IDLE
}

/// The name of the probe without load.
pub(super) const IDLE: &str = "idle";

/// A test that has ended: name, direction, duration (if there is room), rate, losses.
fn row(name: &str, test: &Test, is_narrow: bool) -> String {
    let rate = test
        .delivered_bits_per_second
        .or(test.offered_bits_per_second);
    let rate = rate.map_or_else(|| UNKNOWN.to_owned(), |rate| with_unit(rate, BIT_RATES));
    let way = word(test.direction);
    let length = match is_narrow {
        true => String::new(),
        false => format!(" {:>7.2} s", test.duration_s),
    };
    format!("{name:<14} {way:<4}{length}  {rate:>12}{}", losses(test))
}

/// Terminals with fewer columns show no duration.
const NARROW: usize = 60;

fn losses(test: &Test) -> String {
    let short = |asked: f64| test.fell_short_of(asked);
    match (test.lost_packets, test.sent_packets, test.retransmits) {
        _ if !test.valid => "  not valid".to_owned(),
        (Some(0), Some(sent), _) if test.requested_bits_per_second.is_some_and(short) => {
            format!("  lost 0 of {sent}, sender-limited")
        }
        (Some(0), Some(sent), _) => format!("  lost 0 of {sent}"),
        (Some(lost), Some(sent), _) => {
            let ratio = percent(lost as f64 / sent.max(1) as f64);
            format!("  lost {lost} of {sent} ({ratio} %)")
        }
        (.., Some(again)) => format!("  retransmitted {again}"),
        _ => String::new(),
    }
}

fn sum(plan: &TestPlan, direction: Direction, rates: Option<RateUnit>) -> Stream {
    Stream {
        id: plan.only_stream(direction == Direction::Down),
        protocol: plan.protocol,
        direction,
        rates,
    }
}

fn who(peer: &Peer) -> String {
    match peer {
        Peer::Linerate { version } => format!("linerate {version}"),
        Peer::Stock => "stock server: no counters from the far end".to_owned(),
    }
}
