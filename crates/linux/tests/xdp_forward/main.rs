// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our XDP forwarder between two veth pairs: as a router against the kernel's own routing, frame by frame, and as a bridge.
//!
//! Its own harness, because a process with threads cannot enter a namespace.
#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../sandboxed/killed.rs"]
mod killed;
mod mix;
mod net;
#[path = "../sandboxed/mod.rs"]
mod sandboxed;

use std::process::ExitCode;
use std::time::Instant;

use linerate_linux::sandbox::Privilege;
use linerate_linux::xdp_forward::{Attached, Forwarder, Verdict, Way};

use net::{LEFT, Net, PATIENCE, RIGHT, SIDES};
use sandboxed::{enter, skip};

const TESTS: &[(&str, fn())] = &[
    ("route_native_is_the_kernels", || route_is_the_kernels(true)),
    ("route_generic_is_the_kernels", || {
        route_is_the_kernels(false)
    }),
    ("a_bridge_hands_on_what_it_must", a_bridge),
    ("a_killed_process_leaves_nothing", a_killed_process),
    ("bad_ports_are_refused", bad_ports_are_refused),
];

fn main() -> ExitCode {
    if killed::is_this() {
        killed::with(Forwarder::start(Way::Bridge, SIDES).unwrap());
    }
    enter(TESTS, None, |privilege| match privilege {
        Privilege::Root => run_all(),
        Privilege::UserNamespace => skip(TESTS, "a user namespace may not load BPF programs"),
    })
}

/// A veth takes redirected frames since 6.3, and programs of a bridge are attached since 6.6.
fn is_old() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map(|word| word.parse::<u32>().ok());
    let version = (numbers.next().flatten(), numbers.next().flatten());
    version < (Some(6), Some(6))
}

fn run_all() -> ExitCode {
    if is_old() {
        return skip(TESTS, "Linux 6.6 or later");
    }
    let net = Net::new();
    let refused = net.device(|| Forwarder::start(Way::Route, SIDES).err());
    if let Some(refused) = refused.filter(|refused| refused.is_permission()) {
        return skip(TESTS, &refused.to_string());
    }
    sandboxed::run(TESTS, Privilege::Root)
}

fn route_is_the_kernels(native: bool) {
    let mut net = Net::new();
    if native {
        net.welcome();
    }
    net.route();
    let mix = mix::all(&net);
    let expected = net.forwarded(&mix);
    let forwarder = net.device(|| Forwarder::start(Way::Route, SIDES).unwrap());
    let in_driver = forwarder.attached() == &Attached::Native;
    assert_eq!(in_driver, native, "{:?}", forwarder.attached());
    net.wait_for_carrier();
    let got = net.forwarded(&mix);
    mix::assert_same(&expected, &got);
    let counts = forwarder.counts().unwrap();
    println!("{} frames, {} out: {counts:?}", mix.len(), got.len());
    for verdict in [
        Verdict::Redirected,
        Verdict::Group,
        Verdict::Address,
        Verdict::Protocol,
        Verdict::Header,
        Verdict::Fragment,
        Verdict::HopLimit,
        Verdict::Special,
        Verdict::Route,
        Verdict::Neighbour,
        Verdict::TooLong,
        Verdict::Elsewhere,
    ] {
        assert!(count(&forwarder, verdict) > 0, "{verdict:?} is not tested");
    }
}

fn count(forwarder: &Forwarder, wanted: Verdict) -> u64 {
    let counts = forwarder.counts().unwrap();
    counts
        .iter()
        .find(|(verdict, _)| *verdict == wanted)
        .unwrap()
        .1
}

fn a_bridge() {
    let mut net = Net::new();
    net.welcome();
    let forwarder = net.device(|| Forwarder::start(Way::Bridge, SIDES).unwrap());
    assert_eq!(forwarder.attached(), &Attached::Native);
    net.wait_for_carrier();
    let (own, other) = (net.macs[LEFT], net.macs[RIGHT]);
    let handed_on = [
        mix::plain([0xff; 6], 1),
        mix::plain([0x33, 0x33, 0, 0, 0, 1], 2),
        mix::plain([2, 9, 9, 9, 9, 9], 3),
        mix::tagged(mix::plain([2, 9, 9, 9, 9, 8], 4)),
    ];
    let kept = [
        mix::plain(own, 5),
        mix::plain(other, 6),
        mix::plain([1, 0x80, 0xc2, 0, 0, 0x0e], 7),
    ];
    for (from, to) in [(LEFT, RIGHT), (RIGHT, LEFT)] {
        let kernel = net.watch_device(from);
        let sent: Vec<Vec<u8>> = kept.iter().chain(&handed_on).cloned().collect();
        sent.iter().for_each(|frame| net.send(from, frame));
        let mut came = Vec::new();
        net.receive_until(|side, frame| {
            if side == to && sent.contains(&frame.to_vec()) {
                came.push(frame.to_vec());
            }
            came.len() >= handed_on.len()
        });
        came.sort();
        let mut wanted = handed_on.to_vec();
        wanted.sort();
        assert_eq!(came, wanted);
        // The host's, and groups'; not what is for others.
        let to_host = kept.iter().chain(&handed_on[..2]).cloned().collect();
        net::assert_seen(kernel, to_host, &sent);
    }
    assert_eq!(count(&forwarder, Verdict::Copied) % 2, 0);
    assert!(count(&forwarder, Verdict::Copied) >= 4);
    assert!(count(&forwarder, Verdict::Redirected) >= 4);
}

fn a_killed_process() {
    let net = Net::new();
    let mut child = killed::start_in(net.device_host());
    let start = || net.device(|| Forwarder::start(Way::Bridge, SIDES));
    let refused = start().unwrap_err().to_string();
    assert!(
        refused.contains("end the program that holds it"),
        "{refused}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while start().is_err() {
        assert!(Instant::now() < deadline, "the program is still there");
        std::thread::yield_now();
    }
}

fn bad_ports_are_refused() {
    let net = Net::new();
    let refused = |names| {
        let started = net.device(|| Forwarder::start(Way::Route, names));
        started.unwrap_err().to_string()
    };
    assert!(refused(["left", "absent"]).starts_with("cannot find absent: "));
    assert!(refused(["left", "left"]).contains("two different interfaces"));
}
