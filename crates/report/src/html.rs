// SPDX-License-Identifier: MIT OR Apache-2.0
//! One page that needs nothing else: no network, no font, no file. Everything on it can be read without
//! JavaScript, which only zooms; the policy at its head forbids every request.

mod blocks;
mod contrast;
mod palette;
mod path;
mod plot;
mod sections;
mod strip;
mod writer;

use crate::subject::Subject;
pub use contrast::standalone;
use writer::Html;

/// The whole page.
#[must_use]
pub fn render(subjects: &[Subject]) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n");
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| head(html, subjects));
        html.element("body", &[], |html| body(html, subjects));
    });
    html.raw("\n");
    html.into_text()
}

fn head(html: &mut Html, subjects: &[Subject]) {
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
    let titles: Vec<String> = subjects.iter().map(sections::title).collect();
    html.words("title", &[], &titles.join(" / "));
    html.element("style", &[], |html| {
        palette::style(html);
        html.raw(include_str!("html/style.css"));
        html.raw(include_str!("html/contrast.css"));
    });
}

fn body(html: &mut Html, subjects: &[Subject]) {
    html.words(
        "a",
        &[("class", "skip"), ("href", "#main")],
        "Skip to the answer",
    );
    html.element("main", &[("id", "main")], |html| {
        let told = |html: &mut Html, number: usize| {
            sections::push(html, number, &subjects[number], subjects.len() > 1);
        };
        let first = subjects.len() - runs_beside(subjects);
        (0..first).for_each(|number| told(html, number));
        if first < subjects.len() {
            html.element("div", &[("class", "beside")], |html| {
                for number in first..subjects.len() {
                    html.element("article", &[], |html| told(html, number));
                }
            });
        }
    });
    html.element("footer", &[], |html| {
        let told = format!(
            "Made by linerate {}: one file, no network access.",
            env!("CARGO_PKG_VERSION")
        );
        html.words("p", &[], &told);
    });
    html.element("script", &[], |html| html.raw(include_str!("html/zoom.js")));
}

/// How many of the last stand in columns where there is room: two runs.
fn runs_beside(subjects: &[Subject]) -> usize {
    match subjects {
        [_, _] => 2,
        [first, _, _] if !first.output.comparison.is_empty() => 2,
        _ => 0,
    }
}

/// Nothing is loaded from anywhere; the script is known by its hash, so that no other can run.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-1t6jbwGhNpzxnN13QCbiXU5oZRJTpCuYB680933wpz0='; base-uri 'none'; form-action 'none'";

#[cfg(test)]
mod tests;
