// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ledger says of each test: how much was lost, and where.

use crate::evidence::Evidence;
use linerate_model::output::{LedgerEntry, Test};

use super::known::{lost_at, names};
use super::{Facts, Known};
use linerate_knowledge::Stage;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "sent_packets" "packets" "packets that the sender handed to its kernel" ""
    "lost_packets" "packets" "packets that were sent and never received" ""
    "loss_ratio" "ratio" "loss ratio: lost of sent" ""
    "queue_loss_share" "ratio" "of the lost packets, those that counters attribute to a queue, at most" ""
    "unattributed_packets" "packets" "lost and unattributed, at most" ""
};

#[rustfmt::skip]
pub(super) const STAGES: &[Known] = lost_at! {
    "tx_app" "packets" "lost at stage tx-app" ""
    "tx_socket" "packets" "lost at stage tx-socket" ""
    "tx_ip" "packets" "lost at stage tx-ip" ""
    "tx_qdisc" "packets" "lost at stage tx-qdisc" ""
    "tx_ring" "packets" "lost at stage tx-ring" ""
    "tx_mac" "packets" "lost at stage tx-mac" ""
    "wire" "packets" "lost at stage wire" ""
    "rx_mac" "packets" "lost at stage rx-mac" ""
    "rx_ring" "packets" "lost at stage rx-ring" ""
    "rx_xdp" "packets" "lost at stage rx-xdp" ""
    "rx_softnet" "packets" "lost at stage rx-softnet" ""
    "rx_ip" "packets" "lost at stage rx-ip" ""
    "rx_socket" "packets" "lost at stage rx-socket" ""
    "rx_app" "packets" "lost at stage rx-app" ""
};

pub(super) fn collect(evidence: &Evidence<'_>, ledger: &[LedgerEntry], facts: &mut Facts) {
    for test in evidence.record.tests() {
        let mut add = |name, value: Option<f64>, source| {
            facts.add_to_test(&test.id, name, value, source);
        };
        let count = |packets: Option<u64>| packets.map(|packets| packets as f64);
        add("sent_packets", count(test.sent_packets), ACCOUNT);
        add("lost_packets", count(test.lost_packets), ACCOUNT);
        add("loss_ratio", test.loss_ratio, ACCOUNT);
        add("queue_loss_share", Some(in_queues(test, ledger)), LEDGER);
    }
    for entry in ledger {
        stages(entry, facts);
    }
}

/// Nothing is proven of a test without an account.
fn in_queues(test: &Test, ledger: &[LedgerEntry]) -> f64 {
    let entry = ledger.iter().find(|entry| entry.test_id == test.id);
    let stages = entry.into_iter().flat_map(|entry| &entry.stages);
    // What only a difference of counters leaves room for is proven of no queue.
    let counted = stages.filter(|stage| stage.kind != "balance");
    let queues = counted.filter(|stage| QUEUES.contains(&stage.stage.as_str()));
    let found: u64 = queues.map(|stage| stage.hi).sum();
    let lost = test.lost_packets.unwrap_or(0).max(1);
    (found as f64 / lost as f64).min(1.0)
}

fn stages(entry: &LedgerEntry, facts: &mut Facts) {
    let mut add = |name: &str, count: f64| facts.add_to_test(&entry.test_id, name, count, LEDGER);
    // A stage that is not blind and has no entry lost nothing.
    let seen = |stage: &&&str| !entry.blind.iter().any(|blind| blind == **stage);
    for stage in Stage::WORDS.iter().filter(seen) {
        let found = entry.stages.iter().filter(|found| found.stage == *stage);
        let (least, most) = found.fold((0, 0), |(least, most), found| {
            (least + found.lo, most + found.hi)
        });
        let name = stage.replace('-', "_");
        add(&format!("lost_at_{name}"), most as f64);
        add(&format!("least_lost_at_{name}"), least as f64);
    }
    add("unattributed_packets", entry.unattributed_hi as f64);
}

const ACCOUNT: &str = "the test's account";
const LEDGER: &str = "the ledger";
/// Stages that overflow when more comes than is taken out.
const QUEUES: &[&str] = &["tx-qdisc", "rx-mac", "rx-ring", "rx-softnet", "rx-socket"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use crate::viewpoint::Viewpoint;
    use linerate_model::output;
    use linerate_model::record::Record;

    /// What was not counted is unknown, not 0.
    #[test]
    fn a_stage_without_an_entry_lost_nothing_unless_it_is_blind() {
        let entry = LedgerEntry {
            test_id: "udp-up".to_owned(),
            lost_packets: 12,
            stages: vec![output::Stage {
                stage: "rx-mac".to_owned(),
                lo: 10,
                hi: 12,
                ..output::Stage::default()
            }],
            blind: vec!["wire".to_owned()],
            ..LedgerEntry::default()
        };
        let facts = Facts::of(&Evidence::of(&Record::default()), &[entry]);
        let viewpoint = Viewpoint {
            test_id: Some("udp-up".to_owned()),
            ..Viewpoint::default()
        };
        let number = |name| {
            facts
                .get(name, &viewpoint)
                .and_then(|fact| fact.value.number())
        };
        assert_eq!(number("lost_at_rx_mac"), Some(12.0));
        assert_eq!(number("least_lost_at_rx_mac"), Some(10.0));
        assert_eq!(number("lost_at_rx_socket"), Some(0.0));
        assert_eq!(number("lost_at_wire"), None);
    }
}
