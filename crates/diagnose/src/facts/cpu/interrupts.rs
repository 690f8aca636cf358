// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface's interrupts: how many, on which processors, how many a packet.

use crate::evidence::{Evidence, Source};

use super::load::Shares;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::map::Map;
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    facts.add_to_run("irq_cpu_taken", false, "no test");
    for vantage in vantages(evidence) {
        vantage.add_rate(facts, "rx_pps", Source::Link, "rx_packets");
        let Some(vectors) = vectors(&vantage) else {
            continue;
        };
        spread(&vantage, &vectors, facts);
        frequency(&vantage, &vectors, facts);
        vantage.add(facts, "irq_moves", moves(&vantage), SOURCE);
    }
}

/// Growth of each interrupt of the interface, by label and processor. `None` if none of them was read.
/// In a pasted text without the interface's name they are those that look like a network card's.
pub(in crate::facts) fn vectors(vantage: &Vantage<'_>) -> Option<Vectors> {
    let mut vectors = Vectors::new();
    for (name, moved) in vantage.host_counters().each(Source::Interrupts) {
        let Some((label, cpu)) = name.rsplit_once('/') else {
            continue;
        };
        if belongs(vantage, label) {
            let by_cpu = vectors.entry(label.to_owned()).or_default();
            by_cpu.insert(cpu.to_owned(), moved.grew.at_least);
        }
    }
    (!vectors.is_empty()).then_some(vectors)
}

pub(in crate::facts) type Vectors = Map<String, Map<String, u64>>;

/// By number, where the host says which are the interface's; else by name.
fn belongs(vantage: &Vantage<'_>, label: &str) -> bool {
    let (number, handler) = label.split_once(':').unwrap_or((label, ""));
    let Some(interface) = vantage.interface else {
        return vantage.record.pasted && looks_like_network(handler);
    };
    let known = vantage
        .set_up(&format!("/proc/irq/{number}"), "name")
        .is_some();
    let mut words = handler.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    known || words.any(|word| word == interface)
}

fn looks_like_network(handler: &str) -> bool {
    let handler = handler.to_ascii_lowercase();
    NETWORK.iter().any(|word| handler.contains(word))
}

fn spread(vantage: &Vantage<'_>, vectors: &Vectors, facts: &mut Facts) {
    let all: u64 = vectors.values().flat_map(Map::values).sum();
    let active = vectors
        .values()
        .filter(|by_cpu| by_cpu.values().sum::<u64>() * 100 >= all && all > 0);
    let mut add = |name, value: f64| vantage.add(facts, name, value, SOURCE);
    add("irq_vectors", vectors.len() as f64);
    add("irq_count", all as f64);
    // All packets of one flow come by one vector, however many work.
    let one_flow = vantage.test.is_some_and(|test| test.streams == 1);
    if !one_flow {
        add("irq_active_vectors", active.count() as f64);
    }
    if let Some((cpu, count)) = busiest_cpu(vectors).filter(|_| all > 0) {
        add("irq_top_cpu_share", count as f64 / all as f64);
        let shares = Shares::of(vantage);
        let softirq = shares.as_ref().map(|shares| shares.softirq(cpu));
        vantage.add(facts, "irq_cpu_softirq", softirq, STAT);
        let user = shares.as_ref().map(|shares| shares.user(cpu));
        vantage.add(facts, "irq_cpu_user", user, STAT);
        let taken = user.is_some_and(|user| is_taken(vantage, user));
        vantage.add(facts, "irq_cpu_taken", taken, STAT);
    }
    let portals = vectors.keys().all(|label| label.contains("dpio"));
    vantage.add(facts, "irq_portals", portals, SOURCE);
    let shared = vectors.keys().any(|label| is_shared(label));
    vantage.add(facts, "irq_shared", shared, SOURCE);
}

/// By another program than the receiver, whose busiest thread may be on any processor.
fn is_taken(vantage: &Vantage<'_>, user: f64) -> bool {
    let own = match (vantage.test, vantage.side) {
        (Some(test), Some(Side::Receiver)) => test.receiver_cpu_ratio_max,
        _ => None,
    };
    own.is_some_and(|own| user - own >= TAKEN)
}

/// The processor with most of the interrupts, and how many.
pub(in crate::facts) fn busiest_cpu(vectors: &Vectors) -> Option<(&str, u64)> {
    let mut by_cpu: Map<&str, u64> = Map::new();
    for (cpu, count) in vectors.values().flatten() {
        *by_cpu.entry(cpu).or_default() += count;
    }
    by_cpu.into_iter().max_by_key(|(_, count)| *count)
}

/// The handlers of a shared line are listed with commas.
fn is_shared(label: &str) -> bool {
    label.contains(", ")
}

fn frequency(vantage: &Vantage<'_>, vectors: &Vectors, facts: &mut Facts) {
    let count = |by_cpu: &Map<String, u64>| by_cpu.values().sum::<u64>();
    let all: u64 = vectors.values().map(count).sum();
    let busiest = vectors.values().map(count).max().unwrap_or(0);
    let span = vantage.host_counters().span_s(SOURCE);
    let rate = span.map(|span| busiest as f64 / span);
    vantage.add(facts, "irq_vector_per_second", rate, SOURCE);
    let packets = |name| Some(vantage.of_interface(Source::Link, name)?.value);
    let both = packets("rx_packets").zip(packets("tx_packets"));
    let both = both.map(|(rx, tx)| rx + tx).filter(|packets| *packets > 0);
    let each = both.map(|packets| all as f64 / packets as f64);
    let source = "/proc/interrupts, rtnl_link_stats64 rx_packets, tx_packets";
    vantage.add(facts, "irq_per_packet", each, source);
}

/// From reading to reading: an interrupt that came almost only on one processor, and then almost only on another.
fn moves(vantage: &Vantage<'_>) -> f64 {
    let mut at: Map<String, String> = Map::new();
    let mut moves = 0;
    for step in vantage.host_counters().steps(Source::Interrupts) {
        for (label, cpu) in homes(vantage, step) {
            let before = at.insert(label, cpu.clone());
            moves += u32::from(before.is_some_and(|before| before != cpu));
        }
    }
    f64::from(moves)
}

fn homes(vantage: &Vantage<'_>, step: Vec<(&str, u64)>) -> Vec<(String, String)> {
    let mut grown = Vectors::new();
    for (name, count) in step {
        let named = name
            .rsplit_once('/')
            .filter(|(label, _)| belongs(vantage, label));
        if let Some((label, cpu)) = named {
            let by_cpu = grown.entry(label.to_owned()).or_default();
            by_cpu.insert(cpu.to_owned(), count);
        }
    }
    let home = |(label, by_cpu): (String, Map<String, u64>)| {
        let all: u64 = by_cpu.values().sum();
        let (cpu, most) = by_cpu.into_iter().max_by_key(|(_, count)| *count)?;
        (all >= FEW && most * 10 >= all * 9).then_some((label, cpu))
    };
    grown.into_iter().filter_map(home).collect()
}

const SOURCE: &str = Source::Interrupts.text();
const STAT: &str = Source::Stat.text();
/// Half of it for certain: the receiver's own share is taken off, though that may run on another processor.
const TAKEN: f64 = 0.5;
/// Fewer interrupts than these say nothing of where they go.
const FEW: u64 = 100;
const NETWORK: &[&str] = &[
    "dpio",
    "eth",
    "enp",
    "eno",
    "ens",
    "enet",
    "fec",
    "txrx",
    "-rx-",
    "-tx-",
    "-input.",
    "mlx5_comp",
    "gmac",
    "mvneta",
    "mvpp2",
];
