// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of iperf and iperf3 → tests. A test is one stream, or the sum of all, in one direction.

mod parallel;

use std::collections::BTreeSet;

use crate::text::{self, IperfEvent, Row};
use linerate_model::order::Gather as _;
use linerate_model::output::{Direction, Flow, Interval, Protocol, ReceiveBuffer, Test, Warning};

use super::context::Side;
use super::limits::TESTS_MAX;
use super::requested;
use parallel::{are_near, is_one, sum_of};

/// The tests of one host, as its lines come in.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// The last iperf command.
    command: String,
    requested: Option<f64>,
    /// Streams that the command asked for.
    parallel: Option<u32>,
    protocol: Option<text::Protocol>,
    role: Option<Side>,
    reverse: bool,
    payload: Option<u32>,
    buffer: Option<u64>,
    /// Ports that this end listened on, and called.
    listened: Vec<u16>,
    called: Vec<u16>,
    sections: Vec<Section>,
    errors: Vec<String>,
    tests: Vec<Test>,
}

impl Flows {
    /// Whether anything was measured.
    pub(super) fn has_measured(&self) -> bool {
        !self.tests.is_empty() || !self.sections.is_empty()
    }
}

/// The lines of one stream in one test.
#[derive(Debug, Default)]
struct Section {
    id: String,
    local_port: Option<u16>,
    remote_port: Option<u16>,
    remote: Option<String>,
    /// Whether it connected when another stream had measured already.
    is_late: bool,
    rows: Vec<Row>,
    report: Option<Row>,
    awaits_report: bool,
    sent: Option<u64>,
    reordered: Option<u64>,
}

impl Flows {
    /// Takes a command, which ends the tests before it.
    pub(super) fn typed(&mut self, command: &str) {
        self.end();
        if command.split_whitespace().any(|word| {
            word.rsplit('/')
                .next()
                .is_some_and(|word| word.starts_with("iperf"))
        }) {
            let has = |option: &str| command.split_whitespace().any(|word| word == option);
            *self = Self {
                tests: std::mem::take(&mut self.tests),
                command: command.to_owned(),
                ..Self::default()
            };
            self.role = if has("-s") {
                Some(Side::Server)
            } else {
                has("-c").then_some(Side::Client)
            };
            self.protocol = has("-u").then_some(text::Protocol::Udp);
            self.reverse = has("-R") || has("--reverse");
            self.parallel = requested::streams(command);
        }
        self.requested = requested::of_command(command).or(self.requested);
    }

    /// The requested rate, from a heading.
    pub(super) fn requested(&mut self, rate: f64) {
        self.end();
        self.requested = Some(rate);
    }

    /// One line.
    pub(super) fn take(&mut self, event: IperfEvent) {
        match event {
            IperfEvent::Client(protocol, port) => self.begin(Side::Client, protocol, port),
            IperfEvent::Server(protocol, port) => self.begin(Side::Server, protocol, port),
            IperfEvent::Local { id, local, remote } => self.connected(id, local.1, remote),
            IperfEvent::Row(row) => self.row(row),
            IperfEvent::ServerReport(id) => self.section(&id).awaits_report = true,
            IperfEvent::Sent(id, packets) => self.section(&id).sent = Some(packets),
            IperfEvent::Reordered(id, packets) => self.section(&id).reordered = Some(packets),
            IperfEvent::Buffer(text::Protocol::Udp, bytes) => self.buffer = Some(bytes),
            IperfEvent::Payload(bytes) => self.payload = Some(bytes),
            IperfEvent::Reverse => self.reverse = true,
            IperfEvent::Error(words) => {
                if !self.errors.contains(&words) && self.errors.len() < ERRORS_MAX {
                    self.errors.push(words);
                }
            }
            IperfEvent::Buffer(..) | IperfEvent::Frame => {}
        }
    }

    /// Ends the log; returns the tests, and errors without a test.
    pub(super) fn finish(mut self) -> (Vec<Test>, Vec<String>) {
        self.end();
        (self.tests, self.errors)
    }

