// SPDX-License-Identifier: MIT OR Apache-2.0
//! `packaging/grafana/linerate.json` asks only for metrics that the program has, in queries that Prometheus understands.

use super::Measured;
use crate::report::made::{forward, place, printed, store, udp};
use crate::report::readers::installed;
use crate::support::our_client;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

fn dashboard() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("packaging/grafana/linerate.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// All queries of its panels, with the variables as Grafana would fill them in.
fn queries() -> Vec<String> {
    let dashboard = dashboard();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let queries = targets.flatten().map(|target| {
        let query = target["expr"].as_str().unwrap();
        let query = query
            .replace("$__rate_interval", "5m")
            .replace("$instance", ".*");
        assert!(!query.contains('$'), "{query}");
        query
    });
    queries.collect()
}

/// The names of `linerate_` in a text.
fn names(text: &str) -> Vec<&str> {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let words = text.split(|char| !is_name(char));
    let mut names: Vec<_> = words.filter(|word| word.starts_with("linerate_")).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A document with the figures that only `check` and `sweep` have.
fn check(place: &Path) -> String {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    let text = std::fs::read_to_string(records.join("linerate.output-1.json")).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document["verdicts"] = json!([{"direction": "up", "achieved_bits_per_second": 9e8}]);
    document["knees"] = json!([{"direction": "up", "lossless_bits_per_second": 8e8}]);
    let file = place.join("check.json").display().to_string();
    std::fs::write(&file, document.to_string()).unwrap();
    file
}

/// The names of all samples that the program writes.
fn exported() -> Vec<String> {
    let measured = Measured::ours("");
    let said = our_client(measured.server.port, "udp", "-t 1 -b 2M");
    assert!(said.success, "{}", said.text);
    measured.server.await_line(": done: ");
    let place = place("dashboard");
    let runs = [store(&place, &udp()), store(&place, &forward())];
    let check = check(&place);
    let report = printed(&[&runs[0], &runs[1], &check, "-f", "openmetrics"]);
    let pages = measured.page() + std::str::from_utf8(&report).unwrap();
    let samples = pages.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| line.split(['{', ' ']).next().unwrap().to_owned())
        .collect()
}

#[test]
fn its_queries_ask_for_what_is_exported() {
    let exported = exported();
    let asked = queries().join("\n");
    for name in names(&asked) {
        assert!(
            exported.iter().any(|one| one == name),
            "{name} is not exported"
        );
    }
    for name in &exported {
        let is_asked = names(&asked).contains(&name.as_str());
        assert!(
            is_asked || UNASKED.contains(&name.as_str()),
            "no panel shows {name}"
        );
    }
}

#[test]
fn it_is_a_dashboard_for_any_data_source() {
    let dashboard = dashboard();
    assert!(
        dashboard["schemaVersion"]
            .as_u64()
            .is_some_and(|version| version >= 39)
    );
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    assert!(
        variables
            .iter()
            .any(|one| one["type"] == "datasource" && one["query"] == "prometheus")
    );
    let mut ids = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let id = panel["id"].as_u64().unwrap();
        assert!(!ids.contains(&id), "{panel}");
        ids.push(id);
        let place = &panel["gridPos"];
        assert!(
            place["x"].as_u64().unwrap() + place["w"].as_u64().unwrap() <= 24,
            "{panel}"
        );
        if panel["type"] != "row" {
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{panel}");
            assert!(
                panel["targets"]
                    .as_array()
                    .is_some_and(|all| !all.is_empty()),
                "{panel}"
            );
        }
    }
    assert!(queries().len() > 20);
}

#[test]
fn promtool_understands_its_queries() {
    if !installed("promtool", "prometheus") {
        return;
    }
    let rule = |(number, query): (usize, String)| {
        let text = serde_json::to_string(&query).unwrap();
        format!("  - record: linerate:panel{number}\n    expr: {text}\n")
    };
    let rules: String = queries().into_iter().enumerate().map(rule).collect();
    let file = place("dashboard-rules").join("rules.yml");
    std::fs::write(&file, format!("groups:\n- name: panels\n  rules:\n{rules}")).unwrap();
    let output = Command::new("promtool")
        .args(["check", "rules"])
        .arg(&file)
        .output()
        .unwrap();
    let reported =
        String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{reported}\n{rules}");
    assert!(
        reported.contains(&format!("{} rules found", queries().len())),
        "{reported}"
    );
}

/// What no panel needs.
const UNASKED: &[&str] = &["linerate_run_info"];
