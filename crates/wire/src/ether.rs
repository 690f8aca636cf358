// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ethernet II frames, with up to two VLAN tags (IEEE 802.3, 802.1Q, 802.1ad).

/// A view of a frame without its FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Destination address.
    pub destination: [u8; 6],
    /// Source address.
    pub source: [u8; 6],
    /// The protocol behind the tags.
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

fn word(bytes: &[u8]) -> Option<(u16, &[u8])> {
    bytes
        .split_first_chunk()
        .map(|(word, rest)| (u16::from_be_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

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
