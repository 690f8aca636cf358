// SPDX-License-Identifier: MIT OR Apache-2.0
//! What packets cost each end: CPU time of the tests of `cost`, by size, and the line through them.

mod machine;
mod profile;
#[cfg(test)]
mod tests;

use linerate_method::cost::{Point, fit};
use linerate_model::output::{
    Cost, CostBasis, CostDirection, CostFit, CostProcessor, Protocol, Role, Test, ThreadTime,
};
use linerate_model::record::Side;

use crate::evidence::Evidence;
use machine::{MachineTime, background, stolen};

pub(crate) use profile::profiles;

/// One row per end, direction, protocol, family and size; one line through the sizes of each. A test during which the
/// processors were sampled is not one of them: sampling costs time.
pub(crate) fn of(evidence: &Evidence<'_>) -> (Vec<Cost>, Vec<CostFit>) {
    let ends = |test| [Side::Sender, Side::Receiver].map(|side| Spent::of(evidence, test, side));
    let is_cost = |test: &&Test| test.valid && !profile::is_sampled(evidence.record, test);
    let tests = evidence.record.tests().filter(is_cost);
    let all: Vec<Spent<'_>> = tests.flat_map(ends).flatten().collect();
    let costs = by(&all, |one| one.cell());
    let flows = by(&all, |one| one.flow());
    (
        costs.iter().filter_map(|rows| cost(rows)).collect(),
        flows.iter().filter_map(|rows| line(rows)).collect(),
    )
}

