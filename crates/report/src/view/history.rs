// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stored runs, the newest last, the attempts that failed, and one figure over the runs.

use linerate_model::output::{History, Output, StoredRun, Trend, TrendLevel, Unreadable};
use linerate_model::units::format::{
    BIT_RATES, PACKET_RATES, TIMES, UNKNOWN, percent, significant, with_unit,
};

use super::comparison::{difference, probability};
use super::{Align, Block, Column, Line, Table, Tone};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let Some(history) = &output.history else {
        return Vec::new();
    };
    let blocks = match &history.trend {
        Some(trend) => [Some(points(trend)), Block::lines("", changes(trend))],
        None => listed(history),
    };
    let blocks = blocks.into_iter().chain([unreadable(history)]);
    blocks.flatten().collect()
}

/// The runs, and in one line the attempts that measured nothing; these alone where no run is left.
fn listed(history: &History) -> [Option<Block>; 2] {
    let all = history.runs.iter();
    let (failed, runs): (Vec<_>, Vec<_>) = all.partition(|run| run.measured_nothing());
    let none = || format!("no matching run in {}", history.directory);
    match (runs.as_slice(), failed.as_slice()) {
        ([], []) => [Block::lines("", [Line::new(0, none())]), None],
        ([], failed) => [attempts(history, failed), None],
        (runs, failed) => [
            Some(table(history, runs)),
            Block::lines("", summed_up(failed)),
        ],
    }
}

fn table(history: &History, runs: &[&StoredRun]) -> Block {
    let words =
        |name: &str, of: &dyn Fn(&&StoredRun) -> String| Column::words(name, runs.iter().map(of));
    let tone = |run: &&StoredRun| if run.partial { Tone::Warn } else { Tone::Plain };
    let mut columns = vec![
        words("run", &|run| run.name.clone()),
        Column {
            align: Align::Right,
            ..words("figure", &|run| figure(run))
        },
        words("of", &|run| of(run)),
    ];
    narrow(&mut columns);
    Block::Table(Table {
        heading: format!(
            "{} in {}{}",
            number("run", runs.len()),
            history.directory,
            older(history)
        ),
        keys: 1,
        columns,
        tones: runs.iter().map(tone).collect(),
    })
}

fn older(history: &History) -> String {
    match history.more {
        0 => String::new(),
        more => format!("; {more} older ones not shown (-n)"),
    }
}

/// The last column gives way, so that a row is a line of 80 columns. The names of runs stay whole: they are copied.
fn narrow(columns: &mut Vec<Column>) {
    let [names, others @ .., of] = columns.as_mut_slice() else {
        return;
    };
    let longest = |column: &Column| {
        let cells = column.cells.iter().map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(column.name.len())
    };
    let used: usize = others.iter().chain([&*names]).map(longest).sum();
    let room = COLUMNS.saturating_sub(used + 2 * (others.len() + 2));
    if room < FEWEST_COLUMNS {
        columns.pop();
        return;
    }
    of.cells.iter_mut().for_each(|cell| cut(cell, room));
}

/// Ends a longer text with a tilde.
pub(crate) fn cut(text: &mut String, columns: usize) {
    if text.chars().count() > columns {
        *text = text.chars().take(columns - 1).collect();
        text.push('~');
    }
}

/// The attempts with their reasons.
fn attempts(history: &History, failed: &[&StoredRun]) -> Option<Block> {
    let line = |run: &&StoredRun| {
        let why = run.error.as_deref().unwrap_or(NO_REASON);
        Line::new(2, format!("{}: {why}", run.name)).tone(Tone::Warn)
    };
    let heading = format!(
        "{} failed in {}{}",
        number("attempt", failed.len()),
        history.directory,
        older(history)
    );
    Block::lines(&heading, failed.iter().map(line))
}

/// The attempts in one line: what failed, the newest first.
fn summed_up(failed: &[&StoredRun]) -> Option<Line> {
    let what = |run: &&StoredRun| {
        let error = run.error.as_deref().unwrap_or(NO_REASON);
        error.split(": ").next().unwrap_or_default().to_owned()
    };
    let mut all: Vec<String> = failed.iter().rev().map(what).collect();
    all.dedup();
    let more = if all.len() > MOST_REASONS { " …" } else { "" };
    all.truncate(MOST_REASONS);
    let text = format!(
        "{} failed: {}{more} (--failed lists them)",
        number("attempt", failed.len()),
        all.join("; ")
    );
    (!failed.is_empty()).then(|| Line::new(0, text))
}

