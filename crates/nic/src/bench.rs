// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two ends on their link, with the sockets that every check needs.

mod meeting;
mod ports;

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use linerate_linux::signal::Interrupt;
use linerate_model::output::{Host, NicCheck};

use crate::check;
use crate::craft::{self, Marks, Path};
use crate::far::{End, Far};
use crate::hex;
use crate::message::{Answer, Ask, Met, Seen};
use crate::packet::Packet;
use crate::software::Software;
use crate::station::{Station, end, features};
use crate::tally::{self, Property};
use crate::vectors;
use ports::Ports;

/// Two ends that can be asked, and what they call each other.
#[derive(Debug)]
pub struct Bench {
    pub(crate) near: Station,
    pub(crate) far: Far,
    pub(crate) here: Met,
    pub(crate) there: Met,
    pub(crate) families: Vec<Family>,
    /// Ports here and there of what carries questions and answers across the link that is judged.
    talks: Vec<[u16; 2]>,
    /// How many were sent.
    marks: u64,
    ports: Ports,
    interrupt: Interrupt,
}

/// The addresses of one family, and the ports that wait there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family {
    /// 4 or 6.
    pub number: u8,
    pub near: IpAddr,
    pub far: IpAddr,
    /// Of sockets that take datagrams.
    pub near_udp: u16,
    pub far_udp: u16,
    /// Of the services.
    pub near_tcp: u16,
    pub far_tcp: u16,
}

impl Bench {
    /// What has been seen so far is of no interest. Where more comes with each answer, the rest stays.
    pub(crate) fn forget(&mut self) -> io::Result<()> {
        for end in [&mut self.near as &mut dyn End, &mut self.far] {
            let until = Instant::now() + LONGEST;
            let is_in_time = || Instant::now() < until;
            while is_in_time() && !end.ask(&Ask::Frames { wait_ms: 0 })?.frames.is_empty() {}
            while is_in_time() && !end.ask(&Ask::Payloads { wait_ms: 0 })?.payloads.is_empty() {}
        }
        Ok(())
    }

    /// The hosts as results name them.
    #[must_use]
    pub fn hosts(&self) -> Vec<Host> {
        vec![self.here.host.clone(), self.there.host.clone()]
    }

    /// What to know of the way to the other end: it crosses the link that is judged.
    #[must_use]
    pub fn crossing(&self) -> Option<String> {
        let [here, there] = self.talks.first()?;
        Some(format!(
            "the other end is asked across the link that is judged (port {here} here, {there} there): these frames are left \
             out, and each question takes time on the link; an interface that spoils them ends the check"
        ))
    }

    /// Every check in turn, each given to `take` as soon as it is known.
    ///
    /// # Errors
    /// The other end is no longer reached, or the user interrupted.
    pub fn run(&mut self, take: &mut dyn FnMut(NicCheck)) -> io::Result<()> {
        for family in self.families.clone() {
            for (check, _) in check::OF_FAMILY {
                let checks = self.observed(&mut |bench| check(bench, &family))?;
                checks.into_iter().for_each(&mut *take);
            }
        }
        for (check, _) in check::OF_INTERFACE {
            let checks = self.observed(&mut |bench| check(bench))?;
            checks.into_iter().for_each(&mut *take);
        }
        Ok(())
    }

