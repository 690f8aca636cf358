// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stages of a ledger entry, grouped by the limit that each of them shows.

use std::fmt;

use linerate_model::output::{LedgerEntry, Limit, Stage, Value};

/// Packets that died at stages of one group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drop<'l> {
    group: &'static Group,
    pub(super) limit: Limit,
    lost: u64,
    /// At least.
    pub(super) lo: u64,
    /// At most.
    pub(super) hi: u64,
    entry: &'l LedgerEntry,
}

/// Stages that show the same limit.
#[derive(Debug, PartialEq)]
struct Group {
    stages: &'static [&'static str],
    limit: Limit,
    by: &'static str,
}

/// From the receiver's socket back to the sender.
const GROUPS: [Group; 6] = [
    Group {
        stages: &[SOCKET],
        limit: Limit::ReceiverSocket,
        by: "dropped by the receiving socket's full buffer",
    },
    Group {
        stages: &["rx-softnet"],
        limit: Limit::ReceiverCpu,
        by: "dropped by the receiver's backlog queue",
    },
    Group {
        stages: &["rx-mac", "rx-ring", "rx-xdp"],
        limit: Limit::ReceiverInterface,
        by: "dropped by the receiver's interface",
    },
    Group {
        stages: &["tx-socket", "tx-ip", "tx-qdisc", "tx-ring", "tx-mac"],
        limit: Limit::Sender,
        by: "dropped by the sender's queue or interface",
    },
    Group {
        stages: &["rx-ip"],
        limit: Limit::Unknown,
        by: "dropped by the receiver's IP layer",
    },
    Group {
        stages: &["wire"],
        limit: Limit::Path,
        by: "dropped between the two interfaces",
    },
];

/// The groups of an entry that can be read.
pub(super) fn drops(entry: &LedgerEntry) -> Vec<Drop<'_>> {
    let read = |group: &'static Group| {
        let spans = stages(entry, group).map(|stage| (stage.lo, stage.hi));
        let (lo, hi) =
            spans.reduce(|sum, one| (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1)))?;
        Some(Drop {
            group,
            limit: group.limit,
            lost: entry.lost_packets,
            lo,
            hi,
            entry,
        })
    };
    GROUPS.iter().filter_map(read).collect()
}

/// The group that accounts for at least half of the lost packets; else the one that most likely
/// does.
pub(super) fn most(entry: &LedgerEntry) -> Option<Drop<'_>> {
    let drops = drops(entry);
    let certain = drops.iter().find(|drop| drop.is_half(drop.lo));
    let likely = || {
        let counted = drops.iter().filter(|drop| drop.is_counted());
        let likely = counted.filter(|drop| drop.is_half(drop.hi));
        likely.reduce(|best, drop| if drop.hi > best.hi { drop } else { best })
    };
    certain.or_else(likely).copied()
}

/// Whether the receiving socket's drops are known.
pub(super) fn watches_socket(entry: &LedgerEntry) -> bool {
    entry.stages.iter().any(|stage| stage.stage == SOCKET)
}

impl Drop<'_> {
    /// Whether the receiver dropped them.
    pub(super) const fn at_receiver(&self) -> bool {
        !matches!(self.limit, Limit::Sender | Limit::Path)
    }

    /// Whether this is the receiving socket.
    pub(super) const fn at_socket(&self) -> bool {
        matches!(self.limit, Limit::ReceiverSocket)
    }

    /// Whether something between the two ends lost them.
    pub(super) const fn on_the_way(&self) -> bool {
        matches!(self.limit, Limit::Path)
    }

    /// What to do, where the limit alone does not say it.
    pub(super) fn advice(&self) -> Option<&'static str> {
        (self.limit == Limit::Unknown)
            .then_some("the receiver's firewall (`nft list ruleset`) and the counters named here")
    }

    /// How many died there, as far as is known.
    pub(super) fn number(&self) -> String {
        match (self.lo, self.hi) {
            (lo, hi) if lo == hi => lo.to_string(),
            (0, hi) => format!("up to {hi}"),
            (lo, hi) if hi >= self.lost => format!("at least {lo}"),
            (lo, hi) => format!("{lo} to {hi}"),
        }
    }

    fn is_half(&self, packets: u64) -> bool {
        self.lost > 0 && packets >= self.lost.div_ceil(2)
    }

    /// Whether a counter of drops says so, not only the difference of two others.
    fn is_counted(&self) -> bool {
        let mut counted = stages(self.entry, self.group).filter(|stage| stage.kind != "balance");
        counted.any(|stage| stage.hi > 0 && stage.evidence.iter().any(|one| increased(&one.value)))
    }
}

impl fmt::Display for Drop<'_> {
    /// For example: "90 of 100 lost were dropped by the receiving socket's full buffer (socket_drops)".
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number();
        write!(out, "{number} of {} lost were {}", self.lost, self.group.by)?;
        let mut names = Vec::new();
        for one in stages(self.entry, self.group).flat_map(|stage| &stage.evidence) {
            if increased(&one.value) && !names.contains(&one.fact.as_str()) {
                names.push(&one.fact);
            }
        }
        names.truncate(MOST_NAMED);
        match names.as_slice() {
            [] => Ok(()),
            names => write!(out, " ({})", names.join(", ")),
        }
    }
}

fn stages<'l>(entry: &'l LedgerEntry, group: &'static Group) -> impl Iterator<Item = &'l Stage> {
    let all = entry.stages.iter();
    all.filter(|stage| group.stages.contains(&stage.stage.as_str()))
}

fn increased(value: &Value) -> bool {
    value.number().is_none_or(|value| value != 0.0)
}

const SOCKET: &str = "rx-socket";
/// Counters in one sentence.
const MOST_NAMED: usize = 3;