fn number(what: &str, count: usize) -> String {
    match count {
        1 => format!("1 {what}"),
        more => format!("{more} {what}s"),
    }
}

/// The main figure.
fn figure(run: &StoredRun) -> String {
    let first = run.figures.first();
    first.map_or_else(
        || UNKNOWN.to_owned(),
        |figure| value(figure.value, &figure.unit),
    )
}

fn of(run: &StoredRun) -> String {
    let first = run.figures.first();
    let named = first.map(|figure| format!("{} {}", figure.metric, figure.name));
    let what = named.or_else(|| run.verdict.as_deref().map(gist));
    let what = what.unwrap_or_default();
    match (run.partial, what.as_str()) {
        (false, _) => what,
        (true, "") => "partial".to_owned(),
        (true, _) => format!("{what}, partial"),
    }
}

/// The verdict without intervals and reasons, to fit a line.
fn gist(verdict: &str) -> String {
    let gist = verdict.split(['(', ';']).next();
    gist.unwrap_or_default().trim_end().to_owned()
}

/// The figure, the command and the peer.
pub(crate) fn title(trend: &Trend) -> String {
    format!(
        "{} {} of {} against {}",
        trend.metric, trend.name, trend.kind, trend.peer
    )
}

fn points(trend: &Trend) -> Block {
    let points = &trend.points;
    let level = |at: usize| {
        let mut levels = trend.levels.iter().enumerate();
        levels.find(|(_, level)| level.first as usize == at)
    };
    let level_at = |at| level(at).map_or_else(String::new, |(_, level)| level_text(trend, level));
    let most = points.iter().map(|point| point.value).fold(0.0, f64::max);
    let tone = |at| match level(at) {
        Some((1.., _)) => Tone::Warn,
        _ => Tone::Plain,
    };
    let cells = points
        .iter()
        .map(|point| Some(value(point.value, &trend.unit)));
    Block::Table(Table {
        heading: title(trend),
        keys: 1,
        columns: vec![
            Column::words("started", points.iter().map(|point| minute(&point.started))),
            Column {
                align: Align::Right,
                ..Column::texts("value", "", cells)
            },
            Column::words("", points.iter().map(|point| bar(point.value, most))),
            Column::words("level", (0..points.len()).map(level_at)),
        ],
        tones: (0..points.len()).map(tone).collect(),
    })
}

fn level_text(trend: &Trend, level: &TrendLevel) -> String {
    let median = value(level.median, &trend.unit);
    match level.change_ratio {
        Some(change) => format!("{}{median} ({:+.1} %)", doubt(level), change * 100.0),
        None => median,
    }
}

/// The size of a change and its p.
pub(crate) fn change_text(level: &TrendLevel) -> String {
    let size = level
        .change_ratio
        .map_or_else(String::new, |change| format!("{:+.1} %", change * 100.0));
    match level.p {
        Some(p) => format!("{}{size}, p = {}", doubt(level), probability(p)),
        None => size,
    }
}

/// The line about the attempts that measured nothing.
pub(crate) fn failed(history: &History) -> Option<Line> {
    let all = history.runs.iter();
    let failed: Vec<&StoredRun> = all.filter(|run| run.measured_nothing()).collect();
    summed_up(&failed)
}

/// For a change with weak evidence.
fn doubt(level: &TrendLevel) -> &'static str {
    match level.p {
        Some(p) if p > WEAK => "possibly ",
        _ => "",
    }
}

/// Whether the level changed, and after each change what else changed then.
pub(crate) fn changes(trend: &Trend) -> Vec<Line> {
    let mut lines = vec![Line::new(0, levels(trend))];
    for level in trend
        .levels
        .iter()
        .filter(|level| !level.changed.is_empty())
    {
        let started = trend.points.get(level.first as usize);
        let started = started.map_or("", |point| point.started.as_str());
        let text = format!("also different since {}:", minute(started));
        lines.push(Line::new(0, text));
        let differences = level.changed.iter().take(MOST_DIFFERENCES);
        lines.extend(differences.map(|one| Line::new(2, difference(one))));
        if let more @ 1.. = level.changed.len().saturating_sub(MOST_DIFFERENCES) {
            lines.push(Line::new(2, format!("and {more} more (--json)")));
        }
    }
    lines
}

