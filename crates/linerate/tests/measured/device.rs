// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab's device reports its counters, and the ledger made of them says where frames died. Without namespaces the tests are printed as skipped.

use std::process::Command;

use serde_json::Value;

use crate::turns::Turn;

const OURS: &str = env!("CARGO_BIN_EXE_linerate");

/// Document and trials of a run; `None`, and a printed line, where this machine forbids namespaces.
fn forward(name: &str, arguments: &str) -> Option<(Value, Vec<Value>, std::path::PathBuf)> {
    for attempt in 0..ATTEMPTS {
        let _turn = Turn::of_attempt(attempt);
        let ran = once(name, arguments)?;
        if ran.1.iter().any(is_lossy) && !ran.0["ledger"].as_array()?.is_empty() {
            return Some(ran);
        }
    }
    panic!("{name}: no trial of {ATTEMPTS} runs was over the limit");
}

fn is_lossy(trial: &Value) -> bool {
    number(&trial["directions"][0]["lost_frames"]) > 0 && trial["valid"] == true
}

/// Other work on this machine may spoil a run.
const ATTEMPTS: usize = 6;

fn once(name: &str, arguments: &str) -> Option<(Value, Vec<Value>, std::path::PathBuf)> {
    let dir = std::env::temp_dir().join(format!("linerate-device-{}-{name}", std::process::id()));
    let _absent = std::fs::remove_dir_all(&dir);
    let output = Command::new(OURS)
        .args(["forward", "--json", "-q", "--profile", "quick", "-o"])
        .arg(&dir)
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("error: cannot put a device between two ports of this machine") {
        println!("skipped: {name}: {said}");
        return None;
    }
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let lines = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap_or_default();
    let trials = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    Some((document, trials.collect(), dir))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn counted(trial: &Value, name: &str) -> u64 {
    let counters = trial["device"]["counters"].as_array().unwrap();
    let named = counters.iter().filter(|one| one["name"] == name);
    named.map(|one| number(&one["delta"])).sum()
}

/// What the router says it forwarded is what the tester offered it, but for what it dropped and what the
/// kernel says to itself.
#[test]
fn each_trial_has_what_the_device_counted() {
    let arguments = "--lab route --fault rate=4M --sizes 256 --trial 0.3 --goal ndr \
         --max-load 4kpps --time-limit 6";
    let Some((document, trials, dir)) = forward("counts", arguments) else {
        return;
    };
    let hosts = document["hosts"].as_array().unwrap();
    let device = hosts.iter().find(|host| host["role"] == "device").unwrap();
    assert_eq!(device["boot_id"], hosts[0]["boot_id"], "one machine");
    assert_eq!(device["interfaces"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["forward"]["device"]["by"], "lab");
    for trial in &trials {
        let way = &trial["directions"][0];
        let (offered, lost) = (number(&way["offered_frames"]), number(&way["lost_frames"]));
        let packets: u64 = trial["device"]["processors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| number(&one["packets"]))
            .sum();
        assert!(packets >= offered - lost, "{packets} of {offered}: {trial}");
        assert!(counted(trial, "IpInReceives") >= offered - lost, "{trial}");
    }
    // A busy machine may keep a few frames beyond the end of a trial: nobody dropped those.
    let lost = |one: &Value| number(&one["directions"][0]["lost_frames"]);
    let lost: u64 = trials.iter().map(lost).sum();
    let dropped: u64 = trials.iter().map(|one| counted(one, "drops")).sum();
    assert!(
        dropped >= lost - lost / 5,
        "{dropped} of {lost} by the token bucket: {trials:#?}"
    );
    let most = |of: fn(&Value) -> bool| trials.iter().filter(|one| of(one)).count();
    assert!(
        most(|trial| counted(trial, "drops") > 0) > 0,
        "none was over the rate"
    );
    let samples = std::fs::read_to_string(dir.join("samples.jsonl")).unwrap();
    let entry = entry(&document, "fwd-qdisc");
    assert_eq!(entry["interface"], "eth1", "the port that sends: {entry}");
    assert!(samples.contains(r#""host":"device""#) && samples.contains(r#""group":"trial-1""#));
}

/// The first entry of the ledger with something at this stage.
fn entry(document: &Value, stage: &str) -> Value {
    let ledger = document["ledger"].as_array().unwrap();
    let stages = ledger
        .iter()
        .flat_map(|one| one["stages"].as_array().unwrap());
    let mut found = stages.filter(|one| one["stage"] == stage && number(&one["hi"]) > 0);
    let found = found.next().cloned();
    found.unwrap_or_else(|| panic!("no {stage}: {ledger:#?}"))
}

/// It has no counter of its own: IP took the frames in and passed fewer on.
#[test]
fn what_the_packet_filter_drops_stands_in_the_ledger() {
    let arguments = "--lab route --fault loss=50 --sizes 128 --trial 0.3 --goal ndr \
         --max-load 2kpps --time-limit 5";
    let Some((document, trials, dir)) = forward("filter", arguments) else {
        return;
    };
    assert!(trials.iter().all(|trial| !trial["device"].is_null()));
    let found = entry(&document, "fwd-ip");
    assert_eq!(found["host"], "device");
    let output = Command::new(OURS)
        .args(["explain", "--json"])
        .arg(&dir)
        .output()
        .unwrap();
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        explained["ledger"], document["ledger"],
        "the same from the record"
    );
    assert_eq!(explained["findings"], document["findings"]);
}
