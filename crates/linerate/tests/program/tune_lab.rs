// SPDX-License-Identifier: MIT OR Apache-2.0
//! Campaigns of `tune` in a lab: a fault whose remedy the lab owns is found, its remedy proven and kept, and nothing of
//! this machine is changed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Both need a lab: where the machine grants no namespaces, the program says so and nothing is tested.
fn tune(words: &str) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["tune", "--lab", "--json", "-o", "/dev/null/none"])
        .args(words.split_whitespace())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("grants no network namespaces") {
        println!("skipped: no lab on this machine");
        return None;
    }
    let document = serde_json::from_slice(&output.stdout);
    Some(document.unwrap_or_else(|error| panic!("{error}: {said}")))
}

/// What a busy machine spoils is done again. With a delay the small window limits the rate, whatever the processors do.
fn until(words: &str, is_right: impl Fn(&Value) -> bool) {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some(document) = tune(words) else {
            return;
        };
        if is_right(&document["tuning"]) {
            return;
        }
        seen.push((document["tuning"].clone(), document["error"].clone()));
    }
    panic!("{seen:#?}");
}

/// The settings of this process's own network namespace, without those that count something.
fn settings() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    read(Path::new("/proc/sys/net/ipv4"), &mut all);
    read(Path::new("/proc/sys/net/core"), &mut all);
    all
}

fn read(directory: &Path, all: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // Interfaces come and go with the labs of other tests.
        let name = path.display().to_string();
        if path.is_dir() {
            continue;
        }
        if let Ok(value) = std::fs::read_to_string(&path) {
            all.insert(name, value);
        }
    }
}

#[test]
fn a_dry_run_shows_the_remedy_of_a_small_buffer_and_changes_nothing() {
    let words = "--dry-run --fault tcp-rmem --fault delay=5ms -- tcp -t 500ms";
    until(words, |tuning| {
        let first = &tuning["candidates"][0];
        let command = first["commands"][0].as_str().unwrap_or_default();
        tuning["ended"] == "dry-run"
            && command.starts_with("sysctl -w net.ipv4.tcp_rmem=")
            && first["state"] == "not-tried"
            && first["comparison"].is_null()
    });
}

#[test]
fn the_remedy_of_a_small_buffer_is_proven_and_kept_and_this_machine_stays_as_it_is() {
    let before = settings();
    let words = "--fault tcp-rmem --fault delay=5ms --aa 0 --blocks 6 --settle 0 -- tcp -t 300ms";
    until(words, |tuning| {
        let first = &tuning["candidates"][0];
        tuning["ended"] == "kept"
            && first["state"] == "kept"
            && first["comparison"]["verdict"] == "better"
            && first["confirmation"]["verdict"] == "better"
            && first["mechanism"]["runs_after"] == 12
            && first["undo"] == json!(["# nothing: the setting ended with the lab"])
            && !first["finding_gone"].is_null()
    });
    let after = settings();
    assert!(before.contains_key("/proc/sys/net/ipv4/tcp_rmem"));
    assert_eq!(before, after);
}

#[test]
fn a_healthy_lab_keeps_nothing() {
    until("--aa 0 --blocks 6 --settle 0 -- tcp -t 500ms", |tuning| {
        let all = tuning["candidates"].as_array().cloned().unwrap_or_default();
        let ended = tuning["ended"].as_str().unwrap_or_default();
        let nothing = ["nothing-to-try", "nothing-better", "inconclusive"];
        nothing.contains(&ended) && all.iter().all(|one| one["state"] != "kept")
    });
}

/// A setting that does nothing on a path that reorders nothing.
#[test]
fn an_explored_campaign_of_a_healthy_lab_comes_to_its_end_and_keeps_nothing() {
    let words = "--explore=tcp_max_reordering --aa 0 --blocks 6 --settle 0 -- tcp -t 300ms";
    until(words, |tuning| {
        let all = tuning["candidates"].as_array().cloned().unwrap_or_default();
        let ended = tuning["ended"].as_str().unwrap_or_default();
        let is_tried = |one: &Value| one["state"] == "reverted" && !one["comparison"].is_null();
        let is_explored = |one: &Value| one["because"].as_str().is_none_or(str::is_empty);
        let mut explored = all.iter().filter(|one| is_explored(one)).peekable();
        ["nothing-better", "inconclusive"].contains(&ended)
            && explored.peek().is_some()
            && explored.all(is_tried)
    });
}

#[test]
fn datagrams_that_all_arrive_leave_nothing_to_explore() {
    until("--explore -- udp -b 5M -t 300ms", |tuning| {
        let all = tuning["candidates"].as_array().map_or(0, Vec::len);
        tuning["ended"] == "nothing-to-try" && all == 0
    });
}

const ATTEMPTS: usize = 4;
