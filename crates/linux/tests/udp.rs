// SPDX-License-Identifier: MIT OR Apache-2.0
//! UDP senders and receivers against each other over real sockets of the loopback.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use linerate_linux::clock::wall_ns;
use linerate_linux::cpu;
use linerate_linux::udp::{
    self, Acceptor, Load, Options, Receiver, ReceiverConfig, RxMode, Sender, TxMode,
};

const LOOPBACKS: [&str; 2] = ["127.0.0.1", "::1"];
const PATIENCE: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(50);

#[test]
fn every_mode_delivers_the_same_datagrams_in_order() {
    stay_on_one_processor();
    for address in LOOPBACKS {
        for tx in [TxMode::Plain, TxMode::Mmsg, TxMode::Gso] {
            for rx in [RxMode::Plain, RxMode::Mmsg, RxMode::Gro] {
                let (mut sender, mut receiver) = pair(address, 1200, 16, tx, rx);
                let mut expected = 0;
                for first in (0..320).step_by(16) {
                    number(&mut sender, first, 16);
                    let sent = sender.send(0..16);
                    assert_eq!((sent.accepted, sent.fault), (16, None), "{tx:?} {rx:?}");
                    expected = collect(&mut receiver, expected, first + 16);
                }
                assert_eq!((sender.mode(), receiver.mode()), (tx, rx), "{address}");
                assert_eq!(receiver.drops(), Some(0));
            }
        }
    }
}

#[test]
fn lingering_takes_the_same_datagrams_in_fewer_batches() {
    let (mut sender, receiver) = pair("127.0.0.1", 300, 1, TxMode::Plain, RxMode::Mmsg);
    let linger = Duration::from_millis(1);
    let config = ReceiverConfig {
        linger,
        ..ReceiverConfig::new(300, 64, RxMode::Mmsg)
    };
    let mut receiver = Receiver::new(receiver_fd(&receiver), config).unwrap();
    let sending = std::thread::spawn(move || {
        stay_on_one_processor();
        for index in 0..600 {
            number(&mut sender, index, 1);
            assert_eq!(sender.send(0..1).accepted, 1);
        }
    });
    assert_eq!(collect(&mut receiver, 0, 600), 600);
    sending.join().unwrap();
}

#[test]
fn a_short_last_batch_is_split_right() {
    stay_on_one_processor();
    let (mut sender, mut receiver) = pair("127.0.0.1", 700, 130, TxMode::Gso, RxMode::Gro);
    let slots = sender.slots();
    // Whole messages of 64.
    assert_eq!(slots, 128);
    number(&mut sender, 0, 128);
    assert_eq!(sender.send(3..slots).accepted, 125);
    let mut expected = 3;
    while expected < 128 {
        expected = collect(&mut receiver, expected, expected + 1);
    }
    assert_eq!(expected, 128);
}

#[test]
fn received_and_dropped_make_sent_to_the_datagram() {
    for rx in [RxMode::Plain, RxMode::Mmsg, RxMode::Gro] {
        let small = Options {
            recv_buffer_bytes: Some(16_384),
            ..Options::default()
        };
        let opened = udp::bind("127.0.0.1:0".parse().unwrap(), &small).unwrap();
        assert!(opened.recv_buffer.granted_bytes >= 16_384);
        let to = opened.socket.local_addr().unwrap();
        let config = ReceiverConfig::new(1000, 32, rx);
        let mut receiver = Receiver::new(opened.socket.into(), config).unwrap();
        let mut sender = sender_to(to, 1000, 10, TxMode::Mmsg);
        for _ in 0..50 {
            assert_eq!(sender.send(0..10).accepted, 10);
        }
        let mut received = 0;
        let deadline = Instant::now() + PATIENCE;
        while received + receiver.drops().unwrap() < 500 {
            assert!(
                Instant::now() < deadline,
                "{received} + {:?}",
                receiver.drops()
            );
            received += receiver.receive(TICK).unwrap().iter().count() as u32;
        }
        assert_eq!(received + receiver.drops().unwrap(), 500, "{rx:?}");
        assert!(receiver.drops().unwrap() > 300);
    }
}

