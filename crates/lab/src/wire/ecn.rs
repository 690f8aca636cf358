// SPDX-License-Identifier: MIT OR Apache-2.0
//! What devices on a path do to the ECN field (RFC 3168): a queue marks packets, a router that writes the whole TOS or
//! traffic class byte clears it (§18.1).

/// What the wire does to ECN-capable packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnChange {
    /// Nothing.
    #[default]
    Kept,
    /// All leave it as Not-ECT.
    Cleared,
    /// Every n-th leaves it as CE.
    Marked {
        /// n.
        every: u32,
    },
}

/// A wire's change at work.
#[derive(Debug, Default)]
pub(super) struct Marker {
    change: EcnChange,
    passed: u32,
}

impl Marker {
    pub(super) const fn new(change: EcnChange) -> Self {
        Self { change, passed: 0 }
    }

    pub(super) const fn is_idle(&self) -> bool {
        matches!(self.change, EcnChange::Kept)
    }

    /// Changes the packet of a frame; `false` if it leaves as it came.
    pub(super) fn change(&mut self, frame: &mut [u8]) -> bool {
        match self.change {
            EcnChange::Kept => false,
            EcnChange::Cleared => write(frame, NOT_ECT),
            EcnChange::Marked { every } => {
                let is_turn = self.passed.is_multiple_of(every);
                self.passed = self.passed.wrapping_add(1);
                is_turn && write(frame, CE)
            }
        }
    }
}

/// Writes a codepoint into a packet that is ECN-capable; `false` if it is not, or not IP.
fn write(frame: &mut [u8], codepoint: u8) -> bool {
    match frame.get(12..16) {
        Some([0x08, 0x00, version, tos]) if tos & 0b11 != 0 => {
            let (old, new) = ([*version, *tos], [*version, tos & !0b11 | codepoint]);
            old != new && write_ipv4(frame, old, new)
        }
        Some([0x86, 0xdd, _, class]) if class & 0x30 != 0 => {
            let new = class & !0x30 | codepoint << 4;
            let is_other = new != *class;
            frame
                .iter_mut()
                .skip(15)
                .take(1)
                .for_each(|byte| *byte = new);
            is_other
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

const NOT_ECT: u8 = 0b00;
const CE: u8 = 0b11;

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
            assert!(write(&mut frame, NOT_ECT));
            assert_eq!(frame, ipv4(tos & !3), "{tos}");
        }
        assert!(!write(&mut ipv4(0xb8), NOT_ECT), "nothing to do");
        assert!(!write(&mut ipv4(0xb8), CE), "not ECN-capable");
    }

    #[test]
    fn ipv6_has_no_sum() {
        let mut frame = [&[0; 12][..], &[0x86, 0xdd, 0x6b, 0xa5, 1, 2]].concat();
        assert!(write(&mut frame, CE));
        assert_eq!(frame[14..], [0x6b, 0xb5, 1, 2]);
        assert!(!write(&mut frame, CE), "it has that already");
        assert!(write(&mut frame, NOT_ECT));
        assert_eq!(frame[14..], [0x6b, 0x85, 1, 2]);
        assert!(!write(&mut [0; 60], CE) && !write(&mut [], CE));
    }

    #[test]
    fn every_nth_is_marked() {
        let mut marker = Marker::new(EcnChange::Marked { every: 3 });
        let mut marks = (0..6).map(|_| marker.change(&mut ipv4(2)));
        assert!(marks.by_ref().take(3).eq([true, false, false]));
        assert!(marks.eq([true, false, false]));
    }
}