    /// A banner. A client of `-r` listens first and connects then: only then is it over.
    fn begin(&mut self, role: Side, protocol: Option<text::Protocol>, port: Option<u16>) {
        if self.sections.iter().any(|section| !section.rows.is_empty()) {
            self.end();
        }
        let ports = if role == Side::Client {
            &mut self.called
        } else {
            &mut self.listened
        };
        ports.extend(port.filter(|port| !ports.contains(port) && ports.len() < PORTS_MAX));
        self.role = Some(role);
        self.protocol = protocol.or(self.protocol);
    }

    fn connected(&mut self, id: String, local_port: u16, (remote, remote_port): (String, u16)) {
        // In a log of many tests a connection begins the next one, once those before have their row.
        if self
            .sections
            .iter()
            .any(|section| section.id == "SUM" || section.rows.len() == 1)
        {
            self.end();
        }
        let is_late = self.sections.iter().any(|other| !other.rows.is_empty());
        self.open(Section {
            id,
            local_port: Some(local_port),
            remote_port: Some(remote_port),
            remote: Some(remote),
            is_late,
            ..Section::default()
        });
    }

    /// No test has more streams at once.
    fn open(&mut self, section: Section) {
        if self.sections.len() >= STREAMS_MAX {
            self.end();
        }
        self.sections.push(section);
    }

    /// The section of a stream that is still open.
    fn section(&mut self, id: &str) -> &mut Section {
        let at = self.sections.iter().rposition(|section| section.id == id);
        let at = at.unwrap_or_else(|| {
            self.open(Section {
                id: id.to_owned(),
                ..Section::default()
            });
            self.sections.len() - 1
        });
        &mut self.sections[at]
    }

    fn row(&mut self, row: Row) {
        let section = self.section(&row.id);
        if std::mem::take(&mut section.awaits_report) {
            section.report = Some(row);
            return;
        }
        if section.is_over(&row) {
            self.open(Section {
                id: row.id.clone(),
                rows: vec![row],
                ..Section::default()
            });
        } else {
            section.rows.push(row);
        }
    }

    /// Ends the open sections.
    fn end(&mut self) {
        let sections = std::mem::take(&mut self.sections);
        let mut sections: Vec<Section> = sections
            .into_iter()
            .filter(|section| !section.rows.is_empty() || section.report.is_some())
            .collect();
        let alternates = self.alternates(&sections);
        if !alternates && self.are_parallel(&sections) {
            sections.extend(sum_of(&sections));
        }
        let summed = sections.iter().any(|section| section.id == "SUM");
        let parts: Vec<&Section> = sections
            .iter()
            .filter(|section| !summed || section.id == "SUM")
            .collect();
        for (at, section) in parts.iter().enumerate() {
            let direction = self.direction(
                if summed {
                    with_ports(&sections, section)
                } else {
                    section
                },
                alternates.then_some(at),
            );
            let mut test = self.test(section, direction);
            if summed {
                add_flows(&mut test, &sections);
                // Of some only the sum was pasted.
                test.streams = test.streams.max(self.parallel.unwrap_or(1));
            } else if section.local_port.is_some() {
                test.flows = vec![flow(section)];
            }
            if self.tests.len() < TESTS_MAX {
                self.tests.push(test);
            }
        }
        if let (Some(test), false) = (self.tests.last_mut(), self.errors.is_empty()) {
            test.warnings.extend(self.errors.drain(..).map(tool_error));
        }
    }

    /// Whether the tests come in pairs, up and down, as with `-r`: asked for, or because the numbers of two streams take
    /// turns, the higher first (the listener of `-r` has the lower).
    fn alternates(&self, sections: &[Section]) -> bool {
        let asked = self
            .command
            .split_whitespace()
            .any(|word| ["-r", "-d"].contains(&word));
        let ids: Vec<u32> = sections
            .iter()
            .filter_map(|section| section.id.parse().ok())
            .collect();
        let turns = ids.len() == sections.len()
            && ids.len() > 1
            && ids.chunks_exact(2).all(|pair| pair[0] > pair[1]);
        asked || turns
    }

