// SPDX-License-Identifier: MIT OR Apache-2.0
//! By how much a counter grew: during a test's load, in the idle interval before it, between two
//! pasted snapshots, or since the machine started. A counter that nobody read is `None`, never 0;
//! so is one that was reset meanwhile.

mod meaning;
mod place;
mod profile;
mod set_up;

use linerate_model::counters::{Movement, movement};
use linerate_model::output::{Role, Test};
use linerate_model::sample::{Phase, Sample};

use linerate_knowledge::Width;
use linerate_model::record::Record;

pub(super) use meaning::{Meaning, driver, meaning, table};
pub(super) use place::{Place, places};
pub(super) use profile::profiled;
pub(super) use set_up::{set_up, set_up_number};

/// A growth and where it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counted {
    /// By how much it grew.
    pub(super) value: u64,
    /// Nobody knows since when: there was only one reading.
    pub(super) since_boot: bool,
    /// The source and the counter's name, for a reader.
    pub(super) source: String,
}

/// Growth of one counter: over the load of `test`, or, of samples that belong to no test, from the
/// first to the last. With one such sample its value is the growth since the machine started.
pub(super) fn delta(
    record: &Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    name: &str,
    test: Option<&Test>,
) -> Option<Counted> {
    let series = series(record, host, source, interface, test, Phase::Load);
    let named = format!("{source} {name}");
    counted(&series, name, named, Width::Long)
        .or_else(|| moved(record, host, source, interface, name, test))
}

/// Growth of one counter in the idle interval before a test's load.
#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "the families of facts take it up one after the other"
    )
)]
pub(super) fn background(
    record: &Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    name: &str,
    test: &Test,
) -> Option<u64> {
    let idle = series(record, host, source, interface, Some(test), Phase::Idle);
    let counted = counted(&idle, name, String::new(), Width::Long)?;
    (!counted.since_boot).then_some(counted.value)
}

/// Every reading of a value that is no counter (a fill level), in the order of time.
pub(super) fn readings(
    record: &Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    name: &str,
    test: Option<&Test>,
) -> Vec<u64> {
    let samples = series(record, host, source, interface, test, Phase::Load);
    let readings = samples
        .iter()
        .filter_map(|sample| sample.counters.get(name));
    readings.copied().collect()
}

/// The time between the first and the last sample of this kind, seconds; `None` with fewer than two.
pub(super) fn span_s(
    record: &Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    test: Option<&Test>,
) -> Option<f64> {
    let samples = series(record, host, source, interface, test, Phase::Load);
    let span_ns = samples.last()?.t_ns.checked_sub(samples.first()?.t_ns)?;
    (span_ns > 0).then_some(span_ns as f64 / 1e9)
}

/// The samples of one source at one place: of a test's phase, or those that belong to no test.
pub(super) fn series<'r>(
    record: &'r Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    test: Option<&Test>,
    phase: Phase,
) -> Vec<&'r Sample> {
    let here = |sample: &&Sample| {
        sample.host == host && sample.source == source && sample.interface.as_deref() == interface
    };
    let in_phase = |sample: &&Sample| match test {
        Some(test) => sample.group.as_deref() == Some(&test.group) && sample.phase == Some(phase),
        None => sample.group.is_none(),
    };
    record
        .samples
        .iter()
        .filter(here)
        .filter(in_phase)
        .collect()
}

/// The samples of the idle interval before a test: its own, else the one that was recorded last before
/// its load (some commands are idle once for all of their tests).
pub(super) fn idle_before<'r>(
    record: &'r Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    test: &Test,
) -> Vec<&'r Sample> {
    let idle = series(record, host, source, interface, Some(test), Phase::Idle);
    if !idle.is_empty() {
        return idle;
    }
    let here = |sample: &&Sample| {
        sample.host == host && sample.source == source && sample.interface.as_deref() == interface
    };
    let own = |sample: &&Sample| sample.group.as_deref() == Some(&test.group);
    let before = record.samples.iter().filter(here);
    let before = before.take_while(|sample| !own(sample));
    let before: Vec<&Sample> = before
        .filter(|sample| sample.phase == Some(Phase::Idle))
        .collect();
    let last = before.last().map(|sample| &sample.group);
    let of_last = |sample: &&Sample| Some(&sample.group) == last;
    before.iter().copied().filter(of_last).collect()
}

fn counted(samples: &[&Sample], name: &str, source: String, width: Width) -> Option<Counted> {
    let values: Vec<u64> = samples
        .iter()
        .filter_map(|sample| sample.counters.get(name).copied())
        .collect();
    let (value, since_boot) = grown(&values, width, samples.first()?.group.is_none())?;
    Some(Counted {
        value,
        since_boot,
        source,
    })
}

/// The growth of a row of readings, wraps included, and whether it is since the start. Of a test one
/// reading says nothing; pasted, what the last reading shows after a reset grew since then.
fn grown(values: &[u64], width: Width, pasted: bool) -> Option<(u64, bool)> {
    if let ([total], true) = (values, pasted) {
        return Some((*total, true));
    }
    let steps: Option<u64> = values
        .windows(2)
        .map(|pair| step(pair[0], pair[1], width))
        .sum();
    match steps {
        Some(by) if values.len() > 1 => Some((by, false)),
        None if pasted => values.last().map(|total| (*total, true)),
        _ => None,
    }
}

/// `None` over a reset. A counter of 16 bits goes round sooner than the model takes for granted.
fn step(before: u64, after: u64, width: Width) -> Option<u64> {
    match movement(before, after) {
        Movement::Grew(by) => Some(by),
        Movement::Still => Some(0),
        Movement::Reset if width == Width::U16 && before <= u64::from(u16::MAX) => {
            Some(after + (1 << 16) - before)
        }
        Movement::Reset => None,
    }
}

/// A record without samples still has what moved during each test. What is not listed there may as
/// well not have been read.
fn moved(
    record: &Record,
    host: Role,
    source: &str,
    interface: Option<&str>,
    name: &str,
    test: Option<&Test>,
) -> Option<Counted> {
    let test = test.filter(|_| record.samples.is_empty())?;
    let found = test.counters.iter().find(|counter| {
        counter.host == host
            && counter.source == source
            && counter.interface.as_deref() == interface
            && counter.name == name
    })?;
    Some(Counted {
        value: found.delta,
        since_boot: false,
        source: format!("{source} {name}"),
    })
}

#[cfg(test)]
mod tests;
