// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the two ends find each other: one link, one address of each family, the sockets that wait there.

use std::io;
use std::net::IpAddr;

use linerate_linux::signal::Interrupt;
use linerate_model::failure::Failure;
use linerate_model::order;
use linerate_model::output::Role;
use linerate_wire::offload::Upper;

use super::ports::Ports;
use super::{Bench, Family};
use crate::far::{End, Far};
use crate::message::{Ask, Met};
use crate::station::Station;

impl Bench {
    /// Meets both ends. `interface` is the one to judge; `peer` is an address at the other end of its link.
    ///
    /// # Errors
    /// There is no such interface, `peer` is not on its link, or one of the ends may not see frames.
    pub fn open(
        interface: &str,
        peer: IpAddr,
        far: Far,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let mut bench = Self {
            near: Station::default(),
            far,
            here: Met::default(),
            there: Met::default(),
            families: Vec::new(),
            talks: Vec::new(),
            marks: 0,
            ports: Ports::default(),
            interrupt: interrupt.clone(),
        };
        bench.meet(interface, peer)?;
        let seen = |(who, why): (&str, io::Error)| may_not_see(who, &why);
        bench.watch_near(false).map_err(seen)?;
        let failed = |why| Failure::measuring("look for the way to the other end", why);
        bench.talks = bench.own_talks(peer).map_err(failed)?;
        if !bench.talks.is_empty() {
            bench.watch_near(false).map_err(seen)?;
        }
        bench.watch_far(false).map_err(seen)?;
        let failed = |why| Failure::measuring("open sockets at both ends", why);
        bench.families = bench.pairs(peer).map_err(failed)?;
        bench.greet().map_err(failed)?;
        Ok(bench)
    }

    fn meet(&mut self, interface: &str, peer: IpAddr) -> Result<(), Failure> {
        let what = format!("check {interface}");
        let ask = Ask::Meet {
            interface: Some(interface.to_owned()),
            peer,
        };
        let met = self.near.ask(&ask).map_err(|why| {
            let why = match why.kind() {
                io::ErrorKind::NotFound => "this host has no interface of this name".to_owned(),
                _ => why.to_string(),
            };
            Failure::usage(what.clone(), why).hint("`ip -br link` lists the interfaces")
        })?;
        self.here = *met.met.unwrap_or_default();
        let own = own_toward(&self.here, peer).ok_or_else(|| {
            let is_own = self.here.addresses.iter().any(|(own, _)| *own == peer);
            let why = match is_own {
                true => format!("{peer} is this host itself"),
                false => format!(
                    "{peer} is not in a network of {interface}: a router would be judged, too"
                ),
            };
            Failure::usage(what.clone(), why)
                .hint("ip -br address; an address at the other end of the cable")
        })?;
        let ask = Ask::Meet {
            interface: None,
            peer: own,
        };
        let met = self.far.ask(&ask);
        let met = met.map_err(|why| Failure::measuring("ask the other end", why))?;
        self.there = *met.met.unwrap_or_default();
        self.there.host.role = Role::Remote;
        match self.there.addresses.iter().any(|(one, _)| *one == peer) {
            true => Ok(()),
            false => {
                let why = format!("the agent there is not on {peer}");
                Err(Failure::usage(what, why))
            }
        }
    }

    fn watch_near(&mut self, is_promiscuous: bool) -> Result<(), (&'static str, io::Error)> {
        let watched = self.near.ask(&Ask::Watch {
            peer: self.there.link_address.clone(),
            talks: self.talks.clone(),
            is_promiscuous,
        });
        watched.map(drop).map_err(|why| ("this host", why))
    }

    fn watch_far(&mut self, is_promiscuous: bool) -> Result<(), (&'static str, io::Error)> {
        let watched = self.far.ask(&Ask::Watch {
            peer: self.here.link_address.clone(),
            talks: self.talks.clone(),
            is_promiscuous,
        });
        watched.map(drop).map_err(|why| ("the other end", why))
    }

    /// Makes a check while no interface leaves out VLANs that its host does not use (`rx-vlan-filter`).
    pub(crate) fn seeing_every_vlan<T>(
        &mut self,
        check: impl FnOnce(&mut Self) -> io::Result<T>,
    ) -> io::Result<T> {
        let watch = |bench: &mut Self, is_promiscuous| {
            let near = bench.watch_near(is_promiscuous);
            near.and_then(|()| bench.watch_far(is_promiscuous))
                .map_err(|(_, why)| why)
        };
        watch(self, true)?;
        let checked = check(self);
        watch(self, false)?;
        checked
    }

