// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completed checksums and cut packets are, byte for byte, the frames that another implementation (etherparse) writes.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use etherparse::{
    IpHeaders, Ipv4Header, Ipv6FlowLabel, Ipv6Header, PacketBuilder, TcpHeader, VlanId, ip_number,
};
use linerate_wire::checksum::Checksum;
use linerate_wire::offload::{Kind, Place, Request, Segmentation, Segments, Upper, complete};
use proptest::prelude::*;

/// What the packet of a test is.
#[derive(Clone, Debug)]
struct Packet {
    kind: Kind,
    /// UDP over IPv6.
    ipv6: bool,
    vlan: bool,
    identification: u16,
    sequence: u32,
    flags: u8,
    option_words: usize,
    payload: Vec<u8>,
    segment_bytes: u16,
}

/// A part of the payload, and how its headers differ.
struct Part<'a> {
    number: u16,
    before: u32,
    payload: &'a [u8],
    is_last: bool,
}

impl Packet {
    fn is_ipv6(&self) -> bool {
        self.kind == Kind::Tcp6 || self.kind == Kind::Udp && self.ipv6
    }

    fn ip(&self, part: &Part<'_>) -> IpHeaders {
        if self.is_ipv6() {
            let header = Ipv6Header {
                traffic_class: 0x2E,
                flow_label: Ipv6FlowLabel::try_new(0x12345).unwrap(),
                hop_limit: 64,
                source: [0xFD; 16],
                destination: [0x20; 16],
                ..Ipv6Header::default()
            };
            return IpHeaders::Ipv6(header, Default::default());
        }
        let ends = ([198, 18, 0, 1], [198, 18, 0, 2]);
        let mut header = Ipv4Header::new(0, 64, ip_number::UDP, ends.0, ends.1).unwrap();
        header.identification = self.identification.wrapping_add(part.number);
        IpHeaders::Ipv4(header, Default::default())
    }

    /// The frame of this part of the payload, as etherparse writes it.
    fn frame(&self, part: &Part<'_>) -> Vec<u8> {
        let mut frame = Vec::new();
        let link = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let step = match self.vlan {
            true => link
                .single_vlan(VlanId::try_new(7).unwrap())
                .ip(self.ip(part)),
            false => link.ip(self.ip(part)),
        };
        match self.kind {
            Kind::Udp => step.udp(40_000, 5201).write(&mut frame, part.payload),
            _ => step
                .tcp_header(self.tcp(part))
                .write(&mut frame, part.payload),
        }
        .unwrap();
        frame
    }

    fn tcp(&self, part: &Part<'_>) -> TcpHeader {
        let sequence = self.sequence.wrapping_add(part.before);
        let mut tcp = TcpHeader::new(40_000, 5201, sequence, 500);
        let has = |bit: u8| self.flags & bit != 0;
        (tcp.ack, tcp.ece, tcp.urg) = (true, has(1), has(2));
        tcp.fin = has(4) && part.is_last;
        tcp.psh = has(8) && part.is_last;
        tcp.cwr = has(16) && part.number == 0;
        tcp.set_options_raw(&[1; 40][..4 * self.option_words])
            .unwrap();
        tcp
    }

    /// As the kernel hands it to an interface: uncut, with the sum of the pseudo-header; and what it asks for.
    fn whole(&self) -> (Vec<u8>, Request) {
        let part = Part {
            number: 0,
            before: 0,
            payload: &self.payload,
            is_last: true,
        };
        let mut frame = self.frame(&part);
        let checksum = Upper::of(&frame).unwrap().checksum;
        put_pseudo_header(&mut frame);
        let segmentation = Some(Segmentation {
            kind: self.kind,
            payload_bytes: self.segment_bytes,
        });
        let checksum = Some(checksum);
        let request = Request {
            checksum,
            segmentation,
        };
        (frame, request)
    }

    fn expected(&self) -> Vec<Vec<u8>> {
        let size = usize::from(self.segment_bytes);
        let count = self.payload.len().div_ceil(size);
        let parts = self.payload.chunks(size).enumerate();
        let frame = |(number, payload)| {
            self.frame(&Part {
                number: number as u16,
                before: (number * size) as u32,
                payload,
                is_last: number + 1 == count,
            })
        };
        parts.map(frame).collect()
    }
}

/// Writes the sum of the pseudo-header to the field of the checksum.
fn put_pseudo_header(frame: &mut [u8]) -> Place {
    let upper = Upper::of(frame).unwrap();
    let protocol = if upper.is_tcp { 6 } else { 17 };
    let length = (frame.len() - upper.checksum.start) as u32;
    let sum = Checksum::pseudo_header(upper.source, upper.destination, protocol, length);
    let sum = !sum.unwrap().finish();
    let field = upper.checksum.field;
    frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    upper.checksum
}

fn cut(frame: &[u8], request: &Request) -> Vec<Vec<u8>> {
    let mut segments = Segments::of(frame, request).unwrap();
    let mut out = vec![0xAA; frame.len()];
    let next = || {
        segments
            .write_next(&mut out)
            .map(|bytes| out[..bytes].to_vec())
    };
    std::iter::from_fn(next).collect()
}