#[test]
fn a_long_datagram_keeps_its_real_length() {
    let (mut sender, receiver) = pair("127.0.0.1", 1000, 2, TxMode::Plain, RxMode::Mmsg);
    let config = ReceiverConfig::new(16, 4, RxMode::Mmsg);
    let mut receiver = Receiver::new(receiver_fd(&receiver), config).unwrap();
    sender.slot(0)[..16].fill(7);
    sender.send(0..1);
    let batch = receiver.receive(PATIENCE).unwrap();
    let datagram = batch.iter().next().unwrap();
    assert_eq!((datagram.bytes, datagram.length), (&[7; 16][..], 1000));
}

#[test]
fn an_empty_datagram_is_a_datagram() {
    let (sender, mut receiver) = pair("127.0.0.1", 100, 1, TxMode::Plain, RxMode::Gro);
    rustix::net::send(&sender, &[], rustix::net::SendFlags::empty()).unwrap();
    let batch = receiver.receive(PATIENCE).unwrap();
    assert_eq!(
        batch
            .iter()
            .map(|datagram| datagram.length)
            .collect::<Vec<_>>(),
        [0]
    );
}

#[test]
fn the_kernel_stamps_arrival_tos_and_source() {
    for address in LOOPBACKS {
        let opened = udp::bind(
            any_port(address),
            &Options {
                packet_info: true,
                ..Options::default()
            },
        )
        .unwrap();
        let to = opened.socket.local_addr().unwrap();
        let config = ReceiverConfig {
            tos: true,
            addresses: true,
            ..ReceiverConfig::new(64, 4, RxMode::Mmsg)
        };
        let mut receiver = Receiver::new(opened.socket.into(), config).unwrap();
        let options = Options {
            tos: Some(0xb8),
            recv_err: true,
            ..Options::default()
        };
        let from = udp::connect(to, None, &options).unwrap().socket;
        let source = from.local_addr().unwrap();
        let mut sender = Sender::new(from.into(), 64, 1, TxMode::Mmsg).unwrap();
        let before = wall_ns();
        assert_eq!(sender.send(0..1).accepted, 1);
        let batch = receiver.receive(PATIENCE).unwrap();
        let datagram = batch.iter().next().unwrap();
        assert_eq!((datagram.tos, datagram.source), (Some(0xb8), Some(source)));
        assert_eq!(datagram.local, Some(to.ip()));
        let stamp = datagram.kernel_ns.unwrap();
        assert!((before..=wall_ns()).contains(&stamp), "{before} {stamp}");
    }
}

#[test]
fn an_icmp_refusal_neither_loses_nor_doubles_a_datagram() {
    for address in LOOPBACKS {
        let closed = {
            let socket = UdpSocket::bind(any_port(address)).unwrap();
            socket.local_addr().unwrap()
        };
        let mut sender = sender_to(closed, 200, 8, TxMode::Mmsg);
        let mut pending = 0;
        let deadline = Instant::now() + PATIENCE;
        while pending == 0 {
            assert!(Instant::now() < deadline, "no ICMP error came back");
            let sent = sender.send(0..8);
            assert_eq!((sent.accepted, sent.fault), (8, None));
            pending += sent.pending_errors;
        }
    }
}

#[test]
fn waiting_ends_with_an_empty_batch() {
    let (_sender, mut receiver) = pair("127.0.0.1", 100, 1, TxMode::Plain, RxMode::Mmsg);
    for timeout in [Duration::ZERO, Duration::from_millis(1)] {
        assert!(receiver.receive(timeout).unwrap().is_empty());
    }
}

#[test]
fn a_grant_below_what_was_asked_says_so() {
    let huge = Options {
        recv_buffer_bytes: Some(usize::MAX),
        ..Options::default()
    };
    let opened = udp::bind("127.0.0.1:0".parse().unwrap(), &huge).unwrap();
    assert_eq!(opened.recv_buffer.asked_bytes, Some(usize::MAX));
    assert!(opened.recv_buffer.is_short());
    let small = Options {
        recv_buffer_bytes: Some(32_768),
        ..Options::default()
    };
    let opened = udp::bind("127.0.0.1:0".parse().unwrap(), &small).unwrap();
    assert_eq!(opened.recv_buffer.granted_bytes, 32_768);
    assert!(!opened.recv_buffer.is_short());
}

