// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every loss and every refusal has a cause or a line that says that there is none. A finding says what proves it.

use linerate_model::output::{
    Evidence, Finding, Knee, LedgerEntry, NicCheck, NicExample, NicState, Output, Protocol, Stage,
    Test,
};

use super::{blocks, none, strength};

/// Two UDP tests: `first` lost nothing; `second` lost 758 packets at this stage.
fn lossy(stage: &str) -> Output {
    let test = |id: &str, lost| Test {
        id: id.to_owned(),
        protocol: Protocol::Udp,
        sent_packets: Some(10_000),
        lost_packets: Some(lost),
        valid: true,
        ..Test::default()
    };
    let mut output = Output::new("udp", "0");
    output.explained = true;
    output.tests = vec![test("first", 0), test("second", 758)];
    output.ledger = vec![LedgerEntry {
        test_id: "second".to_owned(),
        lost_packets: 758,
        stages: vec![Stage {
            stage: stage.to_owned(),
            lo: 758,
            hi: 758,
            ..Stage::default()
        }],
        ..LedgerEntry::default()
    }];
    output
}

fn text(output: &Output) -> String {
    format!("{:?}", blocks(output))
}

fn cause_in(test: &str) -> Finding {
    Finding {
        title: "a cause".to_owned(),
        test_ids: vec![test.to_owned()],
        ..Finding::default()
    }
}

#[test]
fn a_loss_at_any_stage_is_named_or_said_to_have_no_cause() {
    for stage in linerate_diagnose::STAGES {
        let mut output = lossy(stage);
        assert!(
            text(&output).contains("no rule explains 758 lost packets"),
            "{stage}"
        );
        output.findings = vec![cause_in("first")];
        let said = text(&output);
        let expected =
            format!("no rule explains the 758 lost packets of another test: up to 758 at {stage}");
        assert!(said.contains(&expected), "{stage}: {said}");
        output.findings = vec![cause_in("second")];
        assert!(!text(&output).contains("no rule explains"), "{stage}");
    }
}

/// Both ends on one machine: not a fault, and said.
#[test]
fn a_loss_that_is_only_worth_knowing_is_explained() {
    let mut output = lossy("rx-socket");
    let mut shared = cause_in("first");
    shared.informational = true;
    shared.test_ids.push("second".to_owned());
    shared.explains.lost_packets = Some(758);
    output.findings = vec![shared];
    let said = text(&output);
    let green = "nothing to fix: 758 datagrams of UDP lost, as expected: CPUs that both ends share";
    assert!(said.contains(green), "{said}");
}

/// What TCP lost is not a lost datagram, of which a reader sees none.
#[test]
fn expected_losses_are_counted_by_what_was_lost() {
    let mut output = lossy("rx-socket");
    let [tcp, udp] = &mut output.tests[..] else {
        panic!("two tests");
    };
    tcp.protocol = Protocol::Tcp;
    output.knees = vec![Knee {
        test_ids: vec![udp.id.clone()],
        lossless_bits_per_second: Some(1e6),
        ..Knee::default()
    }];
    udp.offered_bits_per_second = Some(2e6);
    tcp.mss_bytes = Some(1000);
    tcp.duration_s = 1.0;
    tcp.delivered_bits_per_second = Some(8e9);
    let mut of_tcp = output.ledger[0].clone();
    of_tcp.test_id.clone_from(&tcp.id);
    of_tcp.lost_packets = 3;
    output.ledger.push(of_tcp);
    let both = text(&output);
    let words = "nothing to fix: 3 segments of TCP and 758 datagrams of UDP lost, as expected: trials above the highest rate without loss, or TCP's probing for the rate of the path";
    assert!(both.contains(words), "{both}");
    output.ledger.remove(0);
    output.tests[1].lost_packets = Some(0);
    let only = text(&output);
    let words = "nothing to fix: 3 segments of TCP lost, as expected: TCP's probing for the rate of the path";
    assert!(only.contains(words), "{only}");
}

/// A retransmission is not always a loss: what is not among the lost ones is named as well.
#[test]
fn what_tcp_retransmitted_is_named_next_to_what_udp_lost() {
    let mut output = lossy("rx-socket");
    let mut shared = cause_in("second");
    shared.informational = true;
    shared.explains.lost_packets = Some(758);
    output.findings = vec![shared];
    output.tests[0].protocol = Protocol::Tcp;
    output.tests[0].retransmits = Some(12);
    let lost = "nothing to fix: 758 datagrams of UDP lost, as expected: CPUs that both ends share";
    let unknown = format!("{lost}; TCP also retransmitted 12 segments that may have arrived\"");
    assert!(text(&output).contains(&unknown), "{}", text(&output));
    output.ledger.push(LedgerEntry {
        test_id: "first".to_owned(),
        ..LedgerEntry::default()
    });
    let arrived = format!("{lost}; TCP also retransmitted 12 segments that had arrived\"");
    assert!(text(&output).contains(&arrived), "{}", text(&output));
}

#[test]
fn a_refusal_is_nothing_to_pass_over() {
    let refused = |packets| {
        let mut output = lossy("wire");
        output.ledger.clear();
        output.tests.truncate(1);
        output.tests[0].refused_packets = Some(packets);
        text(&output)
    };
    assert!(refused(758).contains("kernel refused 758 datagrams"));
    assert!(refused(3).contains("nothing to fix"));
}

#[test]
fn what_was_not_judged_is_not_called_right() {
    let checks = |states: &[NicState]| {
        let checks = states.iter().map(|state| NicCheck {
            state: *state,
            ..NicCheck::default()
        });
        let output = Output {
            kind: "nic-check".to_owned(),
            explained: true,
            checks: checks.collect(),
            ..Output::default()
        };
        none(&output).text
    };
    assert_eq!(checks(&[NicState::Right]), "nothing to fix");
    let some = [NicState::Right, NicState::NotAWire, NicState::NotPossible];
    assert_eq!(checks(&some), "nothing to fix: 1 right, 2 not judged");
}

#[test]
fn what_proves_a_finding_is_in_its_evidence() {
    let check = |id: &str, frame: Option<&str>| NicCheck {
        id: id.to_owned(),
        example: Some(NicExample {
            frame: frame.map(str::to_owned),
            ..NicExample::default()
        }),
        ..NicCheck::default()
    };
    let output = Output {
        checks: vec![check("other", None), check("tx-udp4-sum", Some("0200"))],
        ..Output::default()
    };
    let words = |fact: &str| {
        let evidence = Evidence {
            fact: fact.to_owned(),
            ..Evidence::default()
        };
        let finding = Finding {
            strength: "proven".to_owned(),
            evidence: vec![evidence],
            ..Finding::default()
        };
        strength(&output, &finding).into_owned()
    };
    assert_eq!(words("tx-udp4-sum"), "proven: by a frame");
    assert_eq!(words("UdpRcvbufErrors"), "proven: by a counter");
}
