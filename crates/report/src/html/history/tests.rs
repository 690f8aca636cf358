// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page of a history: its changes first, a dot per run, nothing loaded.

use super::*;
use linerate_model::output::{Difference, Role, StoredRun, TrendLevel, TrendPoint};

fn trend(name: &str, changes: bool) -> Trend {
    let point = |day: u32| TrendPoint {
        run: format!("run-{day}"),
        started: format!("2026-01-{day:02}T12:00:00Z"),
        value: if changes && day > 3 { 870e6 } else { 941e6 },
    };
    let level = |first, runs, median, change_ratio: Option<f64>| TrendLevel {
        first,
        runs,
        median,
        change_ratio,
        p: change_ratio.map(|_| 0.002),
        changed: Vec::new(),
    };
    let mut levels = vec![level(0, 6, 941e6, None)];
    if changes {
        levels = vec![level(0, 3, 941e6, None), level(3, 3, 870e6, Some(-0.0755))];
        levels[1].changed.push(Difference {
            what: "kernel".to_owned(),
            host: Some(Role::Remote),
            before: vec!["6.1.0".to_owned()],
            after: vec!["6.12.0".to_owned()],
            ..Difference::default()
        });
    }
    Trend {
        metric: "throughput".to_owned(),
        name: name.to_owned(),
        unit: "bit/s".to_owned(),
        kind: "check".to_owned(),
        peer: "<h2>".to_owned(),
        points: (1..=6).map(point).collect(),
        levels,
        shortest_level_runs: 3,
    }
}

fn page(trends: &[Trend]) -> String {
    let attempt = StoredRun {
        partial: true,
        error: Some("resolve h3: no such host".to_owned()),
        ..StoredRun::default()
    };
    let output = Output {
        history: Some(History {
            directory: "/runs".to_owned(),
            runs: vec![attempt],
            ..History::default()
        }),
        ..Output::new("history", "0")
    };
    render(&output, trends)
}

#[test]
fn changes_come_first_with_size_p_and_what_else_changed() {
    let page = page(&[trend("tcp up", true), trend("tcp down", false)]);
    let said = "throughput tcp up of check against &lt;h2&gt;: the level changed once: \
                2026-01-04 12:00: 870.0 Mbit/s (-7.5 %), p = 0.002";
    let at = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("{text} in {page}"))
    };
    assert!(at(said) < at("kernel (remote): 6.1.0 -&gt; 6.12.0"));
    assert!(at("kernel (remote)") < at("<svg"));
    assert!(page.contains(">-7.5 %, p = 0.002</text>"));
    assert!(page.contains("1 attempt failed: resolve h3"));
    assert!(!page.contains("<h2>:"), "a peer's name is text");
}

#[test]
fn each_run_is_a_dot_and_each_level_a_line() {
    let page = page(&[trend("tcp up", true)]);
    assert_eq!(page.matches("class=\"mark\"").count(), 6);
    assert_eq!(page.matches("class=\"level\"").count(), 2);
    assert!(page.contains("run-6: 870.0 Mbit/s"), "{page}");
    assert!(page.contains(">2026-01-0"), "dates at the axis");
    for word in ["http://", "https://", "NaN"] {
        assert!(!page.contains(word), "{word} in {page}");
    }
}

#[test]
fn nothing_and_one_run_are_pages_too() {
    assert!(page(&[]).contains("no complete run with a figure in /runs"));
    let mut one = trend("tcp up", false);
    one.points.truncate(1);
    one.points[0].started = "1970-01-01T00:00:05Z".to_owned();
    one.levels[0].runs = 1;
    let page = page(&[one]);
    assert!(page.contains("have fewer than 6 runs"));
    assert!(!page.contains("NaN"), "{page}");
}
