// SPDX-License-Identifier: MIT OR Apache-2.0
//! The effect of a change: one mark per run, each side's mean with its interval, and below them the effect with its
//! 95 % interval against no change and the margin.

use linerate_model::output::Output;

use super::palette;
use super::plot::{label, line, mark, rect};
use super::writer::{Html, px};
use crate::view::effect_plot::{self, Arm, Effect, EffectPlot};

/// A figure. `id` is unique on the page.
pub(super) fn push(html: &mut Html, id: &str, one: &EffectPlot<'_>) {
    html.element("figure", &[("class", "plot effect-plot")], |html| {
        html.words("figcaption", &[("class", "title")], &one.title);
        let [title, summary] = ["title", "summary"].map(|part| format!("{id}-{part}"));
        let frame = format!("0 0 {} {}", px(WIDTH), px(height(one)));
        let attributes = [
            ("viewBox", frame.as_str()),
            ("role", "img"),
            ("aria-labelledby", title.as_str()),
            ("aria-describedby", summary.as_str()),
            ("class", "zoom"),
        ];
        html.element("svg", &attributes, |html| {
            html.words("title", &[("id", &title)], &one.title);
            html.words("desc", &[("id", &summary)], &spoken(one));
            picture(html, one);
        });
        html.words("p", &[("class", "note")], NOTE);
    });
}

/// The plot of the primary figure as a file: the answer above it, the two configurations below. `None`: nothing was
/// compared.
#[must_use]
pub fn standalone(output: &Output) -> Option<String> {
    let all = effect_plot::of(&output.comparison);
    let one = all.first()?;
    let decides = output.comparison.iter().find(|one| one.primary);
    let sentence = decides.map_or("", |one| one.sentence.as_str());
    let above = wrapped(sentence, BOLD);
    let arms = one.arms.iter().filter(|arm| !arm.side.label.is_empty());
    let below: Vec<String> = arms
        .map(|arm| format!("{}: {}", arm.name, arm.side.label))
        .chain([NOTE.to_owned()])
        .flat_map(|words| wrapped(&words, SMALL))
        .collect();
    let what = wrapped(&one.title, SMALL);
    let [top, picture] = [ROW * (above.len() + what.len()) as f64 + 14.0, height(one)];
    let frame = format!(
        "0 0 {} {}",
        px(WIDTH),
        px(top + picture + ROW * below.len() as f64 + 10.0)
    );
    let mut html = Html::default();
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("viewBox", frame.as_str()),
        ("role", "img"),
        ("aria-labelledby", "title"),
        ("aria-describedby", "summary"),
    ];
    html.element("svg", &attributes, |html| {
        html.words("title", &[("id", "title")], sentence);
        html.words("desc", &[("id", "summary")], &spoken(one));
        html.element("style", &[], |html| {
            palette::style(html);
            html.raw(ALONE);
            html.raw(include_str!("effect_plot.css"));
        });
        html.empty(
            "rect",
            &[
                ("class", "card"),
                ("width", "100%"),
                ("height", "100%"),
                ("rx", "8"),
            ],
        );
        paragraph(html, "headline", ROW, &above);
        paragraph(html, "small", ROW * (above.len() + 1) as f64, &what);
        let moved = format!("translate(0 {})", px(top));
        html.element(
            "g",
            &[("class", "effect-plot"), ("transform", &moved)],
            |html| self::picture(html, one),
        );
        paragraph(html, "small", top + picture + ROW - 4.0, &below);
    });
    html.raw("\n");
    Some(html.into_text())
}

fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.len() - 1;
        if !lines[line].is_empty() && lines[line].chars().count() + word.chars().count() >= letters
        {
            lines.push(word.to_owned());
        } else {
            let gap = if lines[line].is_empty() { "" } else { " " };
            lines[line] += &format!("{gap}{word}");
        }
    }
    lines
}

fn paragraph(html: &mut Html, class: &str, from: f64, lines: &[String]) {
    html.element("g", &[("class", class)], |html| {
        for (row, words) in lines.iter().enumerate() {
            label(html, [EDGE, from + ROW * row as f64], "start", words);
        }
    });
}

/// The plot for a screen reader.
fn spoken(one: &EffectPlot<'_>) -> String {
    let arms = one
        .arms
        .iter()
        .map(|arm| format!("{}: {}", arm.name, arm.summary));
    let effect = one
        .effect
        .iter()
        .map(|effect| format!("effect of {}", effect.summary));
    arms.chain(effect).collect::<Vec<_>>().join(". ")
}

