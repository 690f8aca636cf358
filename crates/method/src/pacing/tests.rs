// SPDX-License-Identifier: MIT OR Apache-2.0
use proptest::prelude::*;

use super::*;

fn config(bits_per_second: u64, payload_bytes: u32) -> PacerConfig {
    let rate = Some(bits_per_second);
    let burst_packets = default_burst_packets(rate, payload_bytes);
    PacerConfig {
        bits_per_second: rate,
        payload_bytes,
        burst_packets,
        start_ns: 5_000_000,
    }
}

/// What happened to a sender: when each batch really left.
struct Departures {
    pacer: Pacer,
    batches: Vec<(u64, u32)>,
    end_ns: u64,
}

/// Runs a sender on a virtual clock until `duration_ns` have passed. Each entry of `stalls` is one
/// descheduling: before sleeping ends, before the packets leave, or after they left.
fn run(config: PacerConfig, duration_ns: u64, stalls: &[(u8, u64, u64)]) -> Departures {
    let mut pacer = Pacer::new(config);
    let mut batches = Vec::new();
    let mut now = config.start_ns;
    let end_ns = now + duration_ns;
    let mut stalls = stalls.iter();
    let mut pending = stalls.next();
    let mut stall = |now: u64, place: u8| match pending {
        Some(&(wanted, at, length)) if wanted == place && now >= config.start_ns + at => {
            pending = stalls.next();
            length
        }
        _ => 0,
    };
    while now < end_ns {
        match pacer.next(now) {
            Pace::WaitUntil(until) => {
                assert!(until > now);
                now = until + stall(until, 0);
            }
            Pace::Send(packets) => {
                now += stall(now, 1);
                batches.push((now, packets));
                now += 1_000 + stall(now, 2);
                pacer.sent(packets);
            }
        }
    }
    Departures {
        pacer,
        batches,
        end_ns,
    }
}

/// The most packets in any half-open window of 1 ms.
fn fullest_millisecond(batches: &[(u64, u32)]) -> u64 {
    let (mut most, mut inside, mut oldest) = (0, 0, 0);
    for &(at, packets) in batches {
        inside += u64::from(packets);
        while batches[oldest].0 + 1_000_000 <= at {
            inside -= u64::from(batches[oldest].1);
            oldest += 1;
        }
        most = most.max(inside);
    }
    most
}