/// Groups of equal keys, in the order in which they begin.
fn by<'s, 'r, K: PartialEq>(
    all: &'s [Spent<'r>],
    key: impl Fn(&Spent<'r>) -> K,
) -> Vec<Vec<&'s Spent<'r>>> {
    let mut groups: Vec<(K, Vec<&Spent<'_>>)> = Vec::new();
    for one in all {
        let own = key(one);
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, group)) => group.push(one),
            None => groups.push((own, vec![one])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The CPU time of one end of one test.
#[derive(Debug)]
struct Spent<'r> {
    test: &'r Test,
    host: Role,
    direction: CostDirection,
    payload_bytes: u32,
    packets: u64,
    basis: CostBasis,
    stream: Option<ThreadTime>,
    machine: Option<MachineTime>,
    /// The part of the machine's time that is of neither end alone.
    shared_ns: Option<f64>,
    background_ratio: Option<f64>,
    stolen_ratio: Option<f64>,
    shared_host: bool,
}

/// Host, direction, protocol, family, whether the rate was limited, and whose time is known. Times of different bases are
/// not on one line.
type Flow = (Role, CostDirection, Protocol, u8, bool, CostBasis);

impl<'r> Spent<'r> {
    /// `None` where neither packets nor time are known, or nothing was carried.
    fn of(evidence: &Evidence<'r>, test: &'r Test, side: Side) -> Option<Self> {
        let host = side.role(test);
        let shared_host = evidence.record.one_machine();
        let (stream, mode) = match side {
            Side::Sender => (test.stream_cpu.tx, test.mode.tx),
            Side::Receiver => (test.stream_cpu.rx, test.mode.rx),
        };
        let machine = MachineTime::of(evidence, test, host);
        let basis = match (&machine, stream, mode) {
            (Some(_), _, _) if !shared_host => CostBasis::Machine,
            (_, Some(_), Some(_)) => CostBasis::Streams,
            (_, Some(_), None) => CostBasis::Process,
            (_, None, _) => return None,
        };
        let (payload_bytes, packets) = packets(test, side)?;
        let shared_ns = machine.as_ref().filter(|_| shared_host);
        let shared_ns = shared_ns.and_then(|machine| shared(test, machine));
        Some(Self {
            test,
            host,
            direction: match side {
                Side::Sender => CostDirection::Tx,
                Side::Receiver => CostDirection::Rx,
            },
            payload_bytes,
            packets,
            basis,
            stream,
            machine,
            shared_ns,
            background_ratio: background(evidence, test, host),
            stolen_ratio: stolen(evidence, test, host),
            shared_host,
        })
    }

    fn flow(&self) -> Flow {
        let Test { protocol, af, .. } = self.test;
        let is_paced = self.test.requested_bits_per_second.is_some();
        let (host, direction, basis) = (self.host, self.direction, self.basis);
        (host, direction, *protocol, *af, is_paced, basis)
    }

    fn cell(&self) -> (Flow, u32) {
        (self.flow(), self.payload_bytes)
    }

    /// In user mode, and in the kernel on behalf of programs.
    fn programs(&self) -> [f64; 2] {
        match (self.basis, &self.machine, self.stream) {
            (CostBasis::Machine, Some(machine), _) => [machine.user_ns, machine.system_ns],
            (_, _, Some(time)) => [time.user_ns as f64, time.system_ns as f64],
            _ => [0.0; 2],
        }
    }

    /// All that the packets cost.
    fn ns(&self) -> f64 {
        match (self.basis, &self.machine) {
            (CostBasis::Machine, Some(machine)) => machine.busy_ns,
            _ => self.programs().iter().sum(),
        }
    }
}

/// What one machine used beyond the threads of both ends.
fn shared(test: &Test, machine: &MachineTime) -> Option<f64> {
    let (tx, rx) = test.stream_cpu.tx.zip(test.stream_cpu.rx)?;
    Some(machine.busy_ns - tx.plus(&rx).ns() as f64)
}

/// Payload of a packet, and how many an end sent or received. Segments are counted as if each were full.
fn packets(test: &Test, side: Side) -> Option<(u32, u64)> {
    let (packets, bytes) = match side {
        Side::Sender => (test.sent_packets, test.sent_bytes),
        Side::Receiver => (test.received_packets, test.received_bytes),
    };
    let (payload_bytes, packets) = match test.protocol {
        Protocol::Udp => (test.payload_bytes, packets?),
        Protocol::Tcp => {
            let mss_bytes = test.mss_bytes?;
            (mss_bytes, bytes?.checked_div(u64::from(mss_bytes))?)
        }
    };
    (packets > 0).then_some((payload_bytes, packets))
}

/// The tests of one cell, together.
fn cost(rows: &[&Spent<'_>]) -> Option<Cost> {
    let first = rows.first()?;
    let packets: u64 = rows.iter().map(|row| row.packets).sum();
    let sum = |of: &dyn Fn(&Spent<'_>) -> Option<f64>| -> Option<f64> {
        rows.iter().map(|row| of(row)).sum()
    };
    let each = |of: &dyn Fn(&Spent<'_>) -> Option<f64>| Some(sum(of)? / packets as f64);
    let of_machine =
        |of: fn(&MachineTime) -> f64| move |row: &Spent<'_>| row.machine.as_ref().map(of);
    let event =
        |of: fn(&ThreadTime) -> Option<u64>| move |row: &Spent<'_>| Some(of(&row.stream?)? as f64);
    let ns = each(&|row| Some(row.ns()))?;
    let [user_ns, system_ns] = [0, 1].map(|at| sum(&|row| row.programs().get(at).copied()));
    let mean = |of: &dyn Fn(&Spent<'_>) -> Option<f64>| Some(sum(of)? / rows.len() as f64);
    Some(Cost {
        host: first.host,
        direction: first.direction,
        protocol: first.test.protocol,
        af: first.test.af,
        payload_bytes: first.payload_bytes,
        test_ids: rows.iter().map(|row| row.test.id.clone()).collect(),
        mode: first.test.mode.clone(),
        requested_pps: first
            .test
            .requested_bits_per_second
            .map(|bits| bits / 8.0 / f64::from(first.test.payload_bytes.max(1))),
        packets,
        basis: first.basis,
        cpu_ns_per_packet: ns,
        cpu_ns_per_kib: ns * 1024.0 / f64::from(first.payload_bytes.max(1)),
        user_ns: user_ns?,
        system_ns: system_ns?,
        softirq_ns: sum(&of_machine(|machine| machine.softirq_ns)),
        irq_ns: sum(&of_machine(|machine| machine.irq_ns)),
        stream_ns_per_packet: each(&|row| Some(row.stream?.ns() as f64)),
        machine_ns_per_packet: each(&of_machine(|machine| machine.busy_ns)),
        shared_ns_per_packet: each(&|row| row.shared_ns),
        resolution_ns: each(&of_machine(|machine| machine.resolution_ns)),
        background_ratio: mean(&|row| row.background_ratio),
        stolen_ratio: mean(&|row| row.stolen_ratio),
        cycles_per_packet: each(&event(|time| Some(time.events?.cycles))),
        instructions_per_packet: each(&event(|time| Some(time.events?.instructions))),
        cache_misses_per_packet: each(&event(|time| Some(time.events?.cache_misses))),
        events_missing: rows.iter().find_map(|row| row.stream?.events_missing),
        shared_host: first.shared_host,
        processors: processors(rows, packets),
    })
}

/// The processors that carried the tests of a cell, the busiest first.
fn processors(rows: &[&Spent<'_>], packets: u64) -> Vec<CostProcessor> {
    let mut all: Vec<CostProcessor> = Vec::new();
    let each = rows.iter().filter_map(|row| row.machine.as_ref());
    for one in each.flat_map(|machine| &machine.processors) {
        // Sums of all tests, first in nanoseconds.
        let (ns, softirq_ns) = (one.busy_ns, one.softirq_ns);
        match all.iter_mut().find(|known| known.cpu == one.cpu) {
            Some(known) => {
                known.ns_per_packet += ns;
                known.softirq_ratio += softirq_ns;
            }
            None => all.push(CostProcessor {
                cpu: one.cpu,
                ns_per_packet: ns,
                softirq_ratio: softirq_ns,
            }),
        }
    }
    for one in &mut all {
        one.softirq_ratio = (one.softirq_ratio / one.ns_per_packet).clamp(0.0, 1.0);
        one.ns_per_packet /= packets as f64;
    }
    linerate_model::order::by(&mut all, |a, b| b.ns_per_packet.total_cmp(&a.ns_per_packet));
    all
}

/// The line through the tests of one end and direction.
fn line(rows: &[&Spent<'_>]) -> Option<CostFit> {
    let first = rows.first()?;
    let point = |row: &&Spent<'_>| Point {
        bytes: f64::from(row.payload_bytes),
        ns: row.ns() / row.packets as f64,
    };
    let points: Vec<Point> = rows.iter().map(point).collect();
    let line = fit(&points)?;
    Some(CostFit {
        host: first.host,
        direction: first.direction,
        protocol: first.test.protocol,
        af: first.test.af,
        basis: first.basis,
        tests: u32::try_from(points.len()).unwrap_or(u32::MAX),
        ns_per_packet: line.ns_per_packet,
        ns_per_byte: line.ns_per_byte,
        residual_ratio: line.residual_ratio,
        largest_payload_bytes: rows.iter().map(|row| row.payload_bytes).max()?,
        packet_share: line.packet_share,
        bound: line.bound,
    })
}
