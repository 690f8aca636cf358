// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether an end paused: the probe's answers were late, TCP's round trips were not.
//!
//! The probe's answers come from a program, TCP's own round trips from the kernels. A queue on the path delays both; a
//! program that does not run delays only its answers. On a machine that others or the load itself keep busy, any program waits.

use linerate_model::output::{Direction, Latency, Phase, Protocol, Role, Test};

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::record::Record;

use super::Shares;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let record = evidence.record;
    if record.run.latency.iter().all(|one| one.rtt_ns.is_none()) {
        return;
    }
    let stalls: Vec<f64> = record
        .run
        .latency
        .iter()
        .filter_map(|latency| stall_ms(record, latency))
        .collect();
    let source = "the run's latency probe, tcpi_rtt";
    facts.add_to_run("probe_stall_phases", stalls.len() as f64, source);
    let least = stalls.into_iter().reduce(f64::min);
    facts.add_to_run("probe_stall_ms", least, source);
    let busy = busy(evidence);
    let source = "/proc/stat before the load, steal";
    facts.add_to_run("probe_ends_busy", busy, source);
}

/// The longest answer of a phase that only an end can have delayed: at rest no TCP shows that the path did not.
fn stall_ms(record: &Record, latency: &Latency) -> Option<f64> {
    let rtt = latency.rtt_ns?;
    let usual_ns = rtt.p50.max(longest_of_tcp_ns(record, latency.phase)?);
    let is_stall = rtt.max >= STALL_NS
        && rtt.max >= MEDIANS.saturating_mul(rtt.p50)
        && rtt.max >= USUALS.saturating_mul(usual_ns);
    is_stall.then_some(rtt.max as f64 / 1e6)
}

/// Of TCP during the phase; `None` without it, and where the load itself left no processor to the programs.
fn longest_of_tcp_ns(record: &Record, phase: Phase) -> Option<i64> {
    let during = |test: &&Test| {
        let along = match phase {
            Phase::Idle => false,
            Phase::Up => test.direction == Direction::Up,
            Phase::Down => test.direction == Direction::Down,
            Phase::Both => true,
        };
        along && test.protocol == Protocol::Tcp
    };
    let tests: Vec<&Test> = record.run.tests.iter().filter(during).collect();
    let loads = tests
        .iter()
        .flat_map(|test| [test.cpu.local, test.cpu.remote]);
    let is_full = loads.flatten().any(|cpu| cpu.busy() > FULL);
    let rtts = tests.iter().filter_map(|test| Some(test.rtt_ns?.max));
    rtts.max().filter(|_| !is_full)
}

/// Whether other programs used the processors of an end; `None` unless both report it.
fn busy(evidence: &Evidence<'_>) -> Option<bool> {
    let ends = vantages(evidence);
    let of = |role: Role| {
        let here = ends.iter().filter(move |end| end.host == role);
        let here: Vec<_> = here.filter(|end| end.test.is_some()).collect();
        let before = here.iter().filter_map(|end| busy_before(end));
        let before = before.reduce(f64::max)?;
        let stolen = here.iter().filter_map(|end| stolen(end));
        Some(before > BUSY || stolen.fold(0.0, f64::max) > STOLEN)
    };
    Some(of(Role::Local)? || of(Role::Remote)?)
}

fn busy_before(end: &Vantage<'_>) -> Option<f64> {
    let ticks = end.host_counters().idle_end_to_end(Source::Stat.text());
    let shares = Shares::of_ticks(ticks)?;
    Some(shares.busy(shares.busiest()?))
}

fn stolen(end: &Vantage<'_>) -> Option<f64> {
    match Shares::of(&end.as_host()) {
        Some(shares) => Some(shares.all(&["steal"])),
        None => Some(end.test?.cpu.of(end.host)?.steal),
    }
}

/// No thread of an idle machine waits that long for a processor.
const STALL_NS: i64 = 80_000_000;
const MEDIANS: i64 = 20;
/// Four times what the kernels measured: their round trips are smoothed.
const USUALS: i64 = 4;
/// Of all processors, under the load.
const FULL: f64 = 0.93;
/// Of the busiest processor, before the load.
const BUSY: f64 = 0.5;
/// Of all processors' time, as rule C14 has it.
const STOLEN: f64 = 0.02;
