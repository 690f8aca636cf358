// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold of every document, run and sentence of a command that failed.

use std::path::Path;

use serde_json::Value;

use super::process::Ended;

pub(crate) fn document(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", ended.stdout, ended.stderr))
}

/// The document of a command that was cut off: its exit code, its error in words, partial, and a
/// stored run that says the same.
pub(crate) fn broken_off(ended: &Ended, code: i32) -> Value {
    let document = failed(ended, code);
    assert_eq!(document["partial"], true, "{}", ended.stdout);
    let directory = document["run_dir"].as_str().expect("stored");
    let run = std::fs::read_to_string(Path::new(directory).join("run.json")).unwrap();
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!(
        (&run["schema"], &run["partial"]),
        (&Value::from("linerate.run/1"), &Value::from(true))
    );
    assert_eq!(run["tests"], document["tests"], "stored as printed");
    document
}

/// The document of a command that failed: its exit code and its error in words, on stderr too.
pub(crate) fn failed(ended: &Ended, code: i32) -> Value {
    let document = document(ended);
    assert_eq!(ended.code(), Some(code), "{}", ended.stderr);
    assert_eq!(document["exit_code"], code);
    if code == 130 {
        // That the user ended it is not an error.
        assert!(ended.stderr.contains("interrupted: "), "{}", ended.stderr);
        assert!(!ended.stderr.contains("error: "), "{}", ended.stderr);
        return document;
    }
    let words = ["what", "why"].map(|part| document["error"][part].as_str().unwrap().to_owned());
    for word in words {
        assert!(
            !word.is_empty() && ended.stderr.contains(&word),
            "{word:?} in {}",
            ended.stderr
        );
    }
    document
}

/// The error's parts in one text.
pub(crate) fn error(document: &Value) -> String {
    let part = |name: &str| {
        document["error"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    format!("{} / {} / {}", part("what"), part("why"), part("try"))
}

/// Both ends' counts are there and agree to the datagram.
pub(crate) fn accounted(test: &Value) {
    let count = |name: &str| {
        let count = test[name].as_u64();
        count.unwrap_or_else(|| panic!("{name} in {test:#}"))
    };
    assert!(count("sent_packets") > 0, "{test:#}");
    assert_eq!(
        count("sent_packets"),
        count("received_packets") + count("lost_packets"),
        "{test:#}"
    );
}

/// What one end alone could count is there.
pub(crate) fn intervals(test: &Value) -> &[Value] {
    let intervals = test["intervals"].as_array();
    let intervals = intervals.unwrap_or_else(|| panic!("no intervals: {test:#}"));
    assert!(!intervals.is_empty(), "{test:#}");
    intervals
}
