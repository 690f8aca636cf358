// SPDX-License-Identifier: MIT OR Apache-2.0
//! A veth pair between two namespaces, ports at its ends, and numbered frames.

use std::io;
use std::time::{Duration, Instant};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::port::{self, Backend, OpenError, Receiver, Sender, Wanted};
use linerate_linux::rtnl::Rtnl;

pub(crate) struct Cable {
    a: NetNs,
    b: NetNs,
}

pub(crate) type Port = (Sender, Receiver);

impl Cable {
    pub(crate) fn new() -> Self {
        let (a, b) = (NetNs::create().unwrap(), NetNs::create().unwrap());
        Rtnl::open()
            .unwrap()
            .veth(("near", &a), ("far", &b))
            .unwrap();
        for (host, name) in [(&a, "near"), (&b, "far")] {
            // Nothing but the test's own frames.
            host.run(|| {
                std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1")
            })
            .unwrap()
            .unwrap();
        }
        let cable = Self { a, b };
        cable.set_up("near", true);
        cable.set_up("far", true);
        cable.wait_for_carrier();
        cable
    }

    pub(crate) fn set_up(&self, name: &str, up: bool) {
        self.host(name)
            .run(|| Rtnl::open().unwrap().set_up(name, up).unwrap())
            .unwrap();
    }

    pub(crate) fn wait_for_carrier(&self) {
        for name in ["near", "far"] {
            let deadline = Instant::now() + PATIENCE;
            let has = || {
                self.host(name)
                    .run(|| nic::link(name).unwrap().carrier)
                    .unwrap()
            };
            while !has() {
                assert!(Instant::now() < deadline, "{name} has no carrier");
                std::thread::yield_now();
            }
        }
    }

    /// None, with the reason printed, where the machine refuses the backend.
    pub(crate) fn ends(&self, backend: Backend) -> Option<(Port, Port)> {
        self.ends_as(&with(backend))
    }

    pub(crate) fn ends_as(&self, wanted: &Wanted) -> Option<(Port, Port)> {
        match (self.near(wanted), self.far(wanted)) {
            (Ok(near), Ok(far)) => Some((near, far)),
            (Err(refused), _) | (_, Err(refused)) => {
                println!("skipped: {refused}");
                None
            }
        }
    }

    pub(crate) fn near(&self, wanted: &Wanted) -> Result<Port, OpenError> {
        self.open("near", wanted)
    }

    pub(crate) fn far(&self, wanted: &Wanted) -> Result<Port, OpenError> {
        self.open("far", wanted)
    }

    fn open(&self, name: &str, wanted: &Wanted) -> Result<Port, OpenError> {
        let opened = self.host(name).run(|| port::open(name, wanted)).unwrap();
        opened.map(|(sender, receiver, _)| (sender, receiver))
    }

    pub(crate) fn host(&self, name: &str) -> &NetNs {
        if name == "near" { &self.a } else { &self.b }
    }
}

pub(crate) fn with(backend: Backend) -> Wanted {
    Wanted {
        backend: Some(backend),
        receive_bytes: Some(4 << 20),
        ..Wanted::default()
    }
}

/// A UDP datagram by its headers, with a number and bytes that depend on it.
pub(crate) fn frame(number: usize, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length)
        .map(|place| (place * 7 + number) as u8)
        .collect();
    bytes[..6].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 8]);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[14] = 0x45;
    bytes[23] = 17;
    bytes[NUMBER_AT..][..8].copy_from_slice(&(number as u64).to_be_bytes());
    bytes
}

/// Sends frames from number `first` on, all of them.
pub(crate) fn send_all(sender: &mut Sender, count: usize, length: usize, first: usize) {
    let deadline = Instant::now() + PATIENCE;
    let mut sent = 0;
    while sent < count {
        assert!(Instant::now() < deadline, "{sent} of {count}");
        let fill =
            |number, bytes: &mut [u8]| bytes.copy_from_slice(&frame(first + sent + number, length));
        sent += sender.send(count - sent, length, fill).unwrap();
    }
}

/// Receives exactly `expected` frames: a moment later nothing more has come.
pub(crate) fn settle(receiver: &mut Receiver, expected: usize, mut each: impl FnMut(&[u8])) {
    let deadline = Instant::now() + PATIENCE;
    let mut came = 0;
    while came < expected {
        assert!(Instant::now() < deadline, "{came} of {expected}");
        came += receiver
            .receive(Duration::from_millis(100), |bytes, _| each(bytes))
            .unwrap();
    }
    came += receiver
        .receive(Duration::from_millis(1), |bytes, _| each(bytes))
        .unwrap();
    assert_eq!(came, expected);
}

/// The error that comes sooner or later: the kernel learns of a lost carrier a little later than the device.
pub(crate) fn lost(mut once: impl FnMut() -> io::Result<usize>) -> io::Error {
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "no error");
        if let Err(error) = once() {
            return error;
        }
    }
}

#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) frames: usize,
    pub(crate) drops: usize,
}

/// Receives until the frames and the drops are `enough`, and keeps the numbers.
pub(crate) fn numbers(
    receiver: &mut Receiver,
    seen: &mut Vec<u64>,
    enough: impl Fn(usize, usize) -> bool,
) -> Came {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let number = |bytes: &[u8]| u64::from_be_bytes(bytes[NUMBER_AT..][..8].try_into().unwrap());
        receiver
            .receive(Duration::from_millis(50), |bytes, _| {
                seen.push(number(bytes))
            })
            .unwrap();
        let came = Came {
            frames: seen.len(),
            drops: receiver.kernel_drops() as usize,
        };
        if enough(came.frames, came.drops) || Instant::now() > deadline {
            return came;
        }
    }
}

/// As long as the shortest on a wire, without FCS.
pub(crate) const FRAME_BYTES: usize = 60;
const NUMBER_AT: usize = 42;
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
