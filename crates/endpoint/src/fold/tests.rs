// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::account::RxInterval;
use linerate_model::output::IoMode;
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;
const PAYLOAD_BYTES: u64 = 1000;

/// One stream: sent, lost, and the times that its two ends measured.
#[derive(Debug, Clone)]
struct One {
    sent: u64,
    lost: u64,
    sending_ns: u64,
    flow_ns: u64,
    unsent: u64,
}

fn one() -> impl Strategy<Value = One> {
    let ends = (0..3 * SECOND_NS, 0..4 * SECOND_NS);
    let lost = prop_oneof![Just(0.0), 0.0..1.0];
    (
        1..100_000_u64,
        lost,
        ends,
        prop_oneof![Just(0), 0..1000_u64],
    )
        .prop_map(|(sent, lost, (sending_ns, flow_ns), unsent)| One {
            sent,
            lost: (sent as f64 * lost) as u64,
            sending_ns,
            flow_ns,
            unsent,
        })
}

fn side(streams: Vec<StreamAccount>) -> SideAccount {
    SideAccount {
        streams,
        ..SideAccount::default()
    }
}

fn stream(index: usize, tx: Option<TxAccount>, rx: Option<RxAccount>) -> StreamAccount {
    StreamAccount {
        id: StreamConfig::id(index as u32),
        tx,
        rx,
        ..StreamAccount::default()
    }
}

fn tx(one: &One) -> TxAccount {
    TxAccount {
        packets: one.sent,
        bytes: one.sent * PAYLOAD_BYTES,
        duration_ns: one.sending_ns,
        unsent_packets: one.unsent,
        mode: Some(IoMode::Mmsg),
        ..TxAccount::default()
    }
}

fn rx(one: &One) -> RxAccount {
    RxAccount {
        packets: one.sent - one.lost,
        bytes: (one.sent - one.lost) * PAYLOAD_BYTES,
        duration_ns: one.flow_ns,
        mode: Some(IoMode::Mmsg),
        ..RxAccount::default()
    }
}

/// The test up, a second long as far as nothing else is known.
fn folded(tx: Vec<TxAccount>, rx: Vec<RxAccount>, clock: Option<ClockOffset>) -> Test {
    let plan = TestPlan {
        duration_ms: 1000,
        streams: u16::try_from(tx.len()).unwrap(),
        probe: false,
        ..TestPlan::udp("peer")
    };
    let config = StreamConfig::of_plan(&plan, true, 1448);
    let senders = tx.into_iter().enumerate();
    let receivers = rx.into_iter().enumerate();
    let measured = Measured {
        plan: &plan,
        config: &config,
        server: ([192, 0, 2, 1], 5201).into(),
        own_address: None,
        local: &side(senders.map(|(n, tx)| stream(n, Some(tx), None)).collect()),
        remote: Some(&side(
            receivers.map(|(n, rx)| stream(n, None, Some(rx))).collect(),
        )),
        clock,
        hosts: &[],
        elapsed_ns: SECOND_NS,
    };
    tests(&measured).remove(0)
}

proptest! {
    /// Both rates have one time base: none delivers more than was offered, and all that was offered
    /// is delivered where nothing was lost.
    #[test]
    fn delivered_is_never_above_offered(streams in prop::collection::vec(one(), 1..4)) {
        let test = folded(streams.iter().map(tx).collect(), streams.iter().map(rx).collect(), None);
        let offered = test.offered_bits_per_second.unwrap();
        let delivered = test.delivered_bits_per_second.unwrap();
        prop_assert!(delivered <= offered * (1.0 + 1e-9), "{delivered} of {offered}");
        if test.lost_packets == Some(0) {
            prop_assert!((delivered / offered - 1.0).abs() < 1e-9, "{delivered} of {offered}");
        }
        let flows: f64 = test.flows.iter().filter_map(|flow| flow.delivered_bits_per_second).sum();
        prop_assert!((flows - delivered).abs() <= delivered * 1e-9);
    }
}

