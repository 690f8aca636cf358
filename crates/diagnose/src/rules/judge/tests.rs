// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::evidence::Evidence;
use crate::ledger::FORWARD_STAGES;
use crate::rules::{Scope, embedded};
use linerate_knowledge::Stage;
use linerate_model::output::{self, Direction, Knee, Protocol, Test, Value};

const LOST: u64 = 700;
const RATE: f64 = 9e6;

/// A test that lost packets.
fn test() -> Test {
    Test {
        id: "udp-up".to_owned(),
        protocol: Protocol::Udp,
        valid: true,
        offered_bits_per_second: Some(RATE),
        lost_packets: Some(LOST),
        ..Test::default()
    }
}

/// All packets lost, of which `certain` at this stage.
fn entry(test_id: &str, stage: &str, certain: u64) -> LedgerEntry {
    LedgerEntry {
        test_id: test_id.to_owned(),
        lost_packets: LOST,
        stages: vec![output::Stage {
            stage: stage.to_owned(),
            kind: "exact".to_owned(),
            lo: certain,
            hi: LOST,
            ..output::Stage::default()
        }],
        ..LedgerEntry::default()
    }
}

fn record(knees: Vec<Knee>) -> Record {
    let mut record = Record::default();
    record.run.kind = "udp".to_owned();
    record.run.tests = vec![test()];
    record.run.knees = knees;
    record
}

fn judged(record: &Record, entry: LedgerEntry) -> Vec<Finding> {
    let ledger = [entry];
    let facts = Facts::of(&Evidence::of(record), &ledger);
    judge(embedded(), record, &ledger, &facts).findings
}

/// What is said to have died at the stage, packets.
fn explained(findings: &[Finding]) -> u64 {
    let packets = findings.iter().map(|one| one.explains.lost_packets);
    packets.flatten().sum()
}

/// Nothing is known but the ledger. `tx-app` loses nothing: what is never handed over is not sent.
#[test]
fn each_stage_with_losses_has_a_finding() {
    for stage in Stage::WORDS.iter().filter(|stage| **stage != "tx-app") {
        let findings = judged(&record(Vec::new()), entry("udp-up", stage, LOST));
        assert_eq!(explained(&findings), LOST, "{stage}: {findings:?}");
    }
}

/// As above, of TCP: the sender counts what it sent again, wherever the stage is. A few may be congestion control's own
/// probing.
#[test]
fn each_stage_with_lost_segments_has_a_finding() {
    for stage in Stage::WORDS.iter().filter(|stage| **stage != "tx-app") {
        for (retransmits, expected) in [(LOST, LOST), (10, 0)] {
            let mut record = record(Vec::new());
            record.run.tests = vec![Test {
                protocol: Protocol::Tcp,
                direction: Direction::Up,
                duration_s: 1.0,
                delivered_bits_per_second: Some(1448.0 * 8.0 * 50_000.0),
                retransmits: Some(retransmits),
                ..test()
            }];
            let findings = judged(&record, entry("udp-up", stage, LOST));
            assert_eq!(explained(&findings), expected, "{stage}: {findings:?}");
        }
    }
}

/// What TCP sent again is not what its user lacks: another cause of its rate comes first, however little is sure of it.
#[test]
fn a_fallback_comes_last_where_tcp_sent_the_packets_again() {
    for (protocol, first) in [(Protocol::Udp, "X06"), (Protocol::Tcp, "T00")] {
        let mut record = record(Vec::new());
        record.run.tests = vec![Test {
            protocol,
            direction: Direction::Up,
            duration_s: 1.0,
            payload_bytes: 1448,
            delivered_bits_per_second: Some(1448.0 * 8.0 * 50_000.0),
            retransmits: Some(LOST),
            ..test()
        }];
        let mut low = embedded()[0].clone();
        low.id = "T00".to_owned();
        low.informational = false;
        low.title = "the rate is low".to_owned();
        low.scope = Scope::Test;
        low.explains = Explains::Nothing;
        low.validity = false;
        (low.applies, low.when, low.any) = (Vec::new(), Vec::new(), Vec::new());
        let fallback = embedded().iter().find(|rule| rule.id == "X06").cloned();
        let rules: Vec<Rule> = fallback.into_iter().chain([low]).collect();
        let ledger = [entry("udp-up", "wire", LOST)];
        let facts = Facts::of(&Evidence::of(&record), &ledger);
        let findings = judge(&rules, &record, &ledger, &facts).findings;
        assert_eq!(findings[0].rule, first, "{findings:?}");
        assert_eq!(findings.len(), 2);
    }
}

