// SPDX-License-Identifier: MIT OR Apache-2.0
//! Both of our ends against each other over the loopback: every shape of test ends well, and its
//! books balance.

use crate::support::free_port;
use linerate_endpoint::{
    self, Direction, Event, IoMode, NoObserver, Observer, Peer, Protocol, ServeOptions,
    TestOutcome, TestPlan,
};
use linerate_linux::signal::Interrupt;

use linerate_model::output as model;

/// A server on a free port, ended with the value.
struct Served {
    port: u16,
    interrupt: Interrupt,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn start() -> Self {
        let port = free_port();
        let interrupt = Interrupt::default();
        let stop = interrupt.clone();
        let (ready, wait) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let options = ServeOptions {
                port,
                quiet: true,
                ..ServeOptions::default()
            };
            linerate_endpoint::serve(&options, &mut || ready.send(()).unwrap(), &stop).unwrap();
        });
        wait.recv().unwrap();
        Self {
            port,
            interrupt,
            thread: Some(thread),
        }
    }

    fn run(&self, plan: TestPlan) -> TestOutcome {
        let plan = TestPlan {
            port: self.port,
            interval_ms: 100,
            ..plan
        };
        linerate_endpoint::run(&plan, &mut NoObserver, &Interrupt::default()).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.interrupt.request(15);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Datagrams sent and bits received a second, interval by interval, as they were shown.
#[derive(Default)]
struct Shown(Vec<(model::Direction, Option<u64>, Option<f64>)>);

impl Observer for Shown {
    fn observe(&mut self, event: &Event<'_>) {
        if let Event::Interval {
            direction,
            interval,
        } = event
        {
            let half = (interval.sent_packets, interval.received_bits_per_second);
            self.0.push((*direction, half.0, half.1));
        }
    }
}

/// While the test runs the sender's and the receiver's half are shown together.
#[test]
fn intervals_are_shown_with_both_halves() {
    let served = Served::start();
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        let plan = TestPlan {
            direction,
            port: served.port,
            interval_ms: 200,
            duration_ms: 1000,
            bits_per_second: Some(8_000_000),
            payload_bytes: Some(1000),
            ..TestPlan::udp("127.0.0.1")
        };
        let mut shown = Shown::default();
        let outcome = linerate_endpoint::run(&plan, &mut shown, &Interrupt::default()).unwrap();
        for test in &outcome.tests {
            let of_test = shown.0.iter().filter(|(way, ..)| *way == test.direction);
            let whole = of_test.filter(|(_, sent, received)| sent.is_some() && received.is_some());
            assert!(whole.count() > 0, "{direction:?}: {:?}", shown.0);
        }
    }
}

#[test]
fn a_warm_up_is_in_no_count() {
    let served = Served::start();
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        let plan = TestPlan {
            direction,
            omit_ms: 200,
            duration_ms: 300,
            bits_per_second: Some(8_000_000),
            payload_bytes: Some(1000),
            ..TestPlan::udp("127.0.0.1")
        };
        for test in &served.run(plan).tests {
            let count = |number: Option<u64>| number.unwrap();
            // 1000 datagrams a second; both ends agree on which of them are measured.
            let due = count(test.sent_packets) + count(test.unsent_packets);
            assert!((299..=301).contains(&due), "{direction:?}: {due}");
            assert_eq!(
                count(test.received_packets) + count(test.lost_packets),
                count(test.sent_packets)
            );
            assert_eq!(test.duration_s, 0.3);
        }
    }
}

#[test]
fn tcp_in_every_direction_delivers_what_was_sent() {
    let served = Served::start();
    for (direction, entries) in [
        (Direction::Up, 1),
        (Direction::Down, 1),
        (Direction::Both, 2),
    ] {
        for streams in [1, 3] {
            let plan = TestPlan {
                direction,
                streams,
                duration_ms: 300,
                ..TestPlan::tcp("127.0.0.1")
            };
            let outcome = served.run(plan);
            assert_eq!(outcome.error, None);
            assert!(matches!(outcome.peer, Peer::Linerate { .. }));
            assert_eq!(outcome.tests.len(), entries, "{direction:?}");
            for test in &outcome.tests {
                assert!(test.valid, "{direction:?}: {:?}", test.invalid_reason);
                assert!(test.delivered_bits_per_second.unwrap() > 1e6, "{test:?}");
                assert_eq!(test.flows.len(), usize::from(streams));
                assert!(!test.intervals.is_empty());
            }
        }
    }
}

#[test]
fn udp_books_balance_in_every_direction() {
    let served = Served::start();
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        let plan = TestPlan {
            direction,
            streams: 2,
            duration_ms: 400,
            payload_bytes: Some(1000),
            bits_per_second: Some(20_000_000),
            ..TestPlan::udp("127.0.0.1")
        };
        let outcome = served.run(plan);
        assert_eq!(outcome.error, None);
        for test in &outcome.tests {
            valid_or_unsent(test);
            let sent = test.sent_packets.unwrap();
            // 20 Mbit/s of 1000 bytes for 0.4 s is exactly 1000 datagrams a stream.
            assert_eq!(sent + test.unsent_packets.unwrap(), 2000);
            assert_eq!(
                sent,
                test.received_packets.unwrap() + test.lost_packets.unwrap()
            );
            assert!(
                test.lost_packets.unwrap() <= test.socket_drops.unwrap(),
                "{test:?}"
            );
        }
        assert!(outcome.latency[0].rtt_ns.is_some());
    }
}

