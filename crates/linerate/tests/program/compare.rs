// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate compare`: the figures of the field reports as tables, stored runs that were written here, and
//! the exit codes that CI lives by. Nothing is measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use linerate_model::output::{Host, Protocol, Test};
use linerate_model::run::Run;
use linerate_model::setting::Setting;
use serde_json::Value;

fn compare(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.arg("compare").args(arguments);
    command.env("LC_ALL", "C.UTF-8").output().unwrap()
}

fn table(name: &str, before: &str, after: &str, more: &[&str]) -> Output {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tables/{name}.csv"));
    let file = file.display().to_string();
    let arguments = ["--table", &file, "--before", before, "--after", after];
    compare(&[&arguments[..], more].concat())
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A figure of a document by its metric.
fn figure<'a>(document: &'a Value, metric: &str) -> &'a Value {
    let all = document["comparison"].as_array().unwrap();
    all.iter().find(|one| one["metric"] == metric).unwrap()
}

/// Report 000: before and after the patch, three runs of TCP each way.
#[test]
fn three_runs_a_side_cannot_reach_a_p_below_a_tenth() {
    let one = ["--metric", "TCP receive"];
    let output = table("imx6-tcp", "before", "after", &one);
    assert_eq!(output.status.code(), Some(0));
    let text = words(&output);
    for said in [
        "nothing is proven: TCP receive × 48.85, p = 0.1;",
        "3 against 3 runs cannot give a p below 0.1: a proof needs 4 against 4",
    ] {
        assert!(text.contains(said), "{text}");
    }
    let json = document(&table(
        "imx6-tcp",
        "before",
        "after",
        &[&one[..], &["--json"]].concat(),
    ));
    let receive = figure(&json, "TCP receive");
    assert_eq!(receive["verdict"], "inconclusive");
    assert!((receive["p"].as_f64().unwrap() - 0.1).abs() < 1e-12);
    assert_eq!(receive["ci95"], Value::Null);
    assert_eq!(receive["needed"], 4);
    // Sending was the same: three equal runs a side are enough for that.
    let json = document(&table("imx6-tcp", "before", "after", &["--json"]));
    assert_eq!(figure(&json, "TCP transmit")["verdict"], "equivalent");
}

/// Report 003: two drivers, one run of each size; "1-2 %" is true of large packets only.
#[test]
fn one_run_a_side_is_shown_and_refused() {
    let output = table("hme-qfe", "qfe", "hme", &["--json"]);
    assert_eq!(output.status.code(), Some(4));
    let json = document(&output);
    assert_eq!(json["exit_code"], 4);
    assert_eq!(
        json["error"]["what"],
        "cannot draw a result from 1 against 1 runs"
    );
    for (metric, ratio) in [
        ("TCP tx MTU 100", 0.8743),
        ("TCP tx IPv4", 1.0),
        ("TCP tx IPv6", 0.9956),
        ("UDP tx 1500", 0.9912),
        ("UDP tx 128", 0.8596),
        ("UDP tx 64", 0.8506),
    ] {
        let one = figure(&json, metric);
        assert!(
            (one["ratio"].as_f64().unwrap() - ratio).abs() < 5e-5,
            "{metric}"
        );
        assert_eq!(one["verdict"], "inconclusive", "{metric}");
    }
    let text = table("hme-qfe", "qfe", "hme", &[]);
    let said = String::from_utf8_lossy(&text.stderr);
    assert!(said.contains("one run is one observation"), "{said}");
    assert!(
        words(&text).contains("UDP tx 64 inconclusive -14.9 %"),
        "{}",
        words(&text)
    );
}

/// Report 004: bridge, routed and DPDK by number of flows.
#[test]
fn flows_are_summed_and_how_evenly_they_share_is_said() {
    let json = document(&table("ten64", "bridge", "dpdk", &["--json"]));
    let four = figure(&json, "4 flows");
    for (side, total, spread, index) in [
        ("before", 9.04, 1.56, 0.9615),
        ("after", 9.43, 1.1797, 0.9956),
    ] {
        let near = |name: &str, expected: f64| {
            let value = four[side][name].as_f64().unwrap();
            assert!((value - expected).abs() < 5e-4, "{side} {name}: {value}");
        };
        near("median", total);
        near("flow_spread", spread);
        near("flow_fairness", index);
    }
    // The table's own column "improvement relative to the bridge".
    for (flows, improvement) in [("1 flow", 1.63), ("2 flows", 1.34), ("3 flows", 1.09)] {
        let ratio = figure(&json, flows)["ratio"].as_f64().unwrap();
        assert!((ratio - improvement).abs() < 0.006, "{flows}: {ratio}");
    }
    let routed = document(&table("ten64", "bridge", "routed", &["--json"]));
    let fairness = figure(&routed, "5 flows")["after"]["flow_fairness"]
        .as_f64()
        .unwrap();
    assert!(fairness < 0.97, "1.37 of 2.17 Gbit/s: {fairness}");
    assert!(words(&table("ten64", "bridge", "dpdk", &[])).contains("4 flows: 1.560 times"));
}