fn stalls() -> impl Strategy<Value = Vec<(u8, u64, u64)>> {
    let one = (
        0..3_u8,
        0..200_000_000_u64,
        prop_oneof![1..100_000_u64, 1..6_000_000_u64],
    );
    prop::collection::vec(one, 0..6).prop_map(|mut stalls| {
        stalls.sort_by_key(|&(_, at, _)| at);
        stalls
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_millisecond_carries_more_than_the_rate_and_one_burst(
        rate in prop_oneof![1_000_000..100_000_000_u64, 100_000_000..4_000_000_000_u64],
        payload in 64..1472_u32,
        burst in prop::option::of(1..64_u32),
        stalls in stalls(),
    ) {
        prop_assume!(rate / (u64::from(payload) * 8) < 800_000);
        let mut config = config(rate, payload);
        config.burst_packets = burst.unwrap_or(config.burst_packets);
        let sent = run(config, 250_000_000, &stalls);
        let bits = fullest_millisecond(&sent.batches) * u64::from(payload) * 8;
        let burst_bits = u64::from(sent.pacer.burst_packets()) * u64::from(payload) * 8;
        prop_assert!(bits <= rate / 1000 + burst_bits + 1, "{bits} > {} + {burst_bits}", rate / 1000);
    }

    #[test]
    fn the_long_run_is_exact_once_the_debt_is_paid(stalls in stalls()) {
        // 30 ms of stalls at the most, caught up at 5 % of the rate within 600 ms.
        let sent = run(config(400_000_000, 1470), 1_000_000_000, &stalls);
        let due = sent.pacer.packets_due_before(sent.end_ns).unwrap();
        prop_assert_eq!(sent.pacer.lateness(sent.end_ns).unsent_packets, 0);
        prop_assert!(sent.pacer.sent_packets() - due < u64::from(sent.pacer.batch_packets()));
    }

    #[test]
    fn it_never_waits_longer_than_needed(stalls in stalls(), rate in 10_000_000..2_000_000_000_u64) {
        let mut pacer = Pacer::new(config(rate, 1200));
        let mut now = 5_000_000;
        for &(_, _, stall) in stalls.iter().cycle().take(200) {
            let ready = match pacer.next(now) {
                Pace::WaitUntil(until) => until,
                Pace::Send(_) => now,
            };
            prop_assert!(ready == now || matches!(pacer.next(ready - 1), Pace::WaitUntil(_)));
            let Pace::Send(packets) = pacer.next(ready) else {
                return Err(TestCaseError::fail("waited, and still not ready"));
            };
            now = ready + stall % 300_000;
            pacer.sent(packets);
        }
    }

    #[test]
    fn deadlines_do_not_drift(rate in 1_000..100_000_000_000_u64, payload in 1..65_507_u32, index in 0..100_000_000_u64) {
        let pacer = Pacer::new(config(rate, payload));
        let exact = index as f64 * f64::from(payload) * 8.0 * 1e9 / rate as f64 + 5e6;
        let deadline = pacer.deadline_ns(index);
        prop_assert!((deadline as f64 - exact).abs() <= 1.0 + exact * f64::EPSILON * 4.0);
    }

    #[test]
    fn a_packet_counts_as_due_exactly_when_its_deadline_has_passed(rate in 1_000..10_000_000_000_u64, index in 0..10_000_000_u64) {
        let pacer = Pacer::new(config(rate, 1470));
        let deadline = pacer.deadline_ns(index);
        prop_assert!(pacer.packets_due_before(deadline + 1).unwrap() > index);
        prop_assert!(pacer.packets_due_before(deadline).unwrap() <= index);
    }
}

#[test]
fn sixty_seconds_at_an_odd_rate_end_on_the_exact_packet() {
    // 60 s · 999 999 937 bit/s / 11 760 bit = 5 102 040.49…
    let pacer = Pacer::new(PacerConfig {
        start_ns: 0,
        ..config(999_999_937, 1470)
    });
    assert_eq!(pacer.packets_due_before(60_000_000_000), Some(5_102_041));
    assert_eq!(pacer.deadline_ns(5_102_040), 59_999_994_179);
}

#[test]
fn an_undisturbed_sender_sends_batches_evenly() {
    let sent = run(config(1_000_000_000, 1470), 100_000_000, &[]);
    assert_eq!(sent.pacer.burst_packets(), 17);
    assert_eq!(
        sent.pacer.lateness(sent.end_ns),
        Lateness {
            behind_ns_max: 0,
            unsent_packets: 0
        }
    );
    let spaces = sent.batches.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert!(spaces.clone().all(|space| space == 23_520));
    assert_eq!(fullest_millisecond(&sent.batches), 86);
}

#[test]
fn a_sender_that_cannot_keep_up_is_late_and_never_silent_about_it() {
    let mut pacer = Pacer::new(PacerConfig {
        start_ns: 0,
        ..config(1_000_000_000, 1470)
    });
    let mut now = 0;
    while now < 100_000_000 {
        match pacer.next(now) {
            Pace::WaitUntil(until) => now = until,
            // 40 µs for two packets where 23.5 µs are allowed.
            Pace::Send(packets) => {
                now += 40_000;
                pacer.sent(packets);
            }
        }
    }
    assert_eq!(pacer.sent_packets(), 5_000);
    assert_eq!(pacer.lateness(100_000_000).unsent_packets, 8_504 - 5_000);
}

#[test]
fn a_partial_send_is_completed_by_the_next_batch() {
    let mut pacer = Pacer::new(PacerConfig {
        start_ns: 0,
        ..config(4_000_000_000, 1470)
    });
    assert_eq!(pacer.next(0), Pace::Send(8));
    pacer.sent(0);
    assert_eq!(pacer.next(500), Pace::Send(8));
    pacer.sent(3);
    assert_eq!(pacer.deadline_ns(3), 8_820);
    assert_eq!(pacer.next(900), Pace::WaitUntil(8_820));
}

/// A timer that always wakes 60 µs late costs spacing, never rate (25 kpps: a gap of 40 µs).
#[test]
fn late_timers_cost_no_rate() {
    let mut pacer = Pacer::new(PacerConfig {
        start_ns: 0,
        ..config(12_800_000, 64)
    });
    let mut now = 0;
    while now < 1_000_000_000 {
        match pacer.next(now) {
            Pace::WaitUntil(until) => now = until + 60_000,
            Pace::Send(packets) => {
                now += 2_000;
                pacer.sent(packets);
            }
        }
    }
    assert!(
        pacer.lateness(1_000_000_000).unsent_packets <= 3,
        "{pacer:?}"
    );
}

#[test]
fn without_a_rate_it_sends_at_once_for_ever() {
    for rate in [None, Some(0)] {
        let mut pacer = Pacer::new(PacerConfig {
            bits_per_second: rate,
            payload_bytes: 1470,
            burst_packets: 128,
            start_ns: 7,
        });
        for now in 7..1000 {
            assert_eq!(pacer.next(now), Pace::Send(16));
            pacer.sent(16);
        }
        assert_eq!(pacer.lateness(1000), Lateness::default());
        assert_eq!(pacer.packets_due_before(1000), None);
    }
}

#[test]
fn default_bursts() {
    let table = [
        (Some(50_000_000), 1470, 8),
        (Some(400_000_000), 1470, 8),
        (Some(1_000_000_000), 1470, 17),
        (Some(2_000_000_000), 1470, 34),
        (Some(10_000_000_000), 1470, 128),
        (Some(153_600_000), 64, 60),
        (Some(307_200_000), 64, 120),
        (None, 1470, 128),
    ];
    for (rate, payload, burst) in table {
        assert_eq!(
            default_burst_packets(rate, payload),
            burst,
            "{rate:?} {payload}"
        );
    }
}

#[test]
fn an_unlimited_sender_takes_the_batches_it_was_given() {
    for packets in [1, 16, 45, 64] {
        let mut pacer = Pacer::new(PacerConfig {
            bits_per_second: None,
            payload_bytes: 1448,
            burst_packets: burst_of_batches(packets),
            start_ns: 0,
        });
        assert_eq!(pacer.next(0), Pace::Send(packets));
    }
    assert_eq!(burst_of_batches(u32::MAX), u32::MAX);
}
