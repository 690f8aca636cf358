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
    let all = (
        count(),
        count(),
        count(),
        prop::option::of(totals),
        jitter,
        intervals,
    );
    all.prop_map(
        |(packets, bytes, duration_ns, sequence, jitter_ns, intervals)| RxAccount {
            packets,
            bytes,
            duration_ns,
            omitted_packets: packets / 2,
            omitted_lost: bytes,
            sequence,
            jitter_ns: Some(jitter_ns),
            socket_drops: Some(bytes),
            intervals,
            mode: Some(IoMode::Mmsg),
            ..RxAccount::default()
        },
    )
}

proptest! {
    /// Whatever a far end reports, no figure of a test is beyond what a link can carry in its time.
    #[test]
    fn no_far_end_can_report_what_cannot_be(rx in prop::collection::vec(any_rx(), 1..4)) {
        let sent = One { sent: 1000, lost: 0, sending_ns: SECOND_NS, flow_ns: SECOND_NS, unsent: 0 };
        let streams = rx.len();
        let test = folded(vec![tx(&sent); streams], rx, None);
        let delivered = test.delivered_bits_per_second.unwrap_or(0.0);
        // 10 Tbit/s a stream, over the test and what it may take longer.
        prop_assert!(delivered <= 1e13 * 121.0 * 4.0, "{delivered}");
        prop_assert!(test.jitter_ns.unwrap_or(0.0) <= 121e9);
        prop_assert!(test.received_packets.unwrap_or(0) <= 100_000_000 * 121 * 4);
        prop_assert!(test.socket_drops.unwrap_or(0) <= 100_000_000 * 121 * 4);
        prop_assert!(!test.valid || test.received_packets <= test.sent_packets);
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
            "the far end reports figures that cannot be: stream 1: 18000000000 bytes received of 1000000 sent"
        )
    );
}
