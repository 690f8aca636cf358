// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::TestPlan;
use crate::account::{RxAccount, SideAccount, StreamAccount, TxAccount};
use crate::fold::{Measured, tests};
use crate::stream_config::StreamConfig;
use linerate_method::sequence::SequenceTotals;
use linerate_model::output::IoMode;
use linerate_model::output::{Cpu, Test};

const SECOND_NS: u64 = 1_000_000_000;

fn plan() -> TestPlan {
    TestPlan {
        duration_ms: 1000,
        probe: false,
        ..TestPlan::udp("peer")
    }
}

fn sender(packets: u64, unsent_packets: u64) -> TxAccount {
    TxAccount {
        packets,
        unsent_packets,
        behind_ns_max: Some(300_000_000),
        mode: Some(IoMode::Mmsg),
        ..TxAccount::default()
    }
}

/// The test up whose sender wrote `tx` down; all that was sent arrived.
fn judged(plan: &TestPlan, tx: TxAccount, busiest_cpu: Option<f64>) -> Test {
    let rx = RxAccount {
        packets: tx.packets,
        mode: Some(IoMode::Mmsg),
        ..RxAccount::default()
    };
    received(plan, tx, rx, busiest_cpu)
}

/// The test up as both ends wrote it down.
fn received(plan: &TestPlan, tx: TxAccount, rx: RxAccount, busiest_cpu: Option<f64>) -> Test {
    let config = StreamConfig::of_plan(plan, true, 1448);
    let side = |tx, rx, busiest_cpu: Option<f64>| SideAccount {
        streams: vec![StreamAccount {
            id: 1,
            tx,
            rx,
            ..StreamAccount::default()
        }],
        cpu: busiest_cpu.map(|busiest_cpu| Cpu {
            busiest_cpu,
            ..Cpu::default()
        }),
        ..SideAccount::default()
    };
    let measured = Measured {
        plan,
        config: &config,
        server: ([192, 0, 2, 1], 5201).into(),
        own_address: None,
        local: &side(Some(tx), None, busiest_cpu),
        remote: Some(&SideAccount {
            buffer_cut_to_bytes: plan.window_bytes.map(|bytes| u64::from(bytes / 2)),
            ..side(None, Some(rx), None)
        }),
        clock: None,
        hosts: &[],
        elapsed_ns: SECOND_NS,
    };
    tests(&measured).remove(0)
}

/// The test of `plan` when it broke before any report.
fn broken(plan: &TestPlan) -> Test {
    let measured = Measured {
        plan,
        config: &StreamConfig::of_plan(plan, true, 1448),
        server: ([192, 0, 2, 1], 5201).into(),
        own_address: None,
        local: &SideAccount::default(),
        remote: None,
        clock: None,
        hosts: &[],
        elapsed_ns: SECOND_NS,
    };
    tests(&measured).remove(0)
}

#[test]
fn unreported_counts_are_unknown_not_zero() {
    let [udp, tcp] = [TestPlan::udp("peer"), TestPlan::tcp("peer")].map(|plan| broken(&plan));
    assert_eq!((udp.socket_drops, udp.lost_packets), (None, None));
    assert_eq!(
        (tcp.retransmits, tcp.delivered_bits_per_second),
        (None, None)
    );
    assert!(!udp.valid && !tcp.valid);
}

fn warning<'a>(test: &'a Test, id: &str) -> Option<(&'a str, &'a str)> {
    let found = test.warnings.iter().find(|warning| warning.id == id)?;
    Some((&found.text, &found.try_))
}

#[test]
fn a_rate_that_was_not_offered_was_not_tested() {
    for (sent, unsent, valid, warned) in [
        (1000, 0, true, false),
        (1000, 1, true, false),
        (900, 100, true, true),
        (898, 102, true, true),
        (897, 103, false, true),
        // Stopped after some datagrams: one was due just then.
        (5, 1, true, true),
        (0, 1000, false, true),
    ] {
        let test = judged(&plan(), sender(sent, unsent), Some(1.0));
        assert_eq!(test.valid, valid, "{sent} {unsent}: {test:?}");
        assert_eq!(test.valid, test.invalid_reason.is_none());
        assert_eq!(
            warning(&test, "sender-limited").is_some(),
            warned,
            "{sent} {unsent}"
        );
    }
}

/// It looks for the rate that cannot be offered.
#[test]
fn a_trial_that_falls_short_is_an_answer() {
    let trial = TestPlan {
        trial: true,
        ..plan()
    };
    assert!(judged(&trial, sender(100, 900), None).valid);
    assert!(
        !judged(&trial, sender(0, 900), None).valid,
        "but not of nothing"
    );
}

#[test]
fn the_cause_and_what_to_try_are_named() {
    let text = |busiest_cpu| {
        let test = judged(&plan(), sender(0, 86), busiest_cpu);
        let (_, try_) = warning(&test, "sender-limited").unwrap();
        assert!(!try_.is_empty());
        test.invalid_reason.unwrap()
    };
    let begin = "no datagram was sent: the sender ";
    for (busiest_cpu, words) in [
        (
            Some(0.97),
            "was short of CPU time: it fell up to 300.0 ms behind schedule, a CPU of its host was 97 % busy",
        ),
        (
            Some(0.2),
            "was delayed: it fell up to 300.0 ms behind schedule, with no CPU of its host fully busy",
        ),
        (None, "was late: it fell up to 300.0 ms behind schedule"),
    ] {
        assert_eq!(text(busiest_cpu), format!("{begin}{words}"));
    }
}

