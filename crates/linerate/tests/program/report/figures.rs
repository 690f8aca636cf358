// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same figures in every format.

use serde_json::Value;

use super::made::{DELIVERED, LOST, SENT, THROUGHPUT, forward, place, printed, store, udp};
use super::workbook::Workbook;

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

/// The value of a family's series that has these labels.
fn metric(text: &str, family: &str, labels: &str) -> f64 {
    let start = format!("{family}{{");
    let line = text
        .lines()
        .find(|line| line.starts_with(&start) && line.contains(labels));
    let line = line.unwrap_or_else(|| panic!("{family} {labels}: {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// The value of a JUnit property.
fn property(text: &str, name: &str) -> f64 {
    let start = format!("<property name=\"{name}\" value=\"");
    let rest = text.split(&start).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{name}: {text}"));
    rest.split('"').next().unwrap().parse().unwrap()
}

#[test]
fn an_endpoint_test_has_its_figures_in_every_format() {
    let run = store(&place("figures-udp"), &udp());
    let json: Value = serde_json::from_str(&text(&[&run, "-f", "json"])).unwrap();
    let test = &json["tests"][0];
    assert_eq!(test["delivered_bits_per_second"], DELIVERED);
    assert_eq!(test["lost_packets"], LOST);

    let csv = text(&[&run, "-f", "csv", "--table", "tests"]);
    let reported = column(&csv, "delivered_bits_per_second");
    assert_eq!(reported, [DELIVERED.to_string()]);
    assert_eq!(column(&csv, "lost_packets"), [LOST.to_string()]);

    let book = Workbook::read(&printed(&[&run, "-f", "xlsx", "-o", "-"]));
    assert_eq!(
        book.numbers("tests", "delivered_bits_per_second"),
        [DELIVERED]
    );
    assert_eq!(book.numbers("tests", "lost_packets"), [LOST as f64]);

    let junit = text(&[&run, "-f", "junit"]);
    let delivered = "delivered_bits_per_second udp up";
    assert_eq!(property(&junit, delivered), DELIVERED);
    assert_eq!(property(&junit, "lost_packets udp up"), LOST as f64);

    let metrics = text(&[&run, "-f", "openmetrics"]);
    let of = "of=\"udp\",id=\"t1\",direction=\"up\"";
    let delivered = metric(&metrics, "linerate_delivered_bits_per_second", of);
    assert_eq!(delivered, DELIVERED);
    let lost = metric(&metrics, "linerate_lost_packets", of);
    assert_eq!(lost, LOST as f64);

    let people = format!("{LOST}/{SENT}");
    for format in ["term", "md", "html"] {
        let text = text(&[&run, "-f", format]);
        assert!(text.contains(&people), "{format}: {text}");
        assert!(text.contains("941.5"), "{format}: {text}");
    }
}

#[test]
fn a_device_has_its_figures_in_every_format() {
    let run = store(&place("figures-forward"), &forward());
    let rates = THROUGHPUT.map(|(_, fps)| fps);
    let json: Value = serde_json::from_str(&text(&[&run, "-f", "json"])).unwrap();
    let results = json["results"].as_array().unwrap();
    let reported = results.iter().map(|row| row["throughput_fps"].as_f64());
    assert_eq!(reported.collect::<Vec<_>>(), rates.map(Some));

    let csv = text(&[&run, "-f", "csv"]);
    let reported = column(&csv, "throughput_fps");
    assert_eq!(reported, rates.map(|fps| fps.to_string()));

    let book = Workbook::read(&printed(&[&run, "-f", "xlsx"]));
    assert_eq!(book.numbers("results", "throughput_fps"), rates);
    assert_eq!(book.numbers("THROUGHPUT", "passed_fps"), rates);
    assert_eq!(
        book.numbers("THROUGHPUT", "frame_bytes"),
        [64.0, 512.0, 1518.0]
    );
    let line = book.numbers("THROUGHPUT", "line_fps");
    assert!((line[0] - 1_488_095.238).abs() < 0.01, "{line:?}");

    let junit = text(&[&run, "-f", "junit"]);
    let metrics = text(&[&run, "-f", "openmetrics"]);
    for (size, fps) in THROUGHPUT {
        let of = format!("{size} bytes, ndr");
        let reported = property(&junit, &format!("throughput_fps {of} a-b"));
        assert_eq!(reported, fps);
        let family = "linerate_throughput_frames_per_second";
        let reported = metric(&metrics, family, &format!("of=\"{of}\""));
        assert_eq!(reported, fps);
    }
    for format in ["term", "md", "html"] {
        let text = text(&[&run, "-f", format]);
        for shown in ["812.7", "235.0", "81.27"] {
            assert!(text.contains(shown), "{format}: {text}");
        }
    }
}
