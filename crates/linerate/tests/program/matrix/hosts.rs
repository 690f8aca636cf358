// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix that is continued on another host: each run says where it ran, and what shows the cells says that they mix.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::{against, cells, counting, document, place, stderr, total, was_disturbed};
use crate::support::{Server, until};

#[test]
fn runs_on_another_host_are_told_apart() {
    let (place, server) = (place("hosts"), Server::ours("--quiet"));
    interrupted_after_a_run(&server, &place);
    let Some(refused) = elsewhere(&place, &[]) else {
        return;
    };
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    let why = stderr(&refused);
    assert!(why.contains("elsewhere now"), "{why}");
    let Some(output) = elsewhere(&place, &["--other-host"]) else {
        return;
    };
    let json = document(&output);
    if was_disturbed(&json) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    names_both(&json);
    let hosts = hosts_of_runs(&place);
    assert_eq!(hosts.len(), 2, "{hosts:?}");
    shown(&place);
}

/// The first run counts, at least one does not exist yet.
fn interrupted_after_a_run(server: &Server, place: &Path) {
    let child = against(server, place, &["--axes", "size=64,1448"])
        .spawn()
        .unwrap();
    until("a run counts", || total(&counting(&place.join("run"))) > 0);
    let id = child.id().to_string();
    let mut kill = Command::new("kill");
    assert!(kill.args(["-TERM", &id]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", stderr(&ended));
}

/// Continues it on a host of another name; nothing where there is no namespace of names.
fn elsewhere(place: &Path, flags: &[&str]) -> Option<Output> {
    let script =
        r#"hostname elsewhere || exit 77; exec "$LINERATE" matrix --resume run --json "$@""#;
    let output = Command::new("unshare")
        .args(["-Uru", "sh", "-c", script, "sh"])
        .args(flags)
        .env("LINERATE", env!("CARGO_BIN_EXE_linerate"))
        .env("XDG_STATE_HOME", place)
        .current_dir(place)
        .output();
    let output = output.ok().filter(|output| {
        let code = output.status.code();
        code != Some(77) && !stderr(output).starts_with("unshare:")
    });
    if output.is_none() {
        println!("skipped: no namespace of host names");
    }
    output
}

fn names_both(json: &Value) {
    let parts = json["matrix"]["ran_on"].as_array().unwrap();
    assert_eq!(parts.len(), 2, "{parts:?}");
    let runs: u64 = parts
        .iter()
        .map(|part| part["runs"].as_u64().unwrap())
        .sum();
    assert_eq!(runs, 4, "{parts:?}");
    let local = |at: usize| parts[at]["hosts"][0].as_str().unwrap();
    assert!(local(1).starts_with("hostname=elsewhere "), "{parts:?}");
    assert!(!local(0).starts_with("hostname=elsewhere "), "{parts:?}");
    assert_eq!(cells(json).len(), 2);
}

/// The local hosts of the lines of `runs.ndjson`.
fn hosts_of_runs(place: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(place.join("run/runs.ndjson")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done = lines.filter(|line| line["state"] == "done");
    done.map(|line| line["hosts"][0].as_str().unwrap().to_owned())
        .collect()
}

fn shown(place: &Path) {
    for (words, said) in [
        (
            &["report", "run"][..],
            "its runs were made on different hosts",
        ),
        (&["report", "run"], "runs on hostname=elsewhere"),
        (&["compare", "run", "run"], "A mixes runs of 2 hosts"),
        (&["compare", "run", "run"], "B mixes runs of 2 hosts"),
        (&["report", "run", "-f", "md"], "hostname=elsewhere"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(words)
            .current_dir(place)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{words:?}: {said}: {text}");
    }
    let redacted = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["report", "run", "-f", "json", "--redact"])
        .current_dir(place)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&redacted.stdout);
    assert!(!text.contains("elsewhere"), "{text}");
}
