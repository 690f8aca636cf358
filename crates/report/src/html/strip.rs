// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heat strips: the load of each processor over the time of the run.

use linerate_model::series::{Series, Span, most};

use super::plot::{label, rect};
use super::writer::{Html, px};
use crate::view::span::{short, tick};

/// A figure. `id` is unique on the page.
pub(super) fn push(html: &mut Html, id: &str, name: &str, all: &[Series]) {
    let rows = &all[..all.len().min(MOST)];
    let ends = rows
        .iter()
        .flat_map(|row| &row.spans)
        .map(|span| span.end_s);
    let end_s = ends.fold(0.0, f64::max);
    if end_s <= 0.0 {
        return;
    }
    let height = rows.len() as f64 * ROW + 26.0;
    let (frame, title) = (format!("0 0 480 {}", px(height)), format!("{id}-title"));
    html.element("figure", &[("class", "strip")], |html| {
        html.words("figcaption", &[("class", "title")], name);
        let attributes = [
            ("viewBox", frame.as_str()),
            ("role", "img"),
            ("aria-labelledby", title.as_str()),
            ("class", "zoom"),
        ];
        html.element("svg", &attributes, |html| {
            html.words("title", &[("id", &title)], &spoken(name, rows));
            for (number, row) in rows.iter().enumerate() {
                self::row(html, row, number as f64 * ROW, end_s);
            }
            axis(html, rows.len() as f64 * ROW + 18.0, end_s);
        });
        let note = match all.len() - rows.len() {
            0 => "shade: load; number: highest load; blank: between tests".to_owned(),
            more => format!("shade: load; number: highest load; {more} more CPUs are left out"),
        };
        html.words("p", &[("class", "note")], &note);
    });
}

fn spoken(name: &str, rows: &[Series]) -> String {
    let values = rows
        .iter()
        .map(|row| format!("{} up to {}", row.name, highest(row)));
    format!("{name}: {}", values.collect::<Vec<_>>().join("; "))
}

fn highest(row: &Series) -> String {
    format!("{:.0} %", most(row) * 100.0)
}

fn row(html: &mut Html, row: &Series, y: f64, end_s: f64) {
    let middle = y + ROW / 2.0 + 4.0;
    label(html, [LEFT - 6.0, middle], "end", &row.name);
    rect(html, "bed", [LEFT, y + 2.0], [RIGHT - LEFT, ROW - 4.0]);
    // A path for each shade: a cell costs a few bytes.
    for shade in 0..=SHADES {
        let cells = row.spans.iter().filter(|span| self::shade(span) == shade);
        let cells: String = cells.map(|span| cell(span, y, end_s)).collect();
        if !cells.is_empty() {
            let opacity = format!("{:.2}", 0.04 + 0.96 * f64::from(shade) / f64::from(SHADES));
            let shaded = [
                ("class", "hot"),
                ("d", &*cells),
                ("fill-opacity", &*opacity),
            ];
            html.empty("path", &shaded);
        }
    }
    label(html, [RIGHT + 6.0, middle], "start", &highest(row));
}

fn shade(span: &Span) -> u32 {
    (span.value.clamp(0.0, 1.0) * f64::from(SHADES)).round() as u32
}

fn cell(span: &Span, y: f64, end_s: f64) -> String {
    let [left, right] =
        [span.start_s, span.end_s].map(|time_s| LEFT + (RIGHT - LEFT) * time_s / end_s);
    let [x, top, width, height] = [left, y + 2.0, (right - left).max(0.5), ROW - 4.0].map(px);
    format!("M{x} {top}h{width}v{height}H{x}Z")
}

fn axis(html: &mut Html, y: f64, end_s: f64) {
    // Few ticks, the last one with the unit.
    let step = tick(end_s * 1.6);
    let many = (end_s / step) as u32;
    for at in (0..=many).map(|count| f64::from(count) * step) {
        let x = LEFT + (RIGHT - LEFT) * at / end_s;
        let unit = if at + step > end_s { " s" } else { "" };
        label(html, [x, y], "middle", &(short(at) + unit));
    }
}

const ROW: f64 = 22.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 412.0;
const SHADES: u32 = 10;
/// Of hundreds of processors, the first.
const MOST: usize = 32;
