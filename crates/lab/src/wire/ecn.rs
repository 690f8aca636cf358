// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a router does that writes the whole TOS or traffic class byte: no ECN remains (RFC 3168 §18.1).

/// Makes the packet Not-ECT; `false` if it was, or is not IP.
pub(super) fn clear(frame: &mut [u8]) -> bool {
    match frame.get(12..16) {
        Some([0x08, 0x00, version, tos]) if tos & 0b11 != 0 => {
            let (old, new) = ([*version, *tos], [*version, tos & !0b11]);
            write_ipv4(frame, old, new)
        }
        Some([0x86, 0xdd, _, class]) if class & 0x30 != 0 => {
            let class = class & !0x30;
            frame.get_mut(15).is_some_and(|byte| {
                *byte = class;
                true
            })
        }
        _ => false,
    }
}

/// The header's checksum changes by as much as the word (RFC 1624 §3).
fn write_ipv4(frame: &mut [u8], old: [u8; 2], new: [u8; 2]) -> bool {
    let Some(header) = frame.get_mut(14..26) else {
        return false;
    };
    let word = |bytes: [u8; 2]| u32::from(u16::from_be_bytes(bytes));
    let sum = (word([header[10], header[11]]) ^ 0xffff) + (word(old) ^ 0xffff) + word(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    header[10..].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    header[..2].copy_from_slice(&new);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::checksum::Checksum;

    fn ipv4(tos: u8) -> Vec<u8> {
        let mut header = [
            0x45, tos, 0, 40, 0, 1, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2,
        ];
        let sum = Checksum::default().with(&header).finish();
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        [&[0; 12][..], &[8, 0], &header].concat()
    }

    #[test]
    fn the_header_stays_right() {
        for tos in [1, 2, 3, 0b1011_1010] {
            let mut frame = ipv4(tos);
            assert!(clear(&mut frame));
            assert_eq!(frame, ipv4(tos & !3), "{tos}");
        }
        assert!(!clear(&mut ipv4(0xb8)), "nothing to do");
    }

    #[test]
    fn ipv6_has_no_sum() {
        let mut frame = [&[0; 12][..], &[0x86, 0xdd, 0x6b, 0xa5, 1, 2]].concat();
        assert!(clear(&mut frame));
        assert_eq!(frame[14..], [0x6b, 0x85, 1, 2]);
        assert!(!clear(&mut frame));
        assert!(!clear(&mut [0; 60]) && !clear(&mut []));
    }
}
