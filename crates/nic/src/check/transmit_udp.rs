// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksums of the UDP datagrams that this host sends, as the other end sees them.

use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;

use linerate_model::output::{NicCheck, NicExample};
use linerate_wire::checksum::Checksum;

use super::TRANSMIT;
use crate::bench::{Bench, Family, UNFINISHED};
use crate::message::Seen;
use crate::packet::{Packet, UDP, shown};
use crate::tally::Tally;
use crate::{hex, vectors};

/// Every size, with contents of no pattern and with such that the sum folds to zero.
pub(super) fn sums(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let socket = bench.socket(family)?;
    let own_port = socket.local_addr()?.port();
    let mut sent = Sent::new(own_port);
    for size in vectors::sizes(bench.largest_payload(family)) {
        sent.add(vectors::payload(size, 0), PLAIN);
        let (from, to) = ((family.near, own_port), (family.far, family.far_udp));
        if let Some(payload) = vectors::folding(size, from, to) {
            sent.add(payload, FOLDING);
        }
    }
    for _ in 0..ROUNDS {
        sent.send(&socket)?;
        sent.see(bench)?;
    }
    sent.never_came();
    let Sent {
        tallies,
        header,
        length,
        ..
    } = sent;
    let [plain, folding] = tallies;
    let n = family.number;
    let mut checks = vec![
        plain.check(bench.property(
            format!("tx-udp{n}-sum"),
            TRANSMIT,
            format!(
                "UDP checksums over IPv{n}, payloads of 0 to {} bytes",
                bench.largest_payload(family)
            ),
            TX_SUMS,
        )),
        folding.check(bench.property(
            format!("tx-udp{n}-zero-sum"),
            TRANSMIT,
            format!("UDP checksums over IPv{n} that fold to zero are sent as ffff"),
            TX_SUMS,
        )),
    ];
    let what = format!("frames of UDP over IPv{n} end with their packets, or with padding");
    let id = format!("tx-udp{n}-length");
    checks.push(length.check(bench.property(id, TRANSMIT, what, "")));
    if n == 4 {
        let what = "checksums of the IPv4 header".to_owned();
        checks.push(header.check(bench.property(
            "tx-ip4-header".to_owned(),
            TRANSMIT,
            what,
            TX_SUMS,
        )));
    }
    Ok(checks)
}

/// What is sent, until it was seen.
struct Sent {
    own_port: u16,
    /// Payload → its kind, and whether it was seen.
    payloads: BTreeMap<Vec<u8>, (usize, bool)>,
    tallies: [Tally; 2],
    header: Tally,
    length: Tally,
}

impl Sent {
    fn new(own_port: u16) -> Self {
        Self {
            own_port,
            payloads: BTreeMap::new(),
            tallies: [Tally::default(), Tally::default()],
            header: Tally::default(),
            length: Tally::default(),
        }
    }

    fn add(&mut self, payload: Vec<u8>, kind: usize) {
        self.payloads.insert(payload, (kind, false));
    }

    /// What was not seen yet; a refused one is sent in the next round.
    fn send(&self, socket: &UdpSocket) -> io::Result<()> {
        let open = self.payloads.iter().filter(|(_, (_, seen))| !seen);
        for (payload, _) in open {
            match socket.send(payload) {
                Err(why) if why.raw_os_error().is_none() => return Err(why),
                _ => {}
            }
        }
        Ok(())
    }

    fn see(&mut self, bench: &mut Bench) -> io::Result<()> {
        let own_port = self.own_port;
        let mut frames: Vec<(Seen, Vec<u8>)> = Vec::new();
        let mut open = self.open();
        if open == 0 {
            return Ok(());
        }
        Bench::frames(&mut bench.far, |seen, bytes| {
            if is_from(bytes, UDP, own_port) {
                frames.push((seen.clone(), bytes.to_vec()));
                open = open.saturating_sub(1);
            }
            open == 0
        })?;
        frames
            .iter()
            .for_each(|(seen, bytes)| self.judge(bench, seen, bytes));
        Ok(())
    }

    fn open(&self) -> usize {
        self.payloads.values().filter(|(_, seen)| !seen).count()
    }

    fn judge(&mut self, bench: &Bench, seen: &Seen, bytes: &[u8]) {
        let Some(packet) = Packet::parse(bytes) else {
            return;
        };
        let known = self.payloads.get_mut(packet.payload());
        let kind = known.as_ref().map_or(PLAIN, |known| known.0);
        let Some(tally) = self.tallies.get_mut(kind) else {
            return;
        };
        if let Some(why) = bench.unlike_a_wire(seen, bytes) {
            tally.not_a_wire(why);
            self.header.not_a_wire(why);
            self.length.not_a_wire(why);
        }
        match known {
            Some((_, true)) => return,
            Some((_, is_seen)) => {
                *is_seen = true;
                tally.case(packet.end, packet.upper_fault());
            }
            None => tally.case(packet.end, Some(altered(&packet))),
        }
        self.header.case(packet.end, packet.header_fault());
        self.length
            .case(packet.end, packet.length_fault(seen.length));
    }