    /// The offloads that the driver has and that checks depend on, with their values.
    #[must_use]
    pub fn offloads(&self) -> Vec<(&'static str, String)> {
        let mut names: Vec<&str> = Vec::new();
        let of_family = check::OF_FAMILY.iter().map(|(_, offloads)| offloads);
        let of_interface = check::OF_INTERFACE.iter().map(|(_, offloads)| offloads);
        for name in of_family.chain(of_interface).copied().flatten() {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let value = |name: &'static str| Some((name, self.here.features.get(name)?.clone()));
        names.into_iter().filter_map(value).collect()
    }

    /// The checks that depend on this offload, which has just been switched.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_of(&mut self, offload: &str, take: &mut dyn FnMut(NicCheck)) -> io::Result<()> {
        self.here.features = features(&self.here.interface);
        for family in self.families.clone() {
            let of = check::OF_FAMILY.into_iter();
            for (check, _) in of.filter(|(_, offloads)| offloads.contains(&offload)) {
                let checks = self.observed(&mut |bench| check(bench, &family))?;
                checks.into_iter().for_each(&mut *take);
            }
        }
        let of = check::OF_INTERFACE.into_iter();
        for (check, _) in of.filter(|(_, offloads)| offloads.contains(&offload)) {
            let checks = self.observed(&mut |bench| check(bench))?;
            checks.into_iter().for_each(&mut *take);
        }
        Ok(())
    }

    /// Makes a check, once more if a packet socket lost frames meanwhile: it cannot tell them from frames never sent.
    fn observed(
        &mut self,
        check: &mut dyn FnMut(&mut Self) -> io::Result<Vec<NicCheck>>,
    ) -> io::Result<Vec<NicCheck>> {
        let (mut checks, mut missed) = (Vec::new(), 0);
        for _ in 0..ATTEMPTS {
            self.heed()?;
            self.take_missed();
            checks = check(self)?;
            self.forget()?;
            missed = self.take_missed();
            if missed == 0 {
                break;
            }
        }
        Ok(checks
            .into_iter()
            .map(|check| tally::despite(check, missed))
            .collect())
    }

    fn take_missed(&mut self) -> u64 {
        self.near.take_missed() + self.far.take_missed()
    }

    fn heed(&mut self) -> io::Result<()> {
        match self.interrupt.requested() {
            Some(_) => Err(io::ErrorKind::Interrupted.into()),
            None => self.forget(),
        }
    }

    /// A property of the interface, and the feature that does it.
    pub(crate) fn property(
        &self,
        id: String,
        group: &'static str,
        what: String,
        offload: &'static str,
    ) -> Property {
        let value = self.here.features.get(offload);
        Property {
            id,
            group,
            what,
            offload: value.map(|value| (offload, value.clone())),
            interface: self.here.interface.clone(),
        }
    }

