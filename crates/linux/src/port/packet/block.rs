// SPDX-License-Identifier: MIT OR Apache-2.0
//! One block of a TPACKET_V3 ring: a chain of headers and frames. Bytes only, no system call; no offset is trusted.
//!
//! Source: include/uapi/linux/if_packet.h, `struct tpacket_block_desc` and `struct tpacket3_hdr`.

/// Shows each frame that arrived with its receive time on the wall clock, in ns; returns how many there were. A VLAN tag that the kernel took
/// out is put back. Frames that were sent here, or cut, are left out.
pub(super) fn walk(block: &mut [u8], mut each: impl FnMut(&[u8], u64)) -> usize {
    let count = word(block, PACKETS_AT).unwrap_or(0);
    let mut at = word(block, FIRST_AT).unwrap_or(0) as usize;
    let mut shown = 0;
    for _ in 0..count {
        let Some(header) = block.get_mut(at..) else {
            break;
        };
        let Some(next) = word(header, 0) else { break };
        if let Some((frame, wall_ns)) = frame(header) {
            each(frame, wall_ns);
            shown += 1;
        }
        match next {
            0 => break,
            next => at = at.saturating_add(next as usize),
        }
    }
    shown
}

/// Frames in the block, shown or left out.
pub(super) fn count(block: &[u8]) -> u64 {
    word(block, PACKETS_AT).unwrap_or(0).into()
}

fn frame(header: &mut [u8]) -> Option<(&[u8], u64)> {
    let kept = word(header, KEPT_AT)?;
    let whole = kept == word(header, LENGTH_AT)?;
    if !whole || *header.get(KIND_AT)? == OUTGOING {
        return None;
    }
    let wall_ns = u64::from(word(header, SECONDS_AT)?) * 1_000_000_000
        + u64::from(word(header, NANOSECONDS_AT)?);
    let start = usize::from(half(header, FRAME_AT)?);
    let end = start.checked_add(kept as usize)?;
    let start = match tag(header) {
        Some(tag) => put_back(header, start, tag)?,
        None => start,
    };
    Some((header.get(start..end)?, wall_ns))
}

/// The stripped VLAN tag as it appears in a frame.
fn tag(header: &[u8]) -> Option<[u8; 4]> {
    let status = word(header, STATUS_AT)?;
    if status & VLAN_VALID == 0 {
        return None;
    }
    let protocol = if status & VLAN_PROTOCOL_VALID == 0 {
        VLAN
    } else {
        half(header, VLAN_PROTOCOL_AT)?
    };
    let ([a, b], [c, d]) = (
        protocol.to_be_bytes(),
        (word(header, VLAN_AT)? as u16).to_be_bytes(),
    );
    Some([a, b, c, d])
}

