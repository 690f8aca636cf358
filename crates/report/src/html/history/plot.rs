// SPDX-License-Identifier: MIT OR Apache-2.0
//! One figure over time as inline SVG: a dot per run, a line per level, each change marked with its size.

use linerate_model::date::Date;
use linerate_model::output::{Trend, TrendLevel};
use linerate_model::units::format::{BIT_RATES, PACKET_RATES, Step, TIMES, common_step};

use crate::html::plot::{label, line, mark};
use crate::html::writer::{Html, px};
use crate::view::history::{change_text, minute, title, value};
use crate::view::span::{Span, short};

/// A figure; `id` is unique on the page.
pub(super) fn push(html: &mut Html, id: &str, trend: &Trend) {
    let values: Vec<f64> = trend.points.iter().map(|point| point.value).collect();
    let Some(y) = Span::around(&values) else {
        return;
    };
    let times = times(trend);
    html.element("figure", &[("class", "trend")], |html| {
        html.words("figcaption", &[("class", "title")], &title(trend));
        let id = format!("{id}-title");
        let attributes = [
            ("viewBox", "0 0 480 240"),
            ("role", "img"),
            ("aria-labelledby", id.as_str()),
        ];
        html.element("svg", &attributes, |html| {
            let text = format!("{}: {} runs over time", title(trend), values.len());
            html.words("title", &[("id", &id)], &text);
            let plot = Plot {
                trend,
                times: &times,
                y,
            };
            plot.axes(html);
            plot.levels(html);
            plot.dots(html);
        });
        html.words("p", &[("class", "note")], &note(trend));
    });
}

/// Seconds since 1970; the numbers of the runs if a clock was not set.
fn times(trend: &Trend) -> Vec<f64> {
    let second = |started: &str| Date::read(started).filter(|date| date.trusted());
    let known = trend.points.iter().map(|point| second(&point.started));
    let known: Option<Vec<Date>> = known.collect();
    match known {
        Some(dates) => dates
            .iter()
            .map(|date| date.unix_seconds() as f64)
            .collect(),
        None => (0..trend.points.len()).map(|run| run as f64).collect(),
    }
}

/// The level at the end.
fn note(trend: &Trend) -> String {
    let last = trend
        .points
        .last()
        .map_or("", |point| point.started.as_str());
    let median = trend.levels.last().map_or(0.0, |level| level.median);
    let runs = trend.levels.last().map_or(0, |level| level.runs);
    let median = value(median, &trend.unit);
    format!(
        "median of the last {runs} runs {median}; last run {}",
        minute(last)
    )
}

struct Plot<'t> {
    trend: &'t Trend,
    times: &'t [f64],
    y: Span,
}

