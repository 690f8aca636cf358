// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ledger as a picture: the path of a packet from the sending program to the receiving one, and the
//! losses at each stage. The length of a bar is the stage's share of all losses; possible losses are pale.

use super::writer::{Html, px};
use crate::view::path::{Stop, Way};

/// The path of one test. `id` is unique on the page.
pub(super) fn push(html: &mut Html, id: &str, way: &Way) {
    let height = HEAD + ROW * way.stops.len() as f64 + FOOT;
    let title = format!("{id}-title");
    html.element("figure", &[("class", "path")], |html| {
        html.words("figcaption", &[("class", "title")], &way.title);
        let frame = format!("0 0 480 {}", px(height));
        let attributes = [
            ("viewBox", frame.as_str()),
            ("role", "img"),
            ("aria-labelledby", title.as_str()),
        ];
        html.element("svg", &attributes, |html| {
            html.words("title", &[("id", &title)], &spoken(way));
            picture(html, way);
        });
        if !way.unattributed.is_empty() {
            html.words("p", &[("class", "note")], UNATTRIBUTED);
        }
    });
}

/// The picture for a screen reader.
fn spoken(way: &Way) -> String {
    let losses = way.stops.iter().filter(|stop| stop.hi > 0);
    let losses = losses.map(|stop| format!("{}: {}", stop.words, stop.loss));
    let mut parts: Vec<String> = std::iter::once(way.title.clone()).chain(losses).collect();
    if !way.unattributed.is_empty() {
        parts.push(format!("unattributed: {}", way.unattributed));
    }
    parts.join(". ")
}

fn picture(html: &mut Html, way: &Way) {
    let end = HEAD + ROW * way.stops.len() as f64;
    owners(html, way);
    text(
        html,
        "start",
        [LINE + 14.0, HEAD - 10.0],
        "small",
        &way.sent,
    );
    segment(html, "flow", [LINE, HEAD - 22.0], [LINE, end + 12.0]);
    let tip = format!("M{} {}l-6 -10h12Z", px(LINE), px(end + 20.0));
    html.empty("path", &[("class", "tip"), ("d", &tip)]);
    for (number, stop) in way.stops.iter().enumerate() {
        self::stop(html, way, stop, HEAD + ROW * (number as f64 + 0.5));
    }
    text(
        html,
        "start",
        [LINE + 14.0, end + 18.0],
        "small",
        &way.received,
    );
    if !way.unattributed.is_empty() {
        let summary = format!("{} unattributed", way.unattributed);
        text(html, "start", [LINE + 14.0, end + 36.0], "loss", &summary);
    }
}

/// A frame around the stages of each owner.
fn owners(html: &mut Html, way: &Way) {
    let mut first = 0;
    for group in way.stops.chunk_by(|one, other| one.whose == other.whose) {
        let (top, height) = (HEAD + ROW * first as f64, ROW * group.len() as f64);
        let [y, tall] = [top + 1.0, height - 2.0].map(px);
        html.empty(
            "rect",
            &[
                ("class", "owner"),
                ("x", "2"),
                ("y", &y),
                ("width", "476"),
                ("height", &tall),
                ("rx", "6"),
            ],
        );
        first += group.len();
    }
}

fn stop(html: &mut Html, way: &Way, stop: &Stop, y: f64) {
    text(html, "end", [LINE - 14.0, y + 4.5], "stage", &stop.stage);
    let class = match (stop.hi > 0, stop.blind) {
        (true, _) => "dot lossy",
        (false, true) => "dot blind",
        (false, false) => "dot",
    };
    let place = [px(LINE), px(y)];
    html.element(
        "circle",
        &[
            ("class", class),
            ("cx", &place[0]),
            ("cy", &place[1]),
            ("r", "5"),
        ],
        |html| {
            html.words("title", &[], &stop.words);
        },
    );
    if stop.hi > 0 {
        let share = |packets: u64| (packets as f64 / way.lost.max(1) as f64).min(1.0) * BAR;
        bar(html, "possible", y, share(stop.hi));
        bar(html, "certain", y, share(stop.lo));
        segment(html, "drop", [LINE + 5.0, y], [LINE + 14.0, y]);
        text(html, "start", [LINE + 20.0, y + 4.5], "loss", &stop.loss);
    } else {
        let blind = if stop.blind { "blind: " } else { "" };
        let words = format!("{blind}{}", stop.words);
        text(html, "start", [LINE + 20.0, y + 4.5], "small", &words);
    }
}

fn bar(html: &mut Html, class: &str, y: f64, length: f64) {
    let [x, top, width] = [LINE + 14.0, y - ROW / 2.0 + 3.0, length.max(2.0)].map(px);
    let height = px(ROW - 6.0);
    html.empty(
        "rect",
        &[
            ("class", class),
            ("x", &x),
            ("y", &top),
            ("width", &width),
            ("height", &height),
            ("rx", "3"),
        ],
    );
}

fn segment(html: &mut Html, class: &str, from: [f64; 2], to: [f64; 2]) {
    let d = format!(
        "M{} {}L{} {}",
        px(from[0]),
        px(from[1]),
        px(to[0]),
        px(to[1])
    );
    html.empty("path", &[("class", class), ("d", &d)]);
}

fn text(html: &mut Html, anchor: &str, [x, y]: [f64; 2], class: &str, words: &str) {
    let attributes = [
        ("x", &*px(x)),
        ("y", &*px(y)),
        ("text-anchor", anchor),
        ("class", class),
    ];
    html.element("text", &attributes, |html| {
        let most = if class == "loss" { BOLD } else { LETTERS };
        if words.chars().count() <= most {
            return html.text(words);
        }
        html.words("title", &[], words);
        let start: String = words.chars().take(most - 1).collect();
        html.text(&(start + "…"));
    });
}

const UNATTRIBUTED: &str = "unattributed: lost between the stages that have counters";
/// This many fit on a phone.
const LETTERS: usize = 42;
const BOLD: usize = 34;

const ROW: f64 = 24.0;
const HEAD: f64 = 30.0;
const FOOT: f64 = 44.0;
/// The x coordinate of the path.
const LINE: f64 = 118.0;
/// The length of a bar for all losses.
const BAR: f64 = 342.0;
