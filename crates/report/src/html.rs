// SPDX-License-Identifier: MIT OR Apache-2.0
//! A self-contained HTML page: no network, no font, no file. JavaScript is only needed to zoom; the policy in the head
//! forbids every request.

mod blocks;
mod effect_plot;
mod heat;
mod history;
mod palette;
mod path;
mod plot;
mod sections;
mod strip;
mod writer;

use crate::subject::Subject;
pub use effect_plot::standalone;
pub use history::render as history;
use writer::Html;

/// The whole page.
#[must_use]
pub fn render(subjects: &[Subject]) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en")], |html| {
        let titles: Vec<String> = subjects.iter().map(sections::title).collect();
        html.element("head", &[], |html| head(html, &titles.join(" / ")));
        html.element("body", &[], |html| body(html, subjects));
    });
    html.raw("\n");
    html.into_text()
}

fn head(html: &mut Html, title: &str) {
    html.open("meta", &[("charset", "utf-8")]);
    html.open(
        "meta",
        &[
            ("http-equiv", "Content-Security-Policy"),
            ("content", POLICY),
        ],
    );
    html.open(
        "meta",
        &[
            ("name", "viewport"),
            ("content", "width=device-width,initial-scale=1"),
        ],
    );
    html.open(
        "meta",
        &[("name", "color-scheme"), ("content", "light dark")],
    );
    html.open("meta", &[("name", "generator"), ("content", "linerate")]);
    html.open("link", &[("rel", "icon"), ("href", "data:,")]);
    html.words("title", &[], title);
    html.element("style", &[], |html| {
        palette::style(html);
        html.raw(include_str!("html/style.css"));
        html.raw(include_str!("html/effect_plot.css"));
        html.raw(include_str!("html/history.css"));
    });
}

fn body(html: &mut Html, subjects: &[Subject]) {
    html.words(
        "a",
        &[("class", "skip"), ("href", "#main")],
        "Skip to the results",
    );
    html.element("main", &[("id", "main")], |html| {
        let section = |html: &mut Html, number: usize| {
            sections::push(html, number, &subjects[number], subjects.len() > 1);
        };
        let first = subjects.len() - runs_side_by_side(subjects);
        (0..first).for_each(|number| section(html, number));
        if first < subjects.len() {
            html.element("div", &[("class", "side-by-side")], |html| {
                for number in first..subjects.len() {
                    html.element("article", &[], |html| section(html, number));
                }
            });
        }
    });
    footer(html);
    html.element("script", &[], |html| html.raw(include_str!("html/zoom.js")));
}

fn footer(html: &mut Html) {
    html.element("footer", &[], |html| {
        let text = format!(
            "Made by linerate {}: one file, no network access.",
            env!("CARGO_PKG_VERSION")
        );
        html.words("p", &[], &text);
    });
}

/// The number of runs, at the end, that are shown side by side.
fn runs_side_by_side(subjects: &[Subject]) -> usize {
    match subjects {
        [_, _] => 2,
        [first, _, _] if !first.output.comparison.is_empty() => 2,
        _ => 0,
    }
}

/// Nothing is loaded; the hash of the script prevents any other from running.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-1NAdZ7R6YY1aGTUNNte2U6fsMUe2pwikAcrbQ9tl28o='; base-uri 'none'; form-action 'none'";

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a browser is a program that reads files"
)]
mod browser;
#[cfg(test)]
mod tests;
