// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which figure a name means, and which runs are shown.

use super::*;
use linerate_model::output::StoredFigure;

fn run(kind: &str, peer: &str, names: &[&str]) -> StoredRun {
    let figure = |name: &&str| StoredFigure {
        metric: "throughput".to_owned(),
        name: (*name).to_owned(),
        unit: "bit/s".to_owned(),
        value: 1e6,
    };
    StoredRun {
        kind: kind.to_owned(),
        peer: peer.to_owned(),
        figures: names.iter().map(figure).collect(),
        ..StoredRun::default()
    }
}

fn chosen(runs: &[StoredRun], words: &str) -> Result<String, Failure> {
    series::named(series::of(runs), words).map(|trend| format!("{} {}", trend.kind, trend.name))
}

#[test]
fn an_exact_name_wins_and_commas_do_not_matter() {
    let names = ["tcp up", "tcp-both up", "tcp up, 2 streams"];
    let runs = [run("check", "h2", &names)];
    for (words, name) in [
        ("throughput tcp up", "check tcp up"),
        ("Throughput  TCP up", "check tcp up"),
        ("throughput tcp up, 2 streams", "check tcp up, 2 streams"),
        ("throughput tcp up 2 streams", "check tcp up, 2 streams"),
        ("streams", "check tcp up, 2 streams"),
        ("tcp-both", "check tcp-both up"),
    ] {
        assert_eq!(chosen(&runs, words).as_deref(), Ok(name), "{words}");
    }
    let none = chosen(&runs, "tcp sideways").unwrap_err();
    assert_eq!(none.why, "no run has this figure");
}

#[test]
fn an_ambiguous_name_is_answered_with_flags_that_select() {
    let runs = [
        run("check", "h2", &["tcp up"]),
        run("tcp", "h3", &["tcp up"]),
    ];
    let failure = chosen(&runs, "throughput tcp up").unwrap_err();
    assert_eq!(failure.why, "2 figures have these words");
    assert_eq!(
        failure.try_.as_deref(),
        Some(
            "--figure 'throughput tcp up' --kind check --peer h2; --figure 'throughput tcp up' --kind tcp --peer h3"
        )
    );
    assert_eq!(chosen(&runs[1..], "tcp up").as_deref(), Ok("tcp tcp up"));
}

#[test]
fn attempts_that_failed_take_no_place_of_runs() {
    let failed = || StoredRun {
        partial: true,
        ..StoredRun::default()
    };
    let runs = || {
        let one = || run("tcp", "h2", &["tcp up"]);
        vec![failed(), one(), failed(), one(), failed(), one(), failed()]
    };
    let shown = |number, only_failed| {
        let mut history = History {
            runs: runs(),
            ..History::default()
        };
        if only_failed {
            history.runs.retain(StoredRun::measured_nothing);
        }
        shorten(&mut history, number, only_failed);
        (history.runs.len(), history.more)
    };
    assert_eq!(shown(2, false), (4, 1));
    assert_eq!(shown(0, false), (7, 0));
    assert_eq!(shown(9, false), (7, 0));
    assert_eq!(shown(1, true), (1, 3));
}
