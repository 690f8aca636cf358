// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where each lost packet died, for each test, with the counters as evidence.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use linerate_model::output::{Evidence, LedgerEntry, Output, Stage, Test, Unread};
use linerate_model::units::format::{BIT_RATES, with_unit};

use super::{Block, Line, Tone, called, name, relevant, role, way};
use linerate_model::order;

/// One entry per test with loss; in a sweep, those that lost most. Of a search, whose trials are not shown, at least the
/// trial that lost most.
pub(super) fn block(output: &Output) -> Option<Block> {
    let mut entries = entries(output);
    let shown = entries.len().min(MOST_ENTRIES);
    if entries.len() > shown {
        order::by_key(&mut entries, |(_, entry)| {
            std::cmp::Reverse(entry.lost_packets)
        });
        entries.truncate(shown);
    }
    let mut lines: Vec<Line> = entries
        .iter()
        .flat_map(|(test, entry)| of(output, test, entry))
        .collect();
    let lossy = |entry: &&LedgerEntry| entry.lost_packets > 0;
    let left_out = output
        .ledger
        .iter()
        .filter(lossy)
        .count()
        .saturating_sub(shown);
    if left_out > 0 && shown > 0 {
        lines.push(Line::new(
            2,
            format!("{left_out} more with fewer losses (--json lists all)"),
        ));
    }
    if shown > 0 {
        lines.extend(unread(output));
    }
    Block::lines("loss ledger: where each lost packet died", lines)
}

/// The tests shown, and the worst trial of each search.
pub(super) fn entries(output: &Output) -> Vec<(&Test, &LedgerEntry)> {
    let lossy = output
        .ledger
        .iter()
        .filter(|entry| entry.lost_packets > 0)
        .rev();
    let lossy: Map<&str, &LedgerEntry> =
        lossy.map(|entry| (entry.test_id.as_str(), entry)).gather();
    let with_entry = |test| entry(&lossy, test);
    let mut entries: Vec<(&Test, &LedgerEntry)> = relevant(output)
        .into_iter()
        .filter_map(with_entry)
        .collect();
    let mut others: Vec<(&Test, &LedgerEntry)> =
        output.tests.iter().filter_map(with_entry).collect();
    order::by_key(&mut others, |(_, entry)| {
        std::cmp::Reverse(entry.lost_packets)
    });
    let mut known: BTreeSet<_> = entries.iter().map(|(test, _)| called(test)).gather();
    others.retain(|(test, _)| known.insert(called(test)));
    entries.extend(others);
    entries
}

fn entry<'o>(
    lossy: &Map<&str, &'o LedgerEntry>,
    test: &'o Test,
) -> Option<(&'o Test, &'o LedgerEntry)> {
    Some((test, *lossy.get(test.id.as_str())?))
}

fn of(output: &Output, test: &Test, entry: &LedgerEntry) -> Vec<Line> {
    let sent = test
        .sent_packets
        .map_or_else(String::new, |sent| format!("of {sent} sent, "));
    let rate = rate(output, test);
    let title = format!(
        "{} {}{rate}: {sent}{} {} lost",
        name(test),
        way(test.direction),
        entry.lost_packets,
        entry.unit
    );
    let mut lines = vec![Line::new(2, title).tone(Tone::Warn)];
    let (mut sure, possible): (Vec<&Stage>, Vec<&Stage>) = entry
        .stages
        .iter()
        .filter(|stage| stage.hi > 0)
        .partition(|stage| {
            let slight = stage.hi * SLIGHT < entry.lost_packets;
            stage.lo > 0 || !(slight || says_nothing(entry, stage))
        });
    order::by_key(&mut sure, |stage| std::cmp::Reverse((stage.lo, stage.hi)));
    lines.extend(sure.iter().map(|stage| line(stage)));
    lines.push(Line::new(4, rest(entry, sure.is_empty(), &possible)));
    lines
}

/// A difference of two counters that leaves room for none and for all of the losses.
fn says_nothing(entry: &LedgerEntry, stage: &Stage) -> bool {
    stage.kind == "balance" && stage.lo == 0 && stage.hi >= entry.lost_packets
}

/// The rate of a trial.
pub(super) fn rate(output: &Output, test: &Test) -> String {
    test.requested_bits_per_second
        .filter(|_| output.is_trial(test))
        .map_or_else(String::new, |rate| {
            format!(" at {}", with_unit(rate, BIT_RATES))
        })
}

