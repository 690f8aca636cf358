// SPDX-License-Identifier: MIT OR Apache-2.0
//! What packets cost: the answer per protocol, a table by size, the lines through the sizes.

use linerate_model::output::{
    Bound, Cost, CostBasis, CostDirection, CostFit, Direction, Estimate, EventsMissing, IoMode,
    Output, Protocol, Role,
};
use linerate_model::units::format::{PACKET_RATES, TIMES, percent, significant, with_unit};

use super::{Block, Column, Line, Table, Tone, way};

mod profile;

/// Everything.
pub(super) fn blocks(output: &Output) -> Vec<Block> {
    if output.costs.is_empty() {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    blocks.extend(Block::lines("", answers(output)));
    blocks.extend(tables(&output.costs));
    blocks.extend(fits(&output.cost_fits));
    blocks.extend(profile::blocks(&output.cost_profiles));
    blocks.extend(Block::lines("how it was counted", counted(&output.costs)));
    blocks
}

/// One sentence per protocol, of the first IP version and direction.
pub(super) fn answers(output: &Output) -> Vec<Line> {
    let of = |protocol: Protocol| {
        let mut fits = output.cost_fits.iter();
        let first = fits.find(|fit| fit.protocol == protocol)?;
        let same = |fit: &&CostFit| {
            fit.protocol == protocol && fit.af == first.af && flow(fit) == flow(first)
        };
        let end = |direction: CostDirection| {
            let mut fits = output.cost_fits.iter().filter(same);
            fits.find(|fit| fit.direction == direction)
        };
        Some(answer(
            first,
            end(CostDirection::Tx),
            end(CostDirection::Rx),
        ))
    };
    let protocols = [Protocol::Udp, Protocol::Tcp];
    protocols.into_iter().filter_map(of).collect()
}

fn answer(first: &CostFit, tx: Option<&CostFit>, rx: Option<&CostFit>) -> Line {
    let both = |of: &dyn Fn(&CostFit) -> String| {
        let ends = [(tx, "at the sender"), (rx, "at the receiver")];
        let each = ends
            .iter()
            .filter_map(|(fit, place)| Some(format!("{} {place}", of(fit.as_ref()?))));
        each.collect::<Vec<_>>().join(" and ")
    };
    let packet = both(&|fit| known(fit.ns_per_packet));
    let byte = both(&|fit| known(fit.ns_per_byte));
    let bounds = [tx, rx].into_iter().flatten().map(bound);
    let mut bounds: Vec<&str> = bounds.collect();
    bounds.dedup();
    let bound = match bounds.as_slice() {
        [one] => (*one).to_owned(),
        _ => both(&|fit| bound(fit).to_owned()),
    };
    let (name, unit) = match first.protocol {
        Protocol::Udp => ("UDP", "datagram"),
        Protocol::Tcp => ("TCP", "segment"),
    };
    let (af, way) = (first.af, way(flow(first)));
    let text = format!(
        "{name} over IPv{af} {way}: a {unit} costs {packet}, and each byte {byte}: {bound}"
    );
    Line::new(0, text).tone(Tone::Good)
}

/// An interval of the packet's part without one half would name the bound, if the times followed the line.
fn bound(fit: &CostFit) -> &'static str {
    let [least, most] = fit.packet_share.ci95;
    match fit.bound {
        Bound::Packets => "packet-bound",
        Bound::Bytes => "byte-bound",
        Bound::Neither if least <= 0.5 && most >= 0.5 => "bound by neither alone",
        Bound::Neither => {
            "of unknown bound (the times are too far from a line: repeat it with -t 5)"
        }
    }
}

/// A time that may be nothing has an upper bound only. The whole interval of a very small one may lie below 0.
fn known(estimate: Estimate) -> String {
    match estimate.ci95 {
        [_, most] if most <= 0.0 => "nothing that is measurable".to_owned(),
        [least, most] if least <= 0.0 => format!("at most {}", time(most)),
        _ => time(estimate.value),
    }
}

/// Small times have more digits: a byte costs a fraction of a nanosecond.
fn time(ns: f64) -> String {
    match ns.abs() < 1.0 {
        true => format!("{ns:.3} ns"),
        false => with_unit(ns, TIMES),
    }
}

