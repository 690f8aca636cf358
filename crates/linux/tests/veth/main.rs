// SPDX-License-Identifier: MIT OR Apache-2.0
//! Senders against queues, MTUs and firewalls of a veth pair in private namespaces, and what is known of its ends.
//!
//! Its own harness, because a process with threads cannot enter a user namespace.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../sandboxed/pair.rs"]
mod pair;
#[path = "../sandboxed/mod.rs"]
mod sandboxed;

use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::qdisc;
use linerate_linux::rtnl::Rtnl;
use linerate_linux::udp::{self, Fault, Options, Receiver, ReceiverConfig, RxMode, Sender, TxMode};
use linerate_model::output::LinkKind;

use pair::pair;

const TESTS: &[(&str, fn())] = &[
    (
        "a_drop_of_the_own_queue_is_not_sent",
        a_drop_of_the_own_queue_is_not_sent,
    ),
    (
        "a_full_send_buffer_is_a_fault_and_not_a_hang",
        a_full_send_buffer_is_a_fault_and_not_a_hang,
    ),
    (
        "a_datagram_beyond_the_mtu_is_too_big_only_with_df",
        a_datagram_beyond_the_mtu,
    ),
    (
        "segments_longer_than_the_mtu_fall_back_visibly",
        segments_longer_than_the_mtu,
    ),
    (
        "a_lost_interface_is_unreachable",
        a_lost_interface_is_unreachable,
    ),
    ("a_veth_says_what_it_is", a_veth_says_what_it_is),
];

fn main() -> ExitCode {
    sandboxed::enter(TESTS, None, |privilege| sandboxed::run(TESTS, privilege))
}

fn a_drop_of_the_own_queue_is_not_sent() {
    for (mode, address) in [(TxMode::Plain, B4), (TxMode::Mmsg, B4), (TxMode::Mmsg, B6)] {
        let pair = Pair::new();
        pair.slow(TokenBucket {
            rate_bytes_per_second: 50_000,
            limit_bytes: 20_000,
        });
        let mut receiver = pair.receiver(address);
        let mut sender = pair.sender(&receiver, 1000, 10, mode, false);
        // Before the neighbour is known, datagrams wait (and are dropped) behind the socket's back.
        assert_eq!(sender.send(0..1).accepted, 1);
        assert_eq!(received(&mut receiver, 1), 1);
        let (mut accepted, mut dropped) = (0, 0);
        for _ in 0..100 {
            let sent = sender.send(0..10);
            accepted += sent.accepted;
            match sent.fault {
                Some(Fault::QueueFull) => dropped += 1,
                None => assert_eq!(sent.accepted, 10),
                other => panic!("{other:?}"),
            }
        }
        assert!(
            dropped > 0 && accepted > 0,
            "{mode:?}: {accepted} sent, {dropped} dropped"
        );
        assert_eq!(received(&mut receiver, accepted), accepted, "{mode:?}");
        assert_eq!(receiver.drops(), Some(0));
    }
}

fn a_full_send_buffer_is_a_fault_and_not_a_hang() {
    let pair = Pair::new();
    pair.slow(TokenBucket {
        rate_bytes_per_second: 50_000,
        limit_bytes: 10_000_000,
    });
    let receiver = pair.receiver(B4);
    let mut sender = pair.sender(&receiver, 1000, 10, TxMode::Mmsg, false);
    let full = (0..1000)
        .map(|_| sender.send(0..10))
        .find(|sent| sent.fault.is_some())
        .unwrap();
    assert_eq!(full.fault, Some(Fault::SendBufferFull));
}

fn a_datagram_beyond_the_mtu() {
    for address in [B4, B6] {
        let pair = Pair::new();
        let mut receiver = pair.receiver(address);
        let mut whole = pair.sender(&receiver, 4000, 1, TxMode::Mmsg, true);
        let sent = whole.send(0..1);
        assert_eq!(
            (sent.accepted, sent.fault),
            (0, Some(Fault::TooBig)),
            "{address}"
        );
        let mut fragments = pair.sender(&receiver, 4000, 1, TxMode::Mmsg, false);
        assert_eq!(fragments.send(0..1).accepted, 1);
        assert_eq!(received(&mut receiver, 1), 1);
    }
}

fn segments_longer_than_the_mtu() {
    for address in [B4, B6] {
        let pair = Pair::new();
        let mut receiver = pair.receiver(address);
        let mut sender = pair.sender(&receiver, 4000, 8, TxMode::Gso, false);
        let sent = sender.send(0..8);
        assert_eq!(
            (sent.accepted, sender.mode()),
            (8, TxMode::Mmsg),
            "{sent:?}"
        );
        assert_eq!(received(&mut receiver, 8), 8);
    }
}

fn a_lost_interface_is_unreachable() {
    let pair = Pair::new();
    let receiver = pair.receiver(B4);
    let mut sender = pair.sender(&receiver, 100, 4, TxMode::Mmsg, false);
    assert_eq!(sender.send(0..4).accepted, 4);
    pair.a
        .run(|| Rtnl::open().unwrap().set_up("near", false).unwrap())
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let sent = sender.send(0..4);
        if let Some(fault) = sent.fault {
            assert!(matches!(fault, Fault::Unreachable(_)), "{fault:?}");
            return;
        }
        assert!(Instant::now() < deadline, "nobody noticed");
    }
}

