// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cost`: both ends of every size, in every format, whatever the machine does meanwhile.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Server, have_iperf3};

fn place(name: &str) -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cost-{name}"));
    let _absent = std::fs::remove_dir_all(&place);
    place
}

fn linerate(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(words.split_whitespace());
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.output().unwrap()
}

fn document(words: &str) -> Value {
    let output = linerate(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Host, direction, protocol, IP version and size of each row.
fn rows(document: &Value) -> Vec<String> {
    let names = ["host", "direction", "protocol", "af", "payload_bytes"];
    let row = |cost: &Value| {
        names
            .map(|name| cost[name].to_string().replace('"', ""))
            .join(" ")
    };
    document["costs"]
        .as_array()
        .unwrap()
        .iter()
        .map(row)
        .collect()
}

#[test]
fn a_lab_has_both_ends_of_each_size_and_the_stored_run_has_it_in_every_format() {
    let place = place("lab");
    let directory = place.display();
    let flags = "--sizes 64,512,1472 -t 100ms --rounds 1 -b 5kpps";
    let words = format!("cost --lab {flags} --json -o {directory}");
    let document = document(&words);
    let rows = rows(&document);
    for af in [4, 6] {
        let largest = if af == 4 { 1472 } else { 1452 };
        for bytes in [64, 512, largest] {
            for end in ["local tx", "remote rx", "remote tx", "local rx"] {
                let wanted = format!("{end} udp {af} {bytes}");
                assert!(rows.contains(&wanted), "no {wanted} in {rows:?}");
            }
        }
        let full = if af == 4 { 1448 } else { 1428 };
        let wanted = format!("local tx tcp {af} {full}");
        assert!(rows.contains(&wanted), "no {wanted} in {rows:?}");
    }
    assert_eq!(rows.len(), 2 * 2 * 3 * 4, "{rows:?}");
    assert_eq!(document["cost_fits"].as_array().unwrap().len(), 16);
    for cost in document["costs"].as_array().unwrap() {
        assert_eq!(
            (&cost["shared_host"], &cost["basis"]),
            (&true.into(), &"streams".into())
        );
        assert!(cost["cpu_ns_per_packet"].as_f64().unwrap() > 0.0, "{cost}");
        let parts = cost["user_ns"].as_f64().unwrap() + cost["system_ns"].as_f64().unwrap();
        let whole = cost["cpu_ns_per_packet"].as_f64().unwrap() * cost["packets"].as_f64().unwrap();
        assert!((parts / whole - 1.0).abs() < 1e-6, "{cost}");
    }
    sampled(&document);
    let again: Value = {
        let output = linerate(&format!("report {directory} --format json"));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(
        again["costs"], document["costs"],
        "a stored run says the same"
    );
    assert_eq!(again["cost_fits"], document["cost_fits"]);
    assert_eq!(again["cost_profiles"], document["cost_profiles"]);
    for (format, wanted) in [
        ("term", "CPU time per packet"),
        ("md", "CPU time per packet"),
        ("html", "CPU time per packet"),
        ("csv", "cpu_ns_per_packet"),
        ("csv --table cost_fits", "ns_per_byte.value"),
        ("xlsx", ""),
    ] {
        let output = linerate(&format!("report {directory} --format {format}"));
        assert_eq!(output.status.code(), Some(0), "{format}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(wanted), "{format}: {text}");
    }
}

/// Each protocol has samples of both ends, whose parts are all of them, or there is a reason.
fn sampled(document: &Value) {
    let profiles = document["cost_profiles"].as_array().unwrap();
    if let Some(why) = profiles.iter().find(|one| !one["missing"].is_null()) {
        assert_eq!(profiles.len(), 1, "{profiles:?}");
        return println!("skipped in part: processors cannot be sampled: {why}");
    }
    assert_eq!(profiles.len(), 2, "UDP and TCP: {profiles:?}");
    for profile in profiles {
        let samples = profile["samples"].as_u64().unwrap();
        assert!(samples > 0 && profile["shared_host"] == true, "{profile}");
        for parts in ["families", "contexts"] {
            let parts = profile[parts].as_array().unwrap();
            let all: u64 = parts
                .iter()
                .map(|one| one["samples"].as_u64().unwrap())
                .sum();
            assert_eq!(all, samples, "{profile}");
            let shares: f64 = parts
                .iter()
                .map(|one| one["ratio"]["value"].as_f64().unwrap())
                .sum();
            assert!((shares - 1.0).abs() < 1e-9, "{profile}");
        }
        let id = &profile["test_ids"][0];
        let costs = document["costs"].as_array().unwrap().iter();
        let mut ids = costs.flat_map(|cost| cost["test_ids"].as_array().unwrap());
        assert!(
            ids.all(|other| other != id),
            "a sampled test has no cost: {id}"
        );
    }
}

/// A stock server reports the CPU time of its process alone, and one IP version is enough.
#[test]
fn a_stock_server_s_rows_are_those_of_its_process() {
    if !have_iperf3() {
        return;
    }
    let server = Server::stock();
    let port = server.port;
    let flags = "--protocol udp --sizes 64,512,1400 -t 1 --rounds 1 -b 20kpps";
    let document = document(&format!("cost 127.0.0.1 -p {port} {flags} --json"));
    let costs = document["costs"].as_array().unwrap();
    let far: Vec<_> = costs
        .iter()
        .filter(|cost| cost["host"] == "remote")
        .collect();
    assert!(!far.is_empty(), "{document}");
    for cost in far {
        assert_eq!(cost["basis"], "process", "{cost}");
        assert!(cost["cpu_ns_per_packet"].as_f64().unwrap() > 0.0, "{cost}");
    }
    let own = costs.iter().filter(|cost| cost["host"] == "local");
    for cost in own {
        assert_eq!(cost["basis"], "streams", "{cost}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_reason() {
    for (words, why) in [
        ("cost 127.0.0.1 --sizes 8", "16 to 65507"),
        ("cost 127.0.0.1 --sizes ,", "--sizes"),
        ("cost 127.0.0.1 --rounds 0", "--rounds"),
        ("cost 127.0.0.1 -6", "requested family"),
        ("cost --protocol udp", "<HOST|--lab>"),
    ] {
        let output = linerate(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{words}: {said}");
        assert!(
            said.contains(why) || why.starts_with('<'),
            "{words}: {said}"
        );
    }
}