/// The direction of the flow in which an end did this.
fn flow(fit: &CostFit) -> Direction {
    direction(fit.host, fit.direction)
}

fn direction(host: Role, end: CostDirection) -> Direction {
    match (host, end) {
        (Role::Local, CostDirection::Tx) | (Role::Remote | Role::Device, CostDirection::Rx) => {
            Direction::Up
        }
        _ => Direction::Down,
    }
}

/// Both ends of one size and direction.
struct Row<'o> {
    payload_bytes: u32,
    direction: Direction,
    tx: Option<&'o Cost>,
    rx: Option<&'o Cost>,
}

/// A table per protocol, IP version and rate.
fn tables(costs: &[Cost]) -> Vec<Block> {
    let key = |cost: &Cost| (cost.protocol, cost.af, cost.requested_pps.is_some());
    let mut keys = Vec::new();
    for cost in costs {
        if !keys.contains(&key(cost)) {
            keys.push(key(cost));
        }
    }
    let table = |wanted: &(Protocol, u8, bool)| {
        let all: Vec<&Cost> = costs.iter().filter(|one| key(one) == *wanted).collect();
        table(&all)
    };
    keys.iter().filter_map(table).collect()
}

fn table(costs: &[&Cost]) -> Option<Block> {
    let first = costs.first()?;
    let rows = rows(costs);
    let number = |name: &str, unit: &str, of: fn(&Row<'_>) -> Option<f64>| {
        Column::texts(name, unit, rows.iter().map(|row| of(row).map(significant)))
    };
    let split = |name: &str, of: for<'a> fn(&Row<'a>) -> Option<&'a Cost>| {
        let has_softirqs = rows.iter().filter_map(of).any(is_machine);
        let unit = if has_softirqs {
            "us/sy/si/hi %"
        } else {
            "us/sy %"
        };
        Column::texts(name, unit, rows.iter().map(|row| of(row).map(shares)))
    };
    let columns = vec![
        Column::counts(
            "bytes",
            "",
            rows.iter().map(|row| Some(row.payload_bytes.into())),
        ),
        Column::words("dir", rows.iter().map(|row| way(row.direction).to_owned())),
        number("sender", "ns", |row| Some(row.tx?.cpu_ns_per_packet)),
        number("receiver", "ns", |row| Some(row.rx?.cpu_ns_per_packet)),
        number("machine", "ns", |row| {
            row.tx.or(row.rx)?.machine_ns_per_packet
        }),
        number("shared", "ns", |row| {
            row.tx.or(row.rx)?.shared_ns_per_packet
        }),
        number("sender", "ns/KiB", |row| Some(row.tx?.cpu_ns_per_kib)),
        number("receiver", "ns/KiB", |row| Some(row.rx?.cpu_ns_per_kib)),
        split("sender", |row| row.tx),
        split("receiver", |row| row.rx),
        number("cycles", "sender", |row| row.tx?.cycles_per_packet),
        number("cycles", "receiver", |row| row.rx?.cycles_per_packet),
        number("instr.", "sender", |row| row.tx?.instructions_per_packet),
        number("instr.", "receiver", |row| row.rx?.instructions_per_packet),
        number("misses", "sender", |row| row.tx?.cache_misses_per_packet),
        number("misses", "receiver", |row| row.rx?.cache_misses_per_packet),
    ];
    let mut table = Table {
        heading: heading(first),
        keys: 2,
        columns,
        tones: Vec::new(),
    };
    table.forget_unknown();
    Some(Block::Table(table))
}

/// In the order of sizes and directions.
fn rows<'o>(costs: &[&'o Cost]) -> Vec<Row<'o>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for cost in costs {
        let direction = direction(cost.host, cost.direction);
        let is_its =
            |row: &Row<'_>| row.payload_bytes == cost.payload_bytes && row.direction == direction;
        let at = rows.iter().position(is_its).unwrap_or_else(|| {
            rows.push(Row {
                payload_bytes: cost.payload_bytes,
                direction,
                tx: None,
                rx: None,
            });
            rows.len() - 1
        });
        if let Some(row) = rows.get_mut(at) {
            match cost.direction {
                CostDirection::Tx => row.tx = Some(cost),
                CostDirection::Rx => row.rx = Some(cost),
            }
        }
    }
    linerate_model::order::by_key(&mut rows, |row| row.payload_bytes);
    rows
}