    /// Whether these are the streams of one test whose sum was not pasted: to one host, at the same time, in one direction.
    fn are_parallel(&self, sections: &[Section]) -> bool {
        let ids: BTreeSet<&str> = sections.iter().map(|section| section.id.as_str()).gather();
        let totals: Vec<Row> = sections.iter().map(Section::total).collect();
        let begin_later = || totals.iter().all(|row| row.start_s > 0.5);
        let asked = self.parallel.is_some_and(|streams| streams > 1);
        let connected = || sections.iter().all(|section| section.local_port.is_some());
        let sends = |section: &Section| section.sends(self.reverse, self.client(section));
        ids.len() > 1
            && ids.len() == sections.len()
            && !ids.contains("SUM")
            && !sections.iter().any(|section| section.is_late)
            && are_near(totals.iter().map(|row| row.start_s))
            && are_near(totals.iter().map(|row| row.end_s))
            && is_one(sections.iter().map(|section| section.remote.as_deref()))
            && is_one(sections.iter().map(|section| section.report.is_some()))
            && is_one(sections.iter().map(sends))
            && (asked || connected() || begin_later())
    }

    /// Whether this end connected: the other has the called port, or that of a server.
    fn client(&self, section: &Section) -> Option<bool> {
        let (local, remote) = (section.local_port?, section.remote_port?);
        let served =
            |port: u16, known: &[u16]| known.contains(&port) || port == 5001 || port == 5201;
        match (served(local, &self.listened), served(remote, &self.called)) {
            (false, true) => Some(true),
            (true, false) => Some(false),
            _ => None,
        }
    }

    fn direction(&self, section: &Section, turn: Option<usize>) -> Direction {
        let client = self.client(section).or(match turn {
            Some(at) => Some(at % 2 == 0),
            None => self.role.map(|role| role == Side::Client),
        });
        // The far end's report is sent to the sender.
        let sends = section.sends(self.reverse, client);
        if sends.unwrap_or_else(|| !section.has_loss()) {
            Direction::Up
        } else {
            Direction::Down
        }
    }

    fn test(&self, section: &Section, direction: Direction) -> Test {
        let own = section.total();
        let total = section.report.as_ref().unwrap_or(&own);
        let udp = self.protocol == Some(text::Protocol::Udp)
            || total.total.is_some()
            || total.jitter_ms.is_some()
            || section.sent.is_some();
        let mut test = Test {
            name: name(self.requested, direction),
            protocol: if udp { Protocol::Udp } else { Protocol::Tcp },
            af: 4,
            direction,
            streams: 1,
            duration_s: total.end_s - total.start_s,
            requested_bits_per_second: self.requested,
            delivered_bits_per_second: Some(total.bits_per_second),
            retransmits: section.retransmits(),
            jitter_ns: total.jitter_ms.map(|jitter| jitter * 1e6),
            reordered_packets: section.reordered,
            intervals: section.intervals(udp),
            valid: true,
            ..Test::default()
        };
        if udp && total.total.is_none() && direction == Direction::Up {
            // Without a report of the server this is what was sent, not what arrived.
            test.offered_bits_per_second = test.delivered_bits_per_second.take();
        }
        if udp {
            packets(&mut test, total, section.sent);
            let payload = payload(total)
                .or(self.payload)
                .or(test.lost_packets.map(|_| PAYLOAD_BYTES));
            test.payload_bytes = payload.unwrap_or_default();
            // A row shorter than the test would give a rate above the requested one.
            let asked = self.requested.map_or(f64::INFINITY, |rate| 1.2 * rate);
            let own_rate = section.report.is_some().then_some(own.bits_per_second);
            test.offered_bits_per_second = test
                .offered_bits_per_second
                .or(own_rate)
                .or_else(|| offered(&test).filter(|rate| *rate <= asked));
        }
        if direction == Direction::Down && udp {
            test.receive_buffer_bytes = self.buffer.map(|granted| ReceiveBuffer {
                asked: None,
                granted: Some(granted),
            });
        }
        test
    }
}

impl Section {
    /// Whether a row begins another test of the same stream.
    fn is_over(&self, row: &Row) -> bool {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else {
            return false;
        };
        let whole =
            row.start_s <= first.start_s && row.end_s + 0.6 >= last.end_s && self.rows.len() > 1;
        let other_account = row.from_sender != last.from_sender && row.from_sender.is_some();
        row.start_s < last.end_s - 0.001 && !whole && !other_account && row.from_sender.is_none()
    }