fn line(stage: &Stage) -> Line {
    let place = stage
        .interface
        .as_ref()
        .map_or_else(String::new, |interface| format!(" {interface}"));
    let moved = stage
        .evidence
        .iter()
        .filter(|evidence| evidence.value.number() != Some(0.0));
    let counters: Vec<String> = moved.map(counter).collect();
    let counted = if counters.is_empty() {
        String::new()
    } else {
        format!(": {}", counters.join(", "))
    };
    Line::new(
        4,
        format!(
            "{} at {} ({}, {}{place}), {}{counted}",
            span(stage.lo as i64, stage.hi as i64),
            words(&stage.stage),
            stage.stage,
            role(stage.host),
            kind(&stage.kind)
        ),
    )
}

fn counter(evidence: &Evidence) -> String {
    format!(
        "{} +{} ({})",
        evidence.fact, evidence.value, evidence.source
    )
}

/// The losses not attributed, and the stages that may have lost a few.
fn rest(entry: &LedgerEntry, nowhere: bool, possible: &[&Stage]) -> String {
    let unattributed = if nowhere {
        format!("{} unattributed", entry.unattributed_hi)
    } else {
        let left = span(entry.unattributed_lo, entry.unattributed_hi);
        format!("{left} unattributed")
    };
    let mut parts = vec![unattributed];
    if !possible.is_empty() {
        let few = possible
            .iter()
            .map(|stage| format!("{} at {}", stage.hi, stage.stage));
        parts.push(format!("at most {}", few.collect::<Vec<_>>().join(", ")));
    }
    if !entry.blind.is_empty() {
        let blind = entry.blind.join(", ");
        parts.push(format!("blind (no readable counter): {blind}"));
    }
    parts.join("; ")
}

/// Sources that could not be read, once for all tests.
fn unread(output: &Output) -> Vec<Line> {
    let mut sources: Vec<(&Unread, Vec<&str>)> = Vec::new();
    for one in output.ledger.iter().flat_map(|entry| &entry.unread) {
        let alike = |known: &&mut (&Unread, Vec<&str>)| {
            (&known.0.source, &known.0.why) == (&one.source, &one.why)
        };
        match sources.iter_mut().find(alike) {
            Some((_, hosts)) if hosts.contains(&role(one.host)) => {}
            Some((_, hosts)) => hosts.push(role(one.host)),
            None => sources.push((one, vec![role(one.host)])),
        }
    }
    let lines = |(one, hosts): (&Unread, Vec<&str>)| {
        let what = format!(
            "kernel drop reasons not available ({}; {}): {}",
            hosts.join(" and "),
            one.source,
            one.why
        );
        let remedy = Line::labelled(4, "try", &one.try_);
        [Some(Line::new(2, what)), remedy]
    };
    sources.into_iter().flat_map(lines).flatten().collect()
}

pub(super) fn span(lo: i64, hi: i64) -> String {
    if lo == hi {
        hi.to_string()
    } else {
        format!("{lo} … {hi}")
    }
}

/// How the packets of a stage were counted.
pub(super) fn kind(kind: &str) -> &str {
    match kind {
        "exact" => "counted exactly",
        "shared" => "shared with other traffic",
        "balance" => "by the difference of two counters",
        other => other,
    }
}

/// A stage in the words of an engineer.
pub(super) fn words(stage: &str) -> &str {
    match stage {
        "tx-app" => "the sending program",
        "tx-socket" => "the sending socket's buffer",
        "tx-ip" => "routing and filters on the way out",
        "tx-qdisc" => "the sender's queueing discipline",
        "tx-ring" => "the sender's driver and its ring",
        "tx-mac" => "the sending MAC and its FIFO",
        "wire" => "the wire (PHY, cable, switch)",
        "rx-mac" => "the receiver's MAC and its FIFO",
        "rx-ring" => "the receiver's driver and its ring",
        "rx-xdp" => "XDP and packet sockets",
        "rx-softnet" => "the receiver's kernel backlog",
        "rx-ip" => "routing and filters on the way in",
        "rx-socket" => "the receiving socket's buffer",
        "rx-app" => "the receiving program",
        other => other,
    }
}

/// A stage gets no line if its minimum is 0 and its maximum at most this part of all losses.
const SLIGHT: u64 = 50;
const MOST_ENTRIES: usize = 8;