fn heading(cost: &Cost) -> String {
    let name = protocol(cost.protocol);
    let rate = match cost.requested_pps {
        Some(pps) => format!("at {}", with_unit(pps, PACKET_RATES)),
        None => "unlimited".to_owned(),
    };
    let mode = |mode: Option<IoMode>| mode.map_or("stock", IoMode::name);
    let (tx, rx) = (mode(cost.mode.tx), mode(cost.mode.rx));
    let unit = match cost.protocol {
        Protocol::Udp => "packet",
        Protocol::Tcp => "segment",
    };
    let af = cost.af;
    format!(
        "{name} over IPv{af}, {rate}, mode {tx}/{rx}: CPU time per {unit} and per KiB of payload"
    )
}

/// User, system, softirq and hard interrupts; the last two where they are not part of system.
fn shares(cost: &Cost) -> String {
    let own = [Some(cost.user_ns), Some(cost.system_ns)];
    let machine = [cost.softirq_ns, cost.irq_ns].map(|ns| ns.filter(|_| is_machine(cost)));
    let parts: Vec<f64> = own.into_iter().chain(machine).flatten().collect();
    let all: f64 = parts.iter().sum();
    let share = |ns: &f64| format!("{:.0}", 100.0 * ns / all.max(1.0));
    parts.iter().map(share).collect::<Vec<_>>().join("/")
}

fn is_machine(cost: &Cost) -> bool {
    cost.basis == CostBasis::Machine
}

fn fits(fits: &[CostFit]) -> Option<Block> {
    let words = |of: fn(&CostFit) -> String| fits.iter().map(of);
    let interval = |name: &str, unit: &str, of: fn(&CostFit) -> Estimate, digits: usize| {
        let cell = |fit: &CostFit| {
            let estimate = of(fit);
            let [least, most] = estimate.ci95;
            let half = (most - least) / 2.0;
            format!("{:.digits$} ± {half:.digits$}", estimate.value)
        };
        Column {
            unit: unit.to_owned(),
            align: super::Align::Right,
            ..Column::words(name, fits.iter().map(cell))
        }
    };
    let columns = vec![
        Column::words(
            "",
            words(|fit| format!("{} IPv{}", protocol(fit.protocol), fit.af)),
        ),
        Column::words("dir", words(|fit| way(flow(fit)).to_owned())),
        Column::words("end", words(|fit| end(fit.direction).to_owned())),
        interval("packet", "ns", |fit| fit.ns_per_packet, 0),
        interval("byte", "ns", |fit| fit.ns_per_byte, 3),
        Column::words("bound", words(|fit| short(fit.bound).to_owned())),
        Column::texts("packet part", "%", fits.iter().map(|fit| Some(part(fit)))),
        Column::texts(
            "resid.",
            "%",
            fits.iter()
                .map(|fit| Some(format!("{:.1}", 100.0 * fit.residual_ratio))),
        ),
    ];
    let largest = fits.iter().map(|fit| fit.largest_payload_bytes).max()?;
    Some(Block::Table(Table {
        heading: format!(
            "time = packet + byte × payload, with 95 % intervals; bound by the part that is more than half of the time of {largest} bytes"
        ),
        keys: 3,
        columns,
        tones: Vec::new(),
    }))
}

fn part(fit: &CostFit) -> String {
    let [least, most] = fit
        .packet_share
        .ci95
        .map(|share| share.clamp(0.0, 1.0) * 100.0);
    let value = fit.packet_share.value.clamp(0.0, 1.0) * 100.0;
    format!("{value:.0} ({least:.0}…{most:.0})")
}

fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Udp => "UDP",
        Protocol::Tcp => "TCP",
    }
}

fn end(direction: CostDirection) -> &'static str {
    match direction {
        CostDirection::Tx => "tx",
        CostDirection::Rx => "rx",
    }
}

fn short(bound: Bound) -> &'static str {
    match bound {
        Bound::Packets => "packets",
        Bound::Bytes => "bytes",
        Bound::Neither => "neither",
    }
}

