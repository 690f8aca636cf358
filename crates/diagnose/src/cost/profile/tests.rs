// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::fixtures::{run, udp};
use linerate_model::output::{Host, Interface};

fn sampled(group: Option<&str>, counters: &[(&str, u64)]) -> Sample {
    let named = counters
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    Sample {
        host: Role::Local,
        source: SOURCE.to_owned(),
        group: group.map(ToOwned::to_owned),
        counters: named.collect(),
        ..Sample::default()
    }
}

fn record(sample: Sample) -> Record {
    let mut test = udp("a", 1000, 0);
    test.payload_bytes = 1472;
    let mut record = run(vec![test]);
    record.samples = vec![sample];
    for host in &mut record.run.hosts {
        let Host { interfaces, .. } = host;
        *interfaces = vec![Interface {
            driver: Some("my-nic".to_owned()),
            ..Interface::default()
        }];
    }
    record
}

fn profile_of(record: &Record) -> CostProfile {
    let mut all = profiles(&Evidence::of(record));
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn counts(shares: &[CostShare]) -> Vec<(&str, u64)> {
    let each = shares.iter();
    each.map(|one| (one.name.as_str(), one.samples)).collect()
}

#[test]
fn samples_are_counted_by_family_and_context_and_the_rest_is_named() {
    let counters = [
        ("0 (idle)", 500),
        ("0 (user)", 10),
        ("0 rep_movs_alternative", 40),
        ("0 csum_partial", 5),
        ("1 net_rx_action < handle_softirqs", 20),
        ("1 clean_ring [my_nic] < handle_softirqs", 15),
        ("1 clean_ring [another]", 3),
        ("1 mystery", 4),
        ("1 mystery < sysvec_x", 2),
        ("1 (unknown)", 1),
        ("lost", 7),
        ("hz", 997),
    ];
    let profile = profile_of(&record(sampled(Some("a"), &counters)));
    assert_eq!((profile.samples, profile.idle_samples), (100, 500));
    assert_eq!((profile.lost_samples, profile.hz), (7, 997));
    assert_eq!(profile.processors, [0, 1]);
    assert_eq!(
        counts(&profile.families),
        [
            ("copy", 40),
            ("softirq", 20),
            ("driver", 15),
            ("user", 10),
            ("other", 10),
            ("checksum", 5)
        ]
    );
    assert_eq!(
        counts(&profile.contexts),
        [
            ("process", 53),
            ("softirq", 35),
            ("user", 10),
            ("hardirq", 2)
        ]
    );
    let others: Vec<_> = profile
        .others
        .iter()
        .map(|one| (&*one.function, one.samples))
        .collect();
    assert_eq!(
        others,
        [("mystery", 6), ("clean_ring", 3), ("(unknown)", 1)]
    );
}

/// R: `binom.test(40, 100)` is 0.3032948 to 0.5027908.
#[test]
fn a_share_has_the_interval_of_the_binomial() {
    let counters = [("0 rep_movs_alternative", 40), ("0 udp_sendmsg", 60)];
    let profile = profile_of(&record(sampled(Some("a"), &counters)));
    let copy = &profile.families[1];
    assert_eq!((copy.name.as_str(), copy.ratio.value), ("copy", 0.4));
    let [least, most] = copy.ratio.ci95;
    assert!(
        (least - 0.303_294_8).abs() < 1e-6 && (most - 0.502_790_8).abs() < 1e-6,
        "{copy:?}"
    );
}

#[test]
fn a_sampled_test_is_no_cost_and_no_samples_have_a_reason() {
    let mut record = record(sampled(Some("a"), &[("0 udp_sendmsg", 1)]));
    assert!(is_sampled(&record, &record.run.tests[0]));
    record.samples = vec![sampled(None, &[("missing: not allowed", 1)])];
    assert!(!is_sampled(&record, &record.run.tests[0]));
    let profile = profile_of(&record);
    assert_eq!(profile.missing, Some(SamplingMissing::NotAllowed));
    assert_eq!((profile.samples, profile.families.len()), (0, 0));
}

#[test]
fn samples_of_no_test_are_no_profile() {
    let record = record(sampled(Some("another"), &[("0 udp_sendmsg", 1)]));
    assert_eq!(profiles(&Evidence::of(&record)), []);
}