impl Plot<'_> {
    fn x(&self, time: f64) -> f64 {
        let (first, last) = self.ends();
        let share = match last - first {
            length if length > 0.0 => (time - first) / length,
            _ => 0.5,
        };
        LEFT + ROOM + (RIGHT - LEFT - 2.0 * ROOM) * share
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM + (TOP - BOTTOM) * self.y.share(value)
    }

    fn ends(&self) -> (f64, f64) {
        let least = self.times.iter().copied().fold(f64::MAX, f64::min);
        (least, self.times.iter().copied().fold(f64::MIN, f64::max))
    }

    fn axes(&self, html: &mut Html) {
        let (size, unit) = step(self.trend);
        html.element("g", &[("class", "grid")], |html| {
            for value in self.y.ticks() {
                let at = self.y(value);
                line(html, [LEFT, at], [RIGHT, at]);
                label(html, [LEFT - 6.0, at + 4.0], "end", &short(value / size));
            }
            for time in self.dates() {
                let at = self.x(time);
                line(html, [at, BOTTOM], [at, BOTTOM + 5.0]);
                label(html, [at, BOTTOM + 18.0], "middle", &self.date(time));
            }
        });
        html.element("g", &[("class", "axis")], |html| {
            let unit = match unit {
                "" => self.trend.unit.as_str(),
                known => known,
            };
            label(html, [4.0, 14.0], "start", unit);
        });
    }

    /// Round moments of the time axis.
    fn dates(&self) -> Vec<f64> {
        let (first, last) = self.ends();
        let fits = |step: &&f64| (last - first) / **step <= MOST_DATES;
        let step = STEPS_S.iter().find(fits).copied();
        let step = step.unwrap_or(((last - first) / MOST_DATES).max(1.0));
        let from = (first / step).ceil();
        let many = ((last / step).floor() - from).max(-1.0) as i64 + 1;
        let round: Vec<f64> = (0..many).map(|at| (from + at as f64) * step).collect();
        if round.is_empty() { vec![first] } else { round }
    }

    fn date(&self, time: f64) -> String {
        if time < YEAR_S {
            return short(time + 1.0);
        }
        let (first, last) = self.ends();
        let text = Date::at(time as u64 * 1_000_000_000).to_string();
        let text = text.replace('T', " ");
        match last - first {
            days if days < 4.0 * DAY_S => text.get(5..16),
            _ => text.get(..10),
        }
        .unwrap_or_default()
        .to_owned()
    }

    fn levels(&self, html: &mut Html) {
        for (number, level) in self.trend.levels.iter().enumerate() {
            let first = level.first as usize;
            let last = (first + level.runs as usize).min(self.times.len());
            let Some([begin, end]) = self.stretch(first, last) else {
                continue;
            };
            let at = self.y(level.median);
            html.element("g", &[("class", "level")], |html| {
                line(html, [begin - 4.0, at], [end + 4.0, at]);
            });
            if number > 0 {
                self.change(html, number, begin, level);
            }
        }
    }

    /// The coordinates of the first and the last run of a level.
    fn stretch(&self, first: usize, last: usize) -> Option<[f64; 2]> {
        let times = self.times.get(first..last)?;
        Some([self.x(*times.first()?), self.x(*times.last()?)])
    }

    fn change(&self, html: &mut Html, number: usize, at: f64, level: &TrendLevel) {
        let text = change_text(level);
        let row = ROW + ROW * ((number - 1) % 2) as f64;
        html.element("g", &[("class", "change")], |html| {
            line(html, [at - 4.0, row + 4.0], [at - 4.0, BOTTOM]);
        });
        let anchor = match at {
            left if left < 150.0 => "start",
            right if right > 360.0 => "end",
            _ => "middle",
        };
        let [x, y] = [at - 4.0, row].map(px);
        let attributes = [
            ("class", "change"),
            ("x", x.as_str()),
            ("y", y.as_str()),
            ("text-anchor", anchor),
        ];
        html.words("text", &attributes, &text);
    }

    fn dots(&self, html: &mut Html) {
        html.element("g", &[("class", "c0")], |html| {
            for (point, time) in self.trend.points.iter().zip(self.times) {
                let place = [self.x(*time), self.y(point.value)];
                let path = mark(0, place);
                html.element("path", &[("class", "mark"), ("d", &path)], |html| {
                    let value = value(point.value, &self.trend.unit);
                    html.words("title", &[], &format!("{}: {value}", point.run));
                });
            }
        });
    }
}

/// The unit of the axis; without a name it is the figure's.
fn step(trend: &Trend) -> Step {
    let values: Vec<Option<f64>> = trend.points.iter().map(|point| Some(point.value)).collect();
    match trend.unit.as_str() {
        "bit/s" => common_step(&values, BIT_RATES),
        "frame/s" => common_step(&values, PACKET_RATES),
        "ns" => common_step(&values, TIMES),
        "" => (0.01, "%"),
        _ => (1.0, ""),
    }
}

const LEFT: f64 = 56.0;
const RIGHT: f64 = 472.0;
/// Above are two rows of labels of changes.
const TOP: f64 = 2.0 * ROW + 8.0;
const BOTTOM: f64 = 206.0;
const ROW: f64 = 15.0;
/// Free at either end of the time axis, so that no dot is cut.
const ROOM: f64 = 12.0;
const DAY_S: f64 = 86400.0;
const YEAR_S: f64 = 365.0 * DAY_S;
/// Labels that fit.
const MOST_DATES: f64 = 4.0;
const STEPS_S: [f64; 16] = [
    60.0,
    300.0,
    900.0,
    1800.0,
    3600.0,
    3.0 * 3600.0,
    6.0 * 3600.0,
    12.0 * 3600.0,
    DAY_S,
    2.0 * DAY_S,
    7.0 * DAY_S,
    14.0 * DAY_S,
    30.0 * DAY_S,
    91.0 * DAY_S,
    182.0 * DAY_S,
    YEAR_S,
];
