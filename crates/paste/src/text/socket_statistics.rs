// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ss -ti`: what TCP knows of a connection; of several, the one that transferred most, which is that of the test.

use super::number::{bits_per_second, decimal, with_unit};
use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    begins(lines.get(0)?).then_some(())?;
    let found = lines.run(0, |line| is_row(line) || Connection::of(line).is_some());
    let connections = found.iter().filter_map(|(_, line)| Connection::of(line));
    let most = connections.max_by_key(|connection| connection.moved_bytes)?;
    Some(Block {
        lines: found.last()?.0 + 1,
        format: SOURCE,
        content: vec![Settings::new(SOURCE, None, most.values)],
    })
}

/// A heading, a connection's row, or its second line alone.
fn begins(line: &str) -> bool {
    is_row(line) || Connection::of(line).is_some()
}

/// `ESTAB 0 2345 192.0.2.2:43210 192.0.2.1:5201`, or the heading.
fn is_row(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let state = words.next().unwrap_or_default();
    let numbers = words
        .clone()
        .take(2)
        .all(|word| word.parse::<u64>().is_ok());
    let connection = STATES.contains(&state) && numbers && line.matches(':').count() >= 2;
    connection
        || (state == "State" && line.contains("Recv-Q"))
        || (state == "Recv-Q" && line.contains("Send-Q"))
}

struct Connection {
    moved_bytes: u64,
    values: Vec<(String, String)>,
}

impl Connection {
    /// `cubic wscale:7,7 rto:204 rtt:1.43/0.05 mss:1448 cwnd:512 … busy:9990ms rwnd_limited:1200ms(12.0%)`.
    fn of(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().take(80).collect();
        let value = |name: &str| {
            words
                .iter()
                .find_map(|word| word.strip_prefix(name)?.strip_prefix(':'))
        };
        (line.len() < 2000 && value("rto").is_some() && value("cwnd").is_some()).then_some(())?;
        let mut values = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            values.extend(value.map(|value| (name.to_owned(), value)))
        };
        let rtt = value("rtt").and_then(|rtt| rtt.split('/').next());
        add("rtt", rtt.and_then(plain));
        add("minrtt", value("minrtt").and_then(plain));
        add("mss", value("mss").and_then(plain));
        for name in ["busy", "rwnd_limited", "sndbuf_limited"] {
            add(name, value(name).and_then(milliseconds));
        }
        let pacing = words.iter().position(|word| *word == "pacing_rate");
        add(
            "pacing_rate",
            pacing.and_then(|at| rate(words.get(at + 1)?)),
        );
        let congestion = words.iter().find(|word| CONTROLS.contains(word));
        add("congestion", congestion.map(|word| (*word).to_owned()));
        let moved = ["bytes_sent", "bytes_acked", "bytes_received"];
        let moved = moved.iter().filter_map(|name| value(name)?.parse().ok());
        Some(Self {
            moved_bytes: moved.max().unwrap_or(0),
            values,
        })
    }
}

fn plain(word: &str) -> Option<String> {
    decimal(word).map(|_| word.to_owned())
}

/// `1200ms(12.0%)` → 1200.
fn milliseconds(word: &str) -> Option<String> {
    plain(word.split("ms").next()?)
}

/// `9.41Gbps` → bit/s.
fn rate(word: &str) -> Option<String> {
    let (number, unit) = with_unit(word)?;
    let rate = bits_per_second(number, unit).filter(|rate| *rate > 0.0)?;
    Some(format!("{rate:.0}"))
}

const SOURCE: &str = "ss -ti";
const STATES: [&str; 6] = [
    "ESTAB",
    "CLOSE-WAIT",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "SYN-SENT",
    "LISTEN",
];
const CONTROLS: [&str; 14] = [
    "reno",
    "cubic",
    "bbr",
    "bbr2",
    "bbr3",
    "bic",
    "westwood",
    "htcp",
    "vegas",
    "illinois",
    "highspeed",
    "dctcp",
    "hybla",
    "scalable",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Content;
    use std::cell::Cell;

    #[test]
    fn the_connection_that_moved_most() {
        let lines = [
            "State  Recv-Q  Send-Q   Local Address:Port    Peer Address:Port",
            "ESTAB  0       0        192.0.2.2:43208       192.0.2.1:5201",
            "\t cubic wscale:7,7 rto:204 rtt:0.5/0.1 mss:1448 cwnd:10 bytes_sent:300 busy:4ms",
            "ESTAB  0       2345678  192.0.2.2:43210       192.0.2.1:5201",
            "\t cubic wscale:7,7 rto:204 rtt:1.43/0.05 mss:1448 cwnd:512 bytes_sent:900000 busy:9990ms pacing_rate 9.41Gbps delivered:7 rwnd_limited:4995ms(50.0%) minrtt:0.31",
            "end",
        ];
        let looked = Cell::new(0);
        let block = read(Lines::new(&lines, &looked), Hint::default()).unwrap();
        assert_eq!(block.lines, 5);
        let Content::Settings(settings) = &block.content[0] else {
            panic!()
        };
        for (name, value) in [
            ("rtt", "1.43"),
            ("minrtt", "0.31"),
            ("busy", "9990"),
            ("rwnd_limited", "4995"),
            ("pacing_rate", "9410000000"),
            ("congestion", "cubic"),
        ] {
            assert!(
                settings
                    .values
                    .contains(&(name.to_owned(), value.to_owned())),
                "{name}: {settings:?}"
            );
        }
        assert_eq!(
            read(Lines::new(&lines[5..], &looked), Hint::default()),
            None
        );
    }
}
