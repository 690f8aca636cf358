// SPDX-License-Identifier: MIT OR Apache-2.0
//! A repeated check on a terminal: a row per run, and what changed against the runs before.

use linerate_model::output::{Difference, Output, StoredRun, Trend, TrendLevel};
use linerate_model::units::format::UNKNOWN;

use crate::view::comparison::difference;
use crate::view::history::{change_text, cut, minute, title, value};

/// The figures of a row: metric and name.
pub const FIGURES: [(&str, &str); 3] = [
    ("throughput", "tcp up"),
    ("throughput", "tcp down"),
    ("rtt-p99", "probe, idle"),
];

/// The names of the columns.
#[must_use]
pub fn header() -> String {
    cells(
        "UTC",
        ["TCP up", "TCP down", "RTT p99"].map(str::to_owned),
        "worst finding",
    )
}

/// A run in a line of at most `columns`, if there is a limit.
#[must_use]
pub fn row(output: &Output, run: Option<&StoredRun>, columns: Option<usize>) -> String {
    let figure = |(metric, name): (&str, &str)| {
        let mut figures = run.into_iter().flat_map(|run| &run.figures);
        let found = figures.find(|one| one.metric == metric && one.name == name);
        found.map_or_else(|| UNKNOWN.to_owned(), |one| value(one.value, &one.unit))
    };
    let mut text = cells(
        minute(&output.started).get(5..).unwrap_or_default(),
        FIGURES.map(figure),
        &worst(output),
    );
    if let Some(columns) = columns {
        cut(&mut text, columns);
    }
    text
}

fn cells(time: &str, [up, down, rtt]: [String; 3], finding: &str) -> String {
    format!("{time:<11}  {up:>12}  {down:>12}  {rtt:>8}  {finding}")
}

/// What is wrong with the run, or the first thing to fix.
fn worst(output: &Output) -> String {
    let missed = output
        .expectations
        .iter()
        .find(|expectation| !expectation.met);
    let mut causes = output
        .findings
        .iter()
        .filter(|finding| !finding.informational);
    match (&output.error, missed, causes.next()) {
        (Some(error), ..) => format!("{}: {}", error.what, error.why),
        (None, Some(missed), _) => format!("NOT MET: {}", missed.expression),
        (None, None, Some(cause)) => cause.title.clone(),
        (None, None, None) => "nothing to fix".to_owned(),
    }
}

/// A change of level: from where to where, how sure, and since when.
#[must_use]
pub fn change(trend: &Trend, level: &TrendLevel) -> String {
    let started = trend.points.get(level.first as usize);
    let since = started.map_or_else(String::new, |point| minute(&point.started));
    let median = value(level.median, &trend.unit);
    format!(
        "  changed: {}: {median} ({}) since {since}",
        title(trend),
        change_text(level)
    )
}

/// A change that the later runs do not confirm.
#[must_use]
pub fn withdrawn(trend: &Trend, since: &str) -> String {
    format!(
        "  not confirmed: {}: with the later runs there is no change at {}",
        title(trend),
        minute(since)
    )
}

/// What else is different from the run before.
#[must_use]
pub fn differences(all: &[Difference]) -> Vec<String> {
    let shown = all.iter().take(MOST_DIFFERENCES);
    let mut lines: Vec<String> = shown
        .map(|one| format!("  different from the run before: {}", difference(one)))
        .collect();
    if let more @ 1.. = all.len().saturating_sub(MOST_DIFFERENCES) {
        lines.push(format!(
            "  and {more} more differences (linerate compare lists them)"
        ));
    }
    lines
}

const MOST_DIFFERENCES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{ErrorReport, Finding, StoredFigure, TrendPoint};

    fn run() -> StoredRun {
        let figure = |(metric, name): (&str, &str)| StoredFigure {
            metric: metric.to_owned(),
            name: name.to_owned(),
            unit: if metric == "throughput" {
                "bit/s"
            } else {
                "ns"
            }
            .to_owned(),
            value: 94.1e6,
        };
        StoredRun {
            figures: FIGURES.map(figure).to_vec(),
            ..StoredRun::default()
        }
    }

    fn output() -> Output {
        Output {
            started: "2026-01-31T12:00:00Z".to_owned(),
            ..Output::new("check", "0")
        }
    }

    #[test]
    fn a_run_is_a_row_that_fits() {
        let healthy = row(&output(), Some(&run()), Some(80));
        assert_eq!(
            healthy,
            "01-31 12:00  94.10 Mbit/s  94.10 Mbit/s  94.10 ms  nothing to fix"
        );
        let mut sick = output();
        sick.findings.push(Finding {
            title: "the receive ring overflows, again and again, without end".to_owned(),
            ..Finding::default()
        });
        let text = row(&sick, Some(&run()), Some(80));
        assert!(text.ends_with('~') && text.chars().count() == 80, "{text}");
        assert!(row(&sick, Some(&run()), None).ends_with("without end"));
        assert_eq!(
            header().find("RTT"),
            healthy.find("94.10 ms").map(|at| at + 1)
        );
    }

    #[test]
    fn a_run_that_failed_says_why() {
        let output = Output {
            error: Some(ErrorReport {
                what: "cannot connect".to_owned(),
                why: "connection refused".to_owned(),
                ..ErrorReport::default()
            }),
            ..output()
        };
        let text = row(&output, None, Some(100));
        assert!(
            text.ends_with("n/a  cannot connect: connection refused"),
            "{text}"
        );
    }

    #[test]
    fn a_change_names_figure_size_doubt_and_time() {
        let point = TrendPoint {
            started: "2026-01-31T12:00:00Z".to_owned(),
            ..TrendPoint::default()
        };
        let trend = Trend {
            metric: "throughput".to_owned(),
            name: "tcp up".to_owned(),
            unit: "bit/s".to_owned(),
            kind: "check".to_owned(),
            peer: "h2".to_owned(),
            points: vec![point],
            ..Trend::default()
        };
        let level = TrendLevel {
            median: 870e6,
            change_ratio: Some(-0.075),
            p: Some(0.03),
            ..TrendLevel::default()
        };
        assert_eq!(
            change(&trend, &level),
            "  changed: throughput tcp up of check against h2: 870.0 Mbit/s (possibly -7.5 %, p = 0.03) since 2026-01-31 12:00"
        );
    }
}
