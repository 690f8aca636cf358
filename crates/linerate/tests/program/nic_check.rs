// SPDX-License-Identifier: MIT OR Apache-2.0
//! `nic-check` in a lab: a healthy interface is right, each simulated broken one is caught and named, a veth without a wire
//! is neither.

mod remote;

use std::process::Command;
use std::thread;

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

/// Whether this user and this kernel may load the program that asks for VLAN tags.
fn asks_for_tags(document: &Value) -> bool {
    let checks = document["checks"].as_array().unwrap();
    let tag = checks.iter().find(|check| check["id"] == "tx-vlan-tag");
    let why = tag.and_then(|check| check["reason"].as_str());
    !why.is_some_and(|why| why.contains("it needs"))
}

/// What a busy machine spoils is done again. The document that is right.
fn until(words: &str, is_right: impl Fn(i32, &Value) -> bool) -> Option<Value> {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let (code, document) = checked(words)?;
        if is_right(code, &document) {
            return Some(document);
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
            "tx-ip4-header",
            "tx-udp4-sum",
            "tx-udp6-sum",
            "tx-udp4-zero-sum",
            "tx-udp6-zero-sum",
            "tx-udp4-length",
            "tx-udp6-length",
            "tx-udp4-fragments",
            "tx-udp6-fragments",
            "tx-tcp4-sum",
            "tx-tcp6-sum",
            "tx-tcp4-segments",
            "tx-tcp6-segments",
            "tx-udp4-segments",
            "rx-udp4-good",
            "rx-udp4-bad",
            "rx-udp6-bad",
            "rx-tcp4-good",
            "rx-tcp6-good",
            "rx-tcp4-bad",
            "rx-tcp4-apart",
            "rx-udp6-apart",
            "rx-vlan-tag",
            "tx-mtu",
            "rx-mtu",
            "tx-counters",
            "rx-counters",
            "rx-queues",
            "rx-time-stamps",
        ];
        let tags = ["tx-vlan-tag", "tx-vlan-sum", "tx-vlan-segments"];
        let tags = tags.iter().filter(|_| asks_for_tags(document));
        code == 0
            && judged
                .iter()
                .chain(tags)
                .all(|id| right.iter().any(|one| one == id))
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
        let tags = ["tx-vlan-tag", "tx-vlan-sum", "tx-vlan-segments"];
        let tags = tags.iter().filter(|_| asks_for_tags(document));
        code == 0
            && of_sending
                .iter()
                .chain(tags)
                .all(|id| unlike.iter().any(|one| one == id))
            && named(document, "wrong").is_empty()
    });
}

#[test]
fn frames_lost_on_the_way_are_not_held_against_the_interface() {
    until("--fault loss=0.5%", |code, document| {
        let right = named(document, "right");
        let judged = ["rx-udp4-bad", "rx-udp4-bad-counted", "rx-tcp4-bad-counted"];
        code == 0
            && judged.iter().all(|id| right.iter().any(|one| one == id))
            && named(document, "wrong").is_empty()
    });
}

/// Fault, checks that are wrong, the only finding, its remedy.
const FAULTS: [(&str, &[&str], &str, Option<&str>); 11] = [
    (
        "nic-short-checksum",
        &["tx-udp4-sum", "tx-udp4-zero-sum", "tx-tcp4-syn-ack"],
        "nic-transmit",
        Some("ethtool -K eth0 tx off"),
    ),
    (
        "nic-udp-zero",
        &["tx-udp4-zero-sum"],
        "nic-transmit",
        Some("ethtool -K eth0 tx off"),
    ),
    (
        "nic-tso-flags",
        &["tx-tcp4-segments"],
        "nic-segmentation",
        Some("ethtool -K eth0 tso off"),
    ),
    ("nic-miscounts", &["rx-counters"], "nic-counters", None),
    ("nic-one-queue", &["rx-queues"], "nic-queues", None),
    ("nic-unstable-rss", &["rx-queues"], "nic-queues", None),
    (
        "nic-merges",
        &["rx-tcp4-apart", "rx-udp4-apart"],
        "nic-merging",
        Some("ethtool -K eth0 gro off"),
    ),
    (
        "nic-passes-wrong",
        &["rx-udp4-bad", "rx-tcp4-bad"],
        "nic-receive",
        Some("ethtool -K eth0 rx off"),
    ),
    (
        "nic-drops-short",
        &["rx-udp4-good", "rx-tcp4-good"],
        "nic-receive",
        Some("ethtool -K eth0 rx off"),
    ),
    (
        "nic-vlan-tag",
        &["tx-vlan-tag", "tx-vlan-segments"],
        "nic-vlan",
        Some("ethtool -K eth0 txvlan off"),
    ),
    (
        "nic-vlan-checksum",
        &["tx-vlan-sum", "tx-vlan-segments"],
        "nic-vlan",
        Some("ethtool -K eth0 txvlan off"),
    ),
];