    /// The row of the whole test: the last that begins at its start, or the sum of all rows.
    fn total(&self) -> Row {
        let Some(first) = self.rows.first() else {
            return self.report.clone().unwrap_or_default();
        };
        let end = self.rows.iter().map(|row| row.end_s).fold(0.0, f64::max);
        let whole = |row: &&Row| row.start_s <= first.start_s && row.end_s + 0.6 >= end;
        let received = |row: &&Row| row.from_sender != Some(true);
        let wholes = || self.rows.iter().rev().filter(whole);
        wholes()
            .find(received)
            .or_else(|| wholes().next())
            .cloned()
            .unwrap_or_else(|| self.mean(end))
    }

    /// Of intervals without a total, because the end was cut off.
    fn mean(&self, end_s: f64) -> Row {
        let start_s = self.rows.first().map_or(0.0, |row| row.start_s);
        let seconds = |row: &Row| row.end_s - row.start_s;
        let bits = |row: &Row| row.bits_per_second * seconds(row);
        let rows = || self.rows.iter();
        Row {
            start_s,
            end_s,
            bits_per_second: rows().map(bits).sum::<f64>()
                / rows().map(seconds).sum::<f64>().max(1e-9),
            lost: rows().try_fold(0_i64, |sum, row| sum.checked_add(row.lost?)),
            total: self.sum(|row| row.total),
            jitter_ms: self.rows.last().and_then(|row| row.jitter_ms),
            ..self.rows[0].clone()
        }
    }

    fn retransmits(&self) -> Option<u64> {
        let mut rows = self.rows.iter().rev();
        let total = rows.find(|row| row.from_sender == Some(true));
        total
            .and_then(|row| row.retransmits)
            .or_else(|| self.sum(|row| row.retransmits))
    }

    /// The sum over all rows; `None` if a row has none.
    fn sum(&self, of: fn(&Row) -> Option<u64>) -> Option<u64> {
        let mut rows = self.rows.iter();
        rows.try_fold(0_u64, |sum, row| sum.checked_add(of(row)?))
    }

    fn has_loss(&self) -> bool {
        self.rows.iter().any(|row| row.total.is_some())
    }

    /// Whether this end sends.
    fn sends(&self, reverse: bool, client: Option<bool>) -> Option<bool> {
        if self.report.is_some() || self.sent.is_some() {
            return Some(true);
        }
        let reported = |sender: bool| self.rows.iter().any(|row| row.from_sender == Some(sender));
        if client == Some(false) && reported(true) && !reported(false) {
            return Some(true);
        }
        if let (Some(client), Some(client_sends)) =
            (client, self.rows.iter().find_map(|row| row.client_sends))
        {
            return Some(client == client_sends);
        }
        client.map(|client| client != reverse)
    }

    /// The rows that are not totals.
    fn intervals(&self, udp: bool) -> Vec<Interval> {
        let total = self.total();
        let part = |row: &&Row| row.end_s - row.start_s < (total.end_s - total.start_s) * 0.9;
        let interval = |row: &Row| Interval {
            start_s: row.start_s,
            end_s: row.end_s,
            received_bits_per_second: Some(row.bits_per_second),
            sent_packets: row.total.filter(|_| udp),
            lost_packets: row.lost,
            retransmits: row.retransmits,
            cwnd_bytes: row.cwnd_bytes,
            ..Interval::default()
        };
        self.rows.iter().filter(part).map(interval).collect()
    }
}

/// Sets sent, received and lost from the receiver's count. Impossible counts (more lost or received than sent) are left
/// out with a warning.
fn packets(test: &mut Test, row: &Row, sent: Option<u64>) {
    let (Some(total), Some(lost)) = (row.total, row.lost) else {
        test.sent_packets = row.total.or(sent);
        return;
    };
    test.sent_packets = Some(total);
    test.received_packets = total.checked_add_signed(lost.saturating_neg());
    test.lost_packets = u64::try_from(lost).ok().filter(|lost| *lost <= total);
    test.loss_ratio = (total > 0).then(|| lost as f64 / total as f64);
    if test.lost_packets.is_none() {
        let (id, what) = if lost < 0 {
            ("negative-loss", "arrived")
        } else {
            ("impossible-loss", "were lost")
        };
        test.warnings.push(Warning {
            id: id.to_owned(),
            text: format!(
                "the tool counted {lost} of {total} lost: more {what} than it says were sent"
            ),
            try_: "a tool that distinguishes duplicates from lost datagrams".to_owned(),
        });
    }
}

