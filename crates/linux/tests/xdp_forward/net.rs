// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device between two ports of a tester, all veth.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::packet::{PacketReceiver, PacketSender};
use linerate_linux::rtnl::Rtnl;
use linerate_linux::sysctl;
use linerate_linux::xdp_forward::{Welcome, welcome};
use linerate_wire::frame::{AddressRange, Neighbours};

use crate::mix::{self, Out, Sent};

pub(crate) const SIDES: [&str; 2] = ["left", "right"];
pub(crate) const LEFT: usize = 0;
pub(crate) const RIGHT: usize = 1;
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The device's addresses, and the tester's that answer.
pub(crate) const DEVICE: [[&str; 2]; 2] = [
    ["198.18.0.1", "2001:2:0:1::1"],
    ["198.19.0.1", "2001:2:0:2::1"],
];
pub(crate) const TESTER: [[&str; 2]; 2] = [
    ["198.18.0.2", "2001:2:0:1::2"],
    ["198.19.0.2", "2001:2:0:2::2"],
];
/// Of the device's right port; the others have 1500.
pub(crate) const RIGHT_MTU: u32 = 1400;

pub(crate) struct Net {
    device: NetNs,
    tester: NetNs,
    pub(crate) macs: [[u8; 6]; 2],
    ports: Vec<(PacketSender, PacketReceiver)>,
    neighbours: Vec<Neighbours>,
    _welcome: Vec<Welcome>,
}

impl Net {
    pub(crate) fn new() -> Self {
        let (device, tester) = (NetNs::create().unwrap(), NetNs::create().unwrap());
        for name in SIDES {
            Rtnl::open()
                .unwrap()
                .veth((name, &device), (name, &tester))
                .unwrap();
        }
        for host in [&device, &tester] {
            host.run(|| {
                sysctl::write("net.ipv6.conf.all.disable_ipv6", "1").unwrap();
                sysctl::write("net.ipv6.conf.default.disable_ipv6", "1").unwrap();
                for name in SIDES {
                    Rtnl::open().unwrap().set_up(name, true).unwrap();
                }
            })
            .unwrap();
        }
        let open = |name| {
            let receiver = PacketReceiver::open(name, 2048, 4 << 20).unwrap();
            (PacketSender::open(name).unwrap(), receiver)
        };
        let ports = tester.run(|| SIDES.map(open).into()).unwrap();
        let mac = |name| <[u8; 6]>::try_from(&nic::link(name).unwrap().address[..]).unwrap();
        let macs = device.run(|| SIDES.map(mac)).unwrap();
        let net = Self {
            device,
            tester,
            macs,
            ports,
            neighbours: [LEFT, RIGHT].map(answering).into(),
            _welcome: Vec::new(),
        };
        net.wait_for_carrier();
        net
    }