fn height(one: &EffectPlot<'_>) -> f64 {
    RUNS + if one.effect.is_some() { EFFECT } else { 0.0 }
}

fn picture(html: &mut Html, one: &EffectPlot<'_>) {
    axis(html, &one.ticks(), [0.0, 2.0 * ARM]);
    for (number, arm) in one.arms.iter().enumerate() {
        self::arm(html, one, number, arm);
    }
    if let Some(effect) = &one.effect {
        self::effect(html, effect);
    }
}

/// Ticks with their lines from `top` to `bottom`.
fn axis(html: &mut Html, ticks: &[(f64, String)], [top, bottom]: [f64; 2]) {
    html.element("g", &[("class", "grid")], |html| {
        for (share, text) in ticks {
            line(html, [x(*share), top], [x(*share), bottom + 4.0]);
            label(html, [x(*share), bottom + 18.0], "middle", text);
        }
    });
}

fn arm(html: &mut Html, one: &EffectPlot<'_>, number: usize, arm: &Arm<'_>) {
    let top = ARM * number as f64;
    html.element(
        "g",
        &[("class", if number == 0 { "c0" } else { "c1" })],
        |html| {
            label(
                html,
                [EDGE, top + 15.0],
                "start",
                &format!("{}: {}", arm.name, arm.summary),
            );
            for (run, value) in arm.side.values.iter().enumerate() {
                // Offsets keep runs with close values apart.
                let y = top + 30.0 + [0.0, -5.0, 5.0][run % 3];
                let place = [x(one.share(*value)), y];
                html.empty("path", &[("class", "mark"), ("d", &mark(number, place))]);
            }
            let ends = arm
                .side
                .mean_ci95
                .map(|ends| ends.map(|end| x(one.share(end))));
            bar(html, top + 47.0, ends);
            if let (Some(mean), Some(_)) = (arm.side.mean, ends) {
                let at = x(one.share(mean));
                line(html, [at, top + 40.0], [at, top + 54.0]);
            }
        },
    );
}

fn bar(html: &mut Html, y: f64, ends: Option<[f64; 2]>) {
    let Some([low, high]) = ends else { return };
    line(html, [low, y], [high, y]);
    for end in [low, high] {
        line(html, [end, y - 4.0], [end, y + 4.0]);
    }
}

fn effect(html: &mut Html, effect: &Effect) {
    let (top, bottom) = (RUNS + 22.0, RUNS + 52.0);
    let [from, to] = effect.margin.map(x);
    let size = [(to - from).max(1.0), bottom - top];
    rect(html, "margin", [from, top], size);
    axis(html, &effect.ticks, [top, bottom]);
    html.element("g", &[("class", "none")], |html| {
        line(html, [x(effect.none), top], [x(effect.none), bottom]);
    });
    html.element("g", &[("class", "effect")], |html| {
        label(
            html,
            [EDGE, RUNS + 13.0],
            "start",
            &format!("effect of {}", effect.summary),
        );
        let y = f64::midpoint(top, bottom);
        bar(html, y, effect.ends.map(|ends| ends.map(x)));
        html.empty(
            "path",
            &[("class", "mark"), ("d", &mark(1, [x(effect.at), y]))],
        );
    });
}

fn x(share: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * share
}

const NOTE: &str =
    "one mark per run; bars: mean or effect with its 95 % interval; shaded: the margin";
const WIDTH: f64 = 480.0;
const LEFT: f64 = 24.0;
const RIGHT: f64 = 452.0;
const EDGE: f64 = 8.0;
/// The height of a side.
const ARM: f64 = 60.0;
/// Both sides with their axis.
const RUNS: f64 = 2.0 * ARM + 28.0;
/// The effect with its axis.
const EFFECT: f64 = 76.0;
/// The height of a line of text, and the characters that fit into it.
const ROW: f64 = 18.0;
const BOLD: usize = 52;
const SMALL: usize = 66;
/// The rules that the page's own style sheet has.
const ALONE: &str = "text{fill:var(--ink);font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}.card{fill:var(--card);stroke:var(--rule)}.headline text{font-weight:600;font-size:13.5px}.small text{fill:var(--soft);font-size:12px}.grid line{stroke:var(--rule)}";