    /// A socket of this host connected to the one that takes datagrams at the other end.
    pub(crate) fn socket(&self, family: &Family) -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind(self.near_end(family, 0))?;
        socket.connect(end(family.far, family.far_udp, self.here.index))?;
        Ok(socket)
    }

    pub(crate) fn near_end(&self, family: &Family, port: u16) -> SocketAddr {
        end(family.near, port, self.here.index)
    }

    pub(crate) fn far_tcp(&self, family: &Family) -> SocketAddr {
        end(family.far, family.far_tcp, self.here.index)
    }

    /// Frames from the far end to the near one.
    pub(crate) fn inward(&self, family: &Family, source_port: u16, destination_port: u16) -> Path {
        Path {
            source_mac: link_address(&self.there),
            destination_mac: link_address(&self.here),
            source: family.far,
            destination: family.near,
            source_port,
            destination_port,
        }
    }

    /// Has the far end send frames, in messages of limited length; a pause lets those before pass.
    pub(crate) fn send_inward(&mut self, frames: &[Vec<u8>]) -> io::Result<()> {
        let mut at = 0;
        while let Some(rest) = frames.get(at..).filter(|rest| !rest.is_empty()) {
            let mut room_bytes = SEND_BYTES;
            let fits = |frame: &&Vec<u8>| {
                let had = room_bytes;
                room_bytes = room_bytes.saturating_sub(frame.len() + 2);
                had > frame.len()
            };
            let count = rest.iter().take(SEND_MOST).take_while(fits).count().max(1);
            let texts = rest.iter().take(count).map(|frame| hex::of(frame));
            self.far.ask(&Ask::Send {
                frames: texts.collect(),
            })?;
            at += count;
        }
        Ok(())
    }

    /// Gives the frames that an end sees to `take` until it has enough, or nothing comes.
    pub(crate) fn frames(
        end: &mut dyn End,
        take: impl FnMut(&Seen, &[u8]) -> bool,
    ) -> io::Result<()> {
        Self::frames_within(end, SILENCE_MS, take)
    }

    /// The same; nothing more comes if nothing comes for this long.
    pub(crate) fn frames_within(
        end: &mut dyn End,
        wait_ms: u64,
        mut take: impl FnMut(&Seen, &[u8]) -> bool,
    ) -> io::Result<()> {
        let until = Instant::now() + LONGEST;
        loop {
            let Answer { frames, .. } = end.ask(&Ask::Frames { wait_ms })?;
            if frames.is_empty() || Instant::now() > until {
                return Ok(());
            }
            let mut enough = false;
            for seen in &frames {
                let bytes = hex::bytes(&seen.bytes).unwrap_or_default();
                enough = take(seen, &bytes);
            }
            if enough {
                return Ok(());
            }
        }
    }

    /// The frames that an end has seen by now.
    pub(crate) fn frames_so_far(
        end: &mut dyn End,
        mut take: impl FnMut(&Seen, &[u8]),
    ) -> io::Result<()> {
        Self::frames_within(end, 0, |seen, bytes| {
            take(seen, bytes);
            false
        })
    }

    /// Has the far end send a datagram of another flow after all others: when it is here, what is not will not come.
    fn mark(&mut self, family: &Family) -> io::Result<Vec<u8>> {
        self.marks += 1;
        let mark = vectors::payload(MARK_BYTES, self.marks);
        let path = self.inward(family, MARK_PORT, family.near_udp);
        self.send_inward(&[craft::udp(&path, Marks::default(), &mark)])?;
        Ok(mark)
    }

    /// A source port that no frame had before.
    pub(crate) const fn fresh_port(&mut self) -> u16 {
        self.ports.fresh()
    }

    /// Gives the frames that the near end sees to `take` until it has enough, or all that were sent have had their time.
    pub(crate) fn arrived(
        &mut self,
        family: &Family,
        mut take: impl FnMut(&Seen, &[u8]) -> bool,
    ) -> io::Result<()> {
        let mark = self.mark(family)?;
        let (mut is_marked, mut is_enough) = (false, false);
        Self::frames(&mut self.near, |seen, bytes| {
            is_marked |= bytes.windows(MARK_BYTES).any(|some| some == mark);
            is_enough = take(seen, bytes);
            is_marked || is_enough
        })?;
        match is_marked && !is_enough {
            true => Self::frames_within(&mut self.near, GRACE_MS, take),
            false => Ok(()),
        }
    }

    /// The same with the datagrams that the near end's sockets deliver.
    pub(crate) fn delivered(
        &mut self,
        family: &Family,
        mut take: impl FnMut(Vec<u8>) -> bool,
    ) -> io::Result<()> {
        let mark = self.mark(family)?;
        let (mut is_marked, mut is_enough) = (false, false);
        self.payloads(SILENCE_MS, |payload| {
            is_marked |= payload == mark;
            is_enough = take(payload);
            is_marked || is_enough
        })?;
        match is_marked && !is_enough {
            true => self.payloads(GRACE_MS, take),
            false => Ok(()),
        }
    }

    /// The same as [`Self::frames_within`] with the datagrams that the near end's sockets deliver.
    fn payloads(&mut self, wait_ms: u64, mut take: impl FnMut(Vec<u8>) -> bool) -> io::Result<()> {
        let until = Instant::now() + LONGEST;
        loop {
            let Answer { payloads, .. } = self.near.ask(&Ask::Payloads { wait_ms })?;
            if payloads.is_empty() || Instant::now() > until {
                return Ok(());
            }
            let mut enough = false;
            for payload in payloads {
                enough = take(hex::bytes(&payload).unwrap_or_default());
            }
            if enough {
                return Ok(());
            }
        }
    }

    /// The largest payload of a datagram in one frame.
    pub(crate) fn largest_payload(&self, family: &Family) -> usize {
        payload_of(self.here.mtu_bytes.min(self.there.mtu_bytes), family)
    }

    /// The same as far as this host's MTU matters.
    pub(crate) fn own_largest_payload(&self, family: &Family) -> usize {
        payload_of(self.here.mtu_bytes, family)
    }

    /// Why a frame at the far end is none of a wire; nothing for one that is.
    pub(crate) fn unlike_a_wire(&self, seen: &Seen, frame: &[u8]) -> Option<&'static str> {
        // What follows a packet that fits was not merged with it.
        let fits = |packet: Packet<'_>| packet.length_fault(seen.length).is_some();
        let is_beyond = seen.length > self.there.mtu_bytes + 18;
        let is_long = seen.is_merged || is_beyond && !Packet::parse(frame).is_some_and(fits);
        if is_long && !self.there.is_veth && self.far_merges() {
            return Some(FAR_MERGES);
        }
        let uncut = is_long.then_some(UNCUT);
        uncut.or(seen.is_unfinished.then_some(UNFINISHED))
    }

    /// What software would send of this host's packets.
    pub(crate) fn software(&self) -> Software {
        let mangles = self.here.features.get(MANGLES);
        Software::new(mangles.is_some_and(|value| value.starts_with("on")))
    }

    /// The interface may drop what has the tag of a VLAN that it has no device of.
    pub(crate) fn filters_tags(&self) -> bool {
        let filter = self.here.features.get("rx-vlan-filter");
        filter.is_some_and(|value| value.starts_with("on"))
    }

    fn far_merges(&self) -> bool {
        ["generic-receive-offload", "large-receive-offload"]
            .iter()
            .filter_map(|name| self.there.features.get(*name))
            .any(|value| value.starts_with("on"))
    }
}

