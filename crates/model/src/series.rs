// SPDX-License-Identifier: MIT OR Apache-2.0
//! Load and interrupts of each CPU over time, from raw samples. A span lies between two samples of one test;
//! nothing is known between tests.

use std::collections::BTreeMap;

use crate::counters::{Width, growth};
use crate::order;
use crate::output::Role;
use crate::sample::Sample;

/// One row of a strip chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// The end.
    pub host: Role,
    /// `cpu0`, or an interrupt's name.
    pub name: String,
    /// In chronological order.
    pub spans: Vec<Span>,
}

/// A value between two samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Span {
    /// Seconds after the host's first sample.
    pub start_s: f64,
    /// Seconds after the host's first sample.
    pub end_s: f64,
    /// A share of the time, or events per second.
    pub value: f64,
}

/// Returns the busy share of each CPU, 0…1 (`/proc/stat`).
#[must_use]
pub fn processors(samples: &[Sample]) -> Vec<Series> {
    let names = |counter: &str| counter.strip_suffix(".idle").map(str::to_owned);
    let alone = |name: &String| name != "cpu";
    rows(
        samples,
        "/proc/stat",
        |sample| {
            let names = sample.counters.keys().filter_map(|counter| names(counter));
            names.filter(alone).collect()
        },
        busy,
    )
}

/// Returns the interrupts per second by line and CPU (`/proc/interrupts`), or without that source the softirqs
/// (`/proc/softirqs`). The busiest lines come first; lines without interrupts are left out.
#[must_use]
pub fn interrupts(samples: &[Sample]) -> Vec<Series> {
    let named = |sample: &Sample| sample.counters.keys().cloned().collect();
    let lines = |source| rows(samples, source, named, rate);
    let mut all = lines("/proc/interrupts");
    for series in lines("/proc/softirqs") {
        if !all.iter().any(|known| known.host == series.host) || series.name.starts_with("NET") {
            all.push(series);
        }
    }
    all.retain(|series| series.spans.iter().any(|span| span.value > 0.0));
    order::by(&mut all, |one, other| most(other).total_cmp(&most(one)));
    all
}

/// The highest value of a row; 0 for an empty one.
#[must_use]
pub fn most(series: &Series) -> f64 {
    series
        .spans
        .iter()
        .map(|span| span.value)
        .fold(0.0, f64::max)
}

/// Builds rows from the pairs of samples of one source, by host.
fn rows(
    samples: &[Sample],
    source: &str,
    names: impl Fn(&Sample) -> Vec<String>,
    value: fn(&Sample, &Sample, &str) -> Option<f64>,
) -> Vec<Series> {
    let mut rows: BTreeMap<(Role, String), Series> = BTreeMap::new();
    for host in [Role::Local, Role::Remote, Role::Device] {
        let of_host = samples.iter().filter(|sample| sample.host == host);
        let Some(origin) = of_host.clone().map(|sample| sample.t_ns).min() else {
            continue;
        };
        let since = |sample: &Sample| (sample.t_ns - origin) as f64 / 1e9;
        let mut readings: Vec<_> = of_host.filter(|sample| sample.source == source).collect();
        order::by_key(&mut readings, |sample| sample.t_ns);
        for (before, after) in pairs(&readings) {
            for name in names(after) {
                let Some(value) = value(before, after, &name) else {
                    continue;
                };
                let row = rows.entry((host, name.clone())).or_insert_with(|| Series {
                    host,
                    name,
                    spans: Vec::new(),
                });
                row.spans.push(Span {
                    start_s: since(before),
                    end_s: since(after),
                    value,
                });
            }
        }
    }
    rows.into_values().collect()
}

/// Returns consecutive samples of one test, at least [`SHORTEST_NS`] apart and at most [`MOST_SPANS`] of them.
fn pairs<'s>(readings: &[&'s Sample]) -> Vec<(&'s Sample, &'s Sample)> {
    let stride_ns = match (readings.first(), readings.last()) {
        (Some(first), Some(last)) => (last.t_ns - first.t_ns) / MOST_SPANS,
        _ => 0,
    };
    let shortest = stride_ns.max(SHORTEST_NS);
    let mut pairs = Vec::new();
    let mut before: Option<&Sample> = None;
    for after in readings {
        match before {
            Some(known) if known.group == after.group => {
                if after.t_ns - known.t_ns >= shortest {
                    pairs.push((known, *after));
                    before = Some(after);
                }
            }
            _ => before = Some(after),
        }
    }
    pairs
}

