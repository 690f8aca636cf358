// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ethernet II frames, with up to two VLAN tags (IEEE 802.3, 802.1Q, 802.1ad).

/// A view of a frame without its FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Destination address.
    pub destination: [u8; 6],
    /// Source address.
    pub source: [u8; 6],
    /// The protocol after the tags.
    pub ethertype: u16,
    /// VLAN numbers, outer first; `None` where there is no tag.
    pub vlans: [Option<u16>; 2],
    /// What is carried, padding included.
    pub payload: &'a [u8],
}

/// IPv4.
pub const IPV4: u16 = 0x0800;
/// ARP.
pub const ARP: u16 = 0x0806;
/// IPv6.
pub const IPV6: u16 = 0x86DD;

const VLAN: u16 = 0x8100;
const SERVICE_VLAN: u16 = 0x88A8;

impl<'a> Frame<'a> {
    /// Reads a frame; `None` if it is too short for its header.
    #[inline]
    #[must_use]
    pub fn parse(frame: &'a [u8]) -> Option<Self> {
        let (destination, rest) = frame.split_first_chunk()?;
        let (source, rest) = rest.split_first_chunk()?;
        let (mut ethertype, mut payload) = word(rest)?;
        let mut vlans = [None; 2];
        for vlan in &mut vlans {
            if ethertype != VLAN && ethertype != SERVICE_VLAN {
                break;
            }
            let (tag, rest) = word(payload)?;
            *vlan = Some(tag & 0x0FFF);
            (ethertype, payload) = word(rest)?;
        }
        Some(Self {
            destination: *destination,
            source: *source,
            ethertype,
            vlans,
            payload,
        })
    }
}

/// A header to write, with at most one tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Destination address.
    pub destination: [u8; 6],
    /// Source address.
    pub source: [u8; 6],
    /// The 802.1Q tag, of priority 0.
    pub vlan: Option<u16>,
    /// The protocol of the payload.
    pub ethertype: u16,
}

impl Header {
    /// Most bytes of a header.
    pub const MAX_BYTES: usize = 18;

    /// Writes the header; how many of the bytes it has depends on the tag.
    #[must_use]
    pub fn encode(&self) -> ([u8; Self::MAX_BYTES], usize) {
        let mut header = [0; Self::MAX_BYTES];
        header[..6].copy_from_slice(&self.destination);
        header[6..12].copy_from_slice(&self.source);
        header[12..14].copy_from_slice(&self.ethertype.to_be_bytes());
        let Some(vlan) = self.vlan else {
            return (header, 14);
        };
        header.copy_within(12..14, 16);
        header[12..14].copy_from_slice(&VLAN.to_be_bytes());
        header[14..16].copy_from_slice(&(vlan & 0x0FFF).to_be_bytes());
        (header, Self::MAX_BYTES)
    }
}

fn word(bytes: &[u8]) -> Option<(u16, &[u8])> {
    bytes
        .split_first_chunk()
        .map(|(word, rest)| (u16::from_be_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_header_is_read() {
        for vlan in [None, Some(1), Some(4094)] {
            let header = Header {
                destination: [1; 6],
                source: [2; 6],
                vlan,
                ethertype: IPV6,
            };
            let (bytes, length) = header.encode();
            let frame = Frame::parse(&bytes[..length]).unwrap();
            assert_eq!((frame.destination, frame.source), ([1; 6], [2; 6]));
            assert_eq!((frame.vlans, frame.ethertype), ([vlan, None], IPV6));
            assert!(frame.payload.is_empty());
        }
    }

    #[test]
    fn plain_and_tagged_frames_are_read() {
        let mut bytes = vec![1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x08, 0x00, 9];
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!(
            (frame.ethertype, frame.vlans, frame.payload),
            (IPV4, [None, None], &[9][..])
        );
        assert_eq!((frame.destination, frame.source), ([1; 6], [2; 6]));
        bytes.splice(12..12, [0x88, 0xA8, 0x00, 0x07, 0x81, 0x00, 0xE0, 0x64]);
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!((frame.ethertype, frame.vlans), (IPV4, [Some(7), Some(100)]));
        assert_eq!(Frame::parse(&bytes[..21]), None);
        assert_eq!(Frame::parse(&bytes[..13]), None);
    }
}