    /// What did not come although others did.
    fn never_came(&mut self) {
        for (payload, (kind, _)) in self.payloads.iter().filter(|(_, (_, seen))| !seen) {
            if let Some(tally) = self
                .tallies
                .get_mut(*kind)
                .filter(|tally| tally.tried() > 0)
            {
                tally.case(
                    0,
                    Some(missing("datagram", payload.len(), "at the other end")),
                );
            }
        }
    }
}

/// Whether a frame is of this protocol and comes from this port; fragments have none.
pub(super) fn is_from(frame: &[u8], protocol: u8, port: u16) -> bool {
    Packet::parse(frame).is_some_and(|packet| {
        packet.protocol == protocol
            && packet.fragment.is_none()
            && packet.ports().is_some_and(|(from, _)| from == port)
    })
}

/// Its bytes are none that were sent.
pub(super) fn altered(packet: &Packet<'_>) -> NicExample {
    NicExample {
        what: "payload".to_owned(),
        offset: u32::try_from(packet.upper_at + 8).ok(),
        expected: "the bytes that were sent".to_owned(),
        seen: hex::of(packet.payload().get(..16).unwrap_or(packet.payload())),
        frame: Some(shown(packet.frame)),
    }
}

/// A datagram or frame that was sent several times, and never came.
pub(super) fn missing(what: &str, bytes: usize, place: &str) -> NicExample {
    NicExample {
        what: format!("{what} of {bytes} bytes"),
        expected: place.to_owned(),
        seen: "nothing".to_owned(),
        ..NicExample::default()
    }
}

/// Datagrams of several frames: their checksum is of the whole.
pub(super) fn fragments(bench: &mut Bench, family: &Family) -> io::Result<Vec<NicCheck>> {
    let socket = bench.socket(family)?;
    let one = bench.largest_payload(family);
    let payloads = [one + 1, one + 2, 2 * one, 4000, 8191].map(|size| vectors::payload(size, 2));
    let mut tally = Tally::default();
    for payload in &payloads {
        for _ in 0..ROUNDS {
            socket.send(payload)?;
            let mut parts = Parts::default();
            let mut unlike = None;
            Bench::frames(&mut bench.far, |seen, bytes| {
                parts.take(bytes, family);
                unlike = unlike.or(seen.is_unfinished.then_some(UNFINISHED));
                parts.is_whole()
            })?;
            unlike.into_iter().for_each(|why| tally.not_a_wire(why));
            if parts.is_whole() {
                tally.case(0, parts.fault(family, payload));
                break;
            }
        }
    }
    let what = format!(
        "UDP checksums over IPv{} of fragmented datagrams",
        family.number
    );
    let id = format!("tx-udp{}-fragments", family.number);
    Ok(vec![
        tally.check(bench.property(id, TRANSMIT, what, TX_SUMS)),
    ])
}

/// The fragments of one datagram.
#[derive(Default)]
struct Parts {
    bytes: Vec<u8>,
    here: usize,
    whole: Option<usize>,
    header: Option<NicExample>,
}

impl Parts {
    fn take(&mut self, frame: &[u8], family: &Family) {
        let Some(packet) = Packet::parse(frame) else {
            return;
        };
        let Some((at, more, _)) = packet.fragment.filter(|_| packet.source == family.near) else {
            return;
        };
        let part = packet.upper();
        let end = at + part.len();
        self.bytes.resize(self.bytes.len().max(end), 0);
        if let Some(place) = self.bytes.get_mut(at..end) {
            place.copy_from_slice(part);
        }
        self.here += part.len();
        self.whole = self.whole.or((!more).then_some(end));
        self.header = self.header.take().or_else(|| packet.header_fault());
    }

    fn is_whole(&self) -> bool {
        self.whole == Some(self.here)
    }

    fn fault(&self, family: &Family, sent: &[u8]) -> Option<NicExample> {
        let length = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        let sum = Checksum::pseudo_header(family.near, family.far, UDP, length);
        let is_right = sum.is_some_and(|sum| sum.with(&self.bytes).finish() == 0);
        let is_sent = self.bytes.get(8..) == Some(sent);
        let fault = |what: &str| NicExample {
            what: what.to_owned(),
            expected: "the datagram that was sent".to_owned(),
            seen: hex::of(self.bytes.get(..64).unwrap_or(&self.bytes)),
            ..NicExample::default()
        };
        match (is_right, is_sent) {
            (true, true) => self.header.clone(),
            (false, _) => Some(fault("UDP checksum of the fragments together")),
            (true, false) => Some(fault("payload of the fragments together")),
        }
    }
}

/// Contents of no pattern, and such whose checksum folds to zero.
const PLAIN: usize = 0;
const FOLDING: usize = 1;
const ROUNDS: usize = 4;
pub(super) const TX_SUMS: &str = "tx-checksumming";
