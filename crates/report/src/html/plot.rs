// SPDX-License-Identifier: MIT OR Apache-2.0
//! Curves over axes, as inline SVG. Curves differ in dash and mark as well as in colour; each point shows
//! its numbers on hover.

use linerate_model::units::format::{Step, common_step, significant};

use super::writer::{Html, px};
use crate::view::charts::{Axis, Chart, Curve};
use crate::view::span::{short, tick};

/// A figure with its legend. `id` is unique on the page.
pub(super) fn push(html: &mut Html, id: &str, chart: &Chart) {
    html.element("figure", &[("class", "plot")], |html| {
        html.words("figcaption", &[("class", "title")], chart.title);
        let title = format!("{id}-title");
        let attributes = [
            ("viewBox", "0 0 480 304"),
            ("role", "img"),
            ("aria-labelledby", title.as_str()),
            ("class", "zoom"),
        ];
        html.element("svg", &attributes, |html| {
            html.words("title", &[("id", &title)], &spoken(chart));
            drawing(html, id, chart);
        });
        legend(html, chart);
        html.words("p", &[("class", "note")], chart.note);
    });
}

/// The chart for a screen reader.
fn spoken(chart: &Chart) -> String {
    let curves: Vec<&str> = chart
        .curves
        .iter()
        .map(|curve| curve.label.as_str())
        .collect();
    format!(
        "{}: {} over {}, for {}",
        chart.title,
        chart.y.label,
        chart.x.label,
        curves.join("; ")
    )
}

/// Maps numbers to coordinates.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    step: Step,
    steps: &'static [Step],
    logarithmic: bool,
}

impl Scale {
    fn of(axis: Axis, values: &[f64], [from, to]: [f64; 2]) -> Self {
        let known: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let step = common_step(&known, axis.steps);
        let (low, high) = if axis.logarithmic {
            let least = least.max(f64::MIN_POSITIVE);
            (
                10_f64.powf(least.log10().floor()),
                10_f64.powf(most.max(least * 1.01).log10().ceil()),
            )
        } else {
            let tick = tick(most.max(0.0) / step.0) * step.0;
            (0.0, (most / tick).ceil().max(1.0) * tick)
        };
        Self {
            low,
            high,
            from,
            to,
            step,
            steps: axis.steps,
            logarithmic: axis.logarithmic,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + (self.to - self.from) * share
    }

    /// A line, and its label.
    fn ticks(&self) -> Vec<(f64, String)> {
        let mut values = Vec::new();
        if self.logarithmic {
            let mut value = self.low;
            while value <= self.high * 1.001 {
                values.push(value);
                value *= 10.0;
            }
        } else {
            let tick = tick(self.high / self.step.0) * self.step.0;
            let many = (self.high / tick).round() as u32;
            values.extend((0..=many).map(|count| f64::from(count) * tick));
        }
        values
            .into_iter()
            .map(|value| (self.at(value), self.tick(value)))
            .collect()
    }

    /// Decades have a unit each.
    fn tick(&self, value: f64) -> String {
        if self.logarithmic {
            let (size, unit) = common_step(&[Some(value)], self.steps);
            return format!("{} {unit}", short(value / size));
        }
        short(value / self.step.0)
    }

    fn unit(&self) -> String {
        match self.logarithmic {
            true => String::new(),
            false => format!(" ({})", self.step.1),
        }
    }
}

fn drawing(html: &mut Html, id: &str, chart: &Chart) {
    let values = |of: fn(&(f64, f64)) -> f64| {
        let points = chart.curves.iter().flat_map(|curve| &curve.points);
        points.map(of).collect::<Vec<f64>>()
    };
    let y = Scale::of(chart.y, &values(|point| point.1), [BOTTOM, TOP]);
    let longest = y.ticks().iter().map(|(_, text)| text.chars().count()).max();
    let left = 14.0 + LETTER * longest.unwrap_or(0) as f64;
    let x = Scale::of(chart.x, &values(|point| point.0), [left, RIGHT]);
    grid(html, &x, &y);
    titles(html, chart, &x, &y);
    let clip = format!("{id}-clip");
    html.element("clipPath", &[("id", &clip)], |html| {
        let [width, height] = [RIGHT - left + 8.0, BOTTOM - TOP + 8.0];
        rect(html, "clip", [left - 4.0, TOP - 4.0], [width, height]);
    });
    let clip = format!("url(#{clip})");
    html.element("g", &[("clip-path", &clip)], |html| {
        for (number, curve) in chart.curves.iter().enumerate() {
            self::curve(html, number, curve, chart.dots, [&x, &y]);
        }
    });
}

fn grid(html: &mut Html, x: &Scale, y: &Scale) {
    html.element("g", &[("class", "grid")], |html| {
        for (at, text) in y.ticks() {
            line(html, [x.from, at], [RIGHT, at]);
            label(html, [x.from - 6.0, at + 4.0], "end", &text);
        }
        for (at, text) in x.ticks() {
            line(html, [at, BOTTOM], [at, BOTTOM + 5.0]);
            label(html, [at, BOTTOM + 18.0], "middle", &text);
        }
    });
}

fn titles(html: &mut Html, chart: &Chart, x: &Scale, y: &Scale) {
    let with_unit = |axis: &Axis, scale: &Scale| format!("{}{}", axis.label, scale.unit());
    html.element("g", &[("class", "axis")], |html| {
        label(
            html,
            [f64::midpoint(x.from, RIGHT), 296.0],
            "middle",
            &with_unit(&chart.x, x),
        );
        label(html, [4.0, 17.0], "start", &with_unit(&chart.y, y));
    });
}

pub(super) fn line(html: &mut Html, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
    let places = [x1, y1, x2, y2].map(px);
    html.empty(
        "line",
        &[
            ("x1", &places[0]),
            ("y1", &places[1]),
            ("x2", &places[2]),
            ("y2", &places[3]),
        ],
    );
}

pub(super) fn rect(html: &mut Html, class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2]) {
    let sizes = [x, y, width, height].map(px);
    html.empty(
        "rect",
        &[
            ("class", class),
            ("x", &sizes[0]),
            ("y", &sizes[1]),
            ("width", &sizes[2]),
            ("height", &sizes[3]),
        ],
    );
}

