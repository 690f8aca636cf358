// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data paths allocate nothing once they are set up.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use linerate_linux::observed_heap::ObservedHeap;
use linerate_linux::tcp::{self, Mover};
use linerate_linux::udp::{self, Options, Receiver, ReceiverConfig, RxMode, Sender, TxMode};
use linerate_wire::frame::{self, Arrived, Family, Flow, Neighbours, Side, Signature, Template};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn sending_and_receiving_datagrams() {
    for (tx, rx) in [
        (TxMode::Plain, RxMode::Plain),
        (TxMode::Mmsg, RxMode::Mmsg),
        (TxMode::Gso, RxMode::Gro),
    ] {
        let opened = udp::bind("127.0.0.1:0".parse().unwrap(), &Options::default()).unwrap();
        let to = opened.socket.local_addr().unwrap();
        let config = ReceiverConfig {
            tos: true,
            addresses: true,
            ..ReceiverConfig::new(500, 8, rx)
        };
        let mut receiver = Receiver::new(opened.socket.into(), config).unwrap();
        let mut sender = sender(to, tx).unwrap();
        let allocations = counted(|| {
            for round in 0..50u8 {
                (0..8).for_each(|index| sender.slot(index).fill(round));
                assert_eq!(sender.send(0..8).accepted, 8);
                let mut received = 0;
                while received < 8 {
                    received += receiver
                        .receive(PATIENCE)
                        .unwrap()
                        .iter()
                        .filter(|d| d.bytes[0] == round)
                        .count();
                }
            }
            assert_eq!(receiver.drops(), Some(0));
        });
        assert_eq!(allocations, 0, "{tx:?} {rx:?}");
    }
}

#[test]
fn a_refused_datagram() {
    let closed = std::net::UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut sender = sender(closed, TxMode::Mmsg).unwrap();
    let allocations = counted(|| {
        let mut pending = 0;
        while pending == 0 {
            pending += sender.send(0..8).pending_errors;
        }
    });
    assert_eq!(allocations, 0);
}

fn sender(to: SocketAddr, mode: TxMode) -> io::Result<Sender> {
    let options = Options {
        recv_err: true,
        ..Options::default()
    };
    let socket = udp::connect(to, None, &options)?.socket;
    Sender::new(socket.into(), 500, 8, mode)
}

#[test]
fn stamping_and_reading_test_frames() {
    for family in [Family::Ipv4, Family::Ipv6] {
        let flow = Flow::first(Side::A, family, [2; 6], [4; 6]);
        let template = Template::new(&flow, 1518).unwrap();
        let mut bytes = template.bytes().to_vec();
        let device = Neighbours {
            mac: [4; 6],
            vlan: None,
            own: vec![flow.source.into()],
            except: vec![],
        };
        let question = device.request(flow.destination, flow.source).unwrap();
        let tester = Neighbours {
            mac: [2; 6],
            ..device.clone()
        };
        let allocations = counted(|| {
            for sequence in 0..100 {
                let signature = Signature {
                    sequence,
                    ..Signature::default()
                };
                template.stamp(&mut bytes, &signature);
                assert!(matches!(frame::read(&bytes), Arrived::Ours(ours) if ours.is_intact()));
                assert!(tester.answer(&question).is_some());
            }
        });
        assert_eq!(allocations, 0, "{family:?}");
    }
}

#[test]
fn moving_a_stream() {
    for tx in [
        tcp::TxMode::Copy,
        tcp::TxMode::ZeroCopy,
        tcp::TxMode::SendFile,
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let client = tcp::connect(at, &tcp::Options::default(), PATIENCE, || false)
            .unwrap()
            .stream;
        let server = listener.accept().unwrap().0;
        let mut sender = Mover::new(client, 10_000, tx, tcp::RxMode::Copy, |_| {}).unwrap();
        let mut receiver = Mover::new(server, 10_000, tx, tcp::RxMode::Copy, |_| {}).unwrap();
        let allocations = counted(|| {
            for _ in 0..100 {
                let mut left = sender.send_block(10_000).unwrap();
                while left > 0 {
                    left -= receiver.receive_block().unwrap().unwrap();
                }
            }
            tcp::info(sender.stream()).unwrap();
        });
        assert_eq!(allocations, 0, "{tx:?}");
    }
}

/// How many allocations of this thread `work` made.
fn counted(work: impl FnOnce()) -> u32 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: ObservedHeap = ObservedHeap {
    allocated: |_| ALLOCATIONS.set(ALLOCATIONS.get() + 1),
    freed: |_| {},
};