fn payload_of(mtu_bytes: u32, family: &Family) -> usize {
    let headers = if family.number == 4 { 28 } else { 48 };
    (mtu_bytes as usize).saturating_sub(headers)
}

fn link_address(met: &Met) -> [u8; 6] {
    let bytes = hex::bytes(&met.link_address).unwrap_or_default();
    bytes.first_chunk().copied().unwrap_or_default()
}

/// The kernel lets the driver write any identification into segments that must not be fragmented.
const MANGLES: &str = "tx-tcp-mangleid-segmentation";
/// Why a frame is none of a wire.
const UNCUT: &str = "a frame that is still to be cut came through: no interface sent it to a wire";
pub(crate) const UNFINISHED: &str =
    "a frame came whose checksum was never computed: no interface sent it to a wire";
/// That frame may have been on a wire, and is not as it was there.
pub(crate) const FAR_MERGES: &str =
    "HOST merges frames before they can be seen: ethtool -K IFACE gro off lro off there";
/// Nor is what did not come an interface's fault.
pub(crate) const NO_VLANS: &str = "most frames with a tag do not arrive: a switch on the way drops those of VLANs that it does not have";
/// Frames of one message: the lab's wire has room for more.
const SEND_MOST: usize = 128;
/// Bytes of one message, half of what a line of text holds.
const SEND_BYTES: usize = 28 * 1024;
/// Of a check whose observer loses frames.
const ATTEMPTS: usize = 2;
const SILENCE_MS: u64 = 1_000;
/// Of what comes on another queue than the mark, or is held back to be merged.
pub(crate) const GRACE_MS: u64 = 100;
/// Longer than what some interfaces drop.
const MARK_BYTES: usize = 120;
const MARK_PORT: u16 = 40_011;
/// Whatever else comes.
const LONGEST: Duration = Duration::from_secs(10);