/// Moves the addresses to the front and inserts the tag after them, into the room of PACKET_RESERVE.
fn put_back(header: &mut [u8], start: usize, tag: [u8; 4]) -> Option<usize> {
    let first = start
        .checked_sub(tag.len())
        .filter(|first| *first >= HEADER_BYTES)?;
    header.get(..start + ADDRESSES_BYTES)?;
    header.copy_within(start..start + ADDRESSES_BYTES, first);
    header[first + ADDRESSES_BYTES..][..tag.len()].copy_from_slice(&tag);
    Some(first)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

/// `struct tpacket_block_desc`.
pub(super) const STATUS_OF_BLOCK_AT: usize = 8;
pub(super) const SEQUENCE_OF_BLOCK_AT: usize = 24;
const PACKETS_AT: usize = 12;
const FIRST_AT: usize = 16;
/// `struct tpacket3_hdr`; the offset to the next one is its first word.
const SECONDS_AT: usize = 4;
const NANOSECONDS_AT: usize = 8;
const KEPT_AT: usize = 12;
const LENGTH_AT: usize = 16;
const STATUS_AT: usize = 20;
const FRAME_AT: usize = 24;
const VLAN_AT: usize = 32;
const VLAN_PROTOCOL_AT: usize = 36;
/// `sll_pkttype` of the following `struct sockaddr_ll`.
const KIND_AT: usize = 48 + 10;
const HEADER_BYTES: usize = 48 + 20;
const OUTGOING: u8 = libc::PACKET_OUTGOING;
/// `TP_STATUS_VLAN_VALID` and `TP_STATUS_VLAN_TPID_VALID` (3.14).
const VLAN_VALID: u32 = 1 << 4;
const VLAN_PROTOCOL_VALID: u32 = 1 << 6;
const VLAN: u16 = 0x8100;
const ADDRESSES_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    /// A block with these frames: kind, VLAN, bytes.
    fn block(frames: &[(u8, Option<u16>, &[u8])]) -> Vec<u8> {
        let mut block = vec![0; 48];
        put(&mut block, PACKETS_AT, &(frames.len() as u32).to_ne_bytes());
        put(&mut block, FIRST_AT, &48_u32.to_ne_bytes());
        for (number, (kind, vlan, bytes)) in frames.iter().enumerate() {
            let last = number + 1 == frames.len();
            let start = 80;
            let mut one = vec![0; (start + bytes.len()).next_multiple_of(16)];
            let next = if last { 0 } else { one.len() as u32 };
            put(&mut one, 0, &next.to_ne_bytes());
            put(&mut one, SECONDS_AT, &7_u32.to_ne_bytes());
            put(&mut one, NANOSECONDS_AT, &(number as u32).to_ne_bytes());
            put(&mut one, KEPT_AT, &(bytes.len() as u32).to_ne_bytes());
            put(&mut one, LENGTH_AT, &(bytes.len() as u32).to_ne_bytes());
            put(&mut one, FRAME_AT, &(start as u16).to_ne_bytes());
            if let Some(vlan) = vlan {
                put(&mut one, STATUS_AT, &VLAN_VALID.to_ne_bytes());
                put(&mut one, VLAN_AT, &u32::from(*vlan).to_ne_bytes());
            }
            one[KIND_AT] = *kind;
            put(&mut one, start, bytes);
            block.extend(one);
        }
        block
    }

    fn put(block: &mut [u8], at: usize, bytes: &[u8]) {
        block[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn walked(block: &mut [u8]) -> Vec<(Vec<u8>, u64)> {
        let mut seen = Vec::new();
        let shown = walk(block, |frame, wall_ns| seen.push((frame.to_vec(), wall_ns)));
        assert_eq!(shown, seen.len());
        seen
    }

    #[test]
    fn every_frame_is_shown_with_its_time_but_those_sent_here() {
        let (one, two) = ([1; 60], [2; 99]);
        let mut block = block(&[(0, None, &one), (OUTGOING, None, &one), (3, None, &two)]);
        let seen = walked(&mut block);
        assert_eq!(
            seen,
            [(one.to_vec(), 7_000_000_000), (two.to_vec(), 7_000_000_002)]
        );
    }

    #[test]
    fn a_tag_that_was_taken_out_is_put_back() {
        let bytes: Vec<u8> = (0..60).collect();
        let seen = walked(&mut block(&[(0, Some(0x2007), &bytes)]));
        let tagged = [&bytes[..12], &[0x81, 0x00, 0x20, 0x07], &bytes[12..]].concat();
        assert_eq!(seen[0].0, tagged);
    }

    #[test]
    fn a_cut_frame_is_left_out() {
        let mut block = block(&[(0, None, &[1; 60]), (0, None, &[2; 60])]);
        put(&mut block, 48 + LENGTH_AT, &61_u32.to_ne_bytes());
        assert_eq!(walked(&mut block), [(vec![2; 60], 7_000_000_001)]);
    }

    #[test]
    fn offsets_to_nowhere_show_nothing_and_harm_nobody() {
        let whole = block(&[(0, Some(1), &[1; 60]), (0, None, &[2; 60])]);
        for at in (0..whole.len() - 4).step_by(2) {
            for value in [0, 1, 11, 0x7fff, u32::MAX - 3, u32::MAX] {
                let mut broken = whole.clone();
                put(&mut broken, at, &value.to_ne_bytes());
                walked(&mut broken);
            }
            walked(&mut whole[..at].to_vec());
        }
    }
}
