// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters as OpenMetrics 1.0, or as the text format 0.0.4 of Prometheus, in which a counter's family has the
//! suffix of its samples, and neither units nor the end are marked.

use super::{Counts, Metrics, Refusal, Traffic};
use linerate_linux::clock::monotonic_ns;
use linerate_linux::proc;
use std::fmt::{Display, Write as _};

/// The page being written.
struct Page {
    text: String,
    openmetrics: bool,
    /// The name of the current family's samples.
    sample: String,
}

/// The whole page.
pub(super) fn text(metrics: &Metrics, openmetrics: bool) -> String {
    let counts = metrics.lock().clone();
    let mut page = Page {
        text: String::new(),
        openmetrics,
        sample: String::new(),
    };
    page.tests(&counts);
    page.family(
        GAUGE,
        "tests_limit",
        "",
        "Tests that may run at once, --max-tests",
    );
    page.value("", &metrics.most_tests);
    page.family(COUNTER, "refusals", "", "Clients refused, by reason");
    for ((_, reason), count) in Refusal::ALL.iter().zip(counts.refused) {
        page.value(&format!("reason=\"{reason}\""), &count);
    }
    page.traffic(&counts);
    page.last(&counts);
    page.process(metrics);
    if openmetrics {
        page.text.push_str("# EOF\n");
    }
    page.text
}

impl Page {
    /// Begins a family; its unit ends its name.
    fn family(&mut self, kind: &str, name: &str, unit: &str, help: &str) {
        let end = match kind {
            COUNTER => "_total",
            INFO => "_info",
            _ => "",
        };
        self.sample = format!(
            "linerate_{}{name}{end}",
            if kind == INFO { "" } else { "server_" }
        );
        let text = &mut self.text;
        let (family, kind) = match (self.openmetrics, kind) {
            (true, _) => (self.sample.strip_suffix(end).unwrap_or(&self.sample), kind),
            (false, INFO) => (self.sample.as_str(), GAUGE),
            (false, _) => (self.sample.as_str(), kind),
        };
        // Writing to a text does not fail.
        let _ = writeln!(text, "# TYPE {family} {kind}");
        if self.openmetrics && !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {family} {unit}");
        }
        let _ = writeln!(text, "# HELP {family} {help}.");
    }

    /// One sample of the family.
    fn value(&mut self, labels: &str, value: &dyn Display) {
        let _ = match labels {
            "" => writeln!(self.text, "{} {value}", self.sample),
            labels => writeln!(self.text, "{}{{{labels}}} {value}", self.sample),
        };
    }

    fn tests(&mut self, counts: &Counts) {
        let of_all: Vec<_> = PROTOCOLS
            .iter()
            .zip(&counts.tests)
            .flat_map(|(protocol, of)| {
                DIRECTIONS
                    .iter()
                    .zip(of)
                    .map(move |(to, one)| (labels(protocol, to), one))
            })
            .collect();
        self.family(
            COUNTER,
            "tests_started",
            "",
            "Tests that began; with --iperf2, streams",
        );
        for (labels, tests) in &of_all {
            self.value(labels, &tests.started);
        }
        self.family(
            COUNTER,
            "tests_ended",
            "",
            "Tests that are over, by outcome",
        );
        for (labels, tests) in &of_all {
            self.value(&format!("{labels},outcome=\"done\""), &tests.done);
            self.value(&format!("{labels},outcome=\"failed\""), &tests.failed);
        }
        self.family(GAUGE, "tests_running", "", "Tests that run now");
        for (labels, tests) in &of_all {
            self.value(
                labels,
                &tests.started.saturating_sub(tests.done + tests.failed),
            );
        }
    }

    fn traffic(&mut self, counts: &Counts) {
        for (name, unit, protocols, help, value) in TRAFFIC {
            self.family(COUNTER, name, unit, help);
            for (protocol, traffic) in PROTOCOLS.iter().zip(&counts.traffic) {
                if protocols.contains(protocol) {
                    self.value(&format!("protocol=\"{protocol}\""), &value(traffic));
                }
            }
        }
    }

    fn last(&mut self, counts: &Counts) {
        let tests = PROTOCOLS
            .iter()
            .zip(&counts.last)
            .flat_map(|(protocol, of)| {
                let tests = DIRECTIONS.iter().zip(of);
                tests.filter_map(move |(to, last)| Some((labels(protocol, to), (*last)?)))
            });
        let tests: Vec<_> = tests.collect();
        let help = "Payload rate of the last test, as this end received (up) or sent it (down)";
        self.family(GAUGE, "last_test_bits_per_second", "bits_per_second", help);
        for (labels, last) in &tests {
            self.value(labels, &last.bits_per_second);
        }
        let help = "Lost of the datagrams that this end was to receive in the last test";
        self.family(GAUGE, "last_test_loss_ratio", "ratio", help);
        for (labels, last) in &tests {
            if let Some(ratio) = last.loss_ratio {
                self.value(labels, &ratio);
            }
        }
        let help = "When the last test ended, by this host's clock, since 1970";
        self.family(GAUGE, "last_test_end_timestamp_seconds", "seconds", help);
        for (labels, last) in &tests {
            self.value(labels, &(last.ended_ns as f64 / 1e9));
        }
    }

    fn process(&mut self, metrics: &Metrics) {
        self.family(GAUGE, "uptime_seconds", "seconds", "Since the server began");
        let uptime_ns = monotonic_ns().saturating_sub(metrics.begun_ns);
        self.value("", &(uptime_ns as f64 / 1e9));
        self.family(
            GAUGE,
            "resident_memory_bytes",
            "bytes",
            "Memory of the process",
        );
        if let Some(bytes) = resident_bytes() {
            self.value("", &bytes);
        }
        self.family(INFO, "build", "", "This program");
        let version = env!("CARGO_PKG_VERSION");
        self.value(&format!("version=\"{version}\""), &1);
    }
}

