// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of every schema that was ever written are still read, by every command that reads any. A new
//! edition adds a record here; none is ever made anew.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use linerate_model::compat::{OUTPUTS, RUNS};
use serde_json::Value;

fn records() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records")
}

fn linerate(command: &str, record: &Path) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let words = command.split(' ');
    let ended = program.args(words).arg(record).output();
    ended.unwrap_or_else(|error| panic!("{command}: {error}"))
}

fn document(command: &str, record: &Path) -> Value {
    let output = linerate(command, record);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command} {}: {said}",
        record.display()
    );
    let stated = serde_json::from_slice(&output.stdout);
    stated.unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// `linerate.run/1` is a directory `linerate.run-1`.
fn place(schema: &str) -> PathBuf {
    records().join(schema.replace('/', "-"))
}

#[test]
fn runs_of_every_edition_say_what_they_said() {
    for edition in RUNS {
        let run = place(edition.schema).join("udp");
        let stored: Value =
            serde_json::from_slice(&std::fs::read(run.join("run.json")).unwrap()).unwrap();
        assert_eq!(stored["schema"], edition.schema);
        let lost = &stored["tests"][0]["lost_packets"];
        assert!(
            lost.as_u64() > Some(0),
            "a record that tells nothing tests nothing"
        );
        let cause = "receiver-had-no-processor";
        for command in ["explain --json", "report --format json"] {
            let stated = document(command, &run);
            assert_eq!(stated["tests"][0]["lost_packets"], *lost, "{command}");
            let has = |list: &Value, name: &str, word: &str, some: &dyn Fn(&Value) -> bool| {
                let all = list.as_array().unwrap();
                all.iter().any(|one| one[name] == word && some(one))
            };
            let stages = &stated["ledger"][0]["stages"];
            let lost_there = |stage: &Value| stage["lo"].as_u64() > Some(0);
            assert!(
                has(stages, "stage", "rx-socket", &lost_there),
                "{command}: {stages}"
            );
            assert!(
                has(&stated["findings"], "cause", cause, &|_| true),
                "{command}"
            );
        }
    }
}

#[test]
fn runs_of_devices_of_every_edition_say_what_they_said() {
    for edition in RUNS {
        let run = place(edition.schema).join("forward");
        let trials = std::fs::read_to_string(run.join("trials.ndjson")).unwrap();
        let stated = document("explain --json", &run);
        let known = stated["trials"].as_array().unwrap();
        assert_eq!(known.len(), trials.lines().count());
        assert!(stated["results"][0]["throughput_fps"].as_f64() > Some(0.0));
    }
}

#[test]
fn runs_of_every_edition_stand_in_the_history() {
    for edition in RUNS {
        let runs = Path::new(env!("CARGO_TARGET_TMPDIR")).join(edition.schema.replace('/', "-"));
        copy(&place(edition.schema), &runs).unwrap();
        let stated = document("history --json", &runs);
        let history = &stated["history"];
        assert_eq!(
            history["unreadable"].as_array().map(Vec::len),
            Some(0),
            "{history}"
        );
        assert_eq!(history["runs"].as_array().map(Vec::len), Some(2));
    }
}

/// A list of runs is remembered beside them: not among the records.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let from = entry?.path();
        let to = to.join(from.file_name().unwrap_or_default());
        if from.is_dir() {
            copy(&from, &to)?;
        } else {
            std::fs::copy(from, to)?;
        }
    }
    Ok(())
}

/// The limit of a knee is the stage at which the ledger has most of the lost packets.
#[test]
fn knees_of_every_edition_are_limited_by_what_their_ledger_shows() {
    for edition in RUNS {
        let run = std::env::temp_dir().join(format!("linerate-knee-{}", std::process::id()));
        copy(&place(edition.schema).join("udp"), &run).unwrap();
        let file = run.join("run.json");
        let mut stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let test = &stored["tests"][0];
        let knee = serde_json::json!({
            "test_ids": [test["id"]], "direction": test["direction"],
            "lossy_bits_per_second": test["offered_bits_per_second"], "limited_by": "loss",
        });
        stored["tests"][0]["valid"] = true.into();
        stored["knees"] = serde_json::json!([knee]);
        stored["kind"] = "check".into();
        std::fs::write(&file, stored.to_string()).unwrap();
        let explained = document("explain --json", &run);
        assert_eq!(explained["knees"][0]["limit"], "receiver-socket");
        assert!(explained["verdicts"].is_array());
        for list in ["knees", "verdicts"] {
            let reported = document("report --format json", &run);
            assert_eq!(explained[list], reported[list], "{list}");
        }
        std::fs::remove_dir_all(&run).unwrap();
    }
}

#[test]
fn documents_of_every_edition_are_read() {
    for edition in OUTPUTS {
        let name = format!("{}.json", edition.schema.replace('/', "-"));
        let stated = document("explain --json", &records().join(name));
        assert!(stated["tests"][0]["delivered_bits_per_second"].as_f64() > Some(0.0));
    }
}

#[test]
fn what_a_later_version_wrote_is_refused_by_name() {
    let place = std::env::temp_dir().join(format!("linerate-compat-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("run.json"), r#"{"schema":"linerate.run/9"}"#).unwrap();
    for command in ["explain", "report --format md"] {
        let output = linerate(command, &place);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("linerate.run/9") && said.contains("linerate.run/1"),
            "{said}"
        );
    }
    std::fs::remove_dir_all(&place).unwrap();
}
