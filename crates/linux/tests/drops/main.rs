// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that the kernel frees in namespaces made here, counted by reason. Runs as what it is, which for root means
//! with the right to load programs, and once in a user namespace, where that right is refused.
//!
//! Its own harness, because a process with threads cannot enter a namespace.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hosts;
#[path = "../sandboxed/pair.rs"]
mod pair;
#[path = "../sandboxed/mod.rs"]
mod sandboxed;
#[path = "../sandboxed/twice.rs"]
mod twice;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use linerate_linux::drops::{Filter, Refused, Watch, program_ids};
use linerate_linux::nft;
use linerate_linux::qdisc;
use linerate_linux::sandbox::Privilege;
use linerate_linux::udp::{self, Options, Sender, TxMode};

use hosts::{ADDRESSES, PATIENCE, Pair, at_least, flow, total};
use twice::enter_twice;

const TESTS: &[(&str, fn())] = &[
    (
        "a_firewall_is_counted_exactly",
        a_firewall_is_counted_exactly,
    ),
    (
        "a_merged_packet_counts_its_segments",
        a_merged_packet_counts_its_segments,
    ),
    (
        "a_full_socket_is_counted_as_it_counts_itself",
        a_full_socket_is_counted_as_it_counts_itself,
    ),
    (
        "a_full_queue_is_counted_at_the_sender_only",
        a_full_queue_is_counted_at_the_sender_only,
    ),
    (
        "foreign_traffic_is_not_counted",
        foreign_traffic_is_not_counted,
    ),
    ("one_port_may_be_any", one_port_may_be_any),
    (
        "without_a_filter_everything_is_counted",
        without_a_filter_everything_is_counted,
    ),
    (
        "a_killed_process_leaves_nothing",
        a_killed_process_leaves_nothing,
    ),
];

fn main() -> ExitCode {
    if std::env::var_os(TO_BE_KILLED).is_some() {
        return to_be_killed();
    }
    enter_twice(TESTS, |privilege| match privilege {
        Privilege::UserNamespace => refused_in_a_user_namespace(),
        Privilege::Root => run_all(),
    })
}

fn run_all() -> ExitCode {
    match Watch::start(&Filter::default()) {
        Err(refused @ (Refused::Permission { .. } | Refused::TooOld { .. })) => {
            sandboxed::skip(TESTS, &refused.to_string())
        }
        _ => sandboxed::run(TESTS, Privilege::Root),
    }
}

/// Root there has no rights here, and the error says so.
fn refused_in_a_user_namespace() -> ExitCode {
    let refused = Watch::start(&Filter::default());
    let reported = matches!(
        &refused,
        Err(Refused::Permission { .. } | Refused::TooOld { .. })
    );
    println!(
        "test in_a_user_namespace_it_is_refused ... {}",
        if reported { "ok" } else { "FAILED" }
    );
    ExitCode::from(u8::from(!reported))
}

fn a_firewall_is_counted_exactly() {
    for (from, to) in ADDRESSES {
        let pair = Pair::new();
        pair.b.run(|| nft::drop_udp(1)).unwrap().unwrap();
        let (sender, receiver) = (pair.near(from), pair.far(to));
        let Some(watch) = pair.watch_b(flow(&sender, &receiver)) else {
            return;
        };
        for _ in 0..500 {
            sender
                .send_to(&[7; 100], receiver.local_addr().unwrap())
                .unwrap();
        }
        assert_eq!(at_least(&watch, "NETFILTER_DROP", 500), 500, "{to}");
        assert_eq!(total(&watch), 500, "{:?}", watch.read(0));
        assert_eq!(watch.missed().unwrap(), 0);
    }
}

fn a_merged_packet_counts_its_segments() {
    for (from, to) in ADDRESSES {
        let pair = Pair::new();
        pair.b.run(|| nft::drop_udp(1)).unwrap().unwrap();
        let (near, far) = (pair.near(from), pair.far(to));
        let Some(watch) = pair.watch_b(flow(&near, &far)) else {
            return;
        };
        near.connect(far.local_addr().unwrap()).unwrap();
        let mut sender = Sender::new(near.into(), 1000, 8, TxMode::Gso).unwrap();
        for _ in 0..20 {
            assert_eq!(sender.send(0..8).accepted, 8);
        }
        assert_eq!(at_least(&watch, "NETFILTER_DROP", 160), 160, "{to}");
        assert_eq!(sender.mode(), TxMode::Gso);
    }
}

fn a_full_socket_is_counted_as_it_counts_itself() {
    for (from, to) in ADDRESSES {
        let pair = Pair::new();
        let (sender, receiver) = (pair.near(from), pair.far(to));
        socket2::SockRef::from(&receiver)
            .set_recv_buffer_size(1)
            .unwrap();
        let Some(watch) = pair.watch_b(flow(&sender, &receiver)) else {
            return;
        };
        for _ in 0..500 {
            sender
                .send_to(&[7; 100], receiver.local_addr().unwrap())
                .unwrap();
        }
        // What waits in the socket is less than this.
        at_least(&watch, "SOCKET_RCVBUFF", 400);
        let own = settled(|| udp::drops_so_far(&receiver).unwrap());
        assert_eq!(
            at_least(&watch, "SOCKET_RCVBUFF", u64::from(own)),
            u64::from(own),
            "{to}"
        );
        assert_eq!(total(&watch), u64::from(own), "{:?}", watch.read(0));
    }
}