#[test]
fn each_broken_interface_is_caught_and_named() {
    thread::scope(|scope| {
        for fault in &FAULTS {
            scope.spawn(|| caught(fault));
        }
    });
}

#[test]
fn the_page_has_each_fault_with_its_remedy() {
    for (fault, _, _, remedy) in FAULTS {
        let cell = remedy.map_or("none".to_owned(), |command| format!("`{command}`"));
        assert_eq!(row(fault)[2], cell, "{fault}");
    }
}

/// The cells of a fault in the table of the page: its name, what is said, the remedy.
fn row(fault: &str) -> [&'static str; 3] {
    let page = include_str!("../../../../docs/nic-check.md");
    let begin = format!("| `{fault}` |");
    let row = page.lines().find(|line| line.starts_with(&begin));
    let row = row.unwrap_or_else(|| panic!("no row of {fault}"));
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    cells.try_into().unwrap()
}

/// The frame of a check of one family is not of the other, whose half-open connections still retransmit.
fn assert_families(document: &Value) {
    for check in document["checks"].as_array().unwrap() {
        let id = check["id"].as_str().unwrap_or_default();
        let frame = check["example"]["frame"].as_str();
        for (family, ethertype_of_other) in [("4-", "86dd"), ("6-", "0800")] {
            let is_of_other = |frame: &str| frame[24..].starts_with(ethertype_of_other);
            let is_wrong = id.contains(family) && frame.is_some_and(is_of_other);
            assert!(!is_wrong, "{id}: {frame:?}");
        }
    }
}

/// Each part of the page's cell is in the title of the finding or in its reason.
fn assert_said(fault: &str, document: &Value) {
    let finding = &document["findings"][0];
    let said = format!("{}\n{}", finding["title"], finding["why"]);
    for part in row(fault)[1].split("; ") {
        // Which frame it is may differ.
        let part = part.trim_end_matches('…');
        assert!(said.contains(part), "{fault}: {part}: {said}");
    }
}

fn caught((fault, ids, rule, remedy): &(&str, &[&str], &str, Option<&str>)) {
    let document = until(&format!("--fault {fault}"), |code, document| {
        let wrong = named(document, "wrong");
        let findings = document["findings"].as_array().unwrap();
        let command = &document["findings"][0]["change"]["commands"][0];
        let is_of_tags = *rule == "nic-vlan";
        if is_of_tags && !asks_for_tags(document) {
            println!("skipped: {fault}: no program may be loaded here");
            return true;
        }
        code == 1
            && ids.iter().all(|id| wrong.iter().any(|one| one == id))
            && findings.len() == 1
            && findings[0]["rule"] == *rule
            && command.as_str() == *remedy
    });
    let document = document.filter(|document| *rule != "nic-vlan" || asks_for_tags(document));
    if let Some(document) = &document {
        assert_said(fault, document);
        assert_families(document);
    }
}

#[test]
fn the_record_says_the_same_later_and_knows_no_fault() {
    let folder = std::env::temp_dir().join(format!("linerate-nic-{}", std::process::id()));
    let words = ["--lab", "--fault", "nic-udp-zero", "--toggle", "--json"];
    let measured = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .arg("nic-check")
        .args(words)
        .arg("-o")
        .arg(&folder)
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&measured.stdout).unwrap();
    if document["checks"].as_array().is_none_or(Vec::is_empty) {
        println!("skipped: no lab on this machine");
        return;
    }
    let again = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["explain", "--json"])
        .arg(&folder)
        .output()
        .unwrap();
    let record = std::fs::read_to_string(folder.join("run.json")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let later: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(later["findings"], document["findings"]);
    assert!(
        !record.contains("nic-udp-zero"),
        "the record names the fault"
    );
    let why = document["findings"][0]["why"].as_str().unwrap();
    assert!(why.contains("expected ffff, seen 0000"), "{why}");
    assert!(why.ends_with("; with tx-checksumming off: right"), "{why}");
}

#[test]
fn bad_input_is_named() {
    for (words, why) in [
        ("eth0", "HOST"),
        ("eth0 example", "invalid"),
        ("--lab eth0 192.0.2.1", "cannot be used with"),
        ("--veth eth0 192.0.2.1", "cannot be used with"),
        ("--veth", "--lab"),
        ("--lab --fault nic-unknown", "unknown fault"),
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
