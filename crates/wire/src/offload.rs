// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a network interface does for its driver: it completes checksums and cuts long packets into segments, byte for byte as
//! the kernel does in software without it (net/core/dev.c, `skb_checksum_help`; net/ipv4/tcp_offload.c, udp_offload.c).
//!
//! The kernel describes both in Documentation/networking/checksum-offloads.rst and segmentation-offloads.rst.
//!
//! ```
//! use linerate_wire::offload::{Place, Request, complete};
//!
//! let udp = Request { checksum: Some(Place { start: 34, field: 40 }), segmentation: None };
//! assert_eq!(Request::read(&udp.encode()), Some(udp));
//! let mut frame = [0; 50];
//! assert!(complete(&mut frame, Place { start: 34, field: 40 }));
//! assert_eq!(frame[40..42], [0xFF, 0xFF]);
//! ```

mod segments;
mod upper;

pub use segments::Segments;
pub use upper::Upper;

use crate::checksum::Checksum;
use crate::udp::never_zero;

/// What is asked for one frame: `struct virtio_net_hdr` of a packet socket (packet(7), `PACKET_VNET_HDR`;
/// include/uapi/linux/virtio_net.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The checksum to complete.
    pub checksum: Option<Place>,
    /// How to cut the packet.
    pub segmentation: Option<Segmentation>,
}

/// A checksum whose field holds the sum of the pseudo-header. Both are offsets in the frame, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where what it covers begins; it covers all from there on.
    pub start: usize,
    /// Where it is written.
    pub field: usize,
}

/// How to cut a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// Its protocol.
    pub kind: Kind,
    /// Payload bytes of each segment but the last.
    pub payload_bytes: u16,
}

/// The protocol of a packet that is to be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP: a datagram for each segment (`UDP_SEGMENT`, udp(7)).
    Udp,
}

impl Request {
    /// Bytes of its encoding.
    pub const BYTES: usize = 10;

    /// Reads a header in the byte order of this machine; `None` for a segmentation of another kind.
    #[inline]
    #[must_use]
    pub fn read(header: &[u8; Self::BYTES]) -> Option<Self> {
        let [flags, kind, _, _, size @ .., s0, s1, f0, f1] = *header;
        let start = usize::from(u16::from_ne_bytes([s0, s1]));
        let field = start + usize::from(u16::from_ne_bytes([f0, f1]));
        let kind = match kind & !CONGESTION {
            NONE => None,
            TCP4 => Some(Kind::Tcp4),
            TCP6 => Some(Kind::Tcp6),
            UDP => Some(Kind::Udp),
            _ => return None,
        };
        let payload_bytes = u16::from_ne_bytes(size);
        Some(Self {
            checksum: (flags & NEEDS_CHECKSUM != 0).then_some(Place { start, field }),
            segmentation: kind.map(|kind| Segmentation {
                kind,
                payload_bytes,
            }),
        })
    }

    /// Writes the header, for a frame to send; what 16 bits cannot hold is cut.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut header = [0; Self::BYTES];
        if let Some(Place { start, field }) = self.checksum {
            header[0] = NEEDS_CHECKSUM;
            header[6..8].copy_from_slice(&(start as u16).to_ne_bytes());
            header[8..].copy_from_slice(&(field.wrapping_sub(start) as u16).to_ne_bytes());
        }
        if let Some(Segmentation {
            kind,
            payload_bytes,
        }) = self.segmentation
        {
            header[1] = match kind {
                Kind::Tcp4 => TCP4,
                Kind::Tcp6 => TCP6,
                Kind::Udp => UDP,
            };
            header[4..6].copy_from_slice(&payload_bytes.to_ne_bytes());
        }
        header
    }

    /// The same of a frame into which this many bytes were inserted before the packet, such as a VLAN tag.
    #[must_use]
    pub fn moved(self, bytes: usize) -> Self {
        let checksum = self.checksum.map(|Place { start, field }| Place {
            start: start + bytes,
            field: field + bytes,
        });
        Self { checksum, ..self }
    }
}

/// Completes a checksum: 0 is written as 0xffff, which is the same sum, also of TCP. Returns whether all of the place is in
/// the frame, which is else unchanged.
pub fn complete(frame: &mut [u8], place: Place) -> bool {
    let covered = frame.get(place.start..);
    let sum = covered.map(|covered| Checksum::new().with(covered).finish());
    sum.is_some_and(|sum| put(frame, place.field, never_zero(sum)))
}

/// Writes a word in network order; false if it is not inside.
pub fn put(frame: &mut [u8], at: usize, value: u16) -> bool {
    let word = frame.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
    let found = word.is_some();
    if let Some(word) = word {
        *word = value.to_be_bytes();
    }
    found
}

const NEEDS_CHECKSUM: u8 = 1;
const NONE: u8 = 0;
const TCP4: u8 = 1;
const TCP6: u8 = 4;
/// `VIRTIO_NET_HDR_GSO_UDP_L4`, Linux 6.2.
const UDP: u8 = 5;
/// `VIRTIO_NET_HDR_GSO_ECN`: the first segment has CWR.
const CONGESTION: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_written() {
        let checksum = Some(Place {
            start: 34,
            field: 50,
        });
        for kind in [None, Some(Kind::Tcp4), Some(Kind::Tcp6), Some(Kind::Udp)] {
            let segmentation = kind.map(|kind| Segmentation {
                kind,
                payload_bytes: 1448,
            });
            let request = Request {
                checksum,
                segmentation,
            };
            assert_eq!(Request::read(&request.encode()), Some(request));
            assert_eq!(request.moved(4).checksum.map(|place| place.field), Some(54));
        }
        assert_eq!(Request::read(&[0; 10]), Some(Request::default()));
        let fragmentation = [1, 3, 0, 0, 8, 0, 34, 0, 6, 0];
        assert_eq!(Request::read(&fragmentation), None);
    }

    #[test]
    fn a_sum_that_folds_to_zero_is_written_as_ffff() {
        let mut frame = [0x12, 0x34, 0, 0, 0xED, 0xCB];
        assert!(complete(&mut frame, Place { start: 0, field: 2 }));
        assert_eq!(frame[2..4], [0xFF, 0xFF]);
    }

    #[test]
    fn a_place_outside_changes_nothing() {
        let mut frame = [7; 6];
        for (start, field) in [(0, 5), (7, 8), (0, usize::MAX), (usize::MAX, 0)] {
            assert!(!complete(&mut frame, Place { start, field }), "{start}");
        }
        assert_eq!(frame, [7; 6]);
    }
}
