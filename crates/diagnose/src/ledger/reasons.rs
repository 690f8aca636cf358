// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own words for each packet of the test that it freed. The sample counts the test's
//! flows in the host's own namespace, and a packet of several segments as that many.

use linerate_model::map::Map;
use linerate_model::output::Evidence;

use super::claim::{Claims, Kind, evidence};
use super::path::Path;
use super::span::Span;
use crate::evidence::Source;
use linerate_knowledge::{ReasonStage, Stage, stage_of};
use linerate_model::record::Side;

/// Of the test's own packets only.
pub(super) const SOURCE: Source = Source::Drops;
/// The setting, and its value, by which a host says that its reasons could not be read.
pub(super) const REFUSED: (&str, &str) = ("skb:kfree_skb", "refused");

pub(super) fn collect(path: &Path<'_>, claims: &mut Claims) {
    for side in [Side::Sender, Side::Receiver] {
        if let Some(found) = Found::of(path, side) {
            found.claim(path, side, claims);
        }
    }
}

/// How many packets were freed at each stage of a side, and the reasons that say so.
struct Found {
    source: Source,
    by_stage: Map<Stage, (u64, Vec<Evidence>)>,
    somewhere: u64,
    /// What IP freed for a reason that becomes an error of the send call.
    refused_by_ip: u64,
}

impl Found {
    /// `None` where the reasons were not read.
    fn of(path: &Path<'_>, side: Side) -> Option<Self> {
        let way = match side {
            Side::Sender => Source::DropsSent,
            Side::Receiver => Source::DropsReceived,
        };
        let mut lists = [way, SOURCE].into_iter();
        lists.find_map(|list| Self::in_list(path, side, list))
    }

    fn in_list(path: &Path<'_>, side: Side, source: Source) -> Option<Self> {
        let host = path.end(side).place.whole_host();
        let mut found = None;
        for (reason, moved) in host.each(source) {
            let found = found.get_or_insert_with(|| Self {
                source,
                by_stage: Map::new(),
                somewhere: 0,
                refused_by_ip: 0,
            });
            found.add(reason, moved.grew.at_least, side);
        }
        found
    }

    fn add(&mut self, reason: &str, count: u64, side: Side) {
        if count == 0 {
            return;
        }
        match at(reason, side) {
            At::Stage(stage) => {
                let (sum, by) = self.by_stage.entry(stage).or_default();
                *sum += count;
                by.push(evidence(reason, count, "packets", self.source.text()));
                if stage == Stage::TxIp && is_refusal(reason) {
                    self.refused_by_ip += count;
                }
            }
            At::Unknown => self.somewhere += count,
            At::Alive => {}
        }
    }

    /// Of fragments only the first counts, and of what died for no reason nobody knows where it was:
    /// then the other counters know more.
    fn claim(mut self, path: &Path<'_>, side: Side, claims: &mut Claims) {
        if self.somewhere > 0 || path.fragments > 1 {
            return;
        }
        for (stage, _) in STACK.iter().filter(|(_, of)| *of == side) {
            let (freed, evidence) = self.by_stage.remove(stage).unwrap_or_default();
            let freed = freed.saturating_sub(self.refused(path, *stage));
            let seen = Span::new(freed, freed);
            claims.complete(path.end(side).claim(*stage, Kind::Exact, seen, evidence));
        }
    }

    /// What a send call refused at once is not among the sent: first what IP refused, the rest at the qdisc.
    fn refused(&self, path: &Path<'_>, stage: Stage) -> u64 {
        let all = path.test.refused_packets.unwrap_or(0);
        let by_ip = self.refused_by_ip.min(all);
        match stage {
            Stage::TxIp => by_ip,
            Stage::TxQdisc => all - by_ip,
            _ => 0,
        }
    }
}

enum At {
    Stage(Stage),
    Unknown,
    Alive,
}

/// Wrong checksums have a counter of their own. What a host frees at the other direction's stages is
/// not of this direction.
fn at(reason: &str, side: Side) -> At {
    let name = reason.strip_prefix("SKB_DROP_REASON_").unwrap_or(reason);
    if matches!(name, "UDP_CSUM" | "TCP_CSUM" | "IP_CSUM") {
        return At::Alive;
    }
    let stage = stage_of(name);
    let sends = side == Side::Sender;
    match stage.on(sends) {
        Some(at) if at.word().starts_with("tx-") == sends => At::Stage(at),
        Some(_) => At::Alive,
        None if stage == ReasonStage::Unknown => At::Unknown,
        None => At::Alive,
    }
}

/// Whether the send call gets an error: a filter of the output or postrouting hook, a program of the cgroup
/// (net/ipv4/ip_output.c, `ip_finish_output`).
fn is_refusal(reason: &str) -> bool {
    let name = reason.strip_prefix("SKB_DROP_REASON_").unwrap_or(reason);
    matches!(name, "NETFILTER_DROP" | "BPF_CGROUP_EGRESS")
}

/// What a send call refused below IP, at most: not what the kernel's reasons say that a filter refused.
pub(super) fn refused_below_ip(path: &Path<'_>) -> u64 {
    let all = path.test.refused_packets.unwrap_or(0);
    let by_ip = Found::of(path, Side::Sender).map_or(0, |found| found.refused_by_ip);
    all.saturating_sub(by_ip)
}

/// Where a packet can only be freed by the kernel's stack.
const STACK: [(Stage, Side); 5] = [
    (Stage::TxIp, Side::Sender),
    (Stage::TxQdisc, Side::Sender),
    (Stage::RxSoftnet, Side::Receiver),
    (Stage::RxIp, Side::Receiver),
    (Stage::RxSocket, Side::Receiver),
];
