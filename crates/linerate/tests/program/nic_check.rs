// SPDX-License-Identifier: MIT OR Apache-2.0
//! `nic-check` in a lab: a healthy interface is right, each simulated broken one is caught and named, a veth without a wire
//! is neither.

use std::process::Command;

use serde_json::Value;

/// The exit code and the document. Where the machine grants no namespaces nothing is tested.
fn checked(words: &str) -> Option<(i32, Value)> {
    let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["nic-check", "--lab", "--json", "-o", "/dev/null/none"])
        .args(words.split_whitespace())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let document = document.unwrap_or_else(|error| panic!("{error}: {said}"));
    let why = document["error"]["why"].as_str().unwrap_or_default();
    if ["namespaces", "CONFIG_", "Operation not"]
        .iter()
        .any(|words| why.contains(words))
    {
        println!("skipped: no lab on this machine: {why}");
        return None;
    }
    Some((output.status.code().unwrap_or(-1), document))
}

/// The names of the checks in a state.
fn named(document: &Value, state: &str) -> Vec<String> {
    let checks = document["checks"].as_array().unwrap();
    let some = checks.iter().filter(|check| check["state"] == state);
    some.map(|check| check["id"].as_str().unwrap().to_owned())
        .collect()
}

/// What a busy machine spoils is done again.
fn until(words: &str, is_right: impl Fn(i32, &Value) -> bool) {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let Some((code, document)) = checked(words) else {
            return;
        };
        if is_right(code, &document) {
            return;
        }
        let findings = document["findings"].as_array().map(Vec::len);
        let error = document["error"].clone();
        seen.push((code, named(&document, "wrong"), findings, error));
    }
    panic!("{words}: {seen:#?}");
}

#[test]
fn a_healthy_interface_over_the_wire_is_right() {
    until("", |code, document| {
        let right = named(document, "right");
        let judged = [
            "tx-udp4-sum",
            "tx-udp4-zero-sum",
            "tx-tcp4-sum",
            "rx-udp4-bad",
            "rx-tcp4-good",
            "tx-tcp4-segments",
            "rx-counters",
        ];
        code == 0
            && judged.iter().all(|id| right.iter().any(|one| one == id))
            && named(document, "wrong").is_empty()
            && named(document, "not-a-wire").is_empty()
            && document["findings"].as_array().is_some_and(Vec::is_empty)
    });
}

#[test]
fn a_veth_without_a_wire_is_neither_good_nor_bad() {
    until("--veth", |code, document| {
        let unlike = named(document, "not-a-wire");
        let of_sending = [
            "tx-udp4-sum",
            "tx-udp4-zero-sum",
            "tx-tcp4-sum",
            "tx-tcp4-segments",
        ];
        code == 0
            && of_sending
                .iter()
                .all(|id| unlike.iter().any(|one| one == id))
            && named(document, "wrong").is_empty()
    });
}

#[test]
fn bad_input_is_named() {
    for (words, why) in [
        ("eth0", "HOST"),
        ("eth0 example", "invalid"),
        ("--lab eth0 192.0.2.1", "cannot be used with"),
        ("--veth eth0 192.0.2.1", "--lab"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .arg("nic-check")
            .args(words.split(' '))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(why), "{words}: {said}");
    }
}

const ATTEMPTS: usize = 3;