#[test]
fn an_unpaced_sender_that_was_held_up_delivers_what_it_offered() {
    let one = One {
        sent: 4000,
        lost: 0,
        sending_ns: SECOND_NS,
        flow_ns: SECOND_NS / 5,
        unsent: 0,
    };
    let test = folded(vec![tx(&one)], vec![rx(&one)], None);
    assert_eq!(test.delivered_bits_per_second, Some(32e6));
}

/// What a full queue delivers after the end of the load is not the path's rate.
#[test]
fn a_queue_that_drains_after_the_load_takes_its_time() {
    let one = One {
        sent: 4000,
        lost: 1000,
        sending_ns: SECOND_NS,
        flow_ns: SECOND_NS * 5 / 4,
        unsent: 0,
    };
    let test = folded(vec![tx(&one)], vec![rx(&one)], None);
    assert_eq!(test.offered_bits_per_second, Some(32e6));
    assert_eq!(test.delivered_bits_per_second, Some(19.2e6));
}

/// A queue that holds all that the path did not carry delivers it in time, without a gap; a receiver that was held up
/// leaves one.
#[test]
fn a_queue_that_lost_nothing_takes_its_time_as_well() {
    let one = One {
        sent: 4000,
        lost: 0,
        sending_ns: SECOND_NS,
        flow_ns: SECOND_NS * 5 / 4,
        unsent: 0,
    };
    let delivered = |gap_ns: u64| {
        let gaps = Quantiles {
            max: gap_ns as i64,
            ..Quantiles::default()
        };
        let rx = RxAccount {
            spacing_ns: Some(gaps),
            ..rx(&one)
        };
        let test = folded(vec![tx(&one)], vec![rx], None);
        assert_eq!(test.offered_bits_per_second, Some(32e6));
        test.delivered_bits_per_second
    };
    assert_eq!(delivered(SECOND_NS / 1000), Some(25.6e6));
    assert_eq!(delivered(SECOND_NS / 4), Some(32e6));
}

/// Each stream's quantiles are relative to a base of its own.
#[test]
fn the_delay_is_that_of_the_slowest_stream() {
    let quick = |p99, base_ns| RxAccount {
        transit_ns: Some(Quantiles {
            p99,
            max: p99,
            ..Quantiles::default()
        }),
        transit_base_ns: base_ns,
        transit_drift_ppb: Some(2000),
        transit_drift_left_ns: 30,
        ..rx(&One {
            sent: 1,
            lost: 0,
            sending_ns: 1,
            flow_ns: 1,
            unsent: 0,
        })
    };
    let senders = vec![TxAccount::default(), TxAccount::default()];
    let clock = ClockOffset {
        at_ns: 5,
        offset_ns: 1000,
        error_ns: 7,
        ppb: 2000,
    };
    let test = folded(senders, vec![quick(90, 1100), quick(20, 6000)], Some(clock));
    let delay = test.delay_ns.unwrap();
    assert_eq!((delay.min, delay.p99), (5000, 5020));
    assert_eq!(
        (test.delay_error_ns, test.clock_drift_ppm),
        (Some(37), Some(2.0))
    );
}

/// A peer that got 1000 datagrams of 1448 bytes may report any number of bytes.
#[test]
fn a_receiver_counts_no_more_bytes_than_its_datagrams_have() {
    let one = A_THOUSAND;
    let bytes = 1448 * 1000;
    let own = || TxAccount { bytes, ..tx(&one) };
    let says = |bytes, mode| {
        let far = RxAccount {
            bytes,
            mode,
            ..rx(&one)
        };
        folded(vec![own()], vec![far], None)
    };
    for mode in [Some(IoMode::Mmsg), None] {
        assert!(says(bytes, mode).valid);
        let lie = says(150_000_000_000_000, mode);
        assert!(!lie.valid && lie.delivered_bits_per_second.is_none());
        let copies = says(bytes + 100_000, mode);
        assert!(!copies.valid, "{:?}", copies.delivered_bits_per_second);
    }
}

