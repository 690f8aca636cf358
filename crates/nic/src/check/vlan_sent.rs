// SPDX-License-Identifier: MIT OR Apache-2.0
//! 802.1Q tags that this host's kernel leaves to the interface: each is in its frame, and checksums and segments below it are
//! right. No VLAN interface is needed: a BPF program asks for the tags of the check's own sockets ([`VlanPush`]).

use std::io;
use std::net::UdpSocket;

use linerate_linux::vlan_push::VlanPush;
use linerate_model::output::NicCheck;

use super::transmit_udp::{altered, is_from, missing};
use super::{segmentation, tag};
use crate::bench::{Bench, Family, NO_VLANS};
use crate::message::Seen;
use crate::packet::{Packet, UDP};
use crate::tally::{Property, Tally};
use crate::vectors;

/// Datagrams of every size, then what is cut.
pub(super) fn tags(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let properties = PROPERTIES.map(|(id, what)| property(bench, id, what));
    let _push = match VlanPush::attach(bench.here.index) {
        Ok(push) => push,
        Err(why) => {
            let why = why.to_string();
            return Ok(properties.map(|one| one.impossible(&*why)).into());
        }
    };
    let tallies = bench.seeing_every_vlan(tried)?;
    let all = tallies.into_iter().zip(properties);
    Ok(all.map(|(tally, property)| tally.check(property)).collect())
}

fn property(bench: &Bench, id: &str, what: &str) -> Property {
    bench.property(id.to_owned(), "vlan", what.to_owned(), "tx-vlan-offload")
}

fn tried(bench: &mut Bench) -> io::Result<[Tally; 3]> {
    let [mut tags, mut sums, mut segments] = <[Tally; 3]>::default();
    for family in bench.families.clone() {
        let mut sent = Sent::new(bench, &family);
        sent.tried(bench, &family, &mut tags, &mut sums)?;
        if let Some(why) = tags.why_not_a_wire() {
            segments.not_a_wire(why);
            continue;
        }
        // What is not possible is so without a tag, too, where it is said. TCP is not answered where no sum is right.
        if !sums.is_mostly_wrong() {
            let _written =
                segmentation::stream(bench, &family, Some(PRIORITY_ONLY), &mut segments)?;
        }
        let _cut = segmentation::datagrams(bench, &family, Some(PLAIN), &mut segments)?;
    }
    Ok([tags, sums, segments])
}

/// Payloads and their tags, and whether they were seen.
struct Sent(Vec<(Vec<u8>, u16, bool)>);

impl Sent {
    fn new(bench: &Bench, family: &Family) -> Self {
        let sizes = vectors::sizes(bench.largest_payload(family)).into_iter();
        let one = |size| (vectors::payload(size, SEED), tag::of_size(size), false);
        Self(sizes.map(one).collect())
    }

    fn open(&self) -> impl Iterator<Item = &(Vec<u8>, u16, bool)> {
        self.0.iter().filter(|(_, _, is_seen)| !is_seen)
    }

    fn tried(
        &mut self,
        bench: &mut Bench,
        family: &Family,
        tags: &mut Tally,
        sums: &mut Tally,
    ) -> io::Result<()> {
        let socket = bench.socket(family)?;
        let before = tags.tried();
        for _ in 0..ROUNDS {
            for (seen, frame) in self.sent(bench, &socket)? {
                if let Some(why) = bench.unlike_a_wire(&seen, &frame) {
                    tags.not_a_wire(why);
                    sums.not_a_wire(why);
                }
                if let Some(packet) = Packet::parse(&frame) {
                    self.judge(&packet, tags, sums);
                }
            }
            if self.open().next().is_none() || !tags.is_of_a_wire() {
                return Ok(());
            }
        }
        let came = tags.tried() - before;
        if came < self.0.len() as u64 / 2 {
            tags.not_a_wire(NO_VLANS);
            sums.not_a_wire(NO_VLANS);
        } else {
            let never = self
                .open()
                .map(|(payload, ..)| missing("datagram", payload.len(), "at the other end"));
            never.for_each(|fault| tags.case(0, Some(fault)));
        }
        Ok(())
    }

    /// Sends what was not seen yet; what the other end sees of it.
    fn sent(&self, bench: &mut Bench, socket: &UdpSocket) -> io::Result<Vec<(Seen, Vec<u8>)>> {
        let port = socket.local_addr()?.port();
        let mut open = 0;
        for (payload, tag, _) in self.open() {
            VlanPush::tag(socket, *tag)?;
            // A refused one is sent in the next round.
            let _refused = socket.send(payload);
            open += 1;
        }
        let mut frames = Vec::new();
        Bench::frames(&mut bench.far, |seen, frame| {
            if is_from(frame, UDP, port) {
                frames.push((seen.clone(), frame.to_vec()));
            }
            frames.len() >= open
        })?;
        Ok(frames)
    }

    fn judge(&mut self, packet: &Packet<'_>, tags: &mut Tally, sums: &mut Tally) {
        let is_it = |one: &&mut (Vec<u8>, u16, bool)| one.0 == packet.payload();
        match self.0.iter_mut().find(is_it) {
            Some((.., true)) => {}
            Some((_, tag, is_seen)) => {
                *is_seen = true;
                tags.case(packet.end, tag::fault(packet, *tag));
                sums.case(packet.end, packet.fault());
            }
            None => tags.case(packet.end, Some(altered(packet))),
        }
    }
}

const PROPERTIES: [(&str, &str); 3] = [
    (
        "tx-vlan-tag",
        "802.1Q tags are inserted with their numbers and priorities",
    ),
    (
        "tx-vlan-sum",
        "checksums of UDP and IPv4 under an 802.1Q tag, every size",
    ),
    (
        "tx-vlan-segments",
        "TCP segments and UDP datagrams that are cut under an 802.1Q tag",
    ),
];
const SEED: u64 = 31;
/// Number 0 names no VLAN: hosts take the frame as one without a tag, so that TCP can answer.
const PRIORITY_ONLY: u16 = 5 << 13;
const PLAIN: u16 = 3 << 13 | 2025;
const ROUNDS: usize = 4;
