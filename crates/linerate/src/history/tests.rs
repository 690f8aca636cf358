// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directories of runs as they are found: whole, damaged, foreign, changed since.

use std::fs;
use std::path::PathBuf;

use linerate_model::output::Test;
use linerate_model::run::Run;

use super::*;

/// A directory that the test removes.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("linerate-history-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("runs")).unwrap();
        Self(path)
    }

    fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    fn memory(&self) -> PathBuf {
        self.runs().join(".history.jsonl")
    }

    fn store(&self, name: &str, day: u32, rate: f64) {
        let directory = self.runs().join(name);
        fs::create_dir_all(&directory).unwrap();
        let mut run = Run::begin("tcp", "0.1.0", &[]);
        run.started = format!("2026-01-{day:02}T12:00:00Z");
        run.partial = false;
        run.plan.insert("host".to_owned(), "h2".to_owned());
        run.tests.push(Test {
            name: "tcp".to_owned(),
            delivered_bits_per_second: Some(rate),
            valid: true,
            ..Test::default()
        });
        let text = serde_json::to_string(&run).unwrap();
        fs::write(directory.join("run.json"), text).unwrap();
    }

    fn read(&self) -> History {
        read(&self.runs()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Files left in a temporary directory do no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn figures(history: &History) -> Vec<(&str, f64)> {
    let runs = history.runs.iter();
    runs.map(|run| (run.name.as_str(), run.figures[0].value))
        .collect()
}

#[test]
fn runs_are_listed_in_the_order_of_time_with_their_figures() {
    let place = Place::new("order");
    place.store("b", 2, 941e6);
    place.store("a", 3, 870e6);
    let history = place.read();
    assert_eq!(figures(&history), [("b", 941e6), ("a", 870e6)]);
    assert_eq!(
        (history.runs[0].peer.as_str(), history.runs[0].kind.as_str()),
        ("h2", "tcp")
    );
    assert_eq!(history.unreadable, []);
}

#[test]
fn what_is_remembered_is_not_read_again_and_what_changed_is() {
    let place = Place::new("memory");
    place.store("a", 1, 1e6);
    place.store("b", 2, 2e6);
    let first = place.read();
    let lines = fs::read_to_string(place.memory()).unwrap();
    assert_eq!(lines.lines().count(), 2);
    // Another figure in the memory shows where a run comes from.
    fs::write(place.memory(), lines.replace("1000000.0", "5000000.0")).unwrap();
    assert_eq!(figures(&place.read()), [("a", 5e6), ("b", 2e6)]);
    place.store("a", 1, 1_234_567.0);
    assert_eq!(figures(&place.read()), [("a", 1_234_567.0), ("b", 2e6)]);
    fs::write(place.memory(), "no JSON\n{}\n").unwrap();
    place.store("a", 1, 1e6);
    assert_eq!(place.read(), first);
}

#[test]
fn what_is_no_run_is_said_and_costs_no_other() {
    let place = Place::new("damaged");
    place.store("whole", 1, 1e6);
    let make = |name: &str, text: Option<&[u8]>| {
        let directory = place.runs().join(name);
        fs::create_dir_all(&directory).unwrap();
        if let Some(text) = text {
            fs::write(directory.join("run.json"), text).unwrap();
        }
    };
    make("empty", None);
    make("cut", Some(b"{\"schema\":\"linerate.run/1\",\"tests\":[{"));
    make("bytes", Some(&[0xff, 0, 1]));
    make("newer", Some(b"{\"schema\":\"linerate.run/9\"}"));
    make("foreign", Some(b"{\"name\":\"package\"}"));
    fs::write(place.runs().join("a-file"), "x").unwrap();
    fs::create_dir_all(place.runs().join("odd/run.json")).unwrap();
    let history = place.read();
    assert_eq!(figures(&history), [("whole", 1e6)]);
    let why = |name: &str| {
        let one = history.unreadable.iter().find(|one| one.name == name);
        one.map_or("", |one| one.why.as_str())
    };
    assert_eq!(history.unreadable.len(), 7);
    assert!(why("empty").starts_with("no run.json"), "{}", why("empty"));
    assert!(why("cut").contains("is damaged"), "{}", why("cut"));
    assert!(why("newer").contains("linerate.run/9"), "{}", why("newer"));
    assert!(
        why("foreign").contains("it has no schema"),
        "{}",
        why("foreign")
    );
    assert!(!why("a-file").is_empty() && !why("odd").is_empty());
}

#[test]
fn where_nothing_can_be_remembered_all_is_read_each_time() {
    let place = Place::new("nowhere");
    place.store("a", 1, 1e6);
    fs::create_dir_all(place.memory()).unwrap();
    assert_eq!(figures(&place.read()), [("a", 1e6)]);
    assert_eq!(figures(&place.read()), [("a", 1e6)]);
    assert!(read(&place.0.join("absent")).is_err());
}

#[test]
fn a_run_that_ended_is_remembered_at_once() {
    let place = Place::new("ended");
    place.store("a", 1, 1e6);
    remember(&place.runs().join("a"));
    remember(&place.runs().join("absent"));
    let lines = fs::read_to_string(place.memory()).unwrap();
    assert_eq!(lines.lines().count(), 1);
    assert_eq!(figures(&place.read()), [("a", 1e6)]);
    assert_eq!(
        fs::read_to_string(place.memory()).unwrap(),
        lines,
        "nothing to add"
    );
}
