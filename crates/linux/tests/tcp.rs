// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP streams over real sockets of the loopback.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use linerate_linux::tcp::{self, Mover, Options, RxMode, TxMode};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn every_mode_moves_the_same_bytes() {
    for tx in [TxMode::Copy, TxMode::ZeroCopy, TxMode::SendFile] {
        for rx in [RxMode::Copy, RxMode::Trunc] {
            let (client, server) = connected(&Options::default());
            let sending = std::thread::spawn(move || {
                let mut mover =
                    Mover::new(client, 65_536, tx, RxMode::Copy, |block| block.fill(0x5a)).unwrap();
                let mut left = 10_000_000;
                while left > 0 {
                    left -= mover.send_block(left).unwrap();
                }
                assert_eq!(mover.tx_mode(), tx);
                tcp::shutdown(mover.stream());
            });
            let mut mover = Mover::new(server, 32_768, TxMode::Copy, rx, |_| {}).unwrap();
            let mut received = 0;
            while let Some(length) = mover.receive_block().unwrap() {
                if rx == RxMode::Copy {
                    assert!(mover.block()[..length].iter().all(|&byte| byte == 0x5a));
                }
                received += length;
            }
            sending.join().unwrap();
            assert_eq!(received, 10_000_000, "{tx:?} {rx:?}");
        }
    }
}

#[test]
fn an_accepted_stream_knows_the_class_it_arrived_with() {
    for (bind, to) in [
        ("127.0.0.1", "127.0.0.1"),
        ("::", "127.0.0.1"),
        ("::1", "::1"),
    ] {
        for tos in [0, 0x88, 0xb8] {
            let address: IpAddr = bind.parse().unwrap();
            let Ok(listener) = tcp::listen(Some(address), 0, &Options::default()) else {
                println!("skipped: no {bind} here");
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let peer = SocketAddr::new(to.parse().unwrap(), port);
            let options = Options {
                tos: Some(tos),
                ..Options::default()
            };
            let client = tcp::connect(peer, &options, PATIENCE, || false).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            // What this end sends with says nothing of what arrived.
            let answer = Options {
                tos: Some(0x20),
                ..Options::default()
            };
            tcp::adjust(&accepted, &answer).unwrap();
            assert_eq!(
                tcp::arrived_tos(&accepted).unwrap(),
                Some(tos),
                "{bind} {to}"
            );
            drop(client);
        }
    }
}

#[test]
fn blocks_sent_by_reference_arrive() {
    let (client, server) = connected(&Options {
        zerocopy: true,
        ..Options::default()
    });
    let mut receiver = Mover::new(server, 65_536, TxMode::Copy, RxMode::Trunc, |_| {}).unwrap();
    let mut sender = Mover::new(client, 65_536, TxMode::ZeroCopy, RxMode::Copy, |_| {}).unwrap();
    for _ in 0..100 {
        let mut left = sender.send_block(65_536).unwrap();
        while left > 0 {
            left -= receiver.receive_block().unwrap().unwrap();
        }
    }
}

#[test]
fn a_shutdown_from_another_thread_ends_a_blocked_receive_and_a_blocked_send() {
    for direction in ["receive", "send"] {
        let (client, server) = connected(&Options::default());
        let handle = client.try_clone().unwrap();
        let blocked = std::thread::spawn(move || {
            let mut mover =
                Mover::new(client, 1 << 20, TxMode::Copy, RxMode::Copy, |_| {}).unwrap();
            if direction == "receive" {
                return mover.receive_block().map(|got| assert_eq!(got, None));
            }
            loop {
                mover.send_block(1 << 20)?;
            }
        });
        if direction == "send" {
            // It blocks once both buffers are full: the unread bytes stop growing.
            wait_until(|| {
                tcp::info(&handle)
                    .unwrap()
                    .notsent_bytes
                    .is_none_or(|bytes| bytes > 0)
            });
        }
        tcp::shutdown(&handle);
        let ended = blocked.join().unwrap();
        match direction {
            "receive" => ended.unwrap(),
            _ => assert_eq!(ended.unwrap_err().kind(), ErrorKind::BrokenPipe),
        }
        drop(server);
    }
}

#[test]
fn an_abort_resets_the_peer() {
    let (client, server) = connected(&Options::default());
    let mut mover = Mover::new(server, 1000, TxMode::Copy, RxMode::Copy, |_| {}).unwrap();
    tcp::set_wait(mover.stream(), PATIENCE).unwrap();
    mover.send_block(1000).unwrap();
    tcp::abort(&client);
    drop(client);
    let deadline = Instant::now() + PATIENCE;
    let error = loop {
        assert!(Instant::now() < deadline);
        if let Err(error) = mover.send_block(1000) {
            break error;
        }
    };
    assert!(
        matches!(
            error.kind(),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        ),
        "{error}"
    );
}

#[test]
fn a_wait_ends_a_quiet_receive() {
    let (client, _server) = connected(&Options::default());
    tcp::set_wait(&client, Duration::from_millis(10)).unwrap();
    let mut mover = Mover::new(client, 1000, TxMode::Copy, RxMode::Copy, |_| {}).unwrap();
    assert_eq!(mover.receive_block().unwrap(), Some(0));
}

#[test]
fn connecting_is_refused_timed_out_or_interrupted() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let options = Options::default();
    let refused = tcp::connect(closed, &options, PATIENCE, || false).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    let (full, _queued) = full_listener();
    let timeout = Duration::from_millis(30);
    let late = tcp::connect(full.local_addr().unwrap(), &options, timeout, || false).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::TimedOut);
    let asked = AtomicBool::new(false);
    let interrupted = tcp::connect(full.local_addr().unwrap(), &options, PATIENCE, || {
        asked.swap(true, Ordering::Relaxed)
    });
    assert_eq!(interrupted.unwrap_err().kind(), ErrorKind::Interrupted);
}

