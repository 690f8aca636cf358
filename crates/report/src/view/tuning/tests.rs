// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a campaign says of itself.

use super::*;
use linerate_model::output::{Judgement, Side};

fn shown(tuning: Tuning) -> String {
    let output = Output {
        command: vec!["linerate".to_owned(), "tune".to_owned(), "h".to_owned()],
        tuning: Some(tuning),
        ..Output::new("tune", "0.0.0")
    };
    let blocks = blocks(&output).into_iter();
    let texts = blocks.map(|block| match block {
        Block::Lines { heading, lines } => {
            let texts = lines.into_iter().map(|line| line.text);
            let texts = std::iter::once(heading).chain(texts);
            texts
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        }
        _ => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn candidate(state: CandidateState) -> Candidate {
    let side = |median| Side {
        median: Some(median),
        ..Side::default()
    };
    Candidate {
        number: 1,
        because: "S05".to_owned(),
        title: "TCP waited".to_owned(),
        commands: vec!["sysctl -w net.ipv4.tcp_rmem='4096 16384 6291456'".to_owned()],
        undo: vec!["sysctl -w net.ipv4.tcp_rmem='4096 16384 16384'".to_owned()],
        risk: "live".to_owned(),
        state,
        measurement: vec!["tcp".to_owned(), "h".to_owned()],
        comparison: Some(Comparison {
            metric: "throughput".to_owned(),
            name: "tcp up".to_owned(),
            unit: "bit/s".to_owned(),
            before: side(2e9),
            after: side(1e10),
            ratio: Some(5.0),
            ci95: Some([4.0, 6.0]),
            p: Some(0.03125),
            verdict: Judgement::Better,
            ..Comparison::default()
        }),
        mechanism: Some(Mechanism {
            runs_before: 20,
            found_before: 19,
            runs_after: 12,
            found_after: 0,
            facts: vec![MovedFact {
                name: "tcp_window_used_bytes".to_owned(),
                unit: "bytes".to_owned(),
                before: Some(8500.0),
                after: Some(98_000.0),
            }],
        }),
        finding_gone: Some(true),
        ..Candidate::default()
    }
}

#[test]
fn a_kept_change_has_effect_mechanism_and_undo() {
    let text = shown(Tuning {
        ended: TuningEnd::Kept,
        candidates: vec![candidate(CandidateState::Kept)],
        ..Tuning::default()
    });
    assert_eq!(
        text,
        "tune: 1 change is proven better: in force until the next reboot\n\
         kept\n\
         1. sysctl -w net.ipv4.tcp_rmem='4096 16384 6291456'\n\
         effect: throughput tcp up 2.000 Gbit/s → 10.00 Gbit/s: × 5.000 (95 % interval × 4.000 … × 6.000), p = 0.0312\n\
         finding: S05 TCP waited\n\
         mechanism: found in 19 of 20 runs without the change, in 0 of 12 with it; gone in a fresh check\n\
         facts: tcp_window_used_bytes 8500 bytes → 98000 bytes\n\
         undo: sysctl -w net.ipv4.tcp_rmem='4096 16384 16384'"
    );
}

#[test]
fn a_finding_that_stays_is_said_to_stay() {
    let mut one = candidate(CandidateState::Kept);
    one.finding_gone = Some(false);
    let text = shown(Tuning {
        ended: TuningEnd::Kept,
        candidates: vec![one],
        ..Tuning::default()
    });
    assert!(text.contains("a fresh check still has it"), "{text}");
}

#[test]
fn where_nothing_helps_the_smallest_effect_is_named() {
    let mut one = candidate(CandidateState::Reverted);
    one.reason = Some("nothing is proven".to_owned());
    let text = shown(Tuning {
        ended: TuningEnd::NothingBetter,
        candidates: vec![one],
        smallest_effect: Some(0.034),
        ..Tuning::default()
    });
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        "tune: nothing is better: 1 change was tried and undone; an improvement of 3.400 % or more would probably have been detected"
    );
    assert!(
        text.contains("why: nothing is proven") && !text.contains("undo:"),
        "{text}"
    );
}

#[test]
fn where_noise_hides_much_it_is_said_what_helps() {
    for (effect, is_said) in [(0.6, true), (0.03, false)] {
        let text = shown(Tuning {
            ended: TuningEnd::Inconclusive,
            candidates: vec![candidate(CandidateState::Reverted)],
            smallest_effect: Some(effect),
            ..Tuning::default()
        });
        assert!(
            text.starts_with("tune: inconclusive: 1 change was tried"),
            "{text}"
        );
        assert_eq!(
            text.contains("to detect smaller effects: longer runs"),
            is_said,
            "{text}"
        );
    }
}

#[test]
fn a_dry_run_shows_commands_and_by_what_they_would_be_judged() {
    let text = shown(Tuning {
        ended: TuningEnd::DryRun,
        candidates: vec![candidate(CandidateState::NotTried)],
        by_hand: vec![ByHand {
            rule: "F01".to_owned(),
            title: "a chip".to_owned(),
            commands: vec!["uname -r".to_owned()],
            why: "it needs another kernel or driver".to_owned(),
            ..ByHand::default()
        }],
        ..Tuning::default()
    });
    for part in [
        "nothing was changed",
        "would be tried\n1. sysctl",
        "decided by: tcp h\nrisk: live",
        "left to you\nF01 a chip: it needs another kernel or driver\nuname -r",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn what_is_not_restored_is_not_called_undone() {
    let cut_off = |why: Option<&str>| {
        shown(Tuning {
            why: why.map(str::to_owned),
            ..Tuning::default()
        })
    };
    assert!(cut_off(None).ends_with("what it had changed is undone"));
    let text = cut_off(Some("tcp_rmem: another program has set it"));
    assert!(
        text.ends_with("; not restored: tcp_rmem: another program has set it"),
        "{text}"
    );
}

#[test]
fn a_limit_of_the_hardware_ends_it() {
    let text = shown(Tuning {
        ended: TuningEnd::Ceiling,
        why: Some("the link's line rate is reached in both directions".to_owned()),
        ..Tuning::default()
    });
    assert_eq!(
        text,
        "tune: no setting raises this limit: the link's line rate is reached in both directions"
    );
}

#[test]
fn what_was_rolled_back_is_shown_with_the_reason() {
    let mut one = candidate(CandidateState::RolledBack);
    one.reason = Some("eth0 has had no link for 10 s".to_owned());
    let text = shown(Tuning {
        ended: TuningEnd::NothingBetter,
        candidates: vec![one],
        ..Tuning::default()
    });
    assert!(
        text.starts_with("tune: nothing is better: 1 change was tried and undone"),
        "{text}"
    );
    let after = text.split("rolled back at once").nth(1).unwrap_or_default();
    assert!(
        after.contains("why: eth0 has had no link for 10 s"),
        "{text}"
    );
}
