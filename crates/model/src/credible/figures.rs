// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of a test.

use super::{BITS_PER_SECOND, SLACK_S};
use crate::output::{Cpu, Test};

/// Takes all figures of a test if one of them cannot be.
pub(super) fn settle(test: &mut Test) {
    let Some(why) = impossible(test) else {
        return;
    };
    let take = std::mem::take(test);
    *test = Test {
        id: take.id,
        name: take.name,
        group: take.group,
        protocol: take.protocol,
        af: take.af,
        direction: take.direction,
        payload_bytes: take.payload_bytes,
        local_interface: take.local_interface,
        remote_interface: take.remote_interface,
        link_kind: take.link_kind,
        warnings: take.warnings,
        invalid_reason: Some(format!("impossible figures: {why}")),
        ..Test::default()
    };
}

/// The first figure that cannot be.
fn impossible(test: &Test) -> Option<String> {
    let duration_s = test.duration_s;
    if !(0.0..=SPAN_S_MAX).contains(&duration_s) {
        return Some(format!("a duration of {duration_s:e} s"));
    }
    // A text may not say how long its test took.
    let span_s = SLACK_S + if duration_s > 0.0 { duration_s } else { DAY_S };
    let streams = test.streams.max(1);
    if streams > STREAMS {
        return Some(format!("{streams} streams"));
    }
    rates(test, f64::from(streams))
        .or_else(|| counts(test, span_s * f64::from(streams) * PACKETS_PER_SECOND))
        .or_else(|| times(test, span_s * 1e9))
        .or_else(|| shares(test))
        .or_else(|| intervals(test, span_s))
}

fn rates(test: &Test, streams: f64) -> Option<String> {
    let flows = test.flows.iter().map(|flow| flow.delivered_bits_per_second);
    let most = streams * BITS_PER_SECOND as f64;
    let of_test = [test.offered_bits_per_second, test.delivered_bits_per_second];
    let mut rates = of_test.into_iter().chain(flows).flatten();
    let wrong = rates.find(|rate| !(0.0..=most).contains(rate));
    let asked = test.requested_bits_per_second;
    let asked = asked.filter(|rate| !(0.0..=ASKED).contains(rate));
    wrong
        .or(asked)
        .map(|rate| format!("a rate of {rate:e} bit/s"))
}

fn counts(test: &Test, most: f64) -> Option<String> {
    let bursts = test.loss_bursts.iter().map(|burst| Some(burst.packets));
    let flows = test.flows.iter();
    let flows = flows.flat_map(|flow| [flow.lost_packets, flow.retransmits]);
    let of_test = [
        test.sent_packets,
        test.received_packets,
        test.lost_packets,
        test.duplicate_packets,
        test.reordered_packets,
        test.reorder_extent_max,
        test.late_packets,
        test.corrupt_packets,
        test.retransmits,
        test.socket_drops,
        test.refused_packets,
    ];
    let mut counts = of_test.into_iter().chain(flows).chain(bursts).flatten();
    let wrong = counts.find(|count| *count as f64 > most)?;
    Some(format!("{wrong} packets"))
}

fn times(test: &Test, span_ns: f64) -> Option<String> {
    let jitter = test.jitter_ns.filter(|ns| !(0.0..=span_ns).contains(ns));
    let drift = test
        .clock_drift_ppm
        .filter(|ppm| !(0.0..=DRIFT_PPM).contains(&ppm.abs()));
    let quantiles = [test.rtt_ns, test.delay_ns].into_iter().flatten();
    let mut ends = quantiles.flat_map(|known| [known.min, known.p50, known.p99, known.max]);
    let wrong = ends.find(|ns| ns.unsigned_abs() as f64 > span_ns.max(DAY_S * 1e9));
    let late = [test.sender_behind_ns_max, test.receiver_run_delay_ns_max];
    let late = late.into_iter().flatten().max().map(|ns| ns as f64);
    let late = late.filter(|ns| *ns > span_ns);
    let threads = [test.stream_cpu.tx, test.stream_cpu.rx]
        .into_iter()
        .flatten();
    let most_ns = span_ns * f64::from(test.streams.max(1)) * PROCESSORS;
    let mut threads = threads.map(|time| time.ns() as f64);
    let threads = threads.find(|ns| *ns > most_ns);
    (threads
        .map(|ns| format!("{ns:e} ns of CPU time"))
        .or_else(|| jitter.map(|ns| format!("a jitter of {ns:e} ns"))))
    .or_else(|| drift.map(|ppm| format!("a clock drift of {ppm:e} ppm")))
    .or_else(|| wrong.map(|ns| format!("a delay of {ns} ns")))
    .or_else(|| late.map(|ns| format!("a sender or receiver {ns:e} ns behind")))
}

fn shares(test: &Test) -> Option<String> {
    let ratios = [test.loss_ratio, test.loss_ratio_upper95];
    let mut ratios = ratios.into_iter().flatten();
    let ratio = ratios.find(|ratio| !(0.0..=LOSS_RATIO).contains(&ratio.abs()));
    let thread = test.receiver_cpu_ratio_max.into_iter();
    let cpus = [test.cpu.local.as_ref(), test.cpu.remote.as_ref()];
    let busy = cpus.into_iter().flatten().flat_map(Cpu::shares);
    let busy = busy
        .chain(thread)
        .find(|share| !(0.0..=SHARE).contains(share));
    (ratio.map(|ratio| format!("a loss ratio of {ratio:e}")))
        .or_else(|| busy.map(|share| format!("a processor's share of {share:e}")))
}

fn intervals(test: &Test, span_s: f64) -> Option<String> {
    let streams = f64::from(test.streams.max(1));
    let most = streams * INTERVAL * BITS_PER_SECOND as f64;
    let can = |rate: Option<f64>| rate.is_none_or(|rate| (0.0..=most).contains(&rate));
    let mut intervals = test.intervals.iter();
    let wrong = intervals.find(|one| {
        let inside = one.start_s >= 0.0 && one.start_s <= one.end_s && one.end_s <= span_s;
        !inside || !can(one.sent_bits_per_second) || !can(one.received_bits_per_second)
    })?;
    Some(format!(
        "an interval from {:e} s to {:e} s",
        wrong.start_s, wrong.end_s
    ))
}

/// Ten years.
const SPAN_S_MAX: f64 = 315_360_000.0;
const DAY_S: f64 = 86_400.0;
/// Of one stream: ten times what the fastest kernel sends.
const PACKETS_PER_SECOND: f64 = 1e8;
const STREAMS: u32 = 65_536;
/// Anybody may ask for anything.
const ASKED: f64 = 1e18;
const DRIFT_PPM: f64 = 1e5;
/// A stock peer reports its whole process in the first stream.
const PROCESSORS: f64 = 129.0;
/// Some tools count what came late, or several times: a rule names that.
const LOSS_RATIO: f64 = 1000.0;
/// Shares are differences of two readings of ticks.
const SHARE: f64 = 1.1;
/// A short interval may hold what several brought.
const INTERVAL: f64 = 10.0;