/// The stages of a device under test that name packets, by the catalogue of rules alone.
#[test]
fn each_stage_of_a_device_has_a_rule() {
    for stage in FORWARD_STAGES {
        let fact = format!("least_lost_at_{}", stage.replace('-', "_"));
        let names = |rule: &&Rule| rule.explains == Explains::Stage((*stage).to_owned());
        let mut of_stage = embedded().iter().filter(names);
        assert!(
            of_stage.any(|rule| rule.when.len() == 1 && rule.asks().any(|asked| asked == fact)),
            "{stage}"
        );
    }
}

/// A rule of last resort claims what certainly died there, and nothing of what only may have.
#[test]
fn a_fallback_claims_what_is_certain() {
    let findings = judged(&record(Vec::new()), entry("udp-up", "rx-mac", 120));
    assert_eq!(explained(&findings), 120);
    let findings = judged(&record(Vec::new()), entry("udp-up", "rx-mac", 12));
    assert_eq!(explained(&findings), 0, "a few of them");
    let findings = judged(&record(Vec::new()), entry("udp-up", "rx-mac", 0));
    assert_eq!(explained(&findings), 0, "{findings:?}");
}

#[test]
fn a_fallback_says_nothing_of_packets_that_another_rule_claims() {
    let record = record(Vec::new());
    let rules: Vec<Rule> = embedded()
        .iter()
        .filter(|rule| rule.fallback)
        .cloned()
        .collect();
    let mut sure = rules[0].clone();
    sure.id = "sure".to_owned();
    sure.fallback = false;
    sure.explains = Explains::AllLost;
    sure.when.clear();
    let ledger = [entry("udp-up", "rx-socket", LOST)];
    let facts = Facts::of(&Evidence::of(&record), &ledger);
    let all: Vec<Rule> = rules.into_iter().chain([sure]).collect();
    let findings = judge(&all, &record, &ledger, &facts).findings;
    let ids: Vec<&str> = findings.iter().map(|one| one.rule.as_str()).collect();
    assert_eq!(ids, ["sure"]);
}

/// A trial above the rate that its search found is there to lose packets.
#[test]
fn a_fallback_says_nothing_of_provoked_losses() {
    let knee = |rate| Knee {
        test_ids: vec!["udp-up".to_owned()],
        lossless_bits_per_second: Some(rate),
        ..Knee::default()
    };
    for (rate, expected) in [(RATE / 2.0, 0), (RATE, LOST)] {
        let findings = judged(
            &record(vec![knee(rate)]),
            entry("udp-up", "rx-socket", LOST),
        );
        assert_eq!(explained(&findings), expected, "{rate}: {findings:?}");
    }
}

/// Whichever of the counters that could say why are known, and whatever they say.
#[test]
fn a_refusal_has_a_finding_or_a_question() {
    let answers = [None, Some(0.0), Some(690.0)];
    let pairs = answers
        .iter()
        .flat_map(|qdisc| answers.iter().map(move |filter| (*qdisc, *filter)));
    for (qdisc, filter) in pairs {
        let known = refused(qdisc, filter);
        let asked = embedded().iter().filter(|rule| {
            [
                "own-queue-drops",
                "own-packet-filter-refuses",
                "send-refused",
            ]
            .contains(&rule.cause.as_str())
        });
        let mut verdicts = asked.map(|rule| evaluate(rule, |name| known.get(name)));
        let says = |verdict| verdict != Verdict::DoesNotFire;
        assert!(verdicts.any(says), "{qdisc:?} {filter:?}");
    }
}

/// What is known of a test of which the kernel refused a part, with what its queue and its filter counted.
fn refused(qdisc: Option<f64>, filter: Option<f64>) -> Map<&'static str, Value> {
    let number = |value: f64| Some(Value::Number(value));
    let known = [
        ("refused_packets", number(LOST as f64)),
        ("sent_packets", number(10_000.0)),
        ("above_knee", Some(Value::Flag(false))),
        ("at_line_rate", Some(Value::Flag(false))),
        ("qdisc_drops", qdisc.map(Value::Number)),
        (
            "qdisc_drop_ratio",
            qdisc.map(|drops| Value::Number(drops / 10_000.0)),
        ),
        ("flow_limit_drops", number(0.0)),
        ("output_filter_drops", filter.map(Value::Number)),
    ];
    let known = known.into_iter();
    known
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}