fn a_full_queue_is_counted_at_the_sender_only() {
    let pair = Pair::new();
    let slow = "tbf rate 160000bit burst 5000 limit 20000";
    pair.a.run(|| qdisc::write("near", slow)).unwrap().unwrap();
    let receiver = pair.far(ADDRESSES[0].1);
    let to = receiver.local_addr().unwrap();
    let options = Options {
        recv_err: true,
        ..Options::default()
    };
    let near = pair.a.run(|| udp::connect(to, None, &options)).unwrap();
    let near = near.unwrap().socket;
    let meant = flow(&near, &receiver);
    let (Some(here), Some(there)) = (pair.watch_a(meant), pair.watch_b(meant)) else {
        return;
    };
    // The neighbour first, which would drop on its own account.
    near.send(b"first").unwrap();
    receiver.recv_from(&mut [0; 16]).unwrap();
    let mut sender = Sender::new(near.into(), 1000, 1, TxMode::Plain).unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..300 {
        let sent = sender.send(0..1);
        accepted += sent.accepted;
        refused += 1 - sent.accepted as u64;
    }
    assert!(accepted > 0 && refused > 0, "{accepted} {refused}");
    let counted = |watch: &Watch| {
        let all = watch.read(0).unwrap();
        all.iter()
            .filter(|(name, _)| name.starts_with("QDISC_"))
            .map(|(_, count)| count)
            .sum::<u64>()
    };
    assert_eq!(counted(&here), refused, "{:?}", here.read(0));
    assert_eq!(total(&there), 0, "{:?}", there.read(0));
}

fn foreign_traffic_is_not_counted() {
    let pair = Pair::new();
    pair.b.run(|| nft::drop_udp(1)).unwrap().unwrap();
    let (from, to) = ADDRESSES[0];
    let (ours, others, receiver) = (pair.near(from), pair.near(from), pair.far(to));
    let elsewhere = Pair::new();
    let Some(watch) = pair.watch_b(flow(&ours, &receiver)) else {
        return;
    };
    let other_host = elsewhere.watch_b(flow(&ours, &receiver)).unwrap();
    let Ok(all) = Watch::start_unfiltered() else {
        panic!("refused")
    };
    for _ in 0..100 {
        others
            .send_to(b"others", receiver.local_addr().unwrap())
            .unwrap();
    }
    // What everybody sees has been seen by all.
    at_least(&all, "NETFILTER_DROP", 100);
    assert_eq!(total(&watch), 0, "{:?}", watch.read(0));
    ours.send_to(b"ours", receiver.local_addr().unwrap())
        .unwrap();
    assert_eq!(at_least(&watch, "NETFILTER_DROP", 1), 1);
    assert_eq!(total(&other_host), 0, "another namespace");
}

fn one_port_may_be_any() {
    for (from, to) in ADDRESSES {
        let pair = Pair::new();
        pair.b.run(|| nft::drop_udp(1)).unwrap().unwrap();
        let (one, two, receiver) = (pair.near(from), pair.near(from), pair.far(to));
        let mut meant = flow(&one, &receiver);
        meant.one.set_port(0);
        let Some(watch) = pair.watch_b(meant) else {
            return;
        };
        for sender in [&one, &two] {
            sender
                .send_to(b"any", receiver.local_addr().unwrap())
                .unwrap();
        }
        assert_eq!(at_least(&watch, "NETFILTER_DROP", 2), 2, "{to}");
        let other = SocketAddr::new(to.parse().unwrap(), 9);
        one.send_to(b"elsewhere", other).unwrap();
        one.send_to(b"any", receiver.local_addr().unwrap()).unwrap();
        assert_eq!(at_least(&watch, "NETFILTER_DROP", 3), 3, "{to}");
    }
}

fn without_a_filter_everything_is_counted() {
    let pair = Pair::new();
    pair.b.run(|| nft::drop_udp(1)).unwrap().unwrap();
    let (from, to) = ADDRESSES[0];
    let (sender, receiver) = (pair.near(from), pair.far(to));
    let watch = Watch::start_unfiltered().unwrap();
    assert!(watch.is_filtered().is_err());
    for _ in 0..50 {
        sender
            .send_to(b"some", receiver.local_addr().unwrap())
            .unwrap();
    }
    assert!(at_least(&watch, "NETFILTER_DROP", 50) >= 50);
}

fn a_killed_process_leaves_nothing() {
    let mut again = Command::new(std::env::current_exe().unwrap());
    let mut child = again
        .env(TO_BE_KILLED, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let id: u32 = line.trim().parse().unwrap();
    assert!(program_ids().unwrap().contains(&id), "{id}");
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while program_ids().unwrap().contains(&id) {
        assert!(Instant::now() < deadline, "program {id} is still there");
        std::thread::yield_now();
    }
}

/// Tells the number of its program and waits for the end.
fn to_be_killed() -> ExitCode {
    let watch = Watch::start(&Filter::default()).unwrap();
    println!("{}", watch.program_id().unwrap());
    loop {
        std::thread::park();
    }
}

/// A counter's value once it no longer grows while the other thread of the kernel finishes.
fn settled(read: impl Fn() -> u32) -> u32 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (one, other) = (read(), {
            std::thread::yield_now();
            read()
        });
        if one == other || Instant::now() > deadline {
            return other;
        }
    }
}

const TO_BE_KILLED: &str = "LINERATE_TEST_TO_BE_KILLED";