pub(super) fn label(html: &mut Html, [x, y]: [f64; 2], anchor: &str, text: &str) {
    html.words(
        "text",
        &[("x", &px(x)), ("y", &px(y)), ("text-anchor", anchor)],
        text,
    );
}

fn curve(html: &mut Html, number: usize, curve: &Curve, dots: bool, [x, y]: [&Scale; 2]) {
    let places: Vec<[f64; 2]> = curve
        .points
        .iter()
        .map(|point| [x.at(point.0), y.at(point.1)])
        .collect();
    let class = class(number, curve);
    html.element("g", &[("class", &class)], |html| {
        if curve.limit || !dots {
            let path: Vec<String> = places
                .iter()
                .map(|[x, y]| format!("{} {}", px(*x), px(*y)))
                .collect();
            let path = format!("M{}", path.join("L"));
            html.empty("path", &[("class", "curve"), ("d", &path)]);
        }
        if curve.limit || (places.len() > MOST_MARKS && !dots) {
            return;
        }
        if places.len() > MOST_MARKS {
            let marks: String = places.iter().map(|place| mark(number, *place)).collect();
            html.empty("path", &[("class", "mark many"), ("d", &marks)]);
            return;
        }
        for (place, point) in places.iter().zip(&curve.points) {
            let (over, value) = (with_unit(point.0, x.step), with_unit(point.1, y.step));
            html.element(
                "path",
                &[("class", "mark"), ("d", &mark(number, *place))],
                |html| {
                    html.words("title", &[], &format!("{}: {value} at {over}", curve.label));
                },
            );
        }
    });
}

fn with_unit(value: f64, (size, unit): Step) -> String {
    format!("{} {unit}", significant(value / size))
}

/// The mark of a curve: a circle, a square or a triangle.
pub(super) fn mark(number: usize, [x, y]: [f64; 2]) -> String {
    let [left, right, top, bottom] = [x - 3.5, x + 3.5, y - 3.5, y + 3.5].map(px);
    let [x, y] = [x, y].map(px);
    match number % 3 {
        0 => format!("M{left} {y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z"),
        1 => format!("M{left} {top}H{right}V{bottom}H{left}Z"),
        _ => format!("M{x} {top}L{right} {bottom}H{left}Z"),
    }
}

fn class(number: usize, curve: &Curve) -> String {
    match curve.limit {
        true => "limit".to_owned(),
        false => format!("c{}", number % 6),
    }
}

fn legend(html: &mut Html, chart: &Chart) {
    html.element("ul", &[("class", "legend")], |html| {
        for (number, curve) in chart.curves.iter().enumerate() {
            html.element("li", &[], |html| {
                let class = class(number, curve);
                html.element(
                    "svg",
                    &[
                        ("viewBox", "0 0 34 12"),
                        ("class", "swatch"),
                        ("aria-hidden", "true"),
                    ],
                    |html| {
                        html.element("g", &[("class", &class)], |html| {
                            if curve.limit || !chart.dots {
                                html.empty("path", &[("class", "curve"), ("d", "M1 6L33 6")]);
                            }
                            if !curve.limit {
                                html.empty(
                                    "path",
                                    &[("class", "mark"), ("d", &mark(number, [17.0, 6.0]))],
                                );
                            }
                        });
                    },
                );
                html.words("span", &[], &curve.label);
            });
        }
    });
}

/// The width of a digit on a phone, the widest.
const LETTER: f64 = 10.2;
const RIGHT: f64 = 446.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 252.0;
/// A curve of more points has no marks, and no hover.
const MOST_MARKS: usize = 30;