    pub(crate) fn device<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.device.run(work).unwrap()
    }

    pub(crate) fn device_host(&self) -> &NetNs {
        &self.device
    }

    /// Lets the tester's ends receive what is redirected.
    pub(crate) fn welcome(&mut self) {
        let both = || SIDES.map(|name| welcome(name).unwrap()).into();
        self._welcome = self.tester.run(both).unwrap();
        self.wait_for_carrier();
    }

    pub(crate) fn wait_for_carrier(&self) {
        let deadline = Instant::now() + PATIENCE;
        let ready = || {
            SIDES
                .iter()
                .all(|name| nic::link(name).unwrap().operstate == "up")
        };
        for host in [&self.device, &self.tester] {
            while !host.run(ready).unwrap() {
                assert!(Instant::now() < deadline, "no carrier");
            }
        }
    }

    /// Makes the device a router that limits no ICMP, with the tester as its neighbour.
    pub(crate) fn route(&mut self) {
        self.device(|| {
            for (name, value) in SETTINGS {
                sysctl::write(name, value).unwrap();
            }
            let mut net = Rtnl::open().unwrap();
            net.set_up("lo", true).unwrap();
            net.set_mtu(SIDES[RIGHT], RIGHT_MTU).unwrap();
            for (name, own) in SIDES.into_iter().zip(DEVICE) {
                for (address, prefix_bits) in own.into_iter().zip([24, 64]) {
                    net.add_address(name, ip(address), prefix_bits).unwrap();
                }
            }
        });
        for (side, family) in [(LEFT, 0), (LEFT, 1), (RIGHT, 0), (RIGHT, 1)] {
            let wanted = ip(DEVICE[side][family]);
            let own = ip(TESTER[side][family]);
            let question = self.neighbours[side].request(own, wanted).unwrap();
            let deadline = Instant::now() + PATIENCE;
            let mut answered = false;
            while !answered {
                assert!(Instant::now() < deadline, "{wanted} does not answer");
                self.send(side, &question);
                self.poll(&mut |_, frame| {
                    let resolved = linerate_wire::frame::resolved(frame);
                    answered |= resolved.is_some_and(|(ip, _)| ip == wanted);
                });
            }
        }
    }

    pub(crate) fn send(&self, side: usize, frame: &[u8]) {
        self.ports[side].0.send(frame).unwrap();
    }

    /// Sends all frames, and marks behind them on every way that they may take; what came out before the marks.
    pub(crate) fn forwarded(&mut self, mix: &[Sent]) -> Vec<Out> {
        let marks = mix::marks(self);
        let mut out = Vec::new();
        for sent in mix {
            self.send(sent.from, &sent.frame);
            self.poll(&mut |side, frame| out.extend(mix::out(side, frame)));
        }
        for mark in &marks {
            self.send(mark.from, &mark.frame);
        }
        let mut marked = 0;
        self.receive_until(|side, frame| {
            let one = mix::out(side, frame);
            marked += usize::from(one.as_ref().is_some_and(mix::is_mark));
            out.extend(one);
            marked >= marks.len()
        });
        out.retain(|one| !mix::is_mark(one));
        out.sort();
        out
    }

    pub(crate) fn receive_until(&mut self, mut done: impl FnMut(usize, &[u8]) -> bool) {
        let (deadline, mut is_done) = (Instant::now() + PATIENCE, false);
        while !is_done {
            assert!(Instant::now() < deadline, "not all came in {PATIENCE:?}");
            self.poll(&mut |side, frame| is_done |= done(side, frame));
        }
    }

    /// Hands out what has come, and answers the device's questions about neighbours.
    fn poll(&mut self, each: &mut dyn FnMut(usize, &[u8])) {
        for (side, ((sender, receiver), neighbours)) in
            self.ports.iter_mut().zip(&self.neighbours).enumerate()
        {
            let mut answers = Vec::new();
            receiver.receive(64, |frame| {
                answers.extend(neighbours.answer(frame));
                each(side, frame);
            });
            assert_eq!(receiver.take_losses().unwrap(), 0);
            answers
                .iter()
                .for_each(|answer| sender.send(answer).unwrap());
        }
        std::thread::yield_now();
    }

    /// What the device's kernel gets from one of its ports.
    pub(crate) fn watch_device(&self, side: usize) -> PacketReceiver {
        self.device(|| PacketReceiver::open(SIDES[side], 2048, 1 << 20).unwrap())
    }
}

/// The kernel saw these, and nothing else of what was sent.
pub(crate) fn assert_seen(mut kernel: PacketReceiver, mut wanted: Vec<Vec<u8>>, sent: &[Vec<u8>]) {
    let (deadline, mut seen) = (Instant::now() + PATIENCE, Vec::new());
    while seen.len() < wanted.len() {
        assert!(Instant::now() < deadline, "the kernel saw {seen:x?}");
        kernel.receive(64, |frame| {
            if sent.contains(&frame.to_vec()) {
                seen.push(frame.to_vec());
            }
        });
    }
    seen.sort();
    wanted.sort();
    assert_eq!(seen, wanted);
}

fn answering(side: usize) -> Neighbours {
    let one = |address: &str| {
        let address = ip(address);
        AddressRange::network(address, if address.is_ipv4() { 32 } else { 128 })
    };
    Neighbours {
        mac: tester_mac(side),
        vlan: None,
        own: TESTER[side].map(one).into(),
        except: Vec::new(),
    }
}

pub(crate) const fn tester_mac(side: usize) -> [u8; 6] {
    [2, 0, 0, 0, 0xAA, side as u8]
}

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Errors are to come at once and each time.
const SETTINGS: [(&str, &str); 8] = [
    ("net.ipv6.conf.all.disable_ipv6", "0"),
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv4.icmp_ratelimit", "0"),
    ("net.ipv6.icmp.ratelimit", "0"),
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.left.send_redirects", "0"),
];
