// SPDX-License-Identifier: MIT OR Apache-2.0
//! The formats before the programs that they are for, where those are installed.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::made::{forward, place, printed, store, udp};

/// Whether a program is there; that it is not is printed.
pub(crate) fn installed(program: &str, package: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !found {
        println!("skipped: no {program} here (Debian package {package})");
    }
    found
}

/// Prometheus' linter reads this text, and has nothing to say but that it would count bytes where networks count bits.
pub(crate) fn promtool_accepts(metrics: &[u8]) {
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(metrics).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let reported = String::from_utf8_lossy(&output.stderr);
    let wrong = reported
        .lines()
        .filter(|line| !line.ends_with("instead of \"bits\""));
    let text = String::from_utf8_lossy(metrics);
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&str>::new(), "{text}");
    assert!(!reported.contains("error while linting"), "{reported}");
}

#[test]
fn junit_is_valid_against_its_schema() {
    if !installed("xmllint", "libxml2-utils") {
        return;
    }
    let place = place("junit");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/src/junit.xsd");
    let runs = [store(&place, &udp()), store(&place, &forward())];
    let file = place.join("both.xml");
    printed(&[&runs[0], &runs[1], "-o", file.to_str().unwrap()]);
    let output = Command::new("xmllint")
        .args(["--noout", "--nonet", "--schema"])
        .args([&schema, &file])
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reported}");
}

#[test]
fn openmetrics_are_read_by_prometheus() {
    if !installed("promtool", "prometheus") {
        return;
    }
    let place = place("openmetrics");
    let runs = [store(&place, &udp()), store(&place, &forward())];
    let metrics = printed(&[&runs[0], &runs[1], "-f", "openmetrics"]);
    promtool_accepts(&metrics);
}
