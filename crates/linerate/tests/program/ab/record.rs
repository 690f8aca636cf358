// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is stored of an experiment, and read again.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// `report` concludes from the record what the experiment said; `history` lists it, and none of its runs.
pub(crate) fn says_the_same(run: &Path, document: &Value) {
    let again = reported(run);
    for part in ["comparison", "experiment"] {
        assert_eq!(rounded(&again[part]), rounded(&document[part]));
    }
    assert_eq!(again["explained"], false, "each run is explained by itself");
    let record = &document["experiment"];
    assert_eq!(record["restored"]["command"], "printf R >> log");
    assert_eq!(record["restored"]["error"], Value::Null);
    let counting: Vec<&Value> = runs(record).filter(|run| run["counts"] == true).collect();
    assert_eq!(counting.len(), 24);
    for run in counting {
        assert_eq!(run["figures"][0]["metric"], "throughput", "{run}");
    }
    let listed = listed(run.parent().unwrap());
    let listed = listed["history"]["runs"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[0]["kind"]), (1, &"ab".into()));
    assert_eq!(listed[0]["peer"], "127.0.0.1");
    assert_eq!(
        listed[0]["figures"],
        Value::Array(Vec::new()),
        "it is no test of its own"
    );
    let decides = |one: &&Value| one["primary"] == true;
    let compared = document["comparison"].as_array().unwrap().iter();
    let [verdict] = compared.filter(decides).collect::<Vec<_>>()[..] else {
        panic!("no figure decides, or several: {}", document["comparison"]);
    };
    assert_eq!(listed[0]["verdict"], verdict["sentence"]);
}

/// What was measured until then is there, and how it ended.
pub(crate) fn is_partial(run: &Path) {
    let text = fs::read_to_string(run.join("run.json")).unwrap();
    let stored: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(stored["partial"], true);
    let record = &stored["experiment"];
    assert_eq!(record["stopped"], "interrupted");
    assert_eq!(record["restored"]["command"], "printf R >> log");
    for run in runs(record) {
        let has_figures = !run["figures"].as_array().unwrap().is_empty();
        assert!(has_figures || run["invalid_reason"].is_string(), "{run}");
    }
    assert_eq!(rounded(&reported(run)["experiment"]), rounded(record));
}

/// A number may lose its last digit on its way through text.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            format!("{:.9e}", number.as_f64().unwrap()).into()
        }
        Value::Array(list) => list.iter().map(rounded).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| (name.clone(), rounded(value)))
            .collect(),
        other => other.clone(),
    }
}

pub(crate) fn runs(record: &Value) -> impl Iterator<Item = &Value> {
    record["runs"].as_array().unwrap().iter()
}

/// The document that `report` makes of a stored run.
pub(crate) fn reported(run: &Path) -> Value {
    document(&["report", &run.display().to_string(), "--format", "json"])
}

fn listed(directory: &Path) -> Value {
    document(&["history", &directory.display().to_string(), "--json"])
}

fn document(words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let output = command.args(words).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}
