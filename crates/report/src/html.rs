// SPDX-License-Identifier: MIT OR Apache-2.0
//! One page that needs nothing else: no network, no font, no file. Everything on it can be read without
//! JavaScript, which only zooms; the policy at its head forbids every request.

mod blocks;
mod palette;
mod path;
mod plot;
mod sections;
mod strip;
mod writer;

use crate::subject::Subject;
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
    });
}

fn body(html: &mut Html, subjects: &[Subject]) {
    html.words(
        "a",
        &[("class", "skip"), ("href", "#main")],
        "Skip to the answer",
    );
    html.element("main", &[("id", "main")], |html| {
        for (number, subject) in subjects.iter().enumerate() {
            sections::push(html, number, subject, subjects.len() > 1);
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

/// Nothing is loaded from anywhere; the script is known by its hash, so that no other can run.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-1t6jbwGhNpzxnN13QCbiXU5oZRJTpCuYB680933wpz0='; base-uri 'none'; form-action 'none'";

#[cfg(test)]
mod tests;
