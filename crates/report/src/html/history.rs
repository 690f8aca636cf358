// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stored runs as a page: what changed, then each figure over time with its levels.

mod plot;

use linerate_model::output::{History, Output, Trend};

use super::writer::Html;
use super::{blocks, footer, head};
use crate::view::history::{self as view, minute};
use crate::view::{Block, Line, Tone};

/// The whole page of these figures, in this order.
#[must_use]
pub fn render(output: &Output, trends: &[Trend]) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n");
    let title = title(trends);
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| head(html, &title));
        html.element("body", &[], |html| {
            html.element("main", &[("id", "main")], |html| {
                html.element("header", &[], |html| {
                    html.words("h1", &[], &title);
                    html.words("p", &[], &span(output.history.as_ref(), trends));
                });
                section(html, "What changed", |html| changed(html, output, trends));
                section(html, "Each figure over time", |html| figures(html, trends));
            });
            footer(html);
        });
    });
    html.raw("\n");
    html.into_text()
}

/// With the peer if there is only one.
fn title(trends: &[Trend]) -> String {
    match trends {
        [first, others @ ..] if others.iter().all(|other| other.peer == first.peer) => {
            format!("linerate history: {}", first.peer)
        }
        _ => "linerate history".to_owned(),
    }
}

/// How many runs, and from when to when.
fn span(history: Option<&History>, trends: &[Trend]) -> String {
    let points = || trends.iter().flat_map(|trend| &trend.points);
    let starts = || points().map(|point| point.started.as_str());
    let runs = history.into_iter().flat_map(|history| &history.runs);
    let runs = runs.filter(|run| !run.measured_nothing()).count();
    let place = history.map_or("", |history| history.directory.as_str());
    match (starts().min(), starts().max()) {
        (Some(first), Some(last)) => format!(
            "{runs} runs in {place}, {} to {} UTC",
            minute(first),
            minute(last)
        ),
        _ => format!("no complete run with a figure in {place}"),
    }
}

fn section(html: &mut Html, title: &str, inner: impl FnOnce(&mut Html)) {
    html.element("section", &[("aria-label", title)], |html| {
        html.words("h2", &[], title);
        inner(html);
    });
}

/// Each change of level, with what else changed then.
fn changed(html: &mut Html, output: &Output, trends: &[Trend]) {
    let mut lines: Vec<Line> = Vec::new();
    for trend in trends.iter().filter(|trend| trend.levels.len() > 1) {
        let mut said = view::changes(trend).into_iter();
        if let Some(first) = said.next() {
            let text = format!("{}: {}", view::title(trend), first.text);
            lines.push(Line {
                indent: 2,
                text,
                tone: Tone::Warn,
                ..first
            });
        }
        lines.extend(said.map(|line| Line {
            indent: line.indent + 4,
            ..line
        }));
    }
    if lines.is_empty() && !trends.is_empty() {
        lines.push(Line::new(2, "no figure shows a change of level"));
    }
    blocks::lines(html, &lines);
    if !trends.is_empty() {
        html.words("p", &[("class", "note")], &doubts(trends));
    }
    let history = output.history.iter();
    let failed = history.filter_map(view::failed);
    let failed: Vec<Line> = failed.collect();
    if !failed.is_empty() {
        blocks::push(
            html,
            "h3",
            &Block::Lines {
                heading: String::new(),
                lines: failed,
            },
        );
    }
}

/// What may mislead.
fn doubts(trends: &[Trend]) -> String {
    let too_few = |trend: &&Trend| trend.points.len() < 2 * trend.shortest_level_runs as usize;
    let few = trends.iter().filter(too_few).count();
    let least = trends
        .first()
        .map_or(0, |trend| 2 * trend.shortest_level_runs);
    let few = match few {
        0 => String::new(),
        few => format!(
            " {few} of them have fewer than {least} runs, in which no change can be detected."
        ),
    };
    format!(
        "{} figures, each judged on its own: of twenty that did not change, up to one shows a change by chance.{few}",
        trends.len()
    )
}

fn figures(html: &mut Html, trends: &[Trend]) {
    html.element("div", &[("class", "trends")], |html| {
        for (number, trend) in trends.iter().enumerate() {
            plot::push(html, &format!("trend-{number}"), trend);
        }
    });
}

#[cfg(test)]
mod tests;