/// The busy share of a CPU's ticks.
fn busy(before: &Sample, after: &Sample, name: &str) -> Option<f64> {
    let ticks = |part: &str| moved(before, after, &format!("{name}.{part}"));
    let idle = ticks("idle")? + ticks("iowait").unwrap_or(0.0);
    let work: f64 = WORK.iter().filter_map(|part| ticks(part)).sum();
    let all = idle + work;
    (all > 0.0).then(|| work / all)
}

fn rate(before: &Sample, after: &Sample, name: &str) -> Option<f64> {
    let seconds = (after.t_ns - before.t_ns) as f64 / 1e9;
    Some(moved(before, after, name)? / seconds)
}

fn moved(before: &Sample, after: &Sample, name: &str) -> Option<f64> {
    let of = |sample: &Sample| Some((sample.t_ns, *sample.counters.get(name)?));
    let grown = growth(&[of(before)?, of(after)?], Width::Unknown, f64::INFINITY)?;
    Some(grown.at_least as f64)
}

/// `user` includes `guest` (proc(5)).
const WORK: [&str; 6] = ["user", "nice", "system", "irq", "softirq", "steal"];
/// Ticks are 4 to 10 ms long: a shorter distance is too inaccurate.
const SHORTEST_NS: u64 = 200_000_000;
const MOST_SPANS: u64 = 240;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(t_s: f64, group: &str, source: &str, counters: &[(&str, u64)]) -> Sample {
        Sample {
            t_ns: (t_s * 1e9) as u64,
            group: Some(group.to_owned()),
            source: source.to_owned(),
            counters: counters
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            ..Sample::default()
        }
    }

    #[test]
    fn a_load_is_between_two_samples_of_one_test() {
        let stat = |t_s, group, idle, user| {
            sample(
                t_s,
                group,
                "/proc/stat",
                &[("cpu.idle", 0), ("cpu0.idle", idle), ("cpu0.user", user)],
            )
        };
        let samples = [
            stat(10.0, "a", 0, 0),
            stat(11.0, "a", 25, 75),
            stat(11.01, "a", 25, 76),
            stat(20.0, "b", 900, 100),
            stat(21.0, "b", 1000, 100),
        ];
        let rows = processors(&samples);
        assert_eq!(rows.len(), 1, "the sum of all is no processor");
        let values: Vec<_> = rows[0]
            .spans
            .iter()
            .map(|span| (span.start_s, span.end_s, span.value))
            .collect();
        assert_eq!(values, [(0.0, 1.0, 0.75), (10.0, 11.0, 0.0)]);
    }

    #[test]
    fn interrupts_are_by_second_and_the_busiest_first() {
        let lines = |t_s, a, b, c| {
            sample(
                t_s,
                "a",
                "/proc/interrupts",
                &[("24:eth0/cpu0", a), ("25:eth0/cpu1", b), ("9:acpi/cpu0", c)],
            )
        };
        let rows = interrupts(&[lines(0.0, 0, 5, 7), lines(2.0, 100, 1005, 7)]);
        let shown: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.spans[0].value))
            .collect();
        assert_eq!(shown, [("25:eth0/cpu1", 500.0), ("24:eth0/cpu0", 50.0)]);
    }

    #[test]
    fn a_day_is_no_longer_than_a_strip() {
        let day: Vec<_> = (0..86_400)
            .map(|t_s| {
                sample(
                    f64::from(t_s),
                    "a",
                    "/proc/stat",
                    &[("cpu0.idle", t_s as u64), ("cpu0.user", t_s as u64)],
                )
            })
            .collect();
        let rows = processors(&day);
        assert!(rows[0].spans.len() <= 240 && rows[0].spans.len() > 200);
        assert!(rows[0].spans.iter().all(|span| span.value == 0.5));
    }

    #[test]
    fn a_reset_is_not_a_rate() {
        let rows = interrupts(&[
            sample(0.0, "a", "/proc/interrupts", &[("x/cpu0", 1000)]),
            sample(1.0, "a", "/proc/interrupts", &[("x/cpu0", 3)]),
        ]);
        assert_eq!(rows, []);
    }
}