fn levels(trend: &Trend) -> String {
    match trend.levels.as_slice() {
        _ if trend.points.len() < 2 * trend.shortest_level_runs as usize => format!(
            "{} runs: a change can be detected from {} runs",
            trend.points.len(),
            2 * trend.shortest_level_runs
        ),
        [] | [_] => "no change of level is shown".to_owned(),
        levels => {
            let changes = levels.iter().skip(1).map(|level| {
                let started = trend.points.get(level.first as usize);
                let started = started.map_or("", |point| point.started.as_str());
                let p = level
                    .p
                    .map_or(String::new(), |p| format!(", p = {}", probability(p)));
                format!("{}: {}{p}", minute(started), level_text(trend, level))
            });
            let changes: Vec<_> = changes.collect();
            let sure = levels.iter().all(|level| doubt(level).is_empty());
            let times = match (sure, changes.len()) {
                (true, 1) => "the level changed once".to_owned(),
                (true, n) => format!("the level changed {n} times"),
                (false, 1) => "the level may have changed once".to_owned(),
                (false, n) => format!("the level may have changed up to {n} times"),
            };
            format!("{times}: {}", changes.join("; "))
        }
    }
}

fn unreadable(history: &History) -> Option<Block> {
    let line =
        |one: &Unreadable| Line::new(2, format!("{}: {}", one.name, one.why)).tone(Tone::Warn);
    Block::lines("not read:", history.unreadable.iter().map(line))
}

/// `2026-01-31 12:00`, of RFC 3339.
pub(crate) fn minute(started: &str) -> String {
    started.get(..16).unwrap_or(started).replace('T', " ")
}

pub(crate) fn value(value: f64, unit: &str) -> String {
    match unit {
        "bit/s" => with_unit(value, BIT_RATES),
        "frame/s" => with_unit(value, PACKET_RATES),
        "ns" => with_unit(value, TIMES),
        "" => format!("{} %", percent(value)),
        other => format!("{} {other}", significant(value)),
    }
}

fn bar(value: f64, most: f64) -> String {
    let share = if most > 0.0 { value / most } else { 0.0 };
    "#".repeat((share * BAR_COLUMNS).round() as usize)
}

