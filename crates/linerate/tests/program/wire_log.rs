// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `linerate udp` reports over a wire that loses, duplicates, reorders and damages datagrams
//! equals, number by number, what follows from the wire's own log: each datagram's fate, written
//! by code that shares nothing with the receiver. The definitions are spelt out again here, as
//! slowly as can be: nothing of the product is called.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

#[test]
fn loss() {
    both_directions(11, &["loss=3%"]);
}

#[test]
fn burst_loss() {
    both_directions(12, &["burst-loss=4%:8"]);
}

#[test]
fn duplication() {
    both_directions(13, &["duplicate=4%"]);
}

#[test]
fn reordering() {
    both_directions(14, &["reorder=4%:5ms"]);
}

#[test]
fn corruption() {
    both_directions(15, &["corrupt=3%"]);
}

#[test]
fn all_at_once() {
    let faults = [
        "loss=1%",
        "burst-loss=2%:5",
        "duplicate=2%",
        "reorder=3%:4ms",
        "corrupt=1%",
    ];
    both_directions(26, &faults);
}

/// Up, down, and both at once with two streams each. With the seeds used no burst of losses falls
/// on the first frames: it would try the connection's patience, not the account.
fn both_directions(seed: u64, faults: &[&str]) {
    for (number, flags) in (0..).zip(["-k 900", "-R -k 900", "--bidir -P 2 -k 1800"]) {
        let name = format!("wire-{seed}-{number}");
        let Some((document, log)) = measure(&name, seed + 100 * number, faults, flags) else {
            println!("skipped: no namespaces here, so no wire");
            return;
        };
        assert_eq!(log.own_drops, 0, "{name}: lost by the wire itself");
        let tests = document["tests"].as_array().unwrap();
        assert_eq!(tests.len(), if number == 2 { 2 } else { 1 }, "{name}");
        for test in tests {
            compare(&format!("{name} {}", test["id"]), test, &log);
        }
    }
}

/// The document and the log of one test; `None` where a lab has no wire.
fn measure(name: &str, seed: u64, faults: &[&str], flags: &str) -> Option<(Value, Log)> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.jsonl"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.args(["lab", "--seed", &seed.to_string(), "--wire-log"]);
    command.arg(&path);
    for fault in faults {
        command.args(["--fault", fault]);
    }
    command.args(["--", "linerate", "udp", "{peer}"]);
    command.args(["-b", "5M", "-l", "500", "-i", "0", "--json"]);
    let output = command.args(flags.split_whitespace()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("cannot start a wire") || said.contains("cannot inject a fault") {
        return None;
    }
    let document = document(&output);
    assert_eq!(output.status.code(), Some(0), "{name}: {said}");
    Some((
        document,
        Log::parse(&std::fs::read_to_string(path).unwrap()),
    ))
}

fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn compare(name: &str, test: &Value, log: &Log) {
    let direction = if test["direction"] == "up" {
        "a-b"
    } else {
        "b-a"
    };
    let mut sum = Expected::default();
    for flow in test["flows"].as_array().unwrap() {
        let port = flow["local_port"].as_u64().unwrap();
        let expected = Expected::of(&log.flow(direction, port));
        assert_eq!(
            flow["lost_packets"], expected.lost,
            "{name} flow {flow}, socket_drops {}, bursts {}",
            test["socket_drops"], test["loss_bursts"]
        );
        compare_bursts(name, test, &flow["id"], &expected.bursts);
        sum.add(&expected);
    }
    assert_eq!(test["valid"], true, "{name}: {}", test["invalid_reason"]);
    assert!(sum.sent > 500, "{name}: only {} sent", sum.sent);
    let table = [
        ("sent_packets", sum.sent),
        ("received_packets", sum.received),
        ("lost_packets", sum.lost),
        ("duplicate_packets", sum.duplicates),
        ("reordered_packets", sum.reordered),
        ("late_packets", 0),
        ("corrupt_packets", 0),
    ];
    for (field, expected) in table {
        assert_eq!(test[field], expected, "{name}: {field}");
    }
    compare_counters(name, test, direction, log);
}

