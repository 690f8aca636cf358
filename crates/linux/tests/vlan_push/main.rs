// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tags that are asked for at one end of a veth pair, as the other end sees them.
//!
//! Its own harness, because a process with threads cannot enter a namespace.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../sandboxed/killed.rs"]
mod killed;
#[path = "../sandboxed/pair.rs"]
mod pair;
#[path = "../sandboxed/mod.rs"]
mod sandboxed;

use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::packet::PacketReceiver;
use linerate_linux::sandbox::Privilege;
use linerate_linux::vlan_push::VlanPush;

use pair::pair;
use sandboxed::{enter, skip};

const TESTS: &[(&str, fn())] = &[
    ("the_chosen_socket_has_the_tag", the_chosen_socket),
    ("a_killed_process_leaves_nothing", a_killed_process),
];

fn main() -> ExitCode {
    if killed::is_this() {
        killed::with(attach().unwrap());
    }
    enter(TESTS, None, |privilege| match privilege {
        Privilege::Root => run_all(),
        Privilege::UserNamespace => skip(TESTS, "a user namespace may not load BPF programs"),
    })
}

fn run_all() -> ExitCode {
    let pair = Pair::new();
    if let Err(refused) = pair.near.run(attach).unwrap()
        && refused.to_string().contains("Invalid argument")
    {
        return skip(TESTS, &refused.to_string());
    }
    sandboxed::run(TESTS, Privilege::Root)
}

fn the_chosen_socket() {
    let mut pair = Pair::new();
    let (chosen, other) = (pair.socket(), pair.socket());
    let push = pair.near.run(attach).unwrap().unwrap();
    for tag in [0xa007, 0x0fff, 0x0001] {
        VlanPush::tag(&chosen, tag).unwrap();
        assert_eq!(pair.seen(&chosen), Some(tag));
        assert_eq!(pair.seen(&other), None);
    }
    drop(push);
    assert_eq!(pair.seen(&chosen), None);
}

fn a_killed_process() {
    let mut pair = Pair::new();
    let socket = pair.socket();
    VlanPush::tag(&socket, TAG).unwrap();
    let mut child = killed::start_in(&pair.near);
    assert_eq!(pair.seen(&socket), Some(TAG));
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while pair.seen(&socket).is_some() {
        assert!(Instant::now() < deadline, "the program is still there");
    }
}

fn attach() -> std::io::Result<VlanPush> {
    VlanPush::attach(nic::link(NEAR)?.index)
}

/// Two hosts on one link, and what arrives at the second.
struct Pair {
    near: NetNs,
    _far: NetNs,
    arrived: PacketReceiver,
    sent: u32,
}

impl Pair {
    fn new() -> Self {
        let [near, far] = pair([&[NEAR_ADDRESS], &[FAR]]);
        let arrived = far.run(|| PacketReceiver::open("far", 2048, 1 << 20).unwrap());
        Self {
            near,
            _far: far,
            arrived: arrived.unwrap(),
            sent: 0,
        }
    }

    fn socket(&self) -> UdpSocket {
        let bound = self
            .near
            .run(|| UdpSocket::bind((NEAR_ADDRESS, 0)).unwrap());
        let socket = bound.unwrap();
        socket.connect((FAR, 9)).unwrap();
        socket
    }

    /// The tag of a datagram that this socket sends; it is sent again while it does not arrive.
    fn seen(&mut self, socket: &UdpSocket) -> Option<u16> {
        self.sent += 1;
        let payload = [&b"vlan push"[..], &self.sent.to_be_bytes()].concat();
        let deadline = Instant::now() + PATIENCE;
        loop {
            // Nobody listens there, which the next call says.
            let _refused = socket.send(&payload);
            let mut tag = None;
            self.arrived.wait(100_000_000).unwrap();
            self.arrived.receive(64, |frame| {
                if frame.windows(payload.len()).any(|some| some == payload) {
                    let tagged = frame[12..14] == [0x81, 0];
                    tag = Some(tagged.then(|| u16::from_be_bytes([frame[14], frame[15]])));
                }
            });
            if let Some(tag) = tag {
                return tag;
            }
            assert!(Instant::now() < deadline, "no datagram arrived");
        }
    }
}

const NEAR: &str = "near";
const NEAR_ADDRESS: &str = "198.18.0.1";
const FAR: &str = "198.18.0.2";
const TAG: u16 = 0x6003;
const PATIENCE: Duration = Duration::from_secs(20);
