// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate explain -` as somebody uses it who pastes what he has: one message, an output, a complaint.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// Explains a text: what is printed.
fn explained(text: &str, words: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["explain", "-"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut into = child.stdin.take().unwrap();
    into.write_all(text.as_bytes()).unwrap();
    drop(into);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

fn document(text: &str) -> Value {
    serde_json::from_str(&explained(text, &["--json"])).unwrap()
}

#[test]
fn a_message_of_the_kernel_names_the_cause_with_check_and_remedy() {
    let text = "kernel: [ 8123.4] nf_conntrack: nf_conntrack: table full, dropping packet\n";
    let first = &document(text)["findings"][0];
    assert_eq!(first["cause"], "connection-tracking-full");
    assert_eq!(first["strength"], "proven");
    assert_eq!(first["place"], "host");
    assert_ne!(first["check"]["command"], "");
    let shown = explained(text, &[]);
    for part in [
        "findings, most likely first",
        "the connection tracking table is full",
        "proven: a message or counter names it",
        "line 1:",
        "check:",
        "refutes:",
        "undo:",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// Nothing shows it, so that it is possible and no more.
#[test]
fn a_complaint_without_output_is_answered_by_what_is_possible() {
    let text = "Since we joined the two sites with WireGuard some web sites hang: ping works, ssh logs in, \
        but git clone and HTTPS stall for ever. The MTU is 1500 everywhere.\n";
    let document = document(text);
    let findings = document["findings"].as_array().unwrap();
    assert!((1..=3).contains(&findings.len()), "{findings:#?}");
    let causes: Vec<&str> = findings
        .iter()
        .filter_map(|one| one["cause"].as_str())
        .collect();
    assert!(causes.contains(&"mtu-too-large-for-tunnel"), "{causes:?}");
    assert!(findings.iter().all(|one| one["strength"] == "weak"));
    let next = document["next_commands"].as_array().unwrap();
    assert!((1..=3).contains(&next.len()), "{next:?}");
    let first = findings[0]["check"]["command"].as_str().unwrap();
    let bare = first.split("   # ").next().unwrap();
    assert!(next[0].as_str().unwrap().starts_with(bare), "{next:?}");
}

#[test]
fn healthy_output_blames_nobody() {
    let text = "Settings for eth0:\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n\tLink detected: yes\n\n\
        e1000e 0000:00:1f.6 eth0: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: Rx/Tx\n";
    let document = document(text);
    assert_eq!(document["findings"], Value::Array(Vec::new()));
    assert_eq!(document["odd"], Value::Array(Vec::new()));
}

#[test]
fn an_abnormal_counter_without_a_cause_is_listed() {
    let text = "$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 90000\n     rx_gearbox_errors: 5000\n";
    let document = document(text);
    let odd = document["odd"].as_array().unwrap();
    let known = odd
        .iter()
        .any(|one| one["what"] == "rx_gearbox_errors = 5000" && one["first_line"] == 4);
    assert!(known, "{odd:?}");
    let shown = explained(text, &[]);
    assert!(
        shown.contains("odd, and not explained by any finding\n  line 4: rx_gearbox_errors = 5000"),
        "{shown}"
    );
}

#[test]
fn facts_show_why_one_cause_stands_before_the_other() {
    let text = "nf_conntrack: nf_conntrack: table full, dropping packet\n";
    let shown = explained(text, &["--facts"]);
    assert!(shown.contains("weights, decibans"), "{shown}");
    assert!(shown.contains("connection-tracking-full: "), "{shown}");
    assert!(
        shown.contains(" sum, each further sign counted less"),
        "{shown}"
    );
    assert!(!explained(text, &[]).contains("weights, decibans"));
}

/// The cases of `docs/explaining.md`: a text, and how its answer begins.
#[test]
fn the_cases_of_the_guide_are_answered_so() {
    let guide = include_str!("../../../../docs/explaining.md");
    let (_, cases) = guide.split_once("## Five cases").unwrap();
    let (cases, _) = cases.split_once("\n## ").unwrap();
    let blocks: Vec<&str> = cases.split("```").collect();
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block.strip_prefix("text\n"))
        .collect();
    assert_eq!(texts.len(), 10);
    for pair in texts.chunks(2) {
        let shown = explained(pair[0], &[]);
        assert!(shown.contains(pair[1].trim_end()), "{}\n{shown}", pair[1]);
    }
}