/// This end sent for 2 s and noticed after 2.3 s that the far end is gone, which had reported its first second.
#[test]
fn rates_of_a_test_that_broke_off_are_of_the_time_that_each_end_counted() {
    let of = |sent: u64, sending_ns: u64| One {
        sent,
        lost: 0,
        sending_ns,
        flow_ns: sending_ns,
        unsent: 0,
    };
    let plan = TestPlan {
        duration_ms: 6000,
        probe: false,
        ..TestPlan::udp("peer")
    };
    let config = StreamConfig::of_plan(&plan, true, 1000);
    let (whole, reported) = (of(2000, 2 * SECOND_NS), of(1000, SECOND_NS));
    let remote = SideAccount {
        partial: true,
        ..side(vec![stream(0, None, Some(rx(&reported)))])
    };
    let test = tests(&Measured {
        plan: &plan,
        config: &config,
        server: ([192, 0, 2, 1], 5201).into(),
        own_address: None,
        local: &side(vec![stream(0, Some(tx(&whole)), None)]),
        remote: Some(&remote),
        clock: None,
        hosts: &[],
        elapsed_ns: 2_300_000_000,
    })
    .remove(0);
    let rates = [
        test.offered_bits_per_second,
        test.delivered_bits_per_second,
        test.flows[0].offered_bits_per_second,
    ];
    assert_eq!(rates, [Some(8e6); 3]);
}

/// A far sender that reports less than arrived would hide that more was delivered than offered.
#[test]
fn a_far_sender_sent_what_arrived() {
    let one = A_THOUSAND;
    let plan = TestPlan {
        duration_ms: 1000,
        probe: false,
        direction: crate::Direction::Down,
        ..TestPlan::udp("peer")
    };
    let config = StreamConfig::of_plan(&plan, true, 1000);
    let test = |far: TxAccount, partial| {
        let remote = SideAccount {
            partial,
            ..side(vec![stream(0, Some(far), None)])
        };
        tests(&Measured {
            plan: &plan,
            config: &config,
            server: ([192, 0, 2, 1], 5201).into(),
            own_address: None,
            local: &side(vec![stream(0, None, Some(rx(&one)))]),
            remote: Some(&remote),
            clock: None,
            hosts: &[],
            elapsed_ns: SECOND_NS,
        })
        .remove(0)
    };
    assert!(test(tx(&one), false).valid);
    let less = || TxAccount {
        bytes: 1000,
        ..tx(&one)
    };
    let reason = |test: Test| test.invalid_reason.unwrap_or_default();
    let reason_of_less = reason(test(less(), false));
    assert!(
        reason_of_less.ends_with("1000000 bytes received of 1000 sent"),
        "{reason_of_less}"
    );
    let early = reason(test(less(), true));
    assert_eq!(early, "the far end's counters did not arrive");
    let more = TxAccount {
        bytes: 1 << 40,
        ..tx(&one)
    };
    let reason_of_more = reason(test(more, false));
    assert!(
        reason_of_more.ends_with("bytes in 1000 datagrams of 1000"),
        "{reason_of_more}"
    );
}

/// Any figures at all, the largest among them.
fn any_rx() -> impl Strategy<Value = RxAccount> {
    let count = || prop_oneof![0..2_000_000_000_u64, any::<u64>(), Just(u64::MAX)];
    let totals = (count(), count(), count(), count()).prop_map(|(sent, unique, lost, highest)| {
        linerate_method::sequence::SequenceTotals {
            sent,
            received_unique: unique,
            lost,
            highest,
            ..Default::default()
        }
    });
    let jitter = prop_oneof![Just(f64::NAN), any::<f64>(), 0.0..1e6];
    let interval = (count(), count(), count(), any::<i64>());
    let interval = interval.prop_map(|(start_ns, end_ns, bytes, lost)| RxInterval {
        start_ns,
        end_ns,
        bytes,
        packets: bytes,
        lost,
    });
    let intervals = prop::collection::vec(interval, 0..3);
    let times = (any::<i64>(), any::<i64>(), any::<i64>(), count(), count());
    let mode = prop_oneof![Just(Some(IoMode::Mmsg)), Just(None)];
    // Also figures that could be.
    let small = || prop_oneof![0..3000_u64, count()];
    let bytes = || prop_oneof![0..3_000_000_u64, count()];
    let all = (
        small(),
        bytes(),
        small(),
        times,
        mode,
        prop::option::of(totals),
        jitter,
        intervals,
    );
    all.prop_map(
        |(packets, bytes, duration_ns, times, mode, sequence, jitter_ns, intervals)| RxAccount {
            packets,
            bytes,
            duration_ns,
            omitted_packets: 0,
            omitted_lost: bytes,
            sequence,
            transit_ns: Some(Quantiles {
                p50: times.0,
                max: times.1,
                ..Quantiles::default()
            }),
            transit_base_ns: times.2,
            transit_drift_left_ns: times.3,
            bursts: vec![linerate_method::sequence::LossBurst {
                at_ns: times.4,
                packets: 1,
                first_sequence: 1,
            }],
            jitter_ns: Some(jitter_ns),
            socket_drops: Some(packets),
            intervals,
            mode,
            ..RxAccount::default()
        },
    )
}

