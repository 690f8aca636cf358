// SPDX-License-Identifier: MIT OR Apache-2.0
//! A card's queues: how many it has and may have, and which of them packets took.

use crate::evidence::{Evidence, Source, queue_of};
use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence) {
        if vantage.test.is_none() {
            set_up(&vantage, facts);
        }
        counted(&vantage, facts);
    }
}

/// Receive queues: of the channels, else of sysfs, else (pasted) one for each interrupt.
pub(super) fn of(vantage: &Vantage<'_>, interrupts: Option<f64>) -> Option<u32> {
    let interrupts = interrupts.filter(|_| vantage.record.pasted);
    let queues = receive(vantage).or(interrupts.map(|count| count as u64))?;
    u32::try_from(queues).ok().filter(|queues| *queues > 0)
}

fn set_up(vantage: &Vantage<'_>, facts: &mut Facts) {
    let from_interrupts = facts.list().iter().find_map(|fact| {
        let here =
            fact.name == "irq_vectors" && fact.test_id.is_none() && fact.host == Some(vantage.host);
        here.then(|| fact.value.number())?
    });
    let source = "ethtool -l, /sys/class/net/queues, /proc/interrupts";
    if let Some(queues) = of(vantage, from_interrupts) {
        vantage.add(facts, "queues", f64::from(queues), source);
        if vantage.record.pasted {
            // Of whose tests these queues are, a pasted text does not say.
            facts.add_to_run("queues", f64::from(queues), source);
        }
    }
    let number = |queues: Option<u64>| queues.map(|queues| queues as f64);
    let most = channels(vantage, "RX", "max");
    vantage.add(facts, "queues_max", number(most), "ethtool -l");
    let transmit = channels(vantage, "TX", "current").or_else(|| in_sysfs(vantage, "tx-"));
    vantage.add(facts, "tx_queues", number(transmit), source);
}

fn receive(vantage: &Vantage<'_>) -> Option<u64> {
    channels(vantage, "RX", "current").or_else(|| in_sysfs(vantage, "rx-"))
}

/// Combined channels and those of one direction only add up.
fn channels(vantage: &Vantage<'_>, direction: &str, which: &str) -> Option<u64> {
    let number = |kind: &str| vantage.number("ethtool -l", &format!("{kind}.{which}"));
    let (combined, own) = (number("Combined"), number(direction));
    let sum = combined.unwrap_or(0) + own.unwrap_or(0);
    (sum > 0).then_some(sum)
}

fn in_sysfs(vantage: &Vantage<'_>, prefix: &str) -> Option<u64> {
    let settings = vantage.record.run.settings.iter().find(|setting| {
        setting.host == vantage.host
            && setting.source == "/sys/class/net/queues"
            && setting.interface.as_deref() == vantage.interface
    })?;
    let numbers: std::collections::BTreeSet<&str> = settings
        .values
        .keys()
        .filter_map(|key| {
            key.strip_prefix(prefix)?
                .split_once('.')
                .map(|(number, _)| number)
        })
        .gather();
    (!numbers.is_empty()).then_some(numbers.len() as u64)
}

fn counted(vantage: &Vantage<'_>, facts: &mut Facts) {
    let source = SOURCES[0].text();
    let receives = vantage.side != Some(Side::Sender);
    if receives {
        let queues = by_queue(vantage, "rx");
        if vantage.test.is_some() {
            let known = queues.is_some();
            vantage.add(facts, "queue_counters_known", known, source);
        }
        if let Some(queues) = queues {
            let all: u64 = queues.values().sum();
            let top = queues.values().max().copied().unwrap_or(0) as f64 / all as f64;
            vantage.add(facts, "queues_used", used(&queues), source);
            vantage.add(facts, "queue_top_share", top, source);
        }
    }
    let sends = vantage.side != Some(Side::Receiver);
    let queues = by_queue(vantage, "tx").filter(|_| sends);
    vantage.add(facts, "tx_queues_used", queues.as_ref().map(used), source);
}

fn used(queues: &Map<String, u64>) -> f64 {
    let all: u64 = queues.values().sum();
    queues.values().filter(|count| **count * 100 >= all).count() as f64
}

/// Growth of the packets of each queue; `None` unless there are several and some grew.
fn by_queue(vantage: &Vantage<'_>, direction: &str) -> Option<Map<String, u64>> {
    SOURCES.iter().find_map(|source| {
        let each = vantage.counters().each(*source);
        let queues: Map<String, u64> = each
            .filter_map(|(name, moved)| Some((queue_of(name, direction)?, moved.grew.at_least)))
            .gather();
        (queues.len() > 1 && queues.values().any(|count| *count > 0)).then_some(queues)
    })
}

/// The number in `rx_queue_3_packets`, `rx3_packets`, `rx-3.packets`, `queue_3_rx_packets`; several
/// forms, as drivers like it. Other counters of a queue are none.
const SOURCES: [Source; 2] = [Source::Ethtool, Source::Qstats];
