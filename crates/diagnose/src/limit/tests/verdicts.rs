// SPDX-License-Identifier: MIT OR Apache-2.0
//! The verdict of a direction, from all of its tests.

use super::*;

fn rated(id: &str, protocol: Protocol, rate: f64, lost: Option<u64>) -> Test {
    Test {
        id: id.to_owned(),
        protocol,
        delivered_bits_per_second: Some(rate),
        lost_packets: lost,
        loss_ratio: lost.map(|lost| lost as f64 / 1000.0),
        valid: true,
        ..Test::default()
    }
}

#[test]
fn the_verdict_is_of_the_best_test_without_loss() {
    let mut record = Record::default();
    record.run.tests = vec![
        rated("tcp-up", Protocol::Tcp, 400e6, None),
        rated("udp-up", Protocol::Udp, 500e6, Some(0)),
        rated("udp-up-2", Protocol::Udp, 900e6, Some(3)),
    ];
    let verdicts = Limits::of(&record, &[]).verdicts();
    assert_eq!(verdicts.len(), 1, "nothing was measured downwards");
    assert_eq!(
        (verdicts[0].achieved_bits_per_second, verdicts[0].limit),
        (500e6, Limit::Unknown)
    );
    assert!(!verdicts[0].why.is_empty() && !verdicts[0].try_.is_empty());
    assert!(Limits::of(&Record::default(), &[]).verdicts().is_empty());
}

#[test]
fn a_congestion_control_that_paces_its_sender_is_named() {
    let paced = |name: &str, pacing: f64| Test {
        congestion: Some(name.to_owned()),
        pacing_bits_per_second: Some(pacing),
        busy_time_us: Some(1_000_000),
        rwnd_limited_us: Some(0),
        sndbuf_limited_us: Some(0),
        ..tcp(5e9)
    };
    let alone = |test: Test| of_best(&wire(10_000_000_000), &test, None);
    let of = |test: Test| {
        let mut record = wire(10_000_000_000);
        record.run.tests = vec![test.clone(), carried_more()];
        of_best(&record, &test, None)
    };
    let cause = of(paced("bbr", 5.2e9));
    assert_eq!(
        (cause.limit, cause.why.as_str()),
        (
            Limit::Sender,
            "bbr paced it at 5.200 Gbit/s, its estimate of the path, and 96 % of that was delivered; another test \
             carried 1.6 times this rate"
        )
    );
    assert!(cause.try_.contains("-C cubic"));
    // It sends far less than it may; it does not pace; a rate was asked for.
    let asked = Test {
        requested_bits_per_second: Some(5e9),
        ..paced("bbr", 5.2e9)
    };
    for other in [paced("bbr", 9e9), paced("cubic", 5.2e9), asked] {
        assert_eq!(of(other).limit, Limit::Unknown);
    }
    // Behind a shaper the estimate is what the path carries; a receiver's window is not the estimate.
    let waiting = Test {
        rwnd_limited_us: Some(900_000),
        ..paced("bbr", 5.2e9)
    };
    for cause in [alone(paced("bbr", 5.2e9)), of(waiting)] {
        assert_eq!(cause.limit, Limit::Unknown);
        assert!(cause.why.contains("bbr's estimate"), "{}", cause.why);
    }
    let startup = of(paced("bbr", 14.4e9));
    assert!(
        startup.why.contains(
            "that leaves bbr's estimate of the path (it paced at 14.40 Gbit/s), a window"
        ),
        "{}",
        startup.why
    );
    assert!(startup.try_.contains("-C cubic"));
    assert!(!of(paced("cubic", 14.4e9)).why.contains("estimate"));
}

/// A lossy test over the same path.
fn carried_more() -> Test {
    Test {
        id: "u1".to_owned(),
        lost_packets: Some(5),
        ..tcp(8e9)
    }
}

/// A trial of 0.5 s lost nothing at 950 Mbit/s, a longer one there did.
#[test]
fn a_rate_that_its_confirmation_refuted_is_not_achieved() {
    use linerate_model::output::Confirmation;
    let achieved = |outcome: &str, carried: f64| {
        let trial = |id: &str, rate: f64, lost| Test {
            id: id.to_owned(),
            protocol: Protocol::Udp,
            requested_bits_per_second: Some(rate),
            offered_bits_per_second: Some(rate + 0.3),
            delivered_bits_per_second: Some(rate),
            lost_packets: Some(lost),
            valid: true,
            ..Test::default()
        };
        let mut record = Record::default();
        record.run.tests = vec![trial("udp-1", 940e6, 0), trial("udp-2", 950e6, 0)];
        record.run.knees = vec![Knee {
            test_ids: vec!["udp-1".to_owned(), "udp-2".to_owned()],
            lossless_bits_per_second: Some(carried),
            confirmation: Some(Confirmation {
                outcome: outcome.to_owned(),
                ..Confirmation::default()
            }),
            ..Knee::default()
        }];
        let verdicts = Limits::of(&record, &[]).verdicts();
        verdicts
            .first()
            .map(|verdict| verdict.achieved_bits_per_second)
    };
    assert_eq!(achieved("confirmed", 950e6), Some(950e6));
    assert_eq!(achieved("confirmed", 940e6), Some(940e6));
    assert_eq!(achieved("loss", 950e6), None);
}