/// The same bursts; and one start of the test for which each date lies within what the log allows.
fn compare_bursts(name: &str, test: &Value, flow: &Value, expected: &[Burst]) {
    let reported: Vec<&Value> = test["loss_bursts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|burst| burst["flow"] == *flow)
        .collect();
    let as_pair = |burst: &&Value| {
        let number = |field: &str| burst[field].as_u64().unwrap();
        (number("first_sequence"), number("packets"))
    };
    let mut pairs: Vec<_> = reported.iter().map(as_pair).collect();
    // They stand in the order of their dates, which gaps filled in part may share.
    pairs.sort_unstable();
    let known: Vec<_> = expected
        .iter()
        .map(|burst| (burst.first_sequence, burst.packets))
        .collect();
    assert_eq!(pairs, known, "{name}: loss bursts of flow {flow}");
    let mut start_ns = (i64::MIN, i64::MAX);
    for burst in expected {
        let date = reported
            .iter()
            .find(|one| as_pair(one).0 == burst.first_sequence)
            .map(|one| one["at_s"].as_f64().unwrap());
        let at_ns = (date.unwrap() * 1e9) as i64;
        start_ns.0 = start_ns.0.max(burst.shown_ns.0 - at_ns);
        start_ns.1 = start_ns.1.min(burst.shown_ns.1.saturating_sub(at_ns));
    }
    assert!(
        start_ns.0 <= start_ns.1.saturating_add(CLOCKS_DIFFER_NS),
        "{name}: the bursts of flow {flow} are not dated alike: {start_ns:?}"
    );
}

/// A datagram that was damaged is dropped by the receiving host, and counted there.
fn compare_counters(name: &str, test: &Value, direction: &str, log: &Log) {
    let host = if direction == "a-b" {
        "remote"
    } else {
        "local"
    };
    let counter = |wanted: &str| -> u64 {
        let moved = test["counters"].as_array().unwrap().iter();
        moved
            .filter(|one| one["host"] == host && one["name"] == wanted)
            .map(|one| one["delta"].as_u64().unwrap())
            .sum()
    };
    let (surely, perhaps) = log.damaged(direction, |_| true);
    let seen = counter("UdpInErrors");
    assert!(
        (surely..=perhaps).contains(&seen),
        "{name}: UdpInErrors {seen}, the log: {surely}…{perhaps}"
    );
    let (surely, perhaps) = log.damaged(direction, |entry| !entry.length_grew());
    let seen = counter("UdpInCsumErrors");
    assert!(
        (surely..=perhaps).contains(&seen),
        "{name}: UdpInCsumErrors {seen}, the log: {surely}…{perhaps}"
    );
    assert_eq!(counter("UdpRcvbufErrors"), 0, "{name}");
}

/// What the log says of one datagram.
#[derive(Clone, Debug)]
struct Entry {
    direction: String,
    source: u64,
    destination: u64,
    payload_bytes: u64,
    head: String,
    copies: u64,
    corrupt_bit: Option<u64>,
    /// When the wire took it, and when it gave it on.
    taken_ns: u64,
    given_ns: u64,
}

#[derive(Debug)]
struct Log {
    /// In the order in which they were taken.
    entries: Vec<Entry>,
    own_drops: u64,
}

impl Log {
    fn parse(text: &str) -> Self {
        let mut log = Self {
            entries: Vec::new(),
            own_drops: 0,
        };
        let mut ends = 0;
        for line in text.lines().skip(1) {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["head"].is_null() {
                let own = ["missed", "no_room", "refused"];
                log.own_drops += own
                    .iter()
                    .map(|name| line[name].as_u64().unwrap())
                    .sum::<u64>();
                ends += 1;
            } else {
                log.entries.push(Entry::parse(&line));
            }
        }
        assert_eq!(ends, 2, "the log is complete");
        log
    }

    /// The test's data of one flow, known by its port on host A.
    fn flow(&self, direction: &str, port: u64) -> Vec<Entry> {
        let ours = |entry: &&Entry| {
            let ports = match direction {
                "a-b" => (port, SERVER),
                _ => (SERVER, port),
            };
            entry.direction == direction
                && (entry.source, entry.destination) == ports
                && entry.is_data()
        };
        let flow: Vec<Entry> = self.entries.iter().filter(ours).cloned().collect();
        assert!(!flow.is_empty(), "no data {direction} at port {port}");
        flow
    }

    /// Damaged datagrams that reached the far host: those among the data, which the test's
    /// counters surely saw, and all.
    fn damaged(&self, direction: &str, counts: impl Fn(&Entry) -> bool) -> (u64, u64) {
        let all: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| entry.direction == direction)
            .collect();
        let copies = |of: &[&Entry]| {
            of.iter()
                .filter(|entry| entry.corrupt_bit.is_some() && counts(entry))
                .map(|entry| entry.copies)
                .sum()
        };
        let first = all.iter().position(|entry| entry.is_data()).unwrap();
        let last = all.iter().rposition(|entry| entry.is_data()).unwrap();
        (copies(&all[first..=last]), copies(&all))
    }
}

impl Entry {
    fn parse(line: &Value) -> Self {
        let number = |name: &str| line[name].as_u64();
        let word = |name: &str| line[name].as_str().unwrap().to_owned();
        let taken_ns = number("t_ns").unwrap();
        let corrupt_bit = number("bit");
        assert_eq!(line["corrupted"], corrupt_bit.is_some(), "{line}");
        assert_ne!(line["lost"], "ceiling");
        Self {
            direction: word("dir"),
            source: number("src").unwrap(),
            destination: number("dst").unwrap(),
            payload_bytes: number("bytes").unwrap(),
            head: word("head"),
            copies: number("copies").unwrap(),
            corrupt_bit,
            taken_ns,
            given_ns: taken_ns + number("delay_ns").unwrap_or(0),
        }
    }

