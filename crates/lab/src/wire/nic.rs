// SPDX-License-Identifier: MIT OR Apache-2.0
//! The network interface cards at the ends of the wire: they complete checksums, cut long packets and pad short frames.
//! Host A's may have faults.

mod merge;
mod reception;

use std::sync::Arc;

use linerate_linux::ethtool_features::InForce;
use linerate_wire::offload::{Place, Request, Segments, Upper, complete};

use crate::Fault;
pub(super) use reception::Reception;

/// The faults of host A's card; by default it has none. Host B's never has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nic {
    /// Transmits shorter frames (bytes, without FCS) with the checksum that the kernel left to it.
    pub short_checksum_bytes: u32,
    /// Transmits 0, "no checksum", where UDP's folds to zero.
    pub sends_udp_zero: bool,
    /// Repeats PSH and CWR of a long packet in every TCP segment.
    pub repeats_tcp_flags: bool,
    /// Counts every n-th received frame twice; 0: none.
    pub counts_twice_every: u32,
    /// Puts all flows into one receive queue.
    pub has_one_queue: bool,
    /// Puts the frames of each flow into several receive queues.
    pub has_unstable_rss: bool,
    /// Merges received segments and datagrams that must stay apart, while GRO is on.
    pub merges: bool,
    /// Takes received segments and datagrams with a wrong checksum for right, while receive checksum offload is on.
    pub passes_wrong: bool,
    /// Drops received shorter IP frames, bytes without FCS, while receive checksum offload is on.
    pub drops_short_bytes: u32,
    /// Inserts VLAN tags without their priority.
    pub loses_vlan_priority: bool,
    /// Where it inserts a VLAN tag, computes the checksum from as many bytes too early.
    pub forgets_vlan_tag: bool,
}

impl Nic {
    /// Adds a fault, if it is a card's.
    #[must_use]
    pub(super) const fn with(mut self, fault: Fault) -> Self {
        match fault {
            Fault::NicShortChecksum { bytes } => self.short_checksum_bytes = bytes,
            Fault::NicUdpZero => self.sends_udp_zero = true,
            Fault::NicTsoFlags => self.repeats_tcp_flags = true,
            Fault::NicMiscounts { every } => self.counts_twice_every = every,
            Fault::NicOneQueue => self.has_one_queue = true,
            Fault::NicUnstableRss => self.has_unstable_rss = true,
            Fault::NicMerges => self.merges = true,
            Fault::NicPassesWrong => self.passes_wrong = true,
            Fault::NicDropsShort { bytes } => self.drops_short_bytes = bytes,
            Fault::NicVlanTag => self.loses_vlan_priority = true,
            Fault::NicVlanChecksum => self.forgets_vlan_tag = true,
            _ => {}
        }
        self
    }

    /// How many queues of the wire fill the receive queues of host A.
    pub(crate) const fn queues(self) -> u32 {
        if self.has_one_queue {
            1
        } else {
            RECEIVE_QUEUES
        }
    }

    /// The transmitting side of direction 0 (`a-b`), from host A, whose offloads are given, or 1.
    pub(super) fn transmission(
        self,
        number: u64,
        frame_bytes_max: usize,
        offloads: Option<Arc<InForce>>,
    ) -> Transmission {
        Transmission {
            nic: if number == 0 { self } else { Self::default() },
            offloads,
            frame: vec![0; frame_bytes_max],
        }
    }

    /// The receiving side of host A, whose offloads are given, if it has a fault.
    pub(super) fn reception(
        self,
        frame_bytes_max: usize,
        offloads: Option<Arc<InForce>>,
    ) -> Option<Reception> {
        let is_faulty = self.counts_twice_every > 0
            || self.merges
            || self.passes_wrong
            || self.drops_short_bytes > 0;
        is_faulty.then(|| Reception::new(self, frame_bytes_max, offloads))
    }
}

/// What a card does with the packets that a host gives it.
#[derive(Debug)]
pub(super) struct Transmission {
    nic: Nic,
    /// The host's offloads: a fault of VLAN tags acts while the card inserts them. `None`: it does.
    offloads: Option<Arc<InForce>>,
    frame: Vec<u8>,
}

