// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses are shared out once, whatever rules fire.

use linerate_diagnose::explain::explain;
use linerate_diagnose::rules;
use linerate_model::output::Finding;
use proptest::prelude::*;

use crate::worlds::world;

/// A rule that fires wherever anything was lost.
fn rule(index: usize, explains: &str, strength: &str) -> String {
    format!(
        r#"
[[rule]]
id = "X{index}"
cause = "cause-{index}"
title = "a cause"
scope = "receiver"
when = ["lost_packets > 0"]
strength = "{strength}"
explains = "{explains}"
why = "It is so."
verify = "nothing to verify"
source = ["recall"]
[rule.example]
fires = {{ lost_packets = 5 }}
nearly = {{ lost_packets = 0 }}
not = {{ lost_packets = -1 }}
"#
    )
}

fn rules() -> impl Strategy<Value = String> {
    let explains = prop::sample::select(vec![
        "rx-socket",
        "rx-ip",
        "wire",
        "tx-qdisc",
        "rx-mac",
        "all-lost",
        "packets lost_packets",
        "packets lost_packets at rx-socket",
        "packets sent_packets at rx-ip",
        "packets sent_packets",
    ]);
    let strength = prop::sample::select(vec!["proven", "consistent", "weak"]);
    prop::collection::vec((explains, strength), 1..8).prop_map(|rules| {
        let texts = rules.iter().enumerate();
        texts
            .map(|(index, (explains, strength))| rule(index, explains, strength))
            .collect()
    })
}

fn explained(finding: &Finding) -> u64 {
    finding.explains.lost_packets.unwrap_or(0)
}

proptest! {
    #[test]
    fn no_more_is_explained_than_was_lost(world in world(), rules in rules()) {
        let rules = rules::parse("site.toml", &rules).unwrap();
        let all = explain(&world.record(), &rules);
        let lost: u64 = all.ledger.iter().map(|entry| entry.lost_packets).sum();
        let explained: u64 = all.findings.iter().map(explained).sum();
        prop_assert!(explained <= lost, "{} of {}: {:?}", explained, lost, all.findings);
        for finding in &all.findings {
            let explains = &finding.explains;
            let shared = explains.shared_packets.unwrap_or(0);
            prop_assert_eq!(shared > 0, !explains.shared_with.is_empty(), "{:?}", finding);
            prop_assert!(explains.lost_packets.unwrap_or(0) + shared <= lost);
            let alternative = explains.lost_packets == Some(0) && shared > 0;
            prop_assert!(!(alternative && finding.strength == "proven"), "{:?}", finding);
        }
        let own: Vec<u64> = all.findings.iter().map(self::explained).collect();
        prop_assert!(own.is_sorted_by(|one, next| one >= next), "{:?}", own);
        // Somebody who may have all of it gets what nobody else has.
        let all_lost = rules.iter().any(|rule| rule.explains == rules::Explains::AllLost);
        if all_lost {
            prop_assert_eq!(explained, lost);
        }
    }

    #[test]
    fn the_programs_rules_explain_no_more_than_was_lost(world in world()) {
        let all = explain(&world.record(), rules::embedded());
        let lost: u64 = all.ledger.iter().map(|entry| entry.lost_packets).sum();
        let explained: u64 = all.findings.iter().map(explained).sum();
        prop_assert!(explained <= lost, "{} of {}: {:?}", explained, lost, all.findings);
    }
}