const COLUMNS: usize = 80;
/// Less of a figure's name says nothing.
const FEWEST_COLUMNS: usize = 10;
const NO_REASON: &str = "ended before it measured anything";
const MOST_REASONS: usize = 2;
const MOST_DIFFERENCES: usize = 8;
/// A row with a doubtful change of level fits 80 columns.
const BAR_COLUMNS: f64 = 10.0;
/// The p above which a change is only possible.
const WEAK: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::TrendPoint;

    fn text(history: History) -> String {
        let output = Output {
            history: Some(history),
            ..Output::new("history", "0")
        };
        let mut text = String::new();
        for block in blocks(&output) {
            match block {
                Block::Drawing { rows, .. } => text += &rows.join("\n"),
                Block::Table(table) => {
                    text += &format!("{}\n", table.heading);
                    for row in 0..table.rows() {
                        let cells = table.columns.iter().map(|column| column.cells[row].trim());
                        text += &format!("{}\n", cells.collect::<Vec<_>>().join(" | "));
                    }
                }
                Block::Lines { heading, lines } => {
                    let lines: Vec<_> = lines.into_iter().map(|line| line.text).collect();
                    text += &format!("{heading}{}\n", lines.join("\n"));
                }
            }
        }
        text
    }

    #[test]
    fn a_run_is_a_line_with_its_figure() {
        let run = StoredRun {
            name: "20260131T120000Z-udp-h2".to_owned(),
            started: "2026-01-31T12:00:00Z".to_owned(),
            kind: "udp".to_owned(),
            peer: "h2".to_owned(),
            partial: true,
            figures: vec![linerate_model::output::StoredFigure {
                metric: "throughput".to_owned(),
                name: "udp up".to_owned(),
                unit: "bit/s".to_owned(),
                value: 398.2e6,
            }],
            ..StoredRun::default()
        };
        let experiment = StoredRun {
            name: "20260131T130000Z-ab-h2".to_owned(),
            verdict: Some(
                "B is better: throughput tcp up x 3.787 (3.5 … 4.1), p = 0.0078".to_owned(),
            ),
            ..StoredRun::default()
        };
        let history = History {
            directory: "/runs".to_owned(),
            runs: vec![run, failed("resolve h3: no such host"), experiment],
            more: 7,
            unreadable: vec![Unreadable {
                name: "x".to_owned(),
                why: "no run.json".to_owned(),
            }],
            trend: None,
        };
        assert_eq!(
            text(history),
            "2 runs in /runs; 7 older ones not shown (-n)\n\
             20260131T120000Z-udp-h2 | 398.2 Mbit/s | throughput udp up, partial\n\
             20260131T130000Z-ab-h2 | n/a | B is better: throughput tcp up x 3.787\n\
             1 attempt failed: resolve h3 (--failed lists them)\n\
             not read:x: no run.json\n"
        );
    }

    fn failed(why: &str) -> StoredRun {
        StoredRun {
            name: "20260131T123000Z-tcp-h3".to_owned(),
            partial: true,
            error: Some(why.to_owned()),
            ..StoredRun::default()
        }
    }

    #[test]
    fn attempts_alone_are_listed_with_their_reasons() {
        let history = History {
            directory: "/runs".to_owned(),
            runs: vec![
                failed("resolve h3: no such host"),
                failed("connect: refused"),
            ],
            ..History::default()
        };
        assert_eq!(
            text(history),
            "2 attempts failed in /runs20260131T123000Z-tcp-h3: resolve h3: no such host\n\
             20260131T123000Z-tcp-h3: connect: refused\n"
        );
    }

    #[test]
    fn a_row_fits_80_columns_and_keeps_the_name_of_its_run() {
        let run = |peer: &str| StoredRun {
            name: format!("20260131T120000Z-ab-{peer}"),
            verdict: Some("better: tcp up, 16 streams x 3.787".to_owned()),
            ..StoredRun::default()
        };
        for (peer, whole) in [("h2", true), ("a-host.with.a.long.name.example.net", false)] {
            let output = Output {
                history: Some(History {
                    runs: vec![run(peer)],
                    ..History::default()
                }),
                ..Output::new("history", "0")
            };
            let text = crate::term::render(&output, &crate::term::Style::default());
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 3, "one table: {text:?}");
            assert!(lines.iter().all(|line| line.len() <= 80), "{text:?}");
            assert!(lines[2].contains(&run(peer).name), "{text:?}");
            assert_eq!(lines[2].contains("16 streams x 3.787"), whole, "{text:?}");
        }
    }

    #[test]
    fn nothing_is_no_table() {
        let history = History {
            directory: "/runs".to_owned(),
            ..History::default()
        };
        assert_eq!(text(history), "no matching run in /runs\n");
    }

    #[test]
    fn a_change_of_level_is_shown_where_it_happened() {
        let point = |day: u32, value| TrendPoint {
            started: format!("2026-01-{day:02}T12:00:00Z"),
            value,
            ..TrendPoint::default()
        };
        let level = |first, median, change_ratio| TrendLevel {
            first,
            runs: 3,
            median,
            change_ratio,
            p: change_ratio.map(|_| 0.002),
            changed: Vec::new(),
        };
        let mut trend = Trend {
            metric: "throughput".to_owned(),
            name: "tcp up".to_owned(),
            unit: "bit/s".to_owned(),
            kind: "tcp".to_owned(),
            peer: "h2".to_owned(),
            points: (1..=6)
                .map(|day| point(day, if day < 4 { 941e6 } else { 870e6 }))
                .collect(),
            levels: vec![level(0, 941e6, None), level(3, 870e6, Some(-0.0755))],
            shortest_level_runs: 3,
        };
        let text_of = |trend: Trend| {
            text(History {
                trend: Some(trend),
                ..History::default()
            })
        };
        let text = text_of(trend.clone());
        assert!(
            text.contains("2026-01-04 12:00 | 870.0 Mbit/s | ######### | 870.0 Mbit/s (-7.5 %)"),
            "{text}"
        );
        assert!(
            text.ends_with(
                "the level changed once: 2026-01-04 12:00: 870.0 Mbit/s (-7.5 %), p = 0.002\n"
            ),
            "{text}"
        );
        trend.levels[1].p = Some(0.03);
        let text = text_of(trend);
        assert!(
            text.ends_with(
                "the level may have changed once: 2026-01-04 12:00: possibly 870.0 Mbit/s (-7.5 %), p = 0.03\n"
            ),
            "{text}"
        );
    }
}