#[test]
fn an_acceptor_gives_each_peer_its_own_socket() {
    let mut acceptor = Acceptor::bind(None, 0, &Options::default()).unwrap();
    let of_each_load = |address| [(address, Load::Heavy), (address, Load::Light)];
    for (address, load) in LOOPBACKS.into_iter().flat_map(of_each_load) {
        let peer = UdpSocket::bind(any_port(address)).unwrap();
        let other = UdpSocket::bind(any_port(address)).unwrap();
        let at: SocketAddr = (address.parse::<IpAddr>().unwrap(), acceptor.port()).into();
        peer.connect(at).unwrap();
        peer.send(b"hello").unwrap();
        let greeting = acceptor.receive(PATIENCE).unwrap().unwrap();
        assert_eq!(
            (&greeting.bytes[..], greeting.local),
            (&b"hello"[..], at.ip())
        );
        assert_eq!(greeting.source, peer.local_addr().unwrap());
        let (twin, strays) = acceptor
            .connected_twin(greeting.local, greeting.source, &Options::default(), load)
            .unwrap();
        assert_eq!(strays, []);
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        twin.socket.send(b"welcome").unwrap();
        let mut bytes = [0; 16];
        assert_eq!(peer.recv(&mut bytes).unwrap(), 7);
        peer.send(b"data").unwrap();
        twin.socket.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(twin.socket.recv(&mut bytes).unwrap(), 4);
        other.send_to(b"other", at).unwrap();
        let greeting = acceptor.receive(PATIENCE).unwrap().unwrap();
        assert_eq!(
            (&greeting.bytes[..], greeting.source),
            (&b"other"[..], other.local_addr().unwrap())
        );
    }
}

/// The kernel looks only at the first socket of an address and port before it looks up the route.
#[test]
fn a_light_twin_leaves_the_first_place_to_the_data() {
    if UdpSocket::bind("[::1]:0").is_err() {
        println!("skipped: no IPv6 here");
        return;
    }
    let acceptor = Acceptor::bind(None, 0, &Options::default()).unwrap();
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    let domain = |load| {
        let local = Ipv4Addr::LOCALHOST.into();
        let twin =
            acceptor.connected_twin(local, peer.local_addr().unwrap(), &Options::default(), load);
        let (twin, _) = twin.unwrap();
        socket2::SockRef::from(&twin.socket).domain().unwrap()
    };
    assert_eq!(domain(Load::Heavy), socket2::Domain::IPV4);
    assert_eq!(domain(Load::Light), socket2::Domain::IPV6);
}

/// Another program that asked for it could share the port, and received what is meant for the server.
#[test]
fn no_other_program_shares_the_port_of_an_acceptor() {
    if udp::misdelivers() {
        println!("skipped: this kernel misdelivers within a group of SO_REUSEPORT");
        return;
    }
    let acceptor = Acceptor::bind(None, 0, &Options::default()).unwrap();
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (_twin, _) = acceptor
        .connected_twin(
            Ipv4Addr::LOCALHOST.into(),
            peer.local_addr().unwrap(),
            &Options::default(),
            Load::Heavy,
        )
        .unwrap();
    for address in [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED] {
        let thief =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap();
        thief.set_reuse_address(true).unwrap();
        let port = SocketAddr::from((address, acceptor.port()));
        let refused = thief.bind(&port.into()).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::AddrInUse, "{address}");
    }
}

/// A control message that says the same of each datagram would cost each of them.
#[test]
fn a_twin_reports_no_destination_address() {
    let of_each_load = |address| [(address, Load::Heavy), (address, Load::Light)];
    for (address, load) in LOOPBACKS.into_iter().flat_map(of_each_load) {
        let acceptor = Acceptor::bind(None, 0, &Options::default()).unwrap();
        let peer = UdpSocket::bind(any_port(address)).unwrap();
        let at: SocketAddr = (address.parse::<IpAddr>().unwrap(), acceptor.port()).into();
        let source = peer.local_addr().unwrap();
        let twin = acceptor.connected_twin(at.ip(), source, &Options::default(), load);
        peer.send_to(b"data", at).unwrap();
        let config = ReceiverConfig::new(16, 8, RxMode::Plain);
        let mut receiver = Receiver::new(twin.unwrap().0.socket.into(), config).unwrap();
        let batch = receiver.receive(PATIENCE).unwrap();
        let locals: Vec<_> = batch.iter().map(|datagram| datagram.local).collect();
        assert_eq!(locals, [None]);
    }
}

