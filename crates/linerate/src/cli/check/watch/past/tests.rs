// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a watch reports of runs that are stored while it looks.

use super::*;
use linerate_model::output::{Host, Test};
use std::fs;

/// A directory of runs that the test removes.
struct Runs(PathBuf);

impl Runs {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("linerate-past-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Stores a check of this day; what the check printed.
    fn check(&self, day: u32, rate: f64, kernel: &str, quick: bool) -> Output {
        let mut run = Run::begin("check", "0.1.0", &[]);
        run.started = format!("2026-01-{day:02}T12:00:00Z");
        run.partial = false;
        run.plan.insert("host".to_owned(), "h2".to_owned());
        run.plan.insert("quick".to_owned(), quick.to_string());
        run.hosts.push(Host {
            kernel: Some(kernel.to_owned()),
            ..Host::default()
        });
        run.tests.push(Test {
            name: "tcp".to_owned(),
            streams: 1,
            delivered_bits_per_second: Some(rate),
            valid: true,
            ..Test::default()
        });
        let directory = self.0.join(format!("{day:02}"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(
            directory.join("run.json"),
            serde_json::to_string(&run).unwrap(),
        )
        .unwrap();
        Output {
            run_dir: Some(directory.display().to_string()),
            ..run.measured()
        }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        // Files left in a temporary directory do no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// About this rate, another one each day.
fn near(rate: f64, day: u32) -> f64 {
    rate * (1.0 + f64::from(day * 7 % 5) / 1000.0)
}

#[test]
fn a_new_level_is_reported_once_and_an_old_one_never() {
    let runs = Runs::new("level");
    for day in 1..=8 {
        runs.check(day, near(400e6, day), "6.1", false);
    }
    let mut past = Past::default();
    let mut news = Vec::new();
    for day in 9..=26 {
        let rate = if day < 18 { 941e6 } else { 600e6 };
        let output = runs.check(day, near(rate, day), "6.1", false);
        news.extend(past.learn(&output));
    }
    let downs: Vec<&String> = news.iter().filter(|line| line.contains("(-36.")).collect();
    assert_eq!(downs.len(), 1, "{news:#?}");
    assert!(
        downs[0].contains("throughput tcp up of check against h2"),
        "{news:#?}"
    );
    assert!(downs[0].contains("since 2026-01-18"), "{news:#?}");
    assert!(past.last().is_some_and(|run| run.figures.len() == 1));
}

#[test]
fn runs_with_other_options_are_other_checks() {
    let runs = Runs::new("options");
    for day in 1..=8 {
        runs.check(day, near(400e6, day), "6.1", true);
    }
    let mut past = Past::default();
    let learn = |past: &mut Past, day| past.learn(&runs.check(day, near(941e6, day), "6.1", false));
    let news: Vec<String> = (9..=20).flat_map(|day| learn(&mut past, day)).collect();
    assert_eq!(news, [""; 0]);
}

#[test]
fn another_kernel_is_named_at_once_and_a_run_that_is_not_stored_too() {
    let runs = Runs::new("kernel");
    let mut past = Past::default();
    assert_eq!(past.learn(&runs.check(1, 941e6, "6.1", false)), [""; 0]);
    assert_eq!(
        past.learn(&runs.check(2, 941e6, "6.12", false)),
        ["  different from the run before: kernel (local): 6.1 -> 6.12"]
    );
    let lost = past.learn(&Output::default());
    assert!(lost[0].contains("not stored"), "{lost:?}");
    assert!(past.last().is_none());
}
