// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cuts a long TCP or UDP packet into frames of its own.

use super::{Kind, Place, Request, put};
use crate::checksum::Checksum;
use crate::ether::{self, Frame};
use crate::udp::{self, never_zero};

/// The segments of one packet, in order. Allocates nothing.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    headers: &'a [u8],
    /// What has not been written yet.
    payload: &'a [u8],
    payload_bytes: usize,
    network: Network,
    checksum: Place,
    is_tcp: bool,
    /// Bytes of the whole packet that the sum of its pseudo-header counts.
    covered_bytes: u32,
    /// Segments and payload bytes written.
    written: (u16, u32),
}

/// Where the IP header is, and the bytes of an IPv4 header.
#[derive(Clone, Copy, Debug)]
enum Network {
    Ipv4 { at: usize, header_bytes: usize },
    Ipv6 { at: usize },
}

impl<'a> Segments<'a> {
    /// `None` if no segmentation is asked for, or the frame is not what the request says.
    #[must_use]
    pub fn of(frame: &'a [u8], request: &Request) -> Option<Self> {
        let (checksum, segmentation) = (request.checksum?, request.segmentation?);
        let network = Network::of(frame, segmentation.kind, checksum.start)?;
        let transport = frame.get(checksum.start..)?;
        let is_tcp = segmentation.kind != Kind::Udp;
        let (field, header_bytes) = match is_tcp {
            true => (16, usize::from(transport.get(12)? >> 4) * 4),
            false => (6, udp::HEADER_BYTES),
        };
        let (headers, payload) = frame.split_at_checked(checksum.start + header_bytes)?;
        let is_right = checksum.field == checksum.start + field
            && header_bytes > field + 1
            && !payload.is_empty()
            && segmentation.payload_bytes > 0;
        is_right.then_some(Self {
            headers,
            payload,
            payload_bytes: segmentation.payload_bytes.into(),
            network,
            checksum,
            is_tcp,
            covered_bytes: u32::try_from(transport.len()).ok()?,
            written: (0, 0),
        })
    }

    /// Writes the next segment to the beginning of `out`; its bytes. `None` after the last, and if `out` is too short.
    pub fn write_next(&mut self, out: &mut [u8]) -> Option<usize> {
        let all = (self.payload, &[][..]);
        let (now, later) = self
            .payload
            .split_at_checked(self.payload_bytes)
            .unwrap_or(all);
        let bytes = self.headers.len() + now.len();
        let frame = out.get_mut(..bytes).filter(|_| !now.is_empty())?;
        let (headers, payload) = frame.split_at_mut_checked(self.headers.len())?;
        headers.copy_from_slice(self.headers);
        payload.copy_from_slice(now);
        self.network.finish(frame, self.written.0);
        self.finish(frame, later.is_empty());
        self.payload = later;
        let (segments, sent) = self.written;
        self.written = (
            segments.wrapping_add(1),
            sent.wrapping_add(now.len() as u32),
        );
        Some(bytes)
    }

    /// Whether all are written.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.payload.is_empty()
    }

    /// Writes what differs in the header of TCP or UDP: `tcp_gso_segment`, `__udp_gso_segment`.
    fn finish(&self, frame: &mut [u8], is_last: bool) {
        let Place { start, field } = self.checksum;
        let bytes = frame.len() - start;
        if !self.is_tcp {
            put(frame, start + 4, bytes as u16);
        } else if let Some(header) = frame.get_mut(start..).and_then(<[u8]>::first_chunk_mut) {
            self.finish_tcp(header, is_last);
        }
        // The field holds the sum of a pseudo-header with the length of the whole: exchange it, RFC 1624.
        let sum = Checksum::new()
            .with(&(!self.covered_bytes).to_be_bytes())
            .with(&(bytes as u32).to_be_bytes());
        let sum = sum.with(frame.get(start..).unwrap_or_default()).finish();
        put(
            frame,
            field,
            if self.is_tcp { sum } else { never_zero(sum) },
        );
    }

    fn finish_tcp(&self, header: &mut [u8; 20], is_last: bool) {
        let (segments, sent) = self.written;
        let [_, _, _, _, s0, s1, s2, s3, ..] = *header;
        let sequence = u32::from_be_bytes([s0, s1, s2, s3]).wrapping_add(sent);
        header[4..8].copy_from_slice(&sequence.to_be_bytes());
        if !is_last {
            header[FLAGS] &= !(FIN | PSH);
        }
        if segments > 0 {
            header[FLAGS] &= !CWR;
        }
    }
}

impl Network {
    fn of(frame: &[u8], kind: Kind, transport: usize) -> Option<Self> {
        let ethernet = Frame::parse(frame)?;
        let at = frame.len() - ethernet.payload.len();
        let header_bytes = usize::from(ethernet.payload.first()? & 0x0F) * 4;
        match (ethernet.ethertype, kind) {
            (ether::IPV4, Kind::Tcp4 | Kind::Udp) => (header_bytes >= 20
                && at + header_bytes <= transport)
                .then_some(Self::Ipv4 { at, header_bytes }),
            (ether::IPV6, Kind::Tcp6 | Kind::Udp) => {
                (at + IPV6_BYTES <= transport).then_some(Self::Ipv6 { at })
            }
            _ => None,
        }
    }

    /// Writes what differs in the IP header of the segment of this number: `inet_gso_segment`, `ipv6_gso_segment`.
    fn finish(self, frame: &mut [u8], number: u16) {
        match self {
            Self::Ipv4 { at, header_bytes } => {
                put(frame, at + 2, (frame.len() - at) as u16);
                let Some(header) = frame.get_mut(at..at + header_bytes) else {
                    return;
                };
                let [_, _, _, _, i0, i1, ..] = *header else {
                    return;
                };
                let identification = u16::from_be_bytes([i0, i1]).wrapping_add(number);
                put(header, 4, identification);
                put(header, 10, 0);
                let sum = Checksum::new().with(header).finish();
                put(header, 10, sum);
            }
            Self::Ipv6 { at } => {
                put(frame, at + 4, (frame.len() - at - IPV6_BYTES) as u16);
            }
        }
    }
}

const IPV6_BYTES: usize = 40;
/// The byte of TCP's flags (RFC 9293 section 3.1).
const FLAGS: usize = 13;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;