    /// The connections on the link that carry the questions and answers: each that carries data both ways whenever the other
    /// end is asked.
    fn own_talks(&mut self, peer: IpAddr) -> io::Result<Vec<[u16; 2]>> {
        let own = own_toward(&self.here, peer).unwrap_or(peer);
        let _warm = self.asked_across(own)?;
        let mut all = self.asked_across(own)?;
        for _ in 1..QUESTIONS {
            let again = self.asked_across(own)?;
            all.retain(|ports| again.contains(ports));
        }
        Ok(all)
    }

    /// The ports here and there between which the link carries data both ways while the other end is asked something.
    fn asked_across(&mut self, own: IpAddr) -> io::Result<Vec<[u16; 2]>> {
        let mut ways: [Vec<[u16; 2]>; 2] = [Vec::new(), Vec::new()];
        let question = Ask::Meet {
            interface: None,
            peer: own,
        };
        self.far.ask(&question)?;
        Self::frames_so_far(&mut self.near, |seen, frame| {
            let [out, back] = &mut ways;
            let upper = Upper::of_beginning(frame).filter(|upper| !upper.payload.is_empty());
            match (upper.and_then(|upper| upper.ports(frame)), seen.is_outgoing) {
                (Some(ports), true) => out.push(ports),
                (Some([from, to]), false) => back.push([to, from]),
                (None, _) => {}
            }
        })?;
        let [mut out, back] = ways;
        out.retain(|ports| back.contains(ports));
        out.dedup();
        Ok(out)
    }

    /// IPv4 and IPv6 as far as both ends have them in one network.
    fn pairs(&mut self, peer: IpAddr) -> io::Result<Vec<Family>> {
        let theirs = self.there.addresses.iter().map(|(address, _)| *address);
        let mut theirs: Vec<IpAddr> = theirs.collect();
        // The one that the user named first, then the global ones.
        order::by_key(&mut theirs, |one| (*one != peer, is_link_local(*one)));
        let mut families: Vec<Family> = Vec::new();
        for far in theirs {
            let number = if far.is_ipv4() { 4 } else { 6 };
            let is_known = families.iter().any(|one| one.number == number);
            if let (Some(near), false) = (own_toward(&self.here, far), is_known) {
                families.push(self.family(number, near, far)?);
            }
        }
        order::by_key(&mut families, |one| one.number);
        Ok(families)
    }

    fn family(&mut self, number: u8, near: IpAddr, far: IpAddr) -> io::Result<Family> {
        let serve = |address, peer| Ask::Serve { address, peer };
        let take = |address| Ask::Datagrams { address };
        Ok(Family {
            number,
            near,
            far,
            near_udp: self.near.ask(&take(near))?.port,
            far_udp: self.far.ask(&take(far))?.port,
            near_tcp: self.near.ask(&serve(near, far))?.port,
            far_tcp: self.far.ask(&serve(far, near))?.port,
        })
    }

    /// Each host then knows the other's address on the link.
    fn greet(&mut self) -> io::Result<()> {
        for family in self.families.clone() {
            let socket = self.socket(&family)?;
            for _ in 0..GREETINGS {
                socket.send(b"linerate")?;
                if !self
                    .far
                    .ask(&Ask::Payloads { wait_ms: 500 })?
                    .payloads
                    .is_empty()
                {
                    break;
                }
            }
        }
        self.forget()
    }
}

fn own_toward(met: &Met, peer: IpAddr) -> Option<IpAddr> {
    let near = met
        .addresses
        .iter()
        .find(|(own, prefix)| shares(*own, peer, *prefix));
    near.map(|(own, _)| *own).filter(|own| *own != peer)
}

/// Whether two addresses have their first bits in common.
fn shares(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            let differ = one.to_bits() ^ other.to_bits();
            differ.leading_zeros() >= u32::from(bits)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            let differ = one.to_bits() ^ other.to_bits();
            differ.leading_zeros() >= u32::from(bits)
        }
        _ => false,
    }
}

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

fn may_not_see(who: &str, why: &io::Error) -> Failure {
    let hint = match who {
        "this host" => "sudo linerate nic-check …; or setcap cap_net_raw+ep on the program",
        _ => "ssh root@HOST: --remote root@HOST",
    };
    Failure::measuring(format!("see the frames of {who}"), why).hint(hint)
}

const GREETINGS: u32 = 10;
/// Another's connection carries data both ways during each of them only by accident.
const QUESTIONS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_begin_alike() {
        for (one, other, bits, expected) in [
            ("198.18.0.1", "198.18.0.2", 24, true),
            ("198.18.0.1", "198.18.1.2", 24, false),
            ("10.0.0.1", "192.0.2.1", 0, true),
            ("2001:2::1", "2001:2::2", 64, true),
            ("fe80::1", "2001:2::2", 64, false),
            ("198.18.0.1", "2001:2::2", 0, false),
        ] {
            let [a, b] = [one, other].map(|text| text.parse().unwrap());
            assert_eq!(shares(a, b, bits), expected, "{one} {other}");
        }
    }
}