impl Transmission {
    /// Shows the frames that a packet becomes; false if it is longer than a frame may be, or not what the request says.
    pub(super) fn carry_out(
        &mut self,
        packet: &[u8],
        request: &Request,
        mut each: impl FnMut(&[u8]),
    ) -> bool {
        let Some(mut segments) = Segments::of(packet, request) else {
            return request.segmentation.is_none() && self.one(packet, request, each);
        };
        while let Some(bytes) = segments.write_next(&mut self.frame) {
            if self.nic.repeats_tcp_flags {
                repeat_flags(packet, self.frame.get_mut(..bytes).unwrap_or_default());
            }
            self.spoil(packet, request, bytes);
            self.spoil_tagged(packet, request, bytes);
            each(padded(&mut self.frame, bytes));
        }
        segments.is_complete()
    }

    fn one(&mut self, packet: &[u8], request: &Request, mut each: impl FnMut(&[u8])) -> bool {
        let Some(frame) = self.frame.get_mut(..packet.len()) else {
            return false;
        };
        frame.copy_from_slice(packet);
        if request
            .checksum
            .is_some_and(|place| !complete(frame, place))
        {
            return false;
        }
        self.spoil(packet, request, packet.len());
        self.spoil_tagged(packet, request, packet.len());
        each(padded(&mut self.frame, packet.len()));
        true
    }

    /// Makes what the card's faults make of a checksum.
    fn spoil(&mut self, packet: &[u8], request: &Request, bytes: usize) {
        let Some(Place { start, field }) = request.checksum else {
            return;
        };
        let (place, udp) = (field..field + 2, field - start == UDP_FIELD);
        let (Some(sum), Some(left)) = (self.frame.get_mut(place.clone()), packet.get(place)) else {
            return;
        };
        if bytes < self.nic.short_checksum_bytes as usize {
            sum.copy_from_slice(left);
        }
        if self.nic.sends_udp_zero && udp && sum == [0xFF; 2] {
            sum.fill(0);
        }
    }

    /// Makes what the card's faults make of a frame into which it inserts a VLAN tag.
    fn spoil_tagged(&mut self, packet: &[u8], request: &Request, bytes: usize) {
        let is_faulty = self.nic.loses_vlan_priority || self.nic.forgets_vlan_tag;
        if !is_faulty || packet.get(VLAN_AT..VLAN_AT + 2) != Some(&VLAN) || !self.inserts_tags() {
            return;
        }
        let frame = self.frame.get_mut(..bytes).unwrap_or_default();
        if let Some(byte) = frame
            .get_mut(VLAN_AT + 2)
            .filter(|_| self.nic.loses_vlan_priority)
        {
            *byte &= 0x1F;
        }
        let Some(Place { start, field }) = request.checksum.filter(|_| self.nic.forgets_vlan_tag)
        else {
            return;
        };
        let place = field..field + 2;
        if let (Some(sum), Some(left)) = (frame.get_mut(place.clone()), packet.get(place)) {
            sum.copy_from_slice(left);
        }
        let start = start.saturating_sub(VLAN_BYTES);
        complete(frame, Place { start, field });
    }

    fn inserts_tags(&self) -> bool {
        let offloads = self.offloads.as_ref();
        offloads.is_none_or(|offloads| offloads.inserts_vlan_tags().unwrap_or(true))
    }
}

/// Writes PSH and CWR of a long TCP packet into a segment of it.
fn repeat_flags(packet: &[u8], frame: &mut [u8]) {
    let Some(upper) = Upper::of(frame).filter(|upper| upper.is_tcp) else {
        return;
    };
    let at = upper.checksum.start + TCP_FLAGS;
    if let (Some(flags), Some(of_packet)) = (frame.get_mut(at), packet.get(at)) {
        *flags |= of_packet & (PSH | CWR);
    }
    merge::write_sum(frame, &upper);
}

/// With zeros up to the shortest frame of Ethernet (IEEE 802.3 section 4.2.3.3).
fn padded(frame: &mut [u8], bytes: usize) -> &[u8] {
    if let Some(padding) = frame.get_mut(bytes..SHORTEST_BYTES) {
        padding.fill(0);
    }
    frame.get(..bytes.max(SHORTEST_BYTES)).unwrap_or_default()
}

