// SPDX-License-Identifier: MIT OR Apache-2.0
//! The document `linerate.output/1` as JSON, whole or as a stream of events.

mod indent;

use linerate_model::output::Output;
use linerate_model::printable::Printable;
use serde::Serialize;

/// The whole document, indented, with a line end.
///
/// # Errors
/// Never for a document of this program: its keys are strings.
pub fn document(output: &Output) -> serde_json::Result<Printable> {
    Ok(Printable::json(&(indented(output)? + "\n")))
}

/// Any document, indented, without a line end.
///
/// # Errors
/// It has keys that are no strings.
pub fn pretty(document: &impl Serialize) -> serde_json::Result<Printable> {
    Ok(Printable::json(&indented(document)?))
}

/// One line of `--json-stream`: `{"event": …, "data": …}`, as iperf3 has it.
///
/// # Errors
/// `data` has keys that are no strings.
pub fn event(event: &str, data: &impl Serialize) -> serde_json::Result<Printable> {
    #[derive(Serialize)]
    struct Event<'a, D> {
        event: &'a str,
        data: &'a D,
    }
    let text = serde_json::to_string(&Event { event, data })? + "\n";
    Ok(Printable::json(&text))
}

fn indented(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(indent::indent(&serde_json::to_string(document)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Test;

    #[test]
    fn unknown_is_null_and_reads_back() {
        let output = Output {
            tests: vec![Test::default()],
            ..Output::new("udp", "0.1.0")
        };
        let text = document(&output).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(value["tests"][0]["lost_packets"].is_null());
        assert!(value["error"].is_null());
        assert_eq!(serde_json::from_value::<Output>(value).unwrap(), output);
    }

    #[test]
    fn an_event_is_one_line() {
        let line = event("interval", &Test::default()).unwrap();
        assert!(line.starts_with(r#"{"event":"interval","data":{"#));
        assert_eq!(line.matches('\n').count(), 1);
    }
}
