// SPDX-License-Identifier: MIT OR Apache-2.0
//! The document `linerate.output/1` as JSON, whole or as a stream of events.

mod indent;

use std::io;

use linerate_model::output::Output;
use linerate_model::printable::Printable;
use serde::Serialize;

/// The whole document, indented, with a line end.
///
/// # Errors
/// Never for a document of this program: its keys are strings.
pub fn document(output: &Output) -> serde_json::Result<Printable> {
    let mut text = indented(output)?;
    text.push('\n');
    Ok(Printable::json(&text))
}

/// Any document, indented, without a line end.
///
/// # Errors
/// It has keys that are no strings.
pub fn pretty(document: &impl Serialize) -> serde_json::Result<Printable> {
    Ok(Printable::json(&indented(document)?))
}

/// Writes what [`pretty`] returns. A long document is in memory only once, and without its indentation.
///
/// # Errors
/// As [`pretty`], and those of `out`.
pub fn write(document: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    let compact = serde_json::to_string(document)?;
    let mut written = Ok(());
    let mut line = String::new();
    indent::indent(&compact, &mut |piece| {
        line.push_str(piece);
        if piece == "\n" {
            if written.is_ok() {
                written = out.write_all(Printable::json(&line).as_bytes());
            }
            line.clear();
        }
    });
    written.and_then(|()| out.write_all(Printable::json(&line).as_bytes()))
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
    let mut text = String::new();
    let compact = serde_json::to_string(document)?;
    indent::indent(&compact, &mut |piece| text.push_str(piece));
    Ok(text)
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
    fn what_is_written_is_what_is_printed() {
        let output = Output {
            tests: vec![Test {
                id: "a\u{202e}b\n\"".to_owned(),
                ..Test::default()
            }],
            ..Output::new("udp", "0.1.0")
        };
        let mut written = Vec::new();
        write(&output, &mut written).unwrap();
        assert_eq!(pretty(&output).unwrap().as_bytes(), written);
    }

    #[test]
    fn an_event_is_one_line() {
        let line = event("interval", &Test::default()).unwrap();
        assert!(line.starts_with(r#"{"event":"interval","data":{"#));
        assert_eq!(line.matches('\n').count(), 1);
    }
}
