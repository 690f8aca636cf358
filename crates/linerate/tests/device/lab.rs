// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lab's device tells of itself. Without namespaces the tests are printed as skipped.

use std::process::Command;

use serde_json::Value;

use crate::OURS;

/// Document and trials of a run; `None`, and a printed line, where this machine forbids namespaces.
fn forward(name: &str, arguments: &str) -> Option<(Value, Vec<Value>, std::path::PathBuf)> {
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
    let lines = std::fs::read_to_string(dir.join("trials.ndjson")).unwrap();
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
        assert!(
            counted(trial, "drops") >= lost,
            "of the token bucket: {trial}"
        );
    }
    let most = |of: fn(&Value) -> bool| trials.iter().filter(|one| of(one)).count();
    assert!(
        most(|trial| counted(trial, "drops") > 0) > 0,
        "none was over the rate"
    );
    let samples = std::fs::read_to_string(dir.join("samples.jsonl")).unwrap();
    assert!(samples.contains(r#""host":"device""#) && samples.contains(r#""group":"trial-1""#));
}