/// Of host A's card.
pub(crate) const RECEIVE_QUEUES: u32 = 4;
/// Without FCS.
const SHORTEST_BYTES: usize = 60;
/// Where TCP has its flags (RFC 9293 section 3.1).
const TCP_FLAGS: usize = 13;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;
/// Where UDP has its checksum.
const UDP_FIELD: usize = 6;
/// Where a frame has its tag (IEEE 802.1Q section 9.6), and what it begins with.
const VLAN_AT: usize = 12;
const VLAN: [u8; 2] = [0x81, 0];
const VLAN_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP datagram over IPv4 with the sum of its pseudo-header, as the kernel leaves it to a card.
    fn packet(payload: &[u8]) -> (Vec<u8>, Request) {
        let length = 8 + payload.len() as u16;
        let mut frame = vec![2; 12];
        frame.extend([
            8,
            0,
            0x45,
            0,
            0,
            20 + length as u8,
            0,
            1,
            0x40,
            0,
            64,
            17,
            0,
            0,
        ]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x9C, 0x40, 0x14, 0x51, 0, length as u8]);
        let addresses = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
        let sum = linerate_wire::checksum::Checksum::pseudo_header(
            addresses[0],
            addresses[1],
            17,
            length.into(),
        );
        frame.extend((!sum.unwrap().finish()).to_be_bytes());
        frame.extend(payload);
        let checksum = Some(Place {
            start: 34,
            field: 40,
        });
        (
            frame,
            Request {
                checksum,
                segmentation: None,
            },
        )
    }

    fn sent(nic: Nic, payload: &[u8]) -> Vec<u8> {
        let (packet, request) = packet(payload);
        sent_as(nic, &packet, &request)
    }

    /// The same with a tag of priority 5 and number 7.
    fn sent_tagged(nic: Nic, payload: &[u8]) -> Vec<u8> {
        let (mut packet, request) = packet(payload);
        packet.splice(12..12, [0x81, 0, 0xA0, 7]);
        sent_as(nic, &packet, &request.moved(4))
    }

    fn sent_as(nic: Nic, packet: &[u8], request: &Request) -> Vec<u8> {
        let mut frames = Vec::new();
        let mut card = nic.transmission(0, 1518, None);
        assert!(card.carry_out(packet, request, |frame| frames.push(frame.to_vec())));
        assert_eq!(frames.len(), 1);
        frames.remove(0)
    }

    fn sum(frame: &[u8]) -> Option<u16> {
        Upper::of(frame)?.sum(frame)
    }

    #[test]
    fn a_card_completes_and_pads() {
        for length in 0..64_u8 {
            let frame = sent(Nic::default(), &(0..length).collect::<Vec<_>>());
            assert_eq!(sum(&frame), Some(0), "{length}");
            assert_eq!(frame.len(), usize::from(length + 42).max(60));
        }
    }

    #[test]
    fn short_frames_of_a_faulty_card_are_wrong_and_others_are_not() {
        let nic = Nic {
            short_checksum_bytes: 64,
            ..Nic::default()
        };
        for length in 0..64_u8 {
            let frame = sent(nic, &vec![7; length.into()]);
            assert_eq!(sum(&frame) == Some(0), length >= 22, "{length}");
        }
    }

    #[test]
    fn a_faulty_card_sends_zero_where_the_sum_is_zero() {
        let right = sent(Nic::default(), &[0, 0]);
        let payload = &right[40..42];
        let nic = Nic {
            sends_udp_zero: true,
            ..Nic::default()
        };
        assert_eq!(sent(Nic::default(), payload)[40..42], [0xFF, 0xFF]);
        assert_eq!(sent(nic, payload)[40..42], [0, 0]);
        assert_eq!(sent(nic, &[0, 0]), right);
    }

    #[test]
    fn faults_of_vlan_tags_spoil_tagged_frames_only() {
        let right = sent_tagged(Nic::default(), &[7; 30]);
        assert_eq!(
            (&right[12..16], sum(&right)),
            (&[0x81, 0, 0xA0, 7][..], Some(0))
        );
        let loses = Nic {
            loses_vlan_priority: true,
            ..Nic::default()
        };
        let forgets = Nic {
            forgets_vlan_tag: true,
            ..Nic::default()
        };
        let mut without = right.clone();
        without[14] = 0;
        assert_eq!(sent_tagged(loses, &[7; 30]), without);
        let mut bad = sent_tagged(forgets, &[7; 30]);
        assert!(sum(&bad).is_some_and(|sum| sum != 0));
        bad[44..46].copy_from_slice(&right[44..46]);
        assert_eq!(bad, right, "only the sum differs");
        for nic in [loses, forgets] {
            assert_eq!(sent(nic, &[7; 30]), sent(Nic::default(), &[7; 30]));
        }
    }

    #[test]
    fn what_is_too_long_is_not_sent() {
        let (packet, request) = packet(&[7; 100]);
        let mut card = Nic::default().transmission(0, 100, None);
        assert!(!card.carry_out(&packet, &request, |_| panic!("shown")));
    }
}
