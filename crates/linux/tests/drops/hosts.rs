// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two hosts on one link, and watches over each.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use linerate_linux::drops::{Filter, Flow, Protocol, Watch};
use linerate_linux::netns::NetNs;

use crate::pair::pair;

pub(crate) const ADDRESSES: [(&str, &str); 2] =
    [("198.18.0.1", "198.18.0.2"), ("2001:2::1", "2001:2::2")];
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Pair {
    pub(crate) a: NetNs,
    pub(crate) b: NetNs,
}

impl Pair {
    pub(crate) fn new() -> Self {
        let near = ADDRESSES.map(|(near, _)| near);
        let far = ADDRESSES.map(|(_, far)| far);
        let [a, b] = pair([&near, &far]);
        Self { a, b }
    }

    pub(crate) fn near(&self, address: &str) -> UdpSocket {
        bind(&self.a, address)
    }

    pub(crate) fn far(&self, address: &str) -> UdpSocket {
        bind(&self.b, address)
    }

    pub(crate) fn watch_a(&self, flow: Flow) -> Option<Watch> {
        watch(&self.a, flow)
    }

    pub(crate) fn watch_b(&self, flow: Flow) -> Option<Watch> {
        watch(&self.b, flow)
    }
}

/// Packets between the two sockets.
pub(crate) fn flow(one: &UdpSocket, other: &UdpSocket) -> Flow {
    Flow {
        protocol: Protocol::Udp,
        one: one.local_addr().unwrap(),
        other: other.local_addr().unwrap(),
        group: 0,
    }
}

/// The reason's count as soon as it is no less than `least`, or what it is when patience ends.
pub(crate) fn at_least(watch: &Watch, reason: &str, least: u64) -> u64 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let all = watch.read(0).unwrap();
        let found = all.iter().find(|(name, _)| name == reason);
        let count = found.map_or(0, |(_, count)| *count);
        if count >= least || Instant::now() > deadline {
            return count;
        }
        std::thread::yield_now();
    }
}

pub(crate) fn total(watch: &Watch) -> u64 {
    let all = watch.read(0).unwrap();
    all.iter().map(|(_, count)| count).sum()
}

/// None, with the reason printed, where the kernel cannot filter.
fn watch(host: &NetNs, flow: Flow) -> Option<Watch> {
    let filter = Filter {
        flows: vec![flow],
        netns: Some(host.inode().unwrap()),
    };
    let watch = Watch::start(&filter).unwrap();
    if let Err(why) = watch.is_filtered() {
        println!("skipped: {why}");
        return None;
    }
    Some(watch)
}

fn bind(host: &NetNs, address: &str) -> UdpSocket {
    let local: IpAddr = address.parse().unwrap();
    let socket = host
        .run(|| UdpSocket::bind(SocketAddr::new(local, 0)))
        .unwrap()
        .unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}
