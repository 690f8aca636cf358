// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damaged and lying records, and honest ones.

use super::*;
use crate::output::{Interface, LinkKind, Quantiles, Role};

fn honest() -> Test {
    Test {
        id: "t".to_owned(),
        group: "g".to_owned(),
        duration_s: 10.0,
        streams: 1,
        offered_bits_per_second: Some(4e11),
        delivered_bits_per_second: Some(3.9e11),
        sent_packets: Some(40_000_000),
        lost_packets: Some(1_000_000),
        jitter_ns: Some(2e9),
        loss_ratio: Some(-0.01),
        delay_ns: Some(Quantiles {
            min: -30_000,
            ..Quantiles::default()
        }),
        valid: true,
        ..Test::default()
    }
}

#[test]
fn a_test_with_an_impossible_figure_has_no_figure() {
    type Lie = fn(&mut Test);
    let lies: [Lie; 9] = [
        |test| test.jitter_ns = Some(1e308),
        |test| test.jitter_ns = Some(f64::NAN),
        |test| test.delivered_bits_per_second = Some(1.4e20),
        |test| test.offered_bits_per_second = Some(-1.0),
        |test| test.duration_s = 1e300,
        |test| test.lost_packets = Some(u64::MAX),
        |test| test.clock_drift_ppm = Some(1e30),
        |test| test.loss_ratio = Some(1e200),
        |test| {
            test.rtt_ns = Some(Quantiles {
                max: i64::MAX,
                ..Quantiles::default()
            });
        },
    ];
    for (at, lie) in lies.into_iter().enumerate() {
        let mut tests = [honest()];
        lie(&mut tests[0]);
        settle(None, &mut [], &mut tests, &mut Vec::new());
        let [test] = tests;
        let why = test.invalid_reason.unwrap_or_default();
        assert!(why.starts_with("impossible figures: "), "{at}: {why}");
        assert!(why.len() < 80, "{why}");
        assert!(!test.valid && test.jitter_ns.is_none() && test.sent_packets.is_none());
        assert_eq!((test.id.as_str(), test.group.as_str()), ("t", "g"));
    }
    let mut tests = [honest()];
    settle(None, &mut [], &mut tests, &mut Vec::new());
    assert_eq!(tests, [honest()]);
}

fn wire(speed: u64) -> Host {
    Host {
        role: Role::Remote,
        cpus: Some(4),
        interfaces: vec![Interface {
            name: "eth0".to_owned(),
            mtu: Some(1500),
            link_bits_per_second: Some(speed),
            link_kind: Some(LinkKind::Wire),
            ..Interface::default()
        }],
        ..Host::default()
    }
}

#[test]
fn a_host_that_cannot_be_is_named_and_not_believed() {
    let mut hosts = [wire(u64::MAX)];
    hosts[0].cpus = Some(u32::MAX);
    hosts[0].interfaces[0].mtu = Some(u32::MAX);
    hosts[0].hostname = Some("x".repeat(100_000));
    hosts[0]
        .interfaces
        .extend((0..1000).map(|_| Interface::default()));
    let mut tests = [honest(), honest()];
    settle(None, &mut hosts, &mut tests, &mut Vec::new());
    let [host] = hosts;
    assert_eq!((host.cpus, host.hostname), (None, None));
    assert!(host.interfaces.len() <= INTERFACES);
    let eth0 = &host.interfaces[0];
    assert_eq!((eth0.mtu, eth0.link_bits_per_second), (None, None));
    let text = &tests[0].warnings[0].text;
    assert!(text.contains("a host name of 100000 bytes"), "{text}");
    assert!(text.contains("4294967295 processors"), "{text}");
    assert!(tests[0].valid && tests[1].warnings.is_empty());
    let mut hosts = [wire(1_000_000_000)];
    settle(None, &mut hosts, &mut [], &mut Vec::new());
    assert_eq!(hosts, [wire(1_000_000_000)]);
}

fn reading(second: u64, packets: u64) -> Sample {
    Sample {
        host: Role::Remote,
        t_ns: 7_000_000_000_000 + second * 1_000_000_000,
        source: "rtnl_link_stats64".to_owned(),
        interface: Some("eth0".to_owned()),
        group: Some("g".to_owned()),
        counters: [("rx_packets", packets), ("rx_dropped", 3 * second)]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        ..Sample::default()
    }
}

#[test]
fn a_counter_beyond_its_link_is_taken_out_and_named() {
    let first = 1 << 40;
    let of = |grown: u64, seconds: u64| {
        let mut samples = vec![reading(0, first), reading(seconds, first + grown)];
        let mut tests = [honest()];
        settle(
            Some(20.0),
            &mut [wire(1_000_000_000)],
            &mut tests,
            &mut samples,
        );
        let text = tests[0]
            .warnings
            .first()
            .map(|warning| warning.text.clone());
        let last = samples.last().map(|sample| sample.counters.clone());
        (samples.len(), last.unwrap_or_default().len(), text)
    };
    // Line rate of 64-byte frames, and a burst of a ring.
    assert_eq!(of(14_880_952 + 8192, 10), (2, 2, None));
    let (samples, counters, text) = of(1 << 50, 10);
    assert_eq!(
        (samples, counters),
        (2, 1),
        "the others of the reading stay"
    );
    let text = text.unwrap_or_default();
    assert!(
        text.contains("rtnl_link_stats64 rx_packets +1125899906842624"),
        "{text}"
    );
    // Read an hour after a test of 20 s.
    let (samples, _, text) = of(10, 3600);
    assert_eq!(samples, 1);
    assert!(
        text.unwrap_or_default()
            .contains("read outside of the test")
    );
}

#[test]
fn a_reading_of_another_time_goes_but_a_device_may_start_again() {
    let mut samples = vec![reading(5000, 10), reading(4, 20)];
    settle(Some(20.0), &mut [], &mut [], &mut samples);
    assert_eq!(samples.len(), 1);
    // A source may report an earlier reading late.
    let mut samples = vec![reading(5, 10), reading(4, 20)];
    settle(Some(20.0), &mut [], &mut [], &mut samples);
    assert_eq!(samples.len(), 2);
    let mut samples = vec![reading(500, 10), reading(4, 20)];
    samples
        .iter_mut()
        .for_each(|sample| sample.host = Role::Device);
    settle(None, &mut [], &mut [], &mut samples);
    assert_eq!(samples.len(), 2);
}

#[test]
fn many_doubts_are_a_short_text() {
    let mut doubts = Doubts::default();
    assert_eq!(doubts.warning(), None);
    (0..1000).for_each(|at| doubts.add(format!("{at} processors")));
    let text = doubts.warning().unwrap().text;
    assert!(text.ends_with("3 processors; and 996 more"), "{text}");
}

#[test]
fn a_change_that_cannot_be_is_taken_out() {
    let one = |source: &str, before: &str, after: &str| Moved {
        source: source.to_owned(),
        name: "net.ipv4.tcp_rmem".to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
        ..Moved::default()
    };
    let long = "9".repeat(VALUE_BYTES + 1);
    let good = one("sysctl", "1", "2");
    let mut all = vec![
        one("sysctl", "1", "1"),
        one("", "1", "2"),
        one("sysctl", "1", &long),
        good.clone(),
    ];
    moved(&mut all);
    assert_eq!(all, std::slice::from_ref(&good));
    let mut many = vec![good; 2 * MOVED_MOST];
    moved(&mut many);
    assert_eq!(many.len(), MOVED_MOST);
}