fn a_veth_says_what_it_is() {
    let pair = Pair::new();
    pair.a.run(near_says_what_it_is).unwrap();
    let counter = |name: &str| {
        let mut counters = pair.a.run(|| nic::Counters::open("near").unwrap()).unwrap();
        let stats = counters.link();
        stats.iter().find(|(known, _)| *known == name).unwrap().1
    };
    let mut receiver = pair.receiver(B4);
    let before = counter("tx_packets");
    let mut sender = pair.sender(&receiver, 100, 10, TxMode::Mmsg, false);
    assert_eq!(sender.send(0..10).accepted, 10);
    assert_eq!(received(&mut receiver, 10), 10);
    assert!(counter("tx_packets") >= before + 10);
}

/// In the host of the near end.
fn near_says_what_it_is() {
    // The kernel settles the state a moment after the far end came up.
    let deadline = Instant::now() + PATIENCE;
    while nic::link("near").unwrap().operstate != "up" {
        assert!(Instant::now() < deadline, "{:?}", nic::link("near"));
    }
    let near = nic::link("near").unwrap();
    assert_eq!(
        (near.link_kind, near.kind.as_deref()),
        (LinkKind::Veth, Some("veth"))
    );
    assert_eq!(
        (near.up, near.carrier, near.operstate, near.mtu_bytes),
        (true, true, "up", 1500)
    );
    assert_eq!(nic::driver("near").unwrap(), "veth");
    assert_eq!(
        nic::speed_bits_per_second("near").unwrap(),
        Some(10_000_000_000)
    );
    assert_eq!(nic::toward(at(B4)).unwrap().as_deref(), Some("near"));
    let described = nic::describe("near").unwrap();
    assert_eq!(
        (described.driver.as_deref(), described.link_bits_per_second),
        (Some("veth"), None)
    );
    let stats = nic::ethtool_stats("near").unwrap();
    assert!(
        stats.iter().any(|(name, _)| name == "peer_ifindex"),
        "{stats:?}"
    );
    assert_eq!(
        nic::interface_of(A4.parse().unwrap()).unwrap().as_deref(),
        Some("near")
    );
    assert_eq!(
        nic::local_toward(at(B6)).unwrap(),
        A6.parse::<IpAddr>().unwrap()
    );
    assert_eq!(
        nic::driver("absent").unwrap_err().raw_os_error(),
        Some(libc::ENODEV)
    );
    assert!(
        nic::list()
            .unwrap()
            .iter()
            .all(|link| link.name == "lo" || link.name == "near")
    );
}

/// Two hosts on one link.
struct Pair {
    a: NetNs,
    b: NetNs,
}

struct TokenBucket {
    rate_bytes_per_second: u32,
    limit_bytes: u32,
}

impl Pair {
    fn new() -> Self {
        let [a, b] = pair([&[A4, A6], &[B4, B6]]);
        Self { a, b }
    }

    fn slow(&self, bucket: TokenBucket) {
        let TokenBucket {
            rate_bytes_per_second,
            limit_bytes,
        } = bucket;
        let bits = 8 * rate_bytes_per_second;
        let slow = format!("tbf rate {bits}bit burst 5000 limit {limit_bytes}");
        self.a.run(|| qdisc::write("near", &slow).unwrap()).unwrap();
    }

    fn receiver(&self, address: &str) -> Receiver {
        let options = Options {
            recv_buffer_bytes: Some(1 << 20),
            ..Options::default()
        };
        let opened = self
            .b
            .run(|| udp::bind(at(address), &options).unwrap())
            .unwrap();
        Receiver::new(
            opened.socket.into(),
            ReceiverConfig::new(64, 16, RxMode::Mmsg),
        )
        .unwrap()
    }

    fn sender(
        &self,
        to: &Receiver,
        payload: usize,
        batch: usize,
        mode: TxMode,
        dont_fragment: bool,
    ) -> Sender {
        let options = Options {
            recv_err: true,
            dont_fragment,
            ..Options::default()
        };
        let to = socket2::SockRef::from(to)
            .local_addr()
            .unwrap()
            .as_socket()
            .unwrap();
        let opened = self
            .a
            .run(|| udp::connect(to, None, &options).unwrap())
            .unwrap();
        Sender::new(opened.socket.into(), payload, batch, mode).unwrap()
    }
}

/// Receives until `expected` came and nothing more is on its way.
fn received(receiver: &mut Receiver, expected: usize) -> usize {
    let deadline = Instant::now() + PATIENCE;
    let mut count = 0;
    loop {
        let came = receiver
            .receive(Duration::from_millis(100))
            .unwrap()
            .iter()
            .count();
        count += came;
        if came == 0 && count >= expected || Instant::now() > deadline {
            return count;
        }
    }
}

fn at(address: &str) -> SocketAddr {
    (address.parse::<IpAddr>().unwrap(), 0).into()
}

const A4: &str = "198.18.0.1";
const B4: &str = "198.18.0.2";
const A6: &str = "2001:2::1";
const B6: &str = "2001:2::2";
const PATIENCE: Duration = Duration::from_secs(20);
