// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heat strips: one row per processor or interrupt, over the time of the run.

use linerate_model::series::{Series, most};
use linerate_model::units::format::{Step, significant};

use super::plot::{label, rect};
use super::writer::{Html, px};
use crate::view::span::{short, tick};

/// What a strip shows.
pub(super) struct Strip {
    pub(super) title: String,
    pub(super) rows: Vec<Series>,
    /// The darkest value; `None`: the highest of the strip.
    pub(super) full: Option<f64>,
    /// The factor and unit of its values.
    pub(super) step: Step,
}

/// A figure. `id` is unique on the page.
pub(super) fn push(html: &mut Html, id: &str, strip: &Strip) {
    let rows = &strip.rows[..strip.rows.len().min(MOST)];
    let ends = rows
        .iter()
        .flat_map(|row| &row.spans)
        .map(|span| span.end_s);
    let end_s = ends.fold(0.0, f64::max);
    if end_s <= 0.0 {
        return;
    }
    let full = strip
        .full
        .unwrap_or_else(|| rows.iter().map(most).fold(0.0, f64::max));
    let height = rows.len() as f64 * ROW + 26.0;
    let (frame, title) = (format!("0 0 480 {}", px(height)), format!("{id}-title"));
    html.element("figure", &[("class", "strip")], |html| {
        html.words("figcaption", &[("class", "title")], &strip.title);
        let attributes = [
            ("viewBox", frame.as_str()),
            ("role", "img"),
            ("aria-labelledby", title.as_str()),
            ("class", "zoom"),
        ];
        html.element("svg", &attributes, |html| {
            html.words("title", &[("id", &title)], &spoken(strip, rows));
            for (number, row) in rows.iter().enumerate() {
                self::row(html, strip, row, [number as f64 * ROW, end_s, full]);
            }
            axis(html, rows.len() as f64 * ROW + 18.0, end_s);
        });
        let more = strip.rows.len() - rows.len();
        let note = match more {
            0 => "dark: busy; number: row maximum; blank: between tests".to_owned(),
            more => format!("dark: busy; number: row maximum; {more} rows with less are left out"),
        };
        html.words("p", &[("class", "note")], &note);
    });
}

fn spoken(strip: &Strip, rows: &[Series]) -> String {
    let values = rows
        .iter()
        .map(|row| format!("{} up to {}", row.name, with_unit(strip, most(row))));
    format!("{}: {}", strip.title, values.collect::<Vec<_>>().join("; "))
}

fn with_unit(strip: &Strip, value: f64) -> String {
    let (factor, unit) = strip.step;
    format!("{} {unit}", significant(value * factor))
}

fn row(html: &mut Html, strip: &Strip, row: &Series, [y, end_s, full]: [f64; 3]) {
    let middle = px(y + ROW / 2.0 + 4.0);
    let place = [
        ("x", &*px(LEFT - 6.0)),
        ("y", &middle),
        ("text-anchor", "end"),
    ];
    html.element("text", &place, |html| {
        html.words("title", &[], &row.name);
        html.text(&brief(&row.name));
    });
    let [top, height] = [y + 2.0, ROW - 4.0].map(px);
    rect(html, "bed", [LEFT, y + 2.0], [RIGHT - LEFT, ROW - 4.0]);
    for span in &row.spans {
        let at = |time_s: f64| LEFT + (RIGHT - LEFT) * time_s / end_s;
        let [x, width] = [
            at(span.start_s),
            (at(span.end_s) - at(span.start_s)).max(0.5),
        ]
        .map(px);
        let share = if full > 0.0 {
            (span.value / full).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let opacity = format!("{:.2}", 0.04 + 0.96 * share);
        let cell = [
            ("class", "heat"),
            ("x", &*x),
            ("y", &*top),
            ("width", &*width),
            ("height", &*height),
            ("fill-opacity", &*opacity),
        ];
        html.element("rect", &cell, |html| {
            let from = format!("{:.1} to {:.1} s", span.start_s, span.end_s);
            html.words(
                "title",
                &[],
                &format!("{}, {from}: {}", row.name, with_unit(strip, span.value)),
            );
        });
    }
    html.words(
        "text",
        &[("x", &px(RIGHT + 6.0)), ("y", &middle)],
        &with_unit(strip, most(row)),
    );
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

/// Of `36:PCI-MSIX 1-edge eth0-rx/cpu1` what an engineer calls it, `eth0-rx/cpu1`; of
/// `LOC:Local timer interrupts/cpu1` the kernel's short name.
fn brief(name: &str) -> String {
    let (line, processor) = name.rsplit_once('/').unwrap_or((name, ""));
    let word = match line.split_once(':') {
        Some((short, _)) if short.starts_with(|char: char| char.is_ascii_alphabetic()) => short,
        _ => line.rsplit(' ').next().unwrap_or(line),
    };
    let name = match processor {
        "" => word.to_owned(),
        processor => format!("{word}/{processor}"),
    };
    let many = name.chars().count();
    if many <= NAME {
        return name;
    }
    let end: String = name.chars().skip(many + 1 - NAME).collect();
    format!("…{end}")
}

const ROW: f64 = 22.0;
const LEFT: f64 = 136.0;
const RIGHT: f64 = 388.0;
const NAME: usize = 16;
/// Of hundreds of processors, the first; interrupts are sorted.
const MOST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_called_what_an_engineer_calls_it() {
        for (name, called) in [
            (
                "36:PCI-MSIX-0000:00:02.0 1-edge eth0-rx/cpu1",
                "eth0-rx/cpu1",
            ),
            ("LOC:Local timer interrupts/cpu0", "LOC/cpu0"),
            ("NET_RX/cpu3", "NET_RX/cpu3"),
            ("cpu0", "cpu0"),
        ] {
            assert_eq!(brief(name), called);
        }
    }
}
