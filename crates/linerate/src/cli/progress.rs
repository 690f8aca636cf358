// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress of a running test, on stderr.

use linerate_model::output::{
    Benchmarks, Direction, ForwardResult, Interval, Output, Subject, Test, Trial,
};
use linerate_model::printable::Printable;
use linerate_model::units::format::{BIT_RATES, PACKET_RATES, TIMES, UNKNOWN, percent, with_unit};
use linerate_model::units::rate_unit::RateUnit;
use linerate_report::interval::{Stream, interval_header, interval_line};
use linerate_report::term::{self, Style};

use crate::output::{Console, ascii};
use linerate_endpoint::{Event, Peer, Protocol, TestPlan};

/// How much progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// One line per interval, like iperf3, in the unit of -f: `tcp`, `udp`.
    Lines(Option<RateUnit>),
    /// Without a terminal one line per interval, with the name of its test, and one for a test that
    /// is shorter than an interval: `check`, `sweep`.
    Status,
}

impl Progress {
    /// Shows the whole of a test that ended before its first interval did.
    pub(super) fn ended(self, console: &mut Console, plan: &TestPlan, test: &Test) {
        let short = plan.interval_ms == 0 || plan.duration_ms < plan.interval_ms;
        if self == Self::Status && short && !console.redraws() {
            let whole = Interval {
                end_s: test.duration_s,
                sent_bits_per_second: test.offered_bits_per_second,
                received_bits_per_second: test.delivered_bits_per_second,
                sent_packets: test.sent_packets,
                lost_packets: test.lost_packets.and_then(|lost| i64::try_from(lost).ok()),
                ..Interval::default()
            };
            console.say(&interval_of_test(&plan.name, test.direction, &whole));
        }
    }

    /// Shows one event.
    pub(super) fn show(self, console: &mut Console, plan: &TestPlan, event: &Event<'_>) {
        match (event, self) {
            (Event::Stopping, _) => console.say(STOPPING),
            (Event::Note(text), _) => console.detail(text),
            (Event::Connected { peer, address }, _) => {
                console.detail(&format!("{}: {address}, {}", plan.name, who(peer)))
            }
            (Event::Started, Self::Lines(_)) if plan.interval_ms > 0 => {
                console.say(&interval_header(plan.protocol))
            }
            (
                Event::Started | Event::Samples(_) | Event::Settings(_) | Event::Latency { .. },
                _,
            ) => {}
            (
                Event::Interval {
                    direction,
                    interval,
                },
                Self::Lines(rates),
            ) => {
                console.say(&interval_line(sum(plan, *direction, rates), interval));
            }
            (
                Event::Interval {
                    direction,
                    interval,
                },
                Self::Status,
            ) if !console.redraws() => {
                console.say(&interval_of_test(&plan.name, *direction, interval));
            }
            (Event::Interval { .. }, Self::Status) => {}
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
        ratio => format!("  tester stalled {:.1} %", ratio * 100.0),
    };
    format!(
        "{} bytes  {}  {load} for {:.1} s  lost {loss} %{stalled}",
        trial.frame_bytes, trial.purpose, trial.duration_s
    )
}

/// The same, and how long the rest takes.
pub(super) fn trial_and_left(ended: &Trial, left_s: f64) -> String {
    let left_s = left_s.max(0.0);
    let left = match left_s {
        ..120.0 => format!("{left_s:.0} s"),
        ..7200.0 => format!("{:.0} min", left_s / 60.0),
        _ => format!("{:.1} h", left_s / 3600.0),
    };
    format!("{}  about {left} left", trial(ended))
}

/// The result of a search in one line.
pub(super) fn found(result: &ForwardResult) -> String {
    let rate = match result.throughput_fps {
        Some(fps) => with_unit(fps, PACKET_RATES),
        None => "nothing".to_owned(),
    };
    let (bytes, way, goal) = (result.frame_bytes, &result.direction, &result.goal);
    format!("{bytes} bytes  {way}  {goal}  {rate}")
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

fn interval_of_test(name: &str, direction: Direction, interval: &Interval) -> String {
    let rate = interval
        .received_bits_per_second
        .or(interval.sent_bits_per_second);
    let rate = rate.map_or_else(|| UNKNOWN.to_owned(), |rate| with_unit(rate, BIT_RATES));
    let lost = match (interval.lost_packets, interval.sent_packets) {
        (Some(lost), Some(sent)) => format!("  lost {lost} of {sent}"),
        _ => String::new(),
    };
    let (end_s, way) = (interval.end_s, word(direction));
    format!("{name:<14} {way:<4} {end_s:>7.2} s  {rate:>12}{lost}")
}

fn sum(plan: &TestPlan, direction: Direction, rates: Option<RateUnit>) -> Stream {
    Stream {
        id: None,
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