/// Payload of a datagram, from the bytes and datagrams received; iperf's default if within 2 % of it.
fn payload(row: &Row) -> Option<u32> {
    let received = row.total?.checked_add_signed(row.lost?.saturating_neg())?;
    let each = row.bytes.filter(|_| received > 100)? / received as f64;
    let usual = [1470_u32, 1448, 1460, 1400, 1450, 8192]
        .into_iter()
        .find(|usual| (each / f64::from(*usual) - 1.0).abs() < 0.02);
    usual.or_else(|| (each > 0.0 && each < 65_536.0).then_some(each.round() as u32))
}

/// The offered rate, from the datagrams sent.
fn offered(test: &Test) -> Option<f64> {
    let bits = test.sent_packets? as f64 * f64::from(test.payload_bytes) * 8.0;
    (test.duration_s > 0.0 && test.payload_bytes > 0).then(|| bits / test.duration_s)
}

/// A sum has no ports: those of its first part identify the client.
fn with_ports<'a>(sections: &'a [Section], sum: &'a Section) -> &'a Section {
    sections
        .iter()
        .find(|section| section.local_port.is_some())
        .unwrap_or(sum)
}

fn add_flows(test: &mut Test, sections: &[Section]) {
    let parts = sections.iter().filter(|section| section.id != "SUM");
    test.flows = parts.map(flow).collect();
    test.streams = u32::try_from(test.flows.len()).unwrap_or(u32::MAX).max(1);
}

fn flow(section: &Section) -> Flow {
    let total = section.report.clone().unwrap_or_else(|| section.total());
    Flow {
        id: section.id.parse().unwrap_or_default(),
        local_port: section.local_port,
        remote_port: section.remote_port,
        delivered_bits_per_second: Some(total.bits_per_second),
        lost_packets: total.lost.and_then(|lost| u64::try_from(lost).ok()),
        retransmits: section.retransmits(),
        ..Flow::default()
    }
}

/// What the tool itself complained about.
pub(super) fn tool_error(text: String) -> Warning {
    Warning {
        id: "tool-error".to_owned(),
        text,
        try_: String::new(),
    }
}

/// The test of the other end, seen from this one: what it sent, this one received.
pub(super) fn seen_from_here(mut test: Test) -> Test {
    test.direction = if test.direction == Direction::Up {
        Direction::Down
    } else {
        Direction::Up
    };
    test.name = name(test.requested_bits_per_second, test.direction);
    test.receive_buffer_bytes = None;
    for flow in &mut test.flows {
        std::mem::swap(&mut flow.local_port, &mut flow.remote_port);
    }
    test
}

/// Whether two tests are the two ends' accounts of one: the same ports.
pub(super) fn same(one: &Test, other: &Test) -> bool {
    let ports = |test: &Test| {
        test.flows
            .first()
            .map(|flow| (flow.local_port, flow.remote_port))
            .filter(|ports| *ports != (None, None))
    };
    ports(one).is_some() && ports(one) == ports(other)
}

fn name(requested: Option<f64>, direction: Direction) -> String {
    let way = if direction == Direction::Up {
        "up"
    } else {
        "down"
    };
    requested.map_or_else(
        || way.to_owned(),
        |rate| format!("{} Mbit/s {way}", rate / 1e6),
    )
}

/// Different complaints of one test.
const ERRORS_MAX: usize = 16;
/// Ports of one log.
const PORTS_MAX: usize = 64;
/// Maximum number of streams of a test.
const STREAMS_MAX: usize = 512;
/// iperf's default datagram, where the text does not state it.
const PAYLOAD_BYTES: u32 = 1470;

#[cfg(test)]
mod tests;