/// A stored run of UDP at 400 Mbit/s.
fn run(name: &str, delivered: f64, kernel: &str) -> String {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("compare")
        .join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let mut run = Run::begin("udp", "0.1.0", &["linerate".to_owned()]);
    run.partial = false;
    run.hosts = vec![Host {
        kernel: Some(kernel.to_owned()),
        ..Host::default()
    }];
    run.settings = vec![Setting {
        source: "ethtool -k".to_owned(),
        interface: Some("eth0".to_owned()),
        values: [(
            "tx-tcp-segmentation".to_owned(),
            kernel.replace("6.1", "off"),
        )]
        .into(),
        ..Setting::default()
    }];
    run.tests = vec![Test {
        name: "udp".to_owned(),
        protocol: Protocol::Udp,
        requested_bits_per_second: Some(400e6),
        delivered_bits_per_second: Some(delivered),
        sent_packets: Some(34_530),
        loss_ratio: Some(1.0 - delivered / 400e6),
        valid: true,
        ..Test::default()
    }];
    let text = serde_json::to_string(&run).unwrap();
    std::fs::write(directory.join("run.json"), text).unwrap();
    directory.display().to_string()
}

fn group(name: &str, delivered: &[f64], kernel: &str) -> Vec<String> {
    let runs = delivered.iter().enumerate();
    runs.map(|(at, rate)| run(&format!("{name}-{at}"), *rate, kernel))
        .collect()
}

fn sides(before: &[String], after: &[String], more: &[&str]) -> Output {
    let mut arguments = vec!["--before"];
    arguments.extend(before.iter().map(String::as_str));
    arguments.push("--after");
    arguments.extend(after.iter().map(String::as_str));
    arguments.extend(more);
    compare(&arguments)
}

#[test]
fn stored_runs_fail_a_check_when_they_are_proven_worse() {
    let before = group("good", &[399e6, 398.7e6, 399.2e6, 398.9e6], "5.10");
    let after = group("bad", &[371e6, 369e6, 372e6, 370e6], "6.1");
    let output = sides(&before, &after, &["--fail-if", "worse:3%", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json = document(&output);
    let throughput = figure(&json, "throughput");
    assert_eq!(
        (&throughput["verdict"], &throughput["primary"]),
        (&"worse".into(), &true.into())
    );
    assert_eq!(json["expectations"][0]["expression"], "not worse:3%");
    let loss = figure(&json, "loss");
    assert_eq!(
        (&loss["verdict"], &loss["higher_is_better"]),
        (&"worse".into(), &false.into())
    );
    let guards = throughput["guards"].as_array().unwrap();
    assert!(
        guards
            .iter()
            .any(|guard| guard["metric"] == "loss" && guard["worse"] == true)
    );
    // By less than the check allows, and the other way round.
    let check = |before, after, limit| sides(before, after, &["--fail-if", limit]).status.code();
    assert_eq!(check(&before, &after, "worse:10%"), Some(0));
    assert_eq!(check(&after, &before, "worse:3%"), Some(0));
}

#[test]
fn what_else_differs_between_stored_runs_is_said() {
    let before = group("old", &[399e6, 398.7e6, 399.2e6, 398.9e6], "5.10");
    let after = group("new", &[399.1e6, 398.8e6, 399e6, 399.3e6], "6.1");
    let output = sides(&before, &after, &[]);
    let text = words(&output);
    for said in [
        "also different: kernel (local), ethtool -k tx-tcp-segmentation (local eth0)",
        "kernel (local): 5.10 -> 6.1",
        "no practical difference",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_check_that_could_never_fail_is_refused() {
    let few = group("few", &[399e6, 398e6, 397e6], "5.10");
    let output = sides(&few, &few, &["--fail-if", "worse:3%"]);
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("could never fail") && said.contains("at least 4 runs per side"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_compared_is_named() {
    let runs = group("some", &[399e6, 398e6], "5.10");
    for (arguments, said) in [
        (
            vec!["--before", "/nowhere", "--after", &runs[0]],
            "/nowhere",
        ),
        (
            vec![
                "--before", &runs[0], "--after", &runs[1], "--metric", "rtt-p99",
            ],
            "one of: throughput udp up",
        ),
        (
            vec!["--before", &runs[0], "--after", &runs[1], "--margin", "2"],
            "such as 2%",
        ),
    ] {
        let output = compare(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(said), "{stderr}");
    }
}