    /// Not a greeting or a latency probe of ours, whose first letters are LR.
    fn is_data(&self) -> bool {
        !self.head.starts_with("4c52")
    }

    /// Behind 8 bytes of time.
    fn sequence(&self) -> u64 {
        u64::from_str_radix(&self.head[16..32], 16).unwrap()
    }

    fn arrives(&self) -> bool {
        self.copies > 0 && self.corrupt_bit.is_none()
    }

    /// The damage made the length in the UDP header larger than the packet: the kernel drops it
    /// for that (net/ipv4/udp.c, `short_packet`) and never looks at its checksum.
    fn length_grew(&self) -> bool {
        let length_field = (14 + 20 + 4) * 8..(14 + 20 + 6) * 8;
        self.corrupt_bit
            .filter(|bit| length_field.contains(bit))
            .is_some_and(|bit| {
                // Bits count from the lowest of each byte, bytes from the most significant.
                let place = bit % 8 + 8 * (1 - (bit - length_field.start) / 8);
                (self.payload_bytes + 8) >> place & 1 == 0
            })
    }
}

#[derive(Debug)]
struct Burst {
    first_sequence: u64,
    packets: u64,
    /// Earliest and latest time, on the wire's clock, at which the datagram behind it arrived.
    shown_ns: (i64, i64),
}

/// What a receiver has to report.
#[derive(Debug, Default)]
struct Expected {
    sent: u64,
    received: u64,
    lost: u64,
    duplicates: u64,
    reordered: u64,
    bursts: Vec<Burst>,
}

impl Expected {
    fn of(flow: &[Entry]) -> Self {
        let sent: HashSet<u64> = flow.iter().map(Entry::sequence).collect();
        assert_eq!(sent.len(), flow.len(), "each sequence is sent once");
        // The wire gives on in order of time, then of arrival (the sort is stable).
        let mut given: Vec<&Entry> = flow.iter().filter(|entry| entry.arrives()).collect();
        given.sort_by_key(|entry| entry.given_ns);
        let mut seen = HashSet::new();
        let mut expected = Self {
            sent: flow.len() as u64,
            ..Self::default()
        };
        let mut highest = 0;
        for entry in &given {
            let sequence = entry.sequence();
            seen.insert(sequence);
            expected.duplicates += entry.copies - 1;
            // RFC 4737 §3: a lower sequence than one that came before.
            expected.reordered += u64::from(sequence < highest);
            highest = highest.max(sequence);
        }
        expected.received = seen.len() as u64;
        expected.lost = expected.sent - expected.received;
        expected.bursts = bursts(flow, &given, &seen, highest);
        expected
    }

    fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.lost += other.lost;
        self.duplicates += other.duplicates;
        self.reordered += other.reordered;
    }
}

/// Runs of sequences that never arrived, below the highest that did.
fn bursts(flow: &[Entry], given: &[&Entry], seen: &HashSet<u64>, highest: u64) -> Vec<Burst> {
    let mut runs: BTreeMap<u64, u64> = BTreeMap::new();
    for missing in (1..highest).filter(|sequence| !seen.contains(sequence)) {
        match runs.last_entry() {
            Some(mut run) if run.key() + run.get() == missing => *run.get_mut() += 1,
            _ => {
                runs.insert(missing, 1);
            }
        }
    }
    let dated = |(first_sequence, packets): (u64, u64)| {
        let shows = given
            .iter()
            .find(|entry| entry.sequence() > first_sequence)
            .unwrap();
        Burst {
            first_sequence,
            packets,
            shown_ns: (shows.given_ns as i64, given_by_ns(flow, shows)),
        }
    };
    runs.into_iter().map(dated).collect()
}

/// When the wire had surely given that datagram on: at once, so before the time of the next one; or,
/// if it was held back, right after the time of the next one that was taken when it was due.
fn given_by_ns(flow: &[Entry], entry: &Entry) -> i64 {
    let mut after = flow
        .iter()
        .filter(|other| other.taken_ns > entry.given_ns)
        .map(|other| other.taken_ns);
    let later = if entry.given_ns == entry.taken_ns {
        after.next()
    } else {
        after.nth(1)
    };
    later.map_or(i64::MAX, |ns| ns as i64)
}

const SERVER: u64 = 5201;
/// The receiver's dates come from the kernel's wall clock, the log's from the monotonic one.
const CLOCKS_DIFFER_NS: i64 = 1_000_000;