/// Whose time it is, how exact, and what is unknown.
fn counted(costs: &[Cost]) -> Vec<Line> {
    let has = |basis: CostBasis| costs.iter().any(|cost| cost.basis == basis);
    let mut texts: Vec<String> = Vec::new();
    if costs.iter().any(|cost| cost.shared_host) {
        texts.push(SHARED.to_owned());
    } else if has(CostBasis::Streams) {
        texts.push(STREAMS.to_owned());
    }
    if has(CostBasis::Machine) {
        texts.push(MACHINE.to_owned());
    }
    if has(CostBasis::Process) {
        texts.push(PROCESS.to_owned());
    }
    let machine = costs.iter().filter(|cost| is_machine(cost));
    let worst = machine
        .filter_map(|cost| Some(cost.resolution_ns? / cost.cpu_ns_per_packet))
        .fold(0.0, f64::max);
    if worst > 0.0 {
        let worst = percent(worst);
        texts.push(format!(
            "resolution of /proc/stat (ticks of 10 ms): at most {worst} % of a cell; longer tests (-t) make it smaller"
        ));
    }
    if costs.iter().any(|cost| cost.protocol == Protocol::Tcp) {
        texts.push(SEGMENTS.to_owned());
    }
    let missing = costs.iter().find_map(|cost| cost.events_missing);
    texts.extend(missing.map(|why| {
        format!(
            "cycles, instructions and cache misses per packet: not possible: {}",
            events(why)
        )
    }));
    let mut lines: Vec<Line> = texts.into_iter().map(|text| Line::new(2, text)).collect();
    let warnings = warnings(costs).into_iter();
    lines.extend(warnings.map(|text| Line::new(2, text).tone(Tone::Warn)));
    lines
}

/// What makes the times uncertain.
fn warnings(costs: &[Cost]) -> Vec<String> {
    let most = |of: fn(&Cost) -> Option<f64>| costs.iter().filter_map(of).fold(0.0, f64::max);
    let (busiest, stolen) = (
        most(|cost| cost.background_ratio),
        most(|cost| cost.stolen_ratio),
    );
    let busy = (busiest > BUSY_RATIO).then(|| {
        format!(
            "warning: a machine was {:.0} % busy before the load: its time is uncertain, and caches are shared; repeat on an idle machine",
            busiest * 100.0
        )
    });
    let stolen = (stolen > STOLEN_RATIO).then(|| {
        format!(
            "warning: a hypervisor took up to {} % of the processors during a test (steal in /proc/stat): times of threads may include what was taken from them; repeat on a machine of its own",
            percent(stolen)
        )
    });
    busy.into_iter().chain(stolen).collect()
}

fn events(missing: EventsMissing) -> &'static str {
    match missing {
        EventsMissing::NoCounters => "this processor or virtual machine has no such counters",
        EventsMissing::NotAllowed => {
            "not allowed; as root, or with sysctl -w kernel.perf_event_paranoid=1"
        }
        EventsMissing::NoPerf => "this kernel has no perf_event_open(2)",
        EventsMissing::TooFew => "other programs had the counters",
        EventsMissing::Unknown => "not counted",
    }
}

const SHARED: &str = "both ends are this machine: each end's time is that of its threads (exact). Softirqs that ran in them are included, and over veth a sender also runs the receiver's IP input; `machine` is all of both ends, and `shared` what of it is of neither end's threads: softirqs and interrupts that found no thread, and the control of the test";
const STREAMS: &str = "time of the threads that sent or received (exact); softirqs of no program are missing, because the machine's times are not known";
const MACHINE: &str = "time of the whole machine without its background: user, system, softirq, hard interrupts (/proc/stat; busy is what is not idle, divided by ticks)";
const PROCESS: &str =
    "a stock peer reports the time of its process alone: softirqs that ran elsewhere are missing";
const SEGMENTS: &str = "segments are counted by the MSS; where the interface segments (TSO) or is a veth, the kernel handles up to 64 KiB at once";
/// Then the background is more than noise.
const BUSY_RATIO: f64 = 0.1;
/// Then no account is exact to 2 %.
const STOLEN_RATIO: f64 = 0.01;

#[cfg(test)]
mod tests;
