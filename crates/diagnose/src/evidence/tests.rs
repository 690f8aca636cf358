// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::fixtures::{Fixture, pasted, run, udp};
use linerate_model::sample::{Phase, Sample};

fn reading(group: &str, phase: Phase, t_s: u64, value: u64) -> Sample {
    Sample {
        t_ns: t_s * 1_000_000_000,
        source: Source::Softnet.text().to_owned(),
        group: Some(group.to_owned()),
        phase: Some(phase),
        counters: [("dropped".to_owned(), value)].into(),
        ..Sample::default()
    }
}

fn dropped(record: &Record, test: usize) -> Option<Moved> {
    let evidence = Evidence::of(record);
    let window = evidence.window(&record.run.tests[test]);
    evidence
        .at(Role::Local, None, window)
        .moved(Source::Softnet, "dropped")
}

fn two_tests(samples: Vec<Sample>) -> Record {
    let mut record = run(vec![udp("a", 10, 0), udp("b", 10, 0)]);
    record.samples = samples;
    record
}

#[test]
fn the_own_idle_interval_lasts_until_the_load() {
    let record = two_tests(vec![
        reading("a", Phase::Idle, 0, 0),
        reading("a", Phase::Load, 2, 6),
        reading("a", Phase::Load, 4, 26),
    ]);
    let moved = dropped(&record, 0).unwrap();
    assert_eq!((moved.grew.at_least, moved.background), (20, Some(6)));
}

#[test]
fn an_idle_interval_of_before_serves_all_later_tests_and_the_load_of_others_is_none_of_it() {
    let record = two_tests(vec![
        reading("idle", Phase::Idle, 0, 0),
        reading("idle", Phase::Idle, 1, 3),
        reading("a", Phase::Load, 2, 100),
        reading("a", Phase::Load, 3, 1100),
        reading("b", Phase::Load, 4, 1200),
        reading("b", Phase::Load, 5, 1250),
    ]);
    let moved = dropped(&record, 1).unwrap();
    assert_eq!((moved.grew.at_least, moved.background), (50, Some(3)));
}

#[test]
fn a_reset_has_no_growth_and_no_background_is_not_0() {
    let reset = two_tests(vec![
        reading("a", Phase::Load, 0, 100),
        reading("a", Phase::Load, 1, 7),
    ]);
    assert_eq!(dropped(&reset, 0), None);
    let alone = two_tests(vec![
        reading("a", Phase::Load, 0, 1),
        reading("a", Phase::Load, 1, 7),
    ]);
    assert_eq!(dropped(&alone, 0).map(|moved| moved.background), Some(None));
    assert_eq!(dropped(&alone, 1), None, "of another test");
}

#[test]
fn a_document_without_samples_still_has_what_moved() {
    let mut record = run(vec![udp("a", 10, 0)]);
    record.run.tests[0].counters = vec![MovedCounter {
        name: "dropped".to_owned(),
        delta: 5,
        source: Source::Softnet.text().to_owned(),
        ..MovedCounter::default()
    }];
    let moved = dropped(&record, 0).unwrap();
    assert_eq!((moved.grew.at_least, moved.background), (5, None));
}

#[test]
fn the_document_lists_what_moved_and_wraps_as_the_ledger_does() {
    let mut record = run(vec![udp("t1", 10, 0)]);
    record.run.hosts[0].interfaces[0].driver = Some("fec".to_owned());
    let list = |t_s, macerr| Sample {
        source: Source::Ethtool.text().to_owned(),
        interface: Some("eth0".to_owned()),
        counters: [
            ("IEEE_rx_macerr".to_owned(), macerr),
            ("IEEE_rx_crc".to_owned(), 9),
        ]
        .into(),
        ..reading("t1", Phase::Load, t_s, 0)
    };
    record.samples = vec![
        list(0, 65_000),
        list(1, 464),
        reading("t1", Phase::Load, 0, 4),
        reading("t1", Phase::Load, 1, 4),
    ];
    let evidence = Evidence::of(&record);
    let moved = moved_counters(&evidence, &record.run.tests[0]);
    let moved: Vec<_> = moved
        .iter()
        .map(|one| (one.name.as_str(), one.delta))
        .collect();
    assert_eq!(moved, [("IEEE_rx_macerr", 1000)]);
}

#[test]
fn two_snapshots_of_a_text_tell_no_time_so_a_narrow_register_may_have_wrapped() {
    let counters = |value| [("IEEE_rx_macerr", value), ("IEEE_rx_crc", 0)];
    let record = pasted()
        .read(Role::Local, Source::Ethtool.text(), &counters(65_000))
        .read(Role::Local, Source::Ethtool.text(), &counters(400));
    let evidence = Evidence::of(&record);
    let place = evidence.at(Role::Local, Some("eth0"), Window::Outside);
    let moved = place.moved(Source::Ethtool, "IEEE_rx_macerr").unwrap();
    assert_eq!((moved.grew.at_least, moved.since_boot), (936, false));
}
