// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error, drop and overrun counters that increased while a test ran. Traffic counters are only in the document.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use linerate_model::output::{MovedCounter, Output, Test};

use super::{Block, Line, Tone, name, relevant, role, way};

pub(super) fn block(output: &Output) -> Option<Block> {
    let tests = relevant(output);
    let counted = tests.iter().any(|test| !test.counters.is_empty());
    let bad = Bad::of(&tests);
    let apart = apart(&tests);
    let mut lines: Vec<_> = apart.iter().flat_map(|alike| of(alike, &bad)).collect();
    if lines.is_empty() {
        lines.push(Line::new(
            2,
            "none of the readable error, drop or overrun counters",
        ));
    }
    counted.then(|| Block::Lines {
        heading: "counters that increased".to_owned(),
        lines,
    })
}

/// The directions of one test at once share their counters.
fn apart<'a>(tests: &[&'a Test]) -> Vec<Vec<&'a Test>> {
    let mut apart: Vec<Vec<&Test>> = Vec::new();
    let mut of_group: Map<(&str, &str), Vec<usize>> = Map::new();
    for test in tests {
        let at_once = of_group.entry((&test.group, &test.name)).or_default();
        let alike = |at: &&usize| {
            let known = apart[**at][0];
            known.direction != test.direction && known.counters == test.counters
        };
        match at_once.iter().find(alike) {
            Some(known) => apart[*known].push(test),
            None => {
                at_once.push(apart.len());
                apart.push(vec![test]);
            }
        }
    }
    apart
}

/// The counters of one test, in all its directions.
fn of(alike: &[&Test], names: &Bad<'_>) -> Vec<Line> {
    let Some(test) = alike.first() else {
        return Vec::new();
    };
    let bad: Vec<_> = test
        .counters
        .iter()
        .filter(|counter| names.0.contains(counter.name.as_str()))
        .collect();
    let mut lines = Vec::new();
    if !bad.is_empty() {
        let ways: Vec<_> = alike.iter().map(|test| way(test.direction)).collect();
        lines.push(Line::new(
            2,
            format!("{} {}", name(test), ways.join(" and ")),
        ));
    }
    lines.extend(
        bad.iter()
            .take(MOST)
            .map(|counter| Line::new(4, sentence(counter)).tone(Tone::Warn)),
    );
    if let Some(more @ 1..) = bad.len().checked_sub(MOST) {
        lines.push(Line::new(4, format!("and {more} more (--json lists them)")));
    }
    lines
}

fn sentence(counter: &MovedCounter) -> String {
    let place = counter
        .interface
        .as_ref()
        .map(|interface| format!(" {interface}"));
    let (name, delta, source) = (&counter.name, counter.delta, &counter.source);
    format!(
        "{}{} {name} +{delta} ({source})",
        role(counter.host),
        place.unwrap_or_default()
    )
}

/// The names of errors among the counters: the tests of a run share most of them.
struct Bad<'o>(BTreeSet<&'o str>);

impl<'o> Bad<'o> {
    fn of(tests: &[&'o Test]) -> Self {
        let counters = tests.iter().flat_map(|test| &test.counters);
        let names: BTreeSet<&str> = counters.map(|counter| counter.name.as_str()).gather();
        Self(names.into_iter().filter(|name| is_bad(name)).gather())
    }
}

/// Whether the name of a counter is that of an error.
fn is_bad(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    BAD.split_whitespace().any(|part| name.contains(part))
}

/// Parts of the names by which /proc/net, link statistics and drivers count what went wrong.
const BAD: &str = "err drop over miss fail crc fifo colli discard no_buf nobuf no_mem nohandler noport timeout squeeze \
    retrans abort carrier jabber fragment undersize oversize reset bad_ lost pause prune collapse full";
const MOST: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_distinguished_from_traffic() {
        for name in [
            "rx_dropped",
            "UdpRcvbufErrors",
            "rx_fifo_errors",
            "IEEE_rx_crc",
            "time_squeeze",
            "NoPorts",
        ] {
            assert!(is_bad(name), "{name}");
        }
        for name in [
            "rx_packets",
            "InDatagrams",
            "tx_bytes",
            "processed",
            "InOctets",
        ] {
            assert!(!is_bad(name), "{name}");
        }
    }
}