proptest! {
    /// Whatever a far end reports, no figure of a test is beyond what a link can carry in its time.
    #[test]
    fn no_far_end_can_report_the_impossible(rx in prop::collection::vec(any_rx(), 1..4)) {
        let sent = One { sent: 1000, lost: 0, sending_ns: SECOND_NS, flow_ns: SECOND_NS, unsent: 0 };
        let streams = rx.len();
        let clock = ClockOffset { at_ns: 0, offset_ns: 1000, error_ns: 10, ppb: 0 };
        let test = folded(vec![tx(&sent); streams], rx, Some(clock));
        let delivered = test.delivered_bits_per_second.unwrap_or(0.0);
        // 10 Tbit/s a stream, over the test and what it may take longer.
        prop_assert!(delivered <= 1e13 * 121.0 * 4.0, "{delivered}");
        prop_assert!(test.jitter_ns.unwrap_or(0.0) <= 121e9);
        prop_assert!(test.received_packets.unwrap_or(0) <= 100_000_000 * 121 * 4);
        prop_assert!(test.socket_drops.unwrap_or(0) <= 100_000_000 * 121 * 4);
        prop_assert!(!test.valid || test.received_packets <= test.sent_packets);
        let offered = test.offered_bits_per_second.unwrap_or(0.0);
        prop_assert!(!test.valid || delivered <= offered * 1.01, "{delivered} of {offered}");
        let delay = test.delay_ns.unwrap_or_default();
        prop_assert!([delay.min, delay.max].iter().all(|ns| ns.unsigned_abs() <= 2 * 121_000_000_000));
        prop_assert!(test.loss_bursts.iter().all(|burst| burst.at_s <= 121.0));
    }
}

#[test]
fn tcp_delivers_no_more_than_was_written() {
    let own = TxAccount {
        bytes: 1_000_000,
        ..TxAccount::default()
    };
    let far = |bytes| RxAccount {
        bytes,
        duration_ns: SECOND_NS,
        ..RxAccount::default()
    };
    let plan = TestPlan {
        duration_ms: 1000,
        probe: false,
        ..TestPlan::tcp("peer")
    };
    let config = StreamConfig::of_plan(&plan, true, 1448);
    let test = |bytes| {
        tests(&Measured {
            plan: &plan,
            config: &config,
            server: ([192, 0, 2, 1], 5201).into(),
            own_address: None,
            local: &side(vec![stream(0, Some(own.clone()), None)]),
            remote: Some(&side(vec![stream(0, None, Some(far(bytes)))])),
            clock: None,
            hosts: &[],
            elapsed_ns: SECOND_NS,
        })
        .remove(0)
    };
    assert!(test(1_000_000).valid);
    let lie = test(18_000_000_000);
    assert_eq!(lie.delivered_bits_per_second, None);
    assert_eq!(
        lie.invalid_reason.as_deref(),
        Some(
            "the far end reports impossible figures: stream 1: 18000000000 bytes received of 1000000 sent"
        )
    );
}

/// A stream that sent and received 1000 datagrams in a second.
const A_THOUSAND: One = One {
    sent: 1000,
    lost: 0,
    sending_ns: SECOND_NS,
    flow_ns: SECOND_NS,
    unsent: 0,
};