#[test]
fn one_listener_takes_both_families_and_options_hold() {
    let listening = Options {
        window_bytes: Some(100_000),
        mss_bytes: Some(1000),
        ..Options::default()
    };
    let listener = tcp::listen(None, 0, &listening).unwrap();
    let port = listener.local_addr().unwrap().port();
    for address in ["127.0.0.1", "::1"] {
        let address: IpAddr = address.parse().unwrap();
        let options = Options {
            local: Some((address, 0).into()),
            window_bytes: Some(200_000),
            nodelay: true,
            congestion: Some("reno".to_owned()),
            tos: Some(0x20),
            dead_peer_timeout: Some(Duration::from_secs(8)),
            max_pacing_bytes_per_second: Some(1_000_000_000),
            ..Options::default()
        };
        let connected = tcp::connect((address, port).into(), &options, PATIENCE, || false).unwrap();
        assert!(tcp::wait_acceptable(&listener, PATIENCE).unwrap());
        let (accepted, _) = listener.accept().unwrap();
        assert_eq!(connected.send_buffer.granted_bytes, 200_000);
        assert_eq!(tcp::congestion(&connected.stream).unwrap(), "reno");
        assert!(connected.stream.nodelay().unwrap());
        assert!(tcp::mss_bytes(&connected.stream).unwrap() <= 1000);
        let (recv, _send) = tcp::adjust(&accepted, &Options::default()).unwrap();
        assert_eq!(recv.granted_bytes, 100_000);
    }
    assert!(!tcp::wait_acceptable(&listener, Duration::ZERO).unwrap());
}

#[test]
fn info_agrees_with_what_was_sent() {
    let (client, server) = connected(&Options::default());
    let before = tcp::info(&client).unwrap();
    assert_eq!(
        (before.state, before.bytes_acked.map(|bytes| bytes <= 1)),
        (1, Some(true))
    );
    let mut sender = Mover::new(client, 100_000, TxMode::Copy, RxMode::Copy, |_| {}).unwrap();
    let mut receiver = Mover::new(server, 100_000, TxMode::Copy, RxMode::Copy, |_| {}).unwrap();
    let mut left = sender.send_block(100_000).unwrap();
    let sent = left as u64;
    while left > 0 {
        left -= receiver.receive_block().unwrap().unwrap();
    }
    wait_until(|| sender.unacknowledged_bytes() == Some(0));
    let info = tcp::info(sender.stream()).unwrap();
    let acked = info.bytes_acked.unwrap() - before.bytes_acked.unwrap();
    assert_eq!(acked, sent);
    assert_eq!(
        (info.total_retrans, info.unacked, info.notsent_bytes),
        (0, 0, Some(0))
    );
    assert!(info.rtt_ns > 0 && info.rtt_ns < 1_000_000_000, "{info:?}");
    assert!(info.cwnd_bytes >= info.snd_mss.into());
    assert!(info.pacing_bytes_per_second > Some(0), "{info:?}");
    assert!(info.busy_ns.is_some() && info.rwnd_limited_ns.is_some());
}

fn connected(options: &Options) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let client = tcp::connect(at, options, PATIENCE, || false)
        .unwrap()
        .stream;
    (client, listener.accept().unwrap().0)
}

/// A listener whose queue takes no more: further connections stay unanswered.
fn full_listener() -> (TcpListener, Vec<TcpStream>) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket
        .bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into())
        .unwrap();
    socket.listen(0).unwrap();
    let at = socket.local_addr().unwrap().as_socket().unwrap();
    let mut queued = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&at, Duration::from_millis(50)) {
        queued.push(stream);
    }
    (socket.into(), queued)
}

fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true");
        std::thread::yield_now();
    }
}
