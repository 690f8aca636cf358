// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwards frames between two interfaces before the kernel's stack sees them: as a wire ([`Way::Bridge`]) or as a router
//! ([`Way::Route`]), by XDP programs that are assembled here.
//!
//! What a program does not understand passes to the kernel, unchanged, which then forwards it or not as it would without us:
//! set it up to do so (`ip_forward`, addresses, routes). Everything ends when the [`Forwarder`] is dropped or the
//! process ends, even by `kill -9`: BPF links live as long as their descriptors.
//!
//! # Limits
//! - Redirected frames skip the firewall, connection tracking, `tc`, IPsec, taps (`tcpdump`) and the protocol counters
//!   (`IpForwDatagrams`): only [`Forwarder::counts`] counts them. A frame that the sending driver refuses (ring full, longer than its MTU) is
//!   counted as redirected, and lost.
//! - Only two interfaces, with Ethernet addresses as they were at the start: after a change, a route passes everything to
//!   the kernel, and a bridge takes frames to the new address for another host's.
//! - Frames beyond one page (jumbo) are refused by most drivers when the program is attached; it does not ask for fragments.
//! - Route: VLAN tags, IPv4 options and fragments, IPv6 extension headers (also fragments, IPsec), link-local addresses and
//!   frames with more bytes after the packet than padding to 64 bytes pass to the kernel. So does IPv4 whose source is not routed back to the port it
//!   came from, in case `rp_filter` has to judge it: right, but not fast. `NO_NEIGH` names the interface since Linux 5.12; before,
//!   the route back is not checked while that neighbour is unknown.
//! - Route: a neighbour's entry is used while the kernel holds it valid. Traffic does not confirm it, so a host that moves to another Ethernet address
//!   silently is noticed late.
//! - Bridge: it learns no addresses, so a frame between two stations on one side also leaves on the other, as from a switch
//!   that does not know them yet. Copies of broadcasts need Linux 6.6 (TCX).
//! - A veth takes redirected frames only if its other end runs an XDP program ([`welcome`]) or has GRO on (`ethtool -K PEER
//!   gro on`). Where the kernel (6.3) says that a port cannot take them, or says nothing of a veth, both ports are attached in generic mode,
//!   and [`Forwarder::attached`] says why. A veth's sender must compute its checksums (`ethtool -K PEER tx off`):
//!   an unfinished one is redirected as it is.

mod attachment;
mod bridge;
mod exits;
mod features;
mod route;
mod verdict;

use std::io;
use std::os::fd::OwnedFd;

pub use attachment::{Attached, ForwardError};
use attachment::{Refusal, attach_both, load, welcoming};
use exits::{Place, Port};
pub use verdict::Verdict;

use crate::bpf::{Map, MapKind, ProgramKind};
use crate::nic::{self, Link};
use crate::port::PacketSocket;

/// How frames are forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// What comes in on one port goes out on the other.
    Bridge,
    /// By the kernel's routes and neighbours.
    Route,
}

/// Two ports between which frames are forwarded as long as this lives.
#[derive(Debug)]
pub struct Forwarder {
    counts: Map<4, 8>,
    _ports: Map<4, 4>,
    _links: Vec<OwnedFd>,
    _promiscuous: Vec<PacketSocket>,
    attached: Attached,
}

impl Forwarder {
    /// Begins to forward between two interfaces of the calling thread's network namespace.
    ///
    /// # Errors
    /// What failed, on what, and what to try: no such interface, no right to load programs, another program is attached.
    pub fn start(way: Way, names: [&str; 2]) -> Result<Self, ForwardError> {
        let links = both(names)?;
        let ports = [port(&links[0])?, port(&links[1])?];
        let (counts, devices) = maps(ports).map_err(|error| error.on(names[0]))?;
        let place = |side: usize| Place {
            own: ports[side],
            other: ports[1 - side],
            other_slot: 1 - side as i32,
            counts: counts.number(),
            ports: devices.number(),
        };
        let places = [place(0), place(1)];
        let (mut held, attached) = attach_programs(way, &links, &places)?;
        let mut promiscuous = Vec::new();
        if way == Way::Bridge {
            held.extend(attach_copiers(names, &places)?);
            promiscuous = names.map(listening).into_iter().collect::<Result<_, _>>()?;
        }
        Ok(Self {
            counts,
            _ports: devices,
            _links: held,
            _promiscuous: promiscuous,
            attached,
        })
    }

