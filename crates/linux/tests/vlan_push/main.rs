// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tags that are asked for at one end of a veth pair, as the other end sees them.
//!
//! Its own harness, because a process with threads cannot enter a namespace.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::packet::PacketReceiver;
use linerate_linux::rtnl::Rtnl;
use linerate_linux::sandbox::{self, Privilege};
use linerate_linux::vlan_push::VlanPush;

const TESTS: &[(&str, fn())] = &[
    ("the_chosen_socket_has_the_tag", the_chosen_socket),
    ("a_killed_process_leaves_nothing", a_killed_process),
];

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        TESTS.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if std::env::var_os(TO_BE_KILLED).is_some() {
        return to_be_killed();
    }
    match sandbox::enter(None) {
        Ok(Privilege::Root) => run_all(),
        Ok(Privilege::UserNamespace) => skipped("a user namespace may not load BPF programs"),
        Err(refusal) => skipped(&format!("{refusal}; {}", refusal.remedy())),
    }
}

fn skipped(why: &str) -> ExitCode {
    println!("skipped: {} tests: {why}", TESTS.len());
    ExitCode::SUCCESS
}

fn run_all() -> ExitCode {
    let pair = Pair::new();
    if let Err(refused) = pair.near.run(attach).unwrap()
        && refused.to_string().contains("Invalid argument")
    {
        return skipped(&refused.to_string());
    }
    let mut failed = 0;
    for (name, test) in TESTS {
        let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u8::from(!passed);
    }
    ExitCode::from(failed.min(1))
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
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.env(TO_BE_KILLED, "1").stdout(Stdio::piped());
    pair.near.start_inside(&mut again).unwrap();
    let mut child = again.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    assert_eq!(pair.seen(&socket), Some(TAG));
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while pair.seen(&socket).is_some() {
        assert!(Instant::now() < deadline, "the program is still there");
    }
}

fn to_be_killed() -> ExitCode {
    let _push = attach().unwrap();
    println!("ready");
    loop {
        thread::park();
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
        let (near, far) = (NetNs::create().unwrap(), NetNs::create().unwrap());
        let mut net = Rtnl::open().unwrap();
        net.veth((NEAR, &near), ("far", &far)).unwrap();
        for (host, name, address) in [(&near, NEAR, "198.18.0.1"), (&far, "far", FAR)] {
            let address = address.parse().unwrap();
            host.run(|| {
                let mut net = Rtnl::open().unwrap();
                net.set_up(name, true).unwrap();
                net.add_address(name, address, 24).unwrap();
            })
            .unwrap();
        }
        let arrived = far.run(|| PacketReceiver::open("far", 2048, 1 << 20).unwrap());
        Self {
            near,
            _far: far,
            arrived: arrived.unwrap(),
            sent: 0,
        }
    }

    fn socket(&self) -> UdpSocket {
        let bound = self.near.run(|| UdpSocket::bind("198.18.0.1:0").unwrap());
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
const FAR: &str = "198.18.0.2";
const TAG: u16 = 0x6003;
const PATIENCE: Duration = Duration::from_secs(20);
const TO_BE_KILLED: &str = "LINERATE_TEST_TO_BE_KILLED";