#[test]
fn an_amount_is_sent_exactly() {
    let served = Served::start();
    for direction in [Direction::Up, Direction::Down] {
        let udp = TestPlan {
            direction,
            blocks: Some(777),
            payload_bytes: Some(200),
            bits_per_second: Some(10_000_000),
            ..TestPlan::udp("127.0.0.1")
        };
        let outcome = served.run(udp);
        assert_eq!(
            outcome.tests[0].sent_packets,
            Some(777),
            "{direction:?} {outcome:?}"
        );
        let tcp = TestPlan {
            direction,
            bytes: Some(5_000_001),
            ..TestPlan::tcp("127.0.0.1")
        };
        let test = served.run(tcp).tests.remove(0);
        let bytes = |rate: Option<f64>| (rate.unwrap() * test.duration_s / 8.0).round();
        assert_eq!(bytes(test.offered_bits_per_second), 5_000_001.0);
        // A busy machine's receiver has not yet read what its socket holds at the end.
        let delivered = bytes(test.delivered_bits_per_second);
        assert!(
            delivered > 0.0 && delivered <= 5_000_001.0,
            "{direction:?}: {delivered}"
        );
    }
}

/// As in iperf3 an amount is counted from the end of the warm-up on.
#[test]
fn an_amount_is_sent_behind_the_warm_up() {
    let served = Served::start();
    for direction in [Direction::Up, Direction::Down, Direction::Both] {
        let amount = TestPlan {
            direction,
            omit_ms: 200,
            blocks: Some(100),
            payload_bytes: Some(1000),
            bits_per_second: Some(8_000_000),
            ..TestPlan::udp("127.0.0.1")
        };
        for test in &served.run(amount.clone()).tests {
            assert!(test.valid, "{direction:?}: {:?}", test.invalid_reason);
            assert_eq!(test.sent_packets, Some(100), "{direction:?}");
        }
        let tcp = TestPlan {
            protocol: Protocol::Tcp,
            blocks: None,
            bytes: Some(100_000),
            ..amount
        };
        for test in &served.run(tcp).tests {
            let sent = test.offered_bits_per_second.unwrap() * test.duration_s / 8.0;
            assert_eq!(sent.round(), 100_000.0, "{direction:?}");
        }
    }
}

/// The last datagram that is due may be long before the end.
#[test]
fn a_slow_test_lasts_its_time() {
    let served = Served::start();
    let plan = TestPlan {
        duration_ms: 1900,
        payload_bytes: Some(1000),
        bits_per_second: Some(8_000),
        ..TestPlan::udp("127.0.0.1")
    };
    let test = served.run(plan).tests.remove(0);
    assert_eq!((test.sent_packets, test.duration_s), (Some(2), 1.9));
    let early = test.warnings.iter().find(|one| one.id == "ended-early");
    assert_eq!(early, None);
}

#[test]
fn every_send_mode_is_named() {
    let served = Served::start();
    for mode in [IoMode::Plain, IoMode::Mmsg, IoMode::Gso] {
        let plan = TestPlan {
            tx_mode: mode,
            blocks: Some(1000),
            payload_bytes: Some(1200),
            bits_per_second: Some(50_000_000),
            ..TestPlan::udp("127.0.0.1")
        };
        let test = served.run(plan).tests.remove(0);
        assert_eq!(test.mode.tx, Some(mode));
        assert!(test.valid, "{:?}", test.invalid_reason);
    }
}

/// Half a GiB a stream is a client's wish, and the server's memory.
#[test]
fn a_client_gets_no_more_buffer_than_the_server_can_spare() {
    let wish = 512 << 20;
    let streams = 32;
    let spare = linerate_linux::host::memory_bytes().unwrap() / 8 / u64::from(streams);
    if spare >= wish {
        println!("skipped: this machine can spare {spare} bytes a stream");
        return;
    }
    let served = Served::start();
    for plan in [TestPlan::udp("127.0.0.1"), TestPlan::tcp("127.0.0.1")] {
        let plan = TestPlan {
            window_bytes: u32::try_from(wish).ok(),
            streams,
            duration_ms: 200,
            ..plan
        };
        let test = served.run(plan).tests.remove(0);
        valid_or_unsent(&test);
        let cut = |one: &&model::Warning| one.id == "buffer-not-granted";
        let warning = test.warnings.iter().find(cut).unwrap();
        let granted = format!("buffers of {spare} bytes of the requested {wish}");
        assert!(warning.text.contains(&granted), "{warning:?}");
        if let Some(buffer) = test.receive_buffer_bytes {
            assert_eq!(buffer.asked, Some(wish));
            assert!(buffer.granted.unwrap() <= spare, "{buffer:?}");
        }
    }
}

/// As under `taskset`: the server has the processor, but may not use it.
#[test]
fn a_server_that_may_not_use_a_processor_says_so() {
    let [mine, other, ..] = linerate_linux::cpu::allowed()[..] else {
        println!("skipped: one processor only");
        return;
    };
    let confined = std::thread::spawn(move || {
        linerate_linux::cpu::pin(mine).unwrap();
        let served = Served::start();
        [other, mine].map(|wanted| {
            let plan = TestPlan {
                affinity: Some((mine as u32, Some(wanted as u32))),
                duration_ms: 200,
                ..TestPlan::udp("127.0.0.1")
            };
            let test = served.run(plan).tests.remove(0);
            let pinned = |one: &&model::Warning| one.id == "not-pinned";
            test.warnings.iter().find(pinned).cloned()
        })
    });
    let [warned, quiet] = confined.join().unwrap();
    let reported = format!("the far end is not allowed to use CPU {other}");
    assert!(
        warned.as_ref().unwrap().text.contains(&reported),
        "{warned:?}"
    );
    assert_eq!(quiet, None);
}

/// A busy machine may leave datagrams unsent; nothing else is held against the numbers.
fn valid_or_unsent(test: &model::Test) {
    let reason = test.invalid_reason.as_deref();
    let sound = reason.is_none_or(|why| why.contains("were not sent"));
    assert!(sound, "{reason:?}");
}
