// SPDX-License-Identifier: MIT OR Apache-2.0
//! A packet's way from program to program, with what was lost at each stage: the ledger as a picture.

use linerate_model::output::{LedgerEntry, Output, Role, Stage, Test};

use super::ledger::{entries, rate, span, words};
use super::{name, way};
use linerate_model::order;

/// One test's way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// Whose it is, and how much was lost.
    pub title: String,
    /// What was sent, in words; empty where it is not known.
    pub sent: String,
    /// What arrived, in words; empty where it is not known.
    pub received: String,
    /// From the sending program to the receiving one.
    pub stops: Vec<Stop>,
    /// What no stage accounts for, in words; empty where nothing is left.
    pub unattributed: String,
    /// Packets that were lost.
    pub lost: u64,
}

/// One stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stop {
    /// `tx-app` … `rx-app`.
    pub stage: String,
    /// The same in words.
    pub words: String,
    /// Whose it is: the sender's, the wire's, the device's, the receiver's.
    pub whose: &'static str,
    /// Lost here, at least.
    pub lo: u64,
    /// Lost here, at most.
    pub hi: u64,
    /// How many, and how they were counted; empty where nothing was lost.
    pub loss: String,
    /// Nothing readable counts here.
    pub blind: bool,
}

/// The ways of the tests that lost something, those that lost most first.
pub(crate) fn ways(output: &Output) -> Vec<Way> {
    let mut entries = entries(output);
    order::by_key(&mut entries, |(_, entry)| {
        std::cmp::Reverse(entry.lost_packets)
    });
    entries.truncate(MOST);
    entries
        .into_iter()
        .map(|(test, entry)| of(output, test, entry))
        .collect()
}

fn of(output: &Output, test: &Test, entry: &LedgerEntry) -> Way {
    let count = |packets: Option<u64>, what: &str| {
        packets.map_or_else(String::new, |packets| format!("{packets} {what}"))
    };
    let left = (entry.unattributed_lo, entry.unattributed_hi) != (0, 0);
    Way {
        title: format!(
            "{} {}{}: {} {} lost",
            name(test),
            way(test.direction),
            rate(output, test),
            entry.lost_packets,
            entry.unit
        ),
        sent: count(test.sent_packets, "sent"),
        received: count(test.received_packets, "received"),
        stops: stages(entry)
            .into_iter()
            .map(|stage| stop(entry, stage))
            .collect(),
        unattributed: if left {
            span(entry.unattributed_lo, entry.unattributed_hi)
        } else {
            String::new()
        },
        lost: entry.lost_packets,
    }
}

/// The stages of every path; those of a device only if the ledger has it, after the wire to it.
fn stages(entry: &LedgerEntry) -> Vec<&str> {
    let mut stages = linerate_diagnose::STAGES.to_vec();
    let wire = stages
        .iter()
        .position(|stage| *stage == "wire")
        .unwrap_or(0);
    let mut at = wire + 1;
    for stage in entry.stages.iter().map(|stage| stage.stage.as_str()) {
        if !stages.contains(&stage) {
            stages.insert(at, stage);
            at += 1;
        }
    }
    stages
}

fn stop(entry: &LedgerEntry, stage: &str) -> Stop {
    let parts: Vec<&Stage> = entry
        .stages
        .iter()
        .filter(|part| part.stage == stage && part.hi > 0)
        .collect();
    let (lo, hi) = parts
        .iter()
        .fold((0, 0), |(lo, hi), part| (lo + part.lo, hi + part.hi));
    let how = match parts.as_slice() {
        [one] => counted(&one.kind).to_owned(),
        several => format!("by {} counters", several.len()),
    };
    let loss = match parts.is_empty() {
        true => String::new(),
        false => format!("{} {how}", span(lo as i64, hi as i64)),
    };
    let device = parts.iter().any(|part| part.host == Role::Device) || stage.starts_with("fwd-");
    Stop {
        stage: stage.to_owned(),
        words: words(stage).to_owned(),
        whose: match stage.split('-').next() {
            _ if device => "device",
            Some("tx") => "sender",
            Some("rx") => "receiver",
            _ => "wire",
        },
        lo,
        hi,
        loss,
        blind: entry.blind.iter().any(|blind| blind == stage),
    }
}

/// How it was counted, short enough for a picture.
fn counted(kind: &str) -> &str {
    match kind {
        "shared" => "shared counter",
        "balance" => "by difference",
        other => super::ledger::kind(other),
    }
}

/// More pictures say no more; the sentences have the others.
const MOST: usize = 2;
