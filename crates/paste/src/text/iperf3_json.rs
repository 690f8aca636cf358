// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iperf3 --json`; if cut off, its brackets are closed after the last complete value.

use serde_json::Value;

use super::iperf::{Event, Protocol, Row};
use super::{Block, Content, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let begins = lines.get(0)?.trim_start().starts_with('{');
    let is_json = begins
        && (0..4).any(|index| {
            lines
                .get(index)
                .is_some_and(|line| line.contains("\"start\""))
        });
    is_json.then_some(())?;
    let (text, count) = document(lines);
    let read: Option<Value> = linerate_wire::json::text(&text).ok();
    let events = read.map(|document| events(&document)).unwrap_or_default();
    Some(Block {
        lines: count,
        format: "iperf3 --json",
        content: events.into_iter().map(Content::Iperf).collect(),
    })
}

/// Returns the document and its number of lines: up to its closing brace, else to a blank line or the end, closed.
fn document(lines: Lines<'_>) -> (String, usize) {
    let mut text = String::new();
    let mut open: Vec<char> = Vec::new();
    let mut whole = (0, Vec::new());
    let (mut quoted, mut escaped) = (false, false);
    for index in 0..lines.len() {
        let line = lines.get(index).unwrap_or_default();
        let over = text.len() + line.len() > DOCUMENT_BYTES_MAX || open.len() > DEPTH_MAX;
        if over || (line.trim().is_empty() && index > 0) {
            return (closed(text, &whole), index.max(1));
        }
        for letter in line.chars() {
            text.push(letter);
            match letter {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '{' if !quoted => open.push('}'),
                '[' if !quoted => open.push(']'),
                '}' | ']' if !quoted => {
                    open.pop();
                    whole = (text.len(), open.clone());
                    if open.is_empty() {
                        return (text, index + 1);
                    }
                }
                _ => {}
            }
            if open.len() > DEPTH_MAX {
                break;
            }
        }
        text.push('\n');
    }
    (closed(text, &whole), lines.len().max(1))
}

/// Cuts after the last complete value and closes its brackets.
fn closed(mut text: String, (end, open): &(usize, Vec<char>)) -> String {
    text.truncate(*end);
    text.extend(open.iter().rev());
    text
}

const DOCUMENT_BYTES_MAX: usize = 4 << 20;
const DEPTH_MAX: usize = 32;

fn events(document: &Value) -> Vec<Event> {
    let start = &document["start"];
    let test = &start["test_start"];
    let udp = test["protocol"]
        .as_str()
        .is_some_and(|name| name.eq_ignore_ascii_case("udp"));
    let protocol = test["protocol"]
        .as_str()
        .map(|_| if udp { Protocol::Udp } else { Protocol::Tcp });
    let port = |name: &str| u16::try_from(start["connected"][0][name].as_u64()?).ok();
    let serves = start.get("accepted_connection").is_some();
    let mut events = vec![if serves {
        Event::Server(protocol, port("local_port"))
    } else {
        Event::Client(protocol, port("remote_port"))
    }];
    if test["reverse"].as_u64() == Some(1) {
        events.push(Event::Reverse);
    }
    let payload = test["blksize"]
        .as_u64()
        .and_then(|bytes| u32::try_from(bytes).ok());
    events.extend(payload.filter(|_| udp).map(Event::Payload));
    events.extend(list(&start["connected"]).filter_map(local));
    events.extend(
        list(&document["intervals"]).filter_map(|interval| row("SUM", &interval["sum"], None)),
    );
    events.extend(list(&document["end"]["streams"]).flat_map(stream_rows));
    let sums = [("sum_sent", Some(true)), ("sum_received", Some(false))];
    events.extend(
        sums.into_iter()
            .filter_map(|(name, from_sender)| row("SUM", &document["end"][name], from_sender)),
    );
    if udp {
        events.extend(row("SUM", &document["end"]["sum"], Some(false)));
    }
    events.extend(
        document["error"]
            .as_str()
            .map(|words| Event::Error(words.to_owned())),
    );
    events
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .take(100_000)
}

fn local(connection: &Value) -> Option<Event> {
    let end = |host: &str, port: &str| {
        Some((
            connection[host].as_str()?.to_owned(),
            u16::try_from(connection[port].as_u64()?).ok()?,
        ))
    };
    Some(Event::Local {
        id: connection["socket"].as_u64()?.to_string(),
        local: end("local_host", "local_port")?,
        remote: end("remote_host", "remote_port")?,
    })
}

fn stream_rows(stream: &Value) -> Vec<Event> {
    let id = |part: &Value| part["socket"].as_u64().unwrap_or_default().to_string();
    let rows = [
        ("sender", Some(true)),
        ("receiver", Some(false)),
        ("udp", Some(false)),
    ];
    rows.into_iter()
        .filter_map(|(name, from_sender)| row(&id(&stream[name]), &stream[name], from_sender))
        .collect()
}

fn row(id: &str, value: &Value, from_sender: Option<bool>) -> Option<Event> {
    let number = |name: &str| value[name].as_f64();
    Some(Event::Row(Row {
        id: id.to_owned(),
        start_s: number("start")?,
        end_s: number("end")?,
        bytes: number("bytes"),
        bits_per_second: number("bits_per_second")?,
        jitter_ms: number("jitter_ms"),
        lost: value["lost_packets"].as_i64(),
        total: value["packets"].as_u64(),
        retransmits: value["retransmits"].as_u64(),
        cwnd_bytes: None,
        from_sender,
        client_sends: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    const WHOLE: &str = r#"{
	"start":	{
		"connected":	[{"socket": 5, "local_host": "192.0.2.1", "local_port": 40000, "remote_host": "192.0.2.2", "remote_port": 5201}],
		"test_start":	{"protocol": "UDP", "blksize": 1448, "reverse": 0}
	},
	"intervals":	[{"sum": {"start": 0, "end": 1, "seconds": 1, "bytes": 100, "bits_per_second": 800, "packets": 9}}],
	"end":	{
		"streams":	[],
		"sum":	{"start": 0, "end": 1, "bytes": 100, "bits_per_second": 800.5, "jitter_ms": 0.5, "lost_packets": 3, "packets": 9}
	}
}"#;

    fn read_text(text: &str) -> Block {
        block_of(text, read).unwrap()
    }

    #[test]
    fn whole_and_cut() {
        let block = read_text(WHOLE);
        assert_eq!(block.lines, WHOLE.lines().count());
        assert!(block.content.iter().any(|content| matches!(
            content,
            Content::Iperf(Event::Row(Row {
                lost: Some(3),
                total: Some(9),
                ..
            }))
        )));
        let cut = &WHOLE[..WHOLE.find("\"streams\"").unwrap()];
        let block = read_text(cut);
        assert!(
            block
                .content
                .contains(&Content::Iperf(Event::Payload(1448)))
        );
        assert!(
            block
                .content
                .iter()
                .any(|content| matches!(content, Content::Iperf(Event::Row(_))))
        );
    }
}