fn labels(protocol: &str, direction: &str) -> String {
    format!("protocol=\"{protocol}\",direction=\"{direction}\"")
}

/// `VmRSS` of proc_pid_status(5), which counts in KiB.
fn resident_bytes() -> Option<u64> {
    let status = proc::read("self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim_end_matches("kB").trim().parse().ok()?;
    Some(kib.saturating_mul(1024))
}

const COUNTER: &str = "counter";
const GAUGE: &str = "gauge";
const INFO: &str = "info";
/// In the order of the counters.
const PROTOCOLS: [&str; 2] = ["tcp", "udp"];
const DIRECTIONS: [&str; 3] = ["up", "down", "both"];

/// A family: its name, unit, protocols, what it is, its value.
type Family = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
    fn(&Traffic) -> u64,
);

const UDP: &[&str] = &["udp"];
const TRAFFIC: [Family; 6] = [
    (
        "received_bytes",
        "bytes",
        &PROTOCOLS,
        "Payload received in tests that are done",
        |of| of.received.bytes,
    ),
    (
        "sent_bytes",
        "bytes",
        &PROTOCOLS,
        "Payload sent in tests that are done",
        |of| of.sent.bytes,
    ),
    (
        "received_datagrams",
        "datagrams",
        UDP,
        "Datagrams received, each once",
        |of| of.received.packets,
    ),
    (
        "lost_datagrams",
        "datagrams",
        UDP,
        "Datagrams that clients sent and that did not arrive",
        |of| of.lost,
    ),
    ("sent_datagrams", "datagrams", UDP, "Datagrams sent", |of| {
        of.sent.packets
    }),
    (
        "retransmitted_segments",
        "segments",
        &["tcp"],
        "Segments retransmitted by this end",
        |of| of.retransmits,
    ),
];

#[cfg(test)]
mod tests;