#[test]
fn what_the_kernel_said_goes_before_lateness() {
    for (reason, words) in [
        (
            "datagrams longer than the path MTU (EMSGSIZE)",
            "smaller -l",
        ),
        (
            "a local firewall rule refuses every datagram (EPERM)",
            "nft list ruleset",
        ),
        ("Network is unreachable (os error 101)", "ip route get"),
    ] {
        let failed = TxAccount {
            failure: Some(reason.to_owned()),
            ..sender(0, 86)
        };
        let test = judged(&plan(), failed, Some(1.0));
        let expected = format!("no datagram was sent: {reason}");
        assert_eq!(test.invalid_reason, Some(expected));
        let (text, try_) = warning(&test, "stream-failed").unwrap();
        assert!(text.contains(reason) && try_.contains(words), "{try_}");
        assert!(warning(&test, "sender-limited").is_none());
    }
    let refused = TxAccount {
        refused_packets: 90,
        ..sender(10, 76)
    };
    let test = judged(&plan(), refused, Some(1.0));
    let (text, try_) = warning(&test, "sender-limited").unwrap();
    assert!(text.contains("refused 90 sends") && try_.contains("tc -s qdisc"));
    assert!(!test.valid);
}

#[test]
fn drops_of_coalesced_datagrams_are_a_lower_bound() {
    let dropped = |socket_drops, socket_drops_at_least| {
        let rx = RxAccount {
            packets: 900,
            mode: Some(IoMode::Gro),
            socket_drops: Some(socket_drops),
            socket_drops_at_least,
            ..RxAccount::default()
        };
        received(&plan(), sender(1000, 0), rx, None)
    };
    let joined = dropped(7, true);
    let (text, try_) = warning(&joined, "drops-at-least").unwrap();
    assert!(text.contains("at least 7 datagrams") && try_.contains("mmsg"));
    assert!(joined.socket_drops_at_least);
    for test in [dropped(0, true), dropped(7, false)] {
        assert!(warning(&test, "drops-at-least").is_none(), "{test:?}");
    }
}

#[test]
fn a_server_that_grants_a_smaller_buffer_is_named() {
    let wide = TestPlan {
        window_bytes: Some(8 << 20),
        ..plan()
    };
    let test = judged(&wide, sender(1000, 0), None);
    let (text, try_) = warning(&test, "buffer-not-granted").unwrap();
    assert!(
        text.contains("of 4194304 bytes of the requested 8388608"),
        "{text}"
    );
    assert!(try_.contains("-w 4194304"), "{try_}");
    let test = judged(&plan(), sender(1000, 0), None);
    assert!(warning(&test, "buffer-not-granted").is_none());
}

#[test]
fn a_mode_that_is_missing_is_named_with_what_it_takes() {
    let asks = |tx_mode, rx_mode| {
        let plan = TestPlan {
            tx_mode,
            rx_mode,
            ..plan()
        };
        let rx = RxAccount {
            packets: 1000,
            mode: Some(IoMode::Plain),
            ..RxAccount::default()
        };
        let tx = TxAccount {
            mode: Some(IoMode::Plain),
            ..sender(1000, 0)
        };
        let test = received(&plan, tx, rx, None);
        warning(&test, "mode-not-available").map(|(text, try_)| (text.to_owned(), try_.to_owned()))
    };
    for (tx_mode, rx_mode, needs) in [
        (IoMode::Mmsg, IoMode::Auto, "sendmmsg (Linux 3.0)"),
        (IoMode::Gso, IoMode::Plain, "UDP_SEGMENT (Linux 4.18)"),
        (
            IoMode::Gso,
            IoMode::Gro,
            "UDP_SEGMENT (Linux 4.18) and UDP_GRO (Linux 5.0)",
        ),
        (IoMode::Plain, IoMode::Mmsg, "recvmmsg (Linux 2.6.33)"),
    ] {
        let (text, try_) = asks(tx_mode, rx_mode).unwrap();
        assert!(
            text.contains("plain was used") && try_.contains(&format!("with {needs} there")),
            "{text} {try_}"
        );
    }
    assert_eq!(asks(IoMode::Auto, IoMode::Plain), None);
}

#[test]
fn gaps_count_as_lost_where_the_sender_reports_too_few() {
    let rx = RxAccount {
        packets: 1000,
        mode: Some(IoMode::Mmsg),
        sequence: Some(SequenceTotals {
            sent: 1010,
            received_unique: 1000,
            lost: 10,
            contradicted: true,
            ..SequenceTotals::default()
        }),
        ..RxAccount::default()
    };
    let test = received(&plan(), sender(900, 0), rx, None);
    assert_eq!((test.lost_packets, test.valid), (Some(10), false));
}
