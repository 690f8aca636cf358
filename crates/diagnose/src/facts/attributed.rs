// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ledger says of each test: how much was lost, and where.

use crate::evidence::Evidence;
use linerate_model::output::{Fact, LedgerEntry, Test};

use super::known::names;
use super::{Facts, Known, fact};
use linerate_knowledge::Stage;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "sent_packets" "packets" "packets that the sender handed to its kernel" ""
    "lost_packets" "packets" "packets that were sent and never received" ""
    "loss_ratio" "ratio" "lost of sent" ""
    "queue_loss_share" "ratio" "of the lost packets, those that counters say were lost where packets wait for their turn, at most" ""
    "lost_at_tx_app" "packets" "lost at stage tx-app, at most" ""
    "lost_at_tx_socket" "packets" "lost at stage tx-socket, at most" ""
    "lost_at_tx_ip" "packets" "lost at stage tx-ip, at most" ""
    "lost_at_tx_qdisc" "packets" "lost at stage tx-qdisc, at most" ""
    "lost_at_tx_ring" "packets" "lost at stage tx-ring, at most" ""
    "lost_at_tx_mac" "packets" "lost at stage tx-mac, at most" ""
    "lost_at_wire" "packets" "lost at stage wire, at most" ""
    "lost_at_rx_mac" "packets" "lost at stage rx-mac, at most" ""
    "lost_at_rx_ring" "packets" "lost at stage rx-ring, at most" ""
    "lost_at_rx_xdp" "packets" "lost at stage rx-xdp, at most" ""
    "lost_at_rx_softnet" "packets" "lost at stage rx-softnet, at most" ""
    "lost_at_rx_ip" "packets" "lost at stage rx-ip, at most" ""
    "lost_at_rx_socket" "packets" "lost at stage rx-socket, at most" ""
    "lost_at_rx_app" "packets" "lost at stage rx-app, at most" ""
    "least_lost_at_tx_app" "packets" "lost at stage tx-app, at least" ""
    "least_lost_at_tx_socket" "packets" "lost at stage tx-socket, at least" ""
    "least_lost_at_tx_ip" "packets" "lost at stage tx-ip, at least" ""
    "least_lost_at_tx_qdisc" "packets" "lost at stage tx-qdisc, at least" ""
    "least_lost_at_tx_ring" "packets" "lost at stage tx-ring, at least" ""
    "least_lost_at_tx_mac" "packets" "lost at stage tx-mac, at least" ""
    "least_lost_at_wire" "packets" "lost at stage wire, at least" ""
    "least_lost_at_rx_mac" "packets" "lost at stage rx-mac, at least" ""
    "least_lost_at_rx_ring" "packets" "lost at stage rx-ring, at least" ""
    "least_lost_at_rx_xdp" "packets" "lost at stage rx-xdp, at least" ""
    "least_lost_at_rx_softnet" "packets" "lost at stage rx-softnet, at least" ""
    "least_lost_at_rx_ip" "packets" "lost at stage rx-ip, at least" ""
    "least_lost_at_rx_socket" "packets" "lost at stage rx-socket, at least" ""
    "least_lost_at_rx_app" "packets" "lost at stage rx-app, at least" ""
    "unattributed_packets" "packets" "lost and found at no stage, at most" ""
};

pub(super) fn collect(evidence: &Evidence<'_>, ledger: &[LedgerEntry], facts: &mut Facts) {
    for test in &evidence.record.run.tests {
        counts(test, facts);
        facts.add(in_queues(test, ledger));
    }
    for entry in ledger {
        stages(entry, facts);
    }
}

fn counts(test: &Test, facts: &mut Facts) {
    let of_test = |name, value: f64, unit| {
        let mut fact = fact(name, value, unit, "the test's account");
        fact.test_id = Some(test.id.clone());
        fact
    };
    let packets = |name, count: Option<u64>| Some(of_test(name, count? as f64, "packets"));
    let counted = [
        packets("sent_packets", test.sent_packets),
        packets("lost_packets", test.lost_packets),
        test.loss_ratio
            .map(|ratio| of_test("loss_ratio", ratio, "ratio")),
    ];
    counted
        .into_iter()
        .flatten()
        .for_each(|fact| facts.add(fact));
}

/// Nothing is proven of a test without an account.
fn in_queues(test: &Test, ledger: &[LedgerEntry]) -> Fact {
    let entry = ledger.iter().find(|entry| entry.test_id == test.id);
    let stages = entry.into_iter().flat_map(|entry| &entry.stages);
    // What only a difference of counters leaves room for is proven of no queue.
    let counted = stages.filter(|stage| stage.kind != "balance");
    let queues = counted.filter(|stage| QUEUES.contains(&stage.stage.as_str()));
    let found: u64 = queues.map(|stage| stage.hi).sum();
    let lost = test.lost_packets.unwrap_or(0).max(1);
    let share = (found as f64 / lost as f64).min(1.0);
    let mut fact = fact("queue_loss_share", share, "ratio", "the ledger");
    fact.test_id = Some(test.id.clone());
    fact
}

fn stages(entry: &LedgerEntry, facts: &mut Facts) {
    let mut add = |name: &str, value: f64| {
        let mut fact = fact(name, value, "packets", "the ledger");
        fact.test_id = Some(entry.test_id.clone());
        facts.add(fact);
    };
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

/// Stages that overflow when more comes than is taken out.
const QUEUES: &[&str] = &["tx-qdisc", "rx-mac", "rx-ring", "rx-softnet", "rx-socket"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use crate::viewpoint::Viewpoint;
    use linerate_model::output;
    use linerate_model::record::Record;

    /// What nobody counted is not known to be nothing.
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