fn packets() -> impl Strategy<Value = Packet> {
    let kinds = prop_oneof![Just(Kind::Tcp4), Just(Kind::Tcp6), Just(Kind::Udp)];
    let header = (
        any::<bool>(),
        any::<bool>(),
        any::<u16>(),
        any::<u32>(),
        0_u8..32,
        0_usize..=10,
    );
    let payload = prop::collection::vec(any::<u8>(), 1..6000);
    (kinds, header, payload, 1_u16..2000).prop_map(|(kind, header, payload, segment_bytes)| {
        let (ipv6, vlan, identification, sequence, flags, option_words) = header;
        Packet {
            kind,
            ipv6,
            vlan,
            identification,
            sequence,
            flags,
            option_words,
            payload,
            segment_bytes,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn segments_are_what_another_implementation_writes(mut packet in packets()) {
        packet.segment_bytes = packet.segment_bytes.max(packet.payload.len() as u16 / 64 + 1);
        let (frame, request) = packet.whole();
        prop_assert_eq!(cut(&frame, &request), packet.expected());
    }

    #[test]
    fn a_completed_checksum_is_what_another_implementation_writes(packet in packets()) {
        let whole = Part { number: 0, before: 0, payload: &packet.payload, is_last: true };
        let written = packet.frame(&whole);
        let mut frame = written.clone();
        let place = put_pseudo_header(&mut frame);
        prop_assert!(complete(&mut frame, place));
        prop_assert_eq!(Upper::of(&written).and_then(|upper| upper.sum(&written)), Some(0));
        // 0 and 0xffff are the same sum.
        let zero = written[place.field..place.field + 2] == [0, 0];
        prop_assert!(zero || frame == written);
    }
}

/// A packet socket shows the first bytes of a long packet; BIG TCP has no length there (0).
#[test]
fn the_beginning_of_a_frame_has_the_same_places() {
    for kind in [Kind::Tcp4, Kind::Tcp6, Kind::Udp] {
        let packet = Packet {
            kind,
            ipv6: false,
            vlan: true,
            identification: 1,
            sequence: 1,
            flags: 0x10,
            option_words: 3,
            payload: vec![7; 900],
            segment_bytes: 0,
        };
        let (mut frame, _) = packet.whole();
        let whole = Upper::of(&frame).unwrap();
        assert_eq!(Upper::of_beginning(&frame[..192]), Some(whole.clone()));
        assert_eq!(Upper::of(&frame[..192]), None);
        let length = whole.network + if kind == Kind::Tcp6 { 4 } else { 2 };
        frame[length..length + 2].fill(0);
        let shown = Upper::of_beginning(&frame[..192]).unwrap();
        assert_eq!(shown.payload, whole.payload.start..192);
        assert_eq!(Upper::of(&frame), None);
    }
}

/// The payload's last two bytes make the sum fold to zero.
#[test]
fn udp_is_never_sent_without_a_checksum() {
    for ipv6 in [false, true] {
        let mut packet = Packet {
            kind: Kind::Udp,
            ipv6,
            vlan: false,
            identification: 1,
            sequence: 0,
            flags: 0,
            option_words: 0,
            payload: vec![0; 200],
            segment_bytes: 100,
        };
        let (frame, request) = packet.whole();
        let place = request.checksum.unwrap();
        for (at, cut) in cut(&frame, &request).iter().enumerate() {
            packet.payload[at * 100..at * 100 + 2]
                .copy_from_slice(&cut[place.field..place.field + 2]);
        }
        let (frame, request) = packet.whole();
        for cut in cut(&frame, &request) {
            assert_eq!(cut[place.field..place.field + 2], [0xFF, 0xFF]);
        }
    }
}

#[test]
fn what_is_no_such_packet_is_refused() {
    let packet = Packet {
        kind: Kind::Tcp4,
        ipv6: false,
        vlan: false,
        identification: 1,
        sequence: 0,
        flags: 0,
        option_words: 0,
        payload: vec![7; 100],
        segment_bytes: 50,
    };
    let (frame, request) = packet.whole();
    let with = |kind, payload_bytes, checksum| Request {
        segmentation: Some(Segmentation {
            kind,
            payload_bytes,
        }),
        checksum,
    };
    let place = request.checksum;
    let wrong = [
        with(Kind::Tcp6, 50, place),
        with(Kind::Udp, 50, place),
        with(Kind::Tcp4, 0, place),
        with(Kind::Tcp4, 50, None),
        with(
            Kind::Tcp4,
            50,
            Some(Place {
                start: 20,
                field: 36,
            }),
        ),
        with(
            Kind::Tcp4,
            50,
            Some(Place {
                start: 4000,
                field: 4016,
            }),
        ),
        Request {
            checksum: place,
            segmentation: None,
        },
    ];
    for request in wrong {
        assert!(Segments::of(&frame, &request).is_none(), "{request:?}");
    }
    for length in 0..54 {
        assert!(
            Segments::of(&frame[..length], &request).is_none(),
            "{length}"
        );
    }
    let mut short = [0; 60];
    let mut segments = Segments::of(&frame, &request).unwrap();
    assert_eq!(segments.write_next(&mut short), None);
    assert!(!segments.is_complete());
}