#[test]
fn twins_made_under_a_storm_of_greetings_lose_none() {
    // Room for all: a twin that has to wait for a processor before it is connected takes each greeting of the storm. The
    // default of 212992 bytes holds 256 of them.
    let options = Options {
        recv_buffer_bytes: Some(1 << 20),
        ..Options::default()
    };
    let mut acceptor = Acceptor::bind(None, 0, &options).unwrap();
    let at: SocketAddr = ("127.0.0.1".parse::<IpAddr>().unwrap(), acceptor.port()).into();
    let first = UdpSocket::bind("127.0.0.1:0").unwrap();
    let storm = std::thread::spawn(move || {
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        (0..300u32)
            .for_each(|number| assert_eq!(other.send_to(&number.to_be_bytes(), at).unwrap(), 4));
    });
    let mut seen = [0u32; 300];
    let mut twins = Vec::new();
    for _ in 0..50 {
        let (twin, strays) = acceptor
            .connected_twin(at.ip(), first.local_addr().unwrap(), &options, Load::Heavy)
            .unwrap();
        let strays = strays.iter();
        strays.for_each(|greeting| note(&mut seen, &greeting.bytes));
        let config = ReceiverConfig::new(4, 8, RxMode::Mmsg);
        twins.push(Receiver::new(twin.socket.into(), config).unwrap());
    }
    storm.join().unwrap();
    // The loopback may deliver later than send(2) returns, also into a twin, if it was chosen before it was connected.
    let deadline = Instant::now() + PATIENCE;
    loop {
        for twin in &mut twins {
            let late = twin.receive(Duration::ZERO).unwrap();
            late.iter()
                .for_each(|datagram| note(&mut seen, datagram.bytes));
        }
        while let Some(greeting) = acceptor.receive(TICK).unwrap() {
            note(&mut seen, &greeting.bytes);
        }
        if !seen.contains(&0) || Instant::now() > deadline {
            break;
        }
    }
    assert_eq!(seen, [1; 300]);
}

/// Counts the greeting of this number.
fn note(seen: &mut [u32; 300], bytes: &[u8]) {
    let number = u32::from_be_bytes(bytes.try_into().unwrap());
    seen[number as usize] += 1;
}

/// The loopback keeps order only among datagrams of one processor.
fn stay_on_one_processor() {
    cpu::pin(cpu::allowed()[0]).unwrap();
}

fn pair(address: &str, payload: usize, batch: usize, tx: TxMode, rx: RxMode) -> (Sender, Receiver) {
    let options = Options {
        recv_buffer_bytes: Some(1 << 20),
        ..Options::default()
    };
    let opened = udp::bind(any_port(address), &options).unwrap();
    let to = opened.socket.local_addr().unwrap();
    let receiver = Receiver::new(
        opened.socket.into(),
        ReceiverConfig::new(payload, batch, rx),
    )
    .unwrap();
    (sender_to(to, payload, batch, tx), receiver)
}

fn sender_to(to: SocketAddr, payload: usize, batch: usize, tx: TxMode) -> Sender {
    let options = Options {
        recv_err: true,
        ..Options::default()
    };
    let socket = udp::connect(to, None, &options).unwrap().socket;
    Sender::new(socket.into(), payload, batch, tx).unwrap()
}

fn receiver_fd(receiver: &Receiver) -> std::os::fd::OwnedFd {
    use std::os::fd::AsFd;
    receiver.as_fd().try_clone_to_owned().unwrap()
}

fn any_port(address: &str) -> SocketAddr {
    (address.parse::<IpAddr>().unwrap(), 0).into()
}

fn number(sender: &mut Sender, first: u32, count: u32) {
    for index in 0..count {
        let slot = sender.slot(index as usize);
        slot.fill(index as u8);
        slot[..4].copy_from_slice(&(first + index).to_be_bytes());
    }
}

/// Receives until `until` is the next expected number, checking order and contents.
fn collect(receiver: &mut Receiver, mut expected: u32, until: u32) -> u32 {
    let deadline = Instant::now() + PATIENCE;
    while expected < until {
        assert!(Instant::now() < deadline, "datagram {expected} is missing");
        for datagram in receiver.receive(TICK).unwrap().iter() {
            assert_eq!(
                u32::from_be_bytes(datagram.bytes[..4].try_into().unwrap()),
                expected
            );
            assert!(
                datagram.bytes[4..]
                    .iter()
                    .all(|&byte| byte == datagram.bytes[4])
            );
            assert!(datagram.kernel_ns.is_some());
            expected += 1;
        }
    }
    expected
}