    /// How the programs are attached, the same at both ports.
    #[must_use]
    pub fn attached(&self) -> &Attached {
        &self.attached
    }

    /// How many frames of both ports got each verdict so far.
    ///
    /// # Errors
    /// Those of bpf(2), none of which is expected.
    pub fn counts(&self) -> io::Result<[(Verdict, u64); Verdict::ALL.len()]> {
        let mut counts = Verdict::ALL.map(|verdict| (verdict, 0));
        for (verdict, count) in &mut counts {
            *count = self.counts.sum(&(*verdict as u32).to_ne_bytes())?;
        }
        Ok(counts)
    }
}

/// Lets a veth receive what is redirected to its other end, as long as the value lives, by a program that passes everything.
///
/// # Errors
/// As [`Forwarder::start`].
pub fn welcome(interface: &str) -> Result<Welcome, ForwardError> {
    let link = described(interface)?;
    let link = welcoming(link.index).map_err(|refusal| refusal.on(interface))?;
    Ok(Welcome { _link: link })
}

/// A veth that receives what is redirected to its other end.
#[derive(Debug)]
pub struct Welcome {
    _link: OwnedFd,
}

fn both([one, other]: [&str; 2]) -> Result<[Link; 2], ForwardError> {
    let links = [described(one)?, described(other)?];
    if links[0].index == links[1].index {
        return Err(Refusal::new("use both ports", io::ErrorKind::AlreadyExists.into()).on(other));
    }
    Ok(links)
}

fn described(interface: &str) -> Result<Link, ForwardError> {
    nic::link(interface).map_err(|error| Refusal::new("find", error).on(interface))
}

fn port(link: &Link) -> Result<Port, ForwardError> {
    let mac = <[u8; 6]>::try_from(&link.address[..]);
    let mac = mac.map_err(|_| {
        let why = io::Error::new(io::ErrorKind::Unsupported, "it has no Ethernet address");
        Refusal::new("use", why).on(&link.name)
    })?;
    Ok(Port {
        mac,
        index: link.index,
    })
}

fn maps(ports: [Port; 2]) -> Result<(Map<4, 8>, Map<4, 4>), Refusal> {
    let failed = |error| Refusal::new("create map for", error);
    let counters = Verdict::ALL.len() as u32;
    let counts = Map::create(MapKind::PerCpuArray, NAME, counters).map_err(failed)?;
    let devices: Map<4, 4> = Map::create(MapKind::Devices, NAME, 2).map_err(failed)?;
    for (slot, port) in (0_u32..).zip(ports) {
        let (slot, index) = (slot.to_ne_bytes(), port.index.to_ne_bytes());
        devices.insert(&slot, &index).map_err(failed)?;
    }
    Ok((counts, devices))
}

fn attach_programs(
    way: Way,
    links: &[Link; 2],
    places: &[Place; 2],
) -> Result<(Vec<OwnedFd>, Attached), ForwardError> {
    let assemble = match way {
        Way::Bridge => bridge::program,
        Way::Route => route::program,
    };
    let program = |side: usize| {
        load(ProgramKind::Xdp, assemble(&places[side]))
            .map_err(|refusal| refusal.on(&links[side].name))
    };
    attach_both(&[program(0)?, program(1)?], links)
}

/// A wire also carries frames for other stations. The socket receives nothing, and ends with the process.
fn listening(interface: &str) -> Result<PacketSocket, ForwardError> {
    let socket = PacketSocket::open(interface);
    let joined = socket.and_then(|socket| socket.join_promiscuous().map(|()| socket));
    joined.map_err(|error| Refusal::new("receive every frame of", error).on(interface))
}

/// The programs of a bridge that copy frames to groups.
fn attach_copiers(names: [&str; 2], places: &[Place; 2]) -> Result<Vec<OwnedFd>, ForwardError> {
    let copier = |(name, place): (&str, &Place)| {
        load(ProgramKind::Classifier, bridge::copier(place))
            .and_then(|program| {
                let failed = |error| Refusal::new("attach copying program (Linux 6.6) to", error);
                program.attach_to_ingress(place.own.index).map_err(failed)
            })
            .map_err(|refusal| refusal.on(name))
    };
    names.into_iter().zip(places).map(copier).collect()
}

const NAME: &str = "linerate_fwd";

#[cfg(test)]
mod tests;
