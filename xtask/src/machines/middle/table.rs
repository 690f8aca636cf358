// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of machines in the middle, and the section around it.

use serde_json::Value;

use super::super::results::{findings, lost_by_stage};
use super::super::{page, table};
use super::outcome::{Measured, count, trials};

/// The table, in Markdown.
pub(crate) fn markdown(all: &[Measured]) -> String {
    table::rows(COLUMNS, all.iter().map(row))
}

/// The section of the page.
pub(crate) fn section(all: &[Measured]) -> String {
    let first = all.first().map(Measured::document).unwrap_or_default();
    let word = |at: &str| {
        first
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let date = word("/started")
        .split('T')
        .next()
        .unwrap_or_default()
        .to_owned();
    include_str!("section.md")
        .replace("{date}", &date)
        .replace("{version}", word("/tool/version"))
        .replace("{emulator}", &page::emulator())
        .replace("{kernel}", word("/hosts/1/kernel"))
        .replace("{table}", &markdown(all))
}

const COLUMNS: [&str; 7] = [
    "NIC",
    "forwards as",
    "rate without loss, frames/s (limit)",
    "most that was offered: forwarded, refused by the tap",
    "lost, by stage",
    "processor",
    "findings",
];

fn row(one: &Measured) -> [String; COLUMNS.len()] {
    let document = one.document();
    [
        one.nic.name.to_owned(),
        one.mode.name.to_owned(),
        rates(&document),
        most(&document),
        losses(&document),
        busy(&document),
        first(&document),
    ]
    .map(|cell| cell.replace('|', "\\|"))
}

fn rates(document: &Value) -> String {
    let results = document["results"].as_array().into_iter().flatten();
    let without_loss = results.filter(|one| one["goal"] == "ndr");
    let rate = |one: &Value| {
        let rate = one["lower_fps"].as_f64();
        let rate = rate.map_or_else(|| "none".to_owned(), |fps| format!("{fps:.0}"));
        format!("{}: {rate} ({})", one["frame_bytes"], limit(one))
    };
    let all: Vec<String> = without_loss.map(rate).collect();
    all.join(", ")
}

fn limit(result: &Value) -> String {
    let is = |name: &str| result[name] == true;
    match result["irregular"].as_str() {
        _ if is("tester_limited") => "tester".to_owned(),
        _ if is("held_up") => "held up".to_owned(),
        Some(why) => why.to_owned(),
        None => "loss".to_owned(),
    }
}

/// Of the trial with the highest load.
fn most(document: &Value) -> String {
    let load = |trial: &&Value| trial["load_fps"].as_f64().unwrap_or(0.0);
    let highest = trials(document)
        .iter()
        .max_by(|one, other| load(one).total_cmp(&load(other)));
    highest.map_or_else(String::new, |trial| {
        let [intended, received, unsent] =
            ["intended_frames", "received_frames", "unsent_frames"].map(|name| count(trial, name));
        format!("{intended}: {received}, {unsent}")
    })
}

/// Of the trials that decided.
fn losses(document: &Value) -> String {
    let lost = lost_by_stage(document);
    let all: Vec<String> = lost
        .iter()
        .map(|(stage, lost)| format!("{stage} {lost}"))
        .collect();
    match all.is_empty() {
        true => "none".to_owned(),
        false => all.join(", "),
    }
}

/// Of the trials with the busiest processor.
fn busy(document: &Value) -> String {
    let busy = trials(document)
        .iter()
        .filter_map(|trial| trial["device"]["busy_ratio"].as_f64());
    format!("{:.0} %", busy.fold(0.0, f64::max) * 100.0)
}

fn first(document: &Value) -> String {
    let all = findings(document);
    let sure = all.iter().filter(|one| one.strength != "weak").count();
    match all.first() {
        None => "none".to_owned(),
        Some(first) => format!(
            "{sure} above *possible*; first: {} ({})",
            first.title, first.rule
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rate_is_with_what_limits_it() {
        let result = |goal: &str, fps: Option<f64>, held_up: bool| {
            json!({ "frame_bytes": 64, "goal": goal, "lower_fps": fps, "held_up": held_up, "tester_limited": false,
                    "irregular": null })
        };
        let results = json!({ "results": [result("ndr", Some(9000.4), true), result("pdr", Some(9500.0), false)] });
        assert_eq!(rates(&results), "64: 9000 (held up)");
        let none = json!({ "results": [result("ndr", None, false)] });
        assert_eq!(rates(&none), "64: none (loss)");
    }

    #[test]
    fn the_highest_load_is_of_the_trial_with_the_highest_rate() {
        let trial = |fps: f64, intended: u64| json!({ "load_fps": fps, "directions": [{ "intended_frames": intended, "received_frames": 5, "unsent_frames": 2 }] });
        let document = json!({ "trials": [trial(10.0, 10), trial(90.0, 45), trial(50.0, 50)] });
        assert_eq!(most(&document), "45: 5, 2");
    }
}
