// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same figures in every format.

use serde_json::Value;

use crate::made::{DELIVERED, LOST, SENT, THROUGHPUT, forward, place, printed, store, udp};

fn text(words: &[&str]) -> String {
    String::from_utf8(printed(words)).unwrap()
}

/// A column of a table in CSV; no field of these runs has a comma in it.
fn column(table: &str, name: &str) -> Vec<String> {
    let mut lines = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = header.iter().position(|column| *column == name);
    let at = at.unwrap_or_else(|| panic!("{name} of {header:?}"));
    lines.map(|line| line[at].to_owned()).collect()
}

#[test]
fn an_endpoint_test_has_its_figures_in_every_format() {
    let run = store(&place("figures-udp"), &udp());
    let json: Value = serde_json::from_str(&text(&[&run, "-f", "json"])).unwrap();
    let test = &json["tests"][0];
    assert_eq!(test["delivered_bits_per_second"], DELIVERED);
    assert_eq!(test["lost_packets"], LOST);

    let csv = text(&[&run, "-f", "csv", "--table", "tests"]);
    assert_eq!(
        column(&csv, "delivered_bits_per_second"),
        [DELIVERED.to_string()]
    );
    assert_eq!(column(&csv, "lost_packets"), [LOST.to_string()]);

    let people = format!("{LOST}/{SENT}");
    for format in ["term", "md"] {
        let text = text(&[&run, "-f", format]);
        assert!(
            text.contains(&people) && text.contains("941.5"),
            "{format}: {text}"
        );
    }
}

#[test]
fn a_device_has_its_figures_in_every_format() {
    let run = store(&place("figures-forward"), &forward());
    let rates = THROUGHPUT.map(|(_, fps)| fps);
    let json: Value = serde_json::from_str(&text(&[&run, "-f", "json"])).unwrap();
    let results = json["results"].as_array().unwrap();
    let told: Vec<_> = results
        .iter()
        .map(|row| row["throughput_fps"].as_f64().unwrap())
        .collect();
    assert_eq!(told, rates);

    let csv = text(&[&run, "-f", "csv"]);
    let told = column(&csv, "throughput_fps");
    assert_eq!(told, rates.map(|fps| fps.to_string()));

    for format in ["term", "md"] {
        let text = text(&[&run, "-f", format]);
        for shown in ["812.7", "235.0", "81.27"] {
            assert!(text.contains(shown), "{format}: {text}");
        }
    }
}
