// SPDX-License-Identifier: MIT OR Apache-2.0
//! What neither `explain` nor a judge reads is not recorded, where it is most of a file.

use serde_json::{Value, json};

/// A run without the histograms of its packets' spacing: three quarters of a compressed `run.json`.
pub(super) fn run(mut document: Value) -> Value {
    let tests = document.get_mut("tests").and_then(Value::as_array_mut);
    let tests = tests.into_iter().flatten();
    for spacing in tests.filter_map(|test| test.get_mut("spacing_histogram")) {
        *spacing = json!([]);
    }
    document
}

/// Samples without their wall clock: a sixth of a compressed `samples.jsonl`. A damaged line stays as it is.
pub(super) fn samples(text: &str) -> String {
    let lean = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(mut sample) => {
            if let Some(clock) = sample.get_mut("wall_ns") {
                *clock = Value::Null;
            }
            format!("{sample}\n")
        }
        Err(_) => format!("{line}\n"),
    };
    text.lines().map(lean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_else_stays() {
        let test = json!({ "id": "u1", "spacing_histogram": [[10, 2]], "sent_packets": 18446744073709551615_u64 });
        let lean = run(json!({ "tests": [test] }));
        assert_eq!(
            lean.to_string(),
            r#"{"tests":[{"id":"u1","sent_packets":18446744073709551615,"spacing_histogram":[]}]}"#
        );
        let text = "{\"counters\":{\"a\":1},\"t_ns\":5,\"wall_ns\":7}\n{\"t_ns\"\n";
        assert_eq!(
            samples(text),
            "{\"counters\":{\"a\":1},\"t_ns\":5,\"wall_ns\":null}\n{\"t_ns\"\n"
        );
    }
}
