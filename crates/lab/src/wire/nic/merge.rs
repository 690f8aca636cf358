// SPDX-License-Identifier: MIT OR Apache-2.0
//! Merges received frames as a faulty card does: whatever differs in TTL, TOS, flags and options, and whatever is missing in
//! between.

use linerate_wire::checksum::Checksum;
use linerate_wire::offload::{Upper, put};

use super::TCP_FLAGS;

/// Whether another frame may be merged into this one.
pub(super) fn may_hold(frame: &[u8], frame_bytes_max: usize) -> bool {
    let upper = Upper::of(frame);
    upper.is_some_and(|upper| !upper.payload.is_empty() && frame.len() <= frame_bytes_max / 2)
}

/// Appends the payload of `later` to that of `first`, if both are of one flow and the result is no longer than a frame may
/// be; else `first` is unchanged. The headers are those of the first, but for TCP's flags.
pub(super) fn into(first: &mut Vec<u8>, later: &[u8], frame_bytes_max: usize) -> bool {
    let (Some(one), Some(other)) = (Upper::of(first), Upper::of(later)) else {
        return false;
    };
    let payload = later.get(other.payload.clone()).unwrap_or_default();
    let fits = one.payload.end + payload.len() <= frame_bytes_max;
    let is_one_flow = (one.source, one.destination, one.is_tcp)
        == (other.source, other.destination, other.is_tcp)
        && one.ports(first) == other.ports(later);
    if payload.is_empty() || !fits || !is_one_flow {
        return false;
    }
    let flags = other.checksum.start + TCP_FLAGS;
    let flags = later.get(flags).copied().filter(|_| one.is_tcp);
    first.truncate(one.payload.end);
    first.extend_from_slice(payload);
    if let Some(byte) = first.get_mut(one.checksum.start + TCP_FLAGS) {
        *byte |= flags.unwrap_or(0);
    }
    finish(first, &one);
    true
}

/// Writes the lengths and checksums of a packet whose payload has become longer.
fn finish(frame: &mut [u8], upper: &Upper) {
    let transport = upper.checksum.start;
    let (network, end) = (upper.network, frame.len());
    if upper.source.is_ipv4() {
        put(frame, network + 2, (end - network) as u16);
        put(frame, network + 10, 0);
        let header_bytes = frame
            .get(network)
            .map_or(0, |byte| usize::from(byte & 0x0F) * 4);
        let header = frame.get(network..network + header_bytes);
        let sum = Checksum::new().with(header.unwrap_or_default()).finish();
        put(frame, network + 10, sum);
    } else {
        put(frame, network + 4, (end - network - IPV6_BYTES) as u16);
    }
    if !upper.is_tcp {
        put(frame, transport + 4, (end - transport) as u16);
    }
    if let Some(upper) = Upper::of(frame) {
        write_sum(frame, &upper);
    }
}

/// Writes the right checksum.
pub(super) fn write_sum(frame: &mut [u8], upper: &Upper) {
    let field = upper.checksum.field;
    put(frame, field, 0);
    let sum = upper.sum(frame).unwrap_or(0);
    put(frame, field, if sum == 0 { 0xFFFF } else { sum });
}

const IPV6_BYTES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment over IPv6 with these flags, or a datagram over IPv4 with this TTL.
    fn frame(is_tcp: bool, byte: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        let length = payload.len() as u8;
        if is_tcp {
            frame.extend([0x86, 0xDD, 0x60, 0, 0, 0, 0, 20 + length, 6, 64]);
            frame.extend([[0xFD; 16], [0x20; 16]].concat());
            frame.extend([0x9C, 0x40, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 9]);
            frame.extend([0x50, byte, 1, 0, 0, 0, 0, 0]);
        } else {
            frame.extend([8, 0, 0x45, 0, 0, 28 + length, 0, 1, 0x40, 0]);
            frame.extend([byte, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
            frame.extend([0x9C, 0x40, 0x14, 0x51, 0, 8 + length, 0, 0]);
        }
        frame.extend(payload);
        let upper = Upper::of(&frame).unwrap();
        finish(&mut frame, &upper);
        frame
    }

    #[test]
    fn merged_frames_have_both_payloads_and_a_right_sum() {
        for (is_tcp, bytes, kept) in [(true, [0x10, 0x18], 0x18), (false, [64, 9], 64)] {
            let mut merged = frame(is_tcp, bytes[0], b"odd");
            merged.resize(100, 0);
            assert!(into(&mut merged, &frame(is_tcp, bytes[1], b"even"), 1518));
            assert_eq!(merged, frame(is_tcp, kept, b"oddeven"));
            assert_eq!(
                Upper::of(&merged).and_then(|upper| upper.sum(&merged)),
                Some(0)
            );
        }
    }

    #[test]
    fn what_is_too_long_empty_or_of_another_flow_stays_apart() {
        let first = frame(false, 64, b"odd");
        let mut other_port = frame(false, 64, b"odd");
        other_port[35] ^= 1;
        let apart = [
            (other_port, 1518),
            (frame(false, 64, b""), 1518),
            (frame(true, 0x10, b"odd"), 1518),
            (frame(false, 64, b"even"), 48),
            (vec![0; 60], 1518),
        ];
        for (later, frame_bytes_max) in apart {
            let mut merged = first.clone();
            assert!(!into(&mut merged, &later, frame_bytes_max), "{later:?}");
            assert_eq!(merged, first);
        }
        assert!(may_hold(&first, 1518) && !may_hold(&[0; 60], 1518));
        assert!(!may_hold(&frame(true, 0x10, b""), 1518));
    }
}
