// SPDX-License-Identifier: MIT OR Apache-2.0
//! All counters of one interface, read repeatedly over open sockets. What the kernel or the driver lacks is empty, and
//! not read again.

use std::io;

use linerate_wire::netlink::ethtool::fec;
use linerate_wire::netlink::{ethtool, link, qdisc, qstats};

use super::ethtool::{Ethtool, Statistics};
use crate::netlink::Netlink;

/// The counters of one interface, of the network namespace of the thread that opened them.
#[derive(Debug)]
pub struct Counters {
    index: u32,
    route: Netlink,
    driver: Option<(Ethtool, Statistics)>,
    generic: Option<Netlink>,
    standard: Option<u16>,
    phy: Option<u16>,
    pause: Option<u16>,
    fec: Option<u16>,
    queues: Option<u16>,
}

impl Counters {
    /// Opens the sockets for the interface called `name`.
    ///
    /// # Errors
    /// `ENODEV` without such an interface; those of netlink sockets.
    pub fn open(name: &str) -> io::Result<Self> {
        let socket = rustix::net::socket(
            rustix::net::AddressFamily::INET,
            rustix::net::SocketType::DGRAM,
            None,
        )?;
        let index = rustix::net::netdevice::name_to_index(&socket, name)?;
        let mut generic = Netlink::generic().ok();
        let mut family = |name| generic.as_mut()?.family(name).ok();
        let (standard, queues) = (family(ethtool::FAMILY), family(qstats::FAMILY));
        let driver = || {
            let ethtool = Ethtool::of(name)?;
            let statistics = Statistics::of(&ethtool)?;
            Ok::<_, io::Error>((ethtool, statistics))
        };
        Ok(Self {
            index,
            route: Netlink::route()?,
            driver: driver().ok(),
            generic,
            standard,
            phy: standard,
            pause: standard,
            fec: standard,
            queues,
        })
    }

    /// `rtnl_link_stats64` (`ip -s -s link`), and carrier changes.
    pub fn link(&mut self) -> Vec<(&'static str, u64)> {
        let mut counters = Vec::new();
        let each = |answer: &[u8]| counters.extend(link::counters(answer));
        match self
            .route
            .ask(link::GET, false, &link::request(self.index), each)
        {
            Ok(()) => counters,
            Err(_) => Vec::new(),
        }
    }

    /// `ethtool -S`.
    pub fn driver(&mut self) -> Vec<(String, u64)> {
        let read = self
            .driver
            .as_mut()
            .map(|(ethtool, statistics)| statistics.read(ethtool));
        read.and_then(Result::ok).unwrap_or_default()
    }

    /// `ethtool -S --groups eth-phy eth-mac eth-ctrl rmon`.
    pub fn standard(&mut self) -> Vec<ethtool::Group> {
        let request = ethtool::statistics_request(self.index);
        let add = |all: &mut Vec<_>, answer: &[u8]| all.extend(ethtool::statistics(answer));
        ask(&mut self.generic, &mut self.standard, false, &request, add)
    }

    /// `ethtool -S --groups phydev`.
    pub fn phy(&mut self) -> Vec<ethtool::Group> {
        let request = ethtool::phy_request(self.index);
        let add = |all: &mut Vec<_>, answer: &[u8]| all.extend(ethtool::statistics(answer));
        ask(&mut self.generic, &mut self.phy, false, &request, add)
    }

    /// The blocks of `ethtool -I --show-fec`.
    pub fn fec(&mut self) -> Vec<(String, u64)> {
        let request = fec::request(self.index);
        let add = |all: &mut Vec<_>, answer: &[u8]| all.extend(fec::counters(answer));
        ask(&mut self.generic, &mut self.fec, false, &request, add)
    }

    /// The pause frames of `ethtool -I -a`.
    pub fn pause(&mut self) -> Vec<(&'static str, u64)> {
        let request = ethtool::pause_request(self.index);
        let add = |all: &mut Vec<_>, answer: &[u8]| all.extend(ethtool::pause(answer));
        ask(&mut self.generic, &mut self.pause, false, &request, add)
    }

    /// The `netdev` family's statistics of all queues together.
    pub fn queues(&mut self) -> Vec<(&'static str, u64)> {
        let request = qstats::request(self.index);
        let add = |all: &mut Vec<_>, answer: &[u8]| all.extend(qstats::counters(answer));
        ask(&mut self.generic, &mut self.queues, true, &request, add)
    }

    /// The queueing disciplines, the root first (`tc -s qdisc show dev X`).
    pub fn qdiscs(&mut self) -> Vec<qdisc::Qdisc> {
        let mut all = Vec::new();
        let index = self.index;
        let each = |answer: &[u8]| {
            all.extend(qdisc::parse(answer).filter(|qdisc| qdisc.interface_index == index));
        };
        match self.route.ask(qdisc::GET, true, &qdisc::request(), each) {
            Ok(()) => all,
            Err(_) => Vec::new(),
        }
    }
}

/// Returns the answers of a family. One that refuses or has nothing to report is not asked again.
fn ask<T>(
    generic: &mut Option<Netlink>,
    family: &mut Option<u16>,
    dump: bool,
    request: &[u8],
    add: impl Fn(&mut Vec<T>, &[u8]),
) -> Vec<T> {
    let mut all = Vec::new();
    let answered = family
        .zip(generic.as_mut())
        .is_some_and(|(family, generic)| {
            let each = |answer: &[u8]| add(&mut all, answer);
            generic.ask(family, dump, request, each).is_ok()
        });
    if !answered || all.is_empty() {
        *family = None;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_counts_packets_and_has_no_driver() {
        let mut counters = Counters::open("lo").unwrap();
        let received = |counters: &mut Counters| {
            let link = counters.link();
            link.iter()
                .find(|(name, _)| *name == "rx_packets")
                .unwrap()
                .1
        };
        let before = received(&mut counters);
        let (from, to) = (
            std::net::UdpSocket::bind("127.0.0.1:0").unwrap(),
            std::net::UdpSocket::bind("127.0.0.1:0").unwrap(),
        );
        from.send_to(b"x", to.local_addr().unwrap()).unwrap();
        assert!(received(&mut counters) > before);
        assert_eq!(
            (counters.driver(), counters.standard(), counters.pause()),
            (vec![], vec![], vec![])
        );
        assert_eq!((counters.phy(), counters.fec()), (vec![], vec![]));
        assert_eq!(counters.qdiscs()[0].kind, "noqueue");
    }

    #[test]
    fn no_such_interface() {
        let error = Counters::open("no-such-if").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    }
}
