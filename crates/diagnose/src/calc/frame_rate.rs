// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames a second at line rate. Each costs 20 bytes more than itself: preamble, delimiter, gap
//! (IEEE 802.3 §3.1.1, §4.4.2).

/// How many frames of `frame_bytes` (with FCS) a link of `link_bits_per_second` carries each second.
#[must_use]
pub fn frames_per_second(link_bits_per_second: f64, frame_bytes: u32) -> f64 {
    link_bits_per_second / (f64::from(frame_bytes + PREAMBLE_AND_GAP_BYTES) * 8.0)
}

/// The link's own rate (L1) of a rate that counts frames with FCS (L2).
#[must_use]
pub fn l1_bits_per_second(frames_per_second: f64, frame_bytes: u32) -> f64 {
    frames_per_second * f64::from(frame_bytes + PREAMBLE_AND_GAP_BYTES) * 8.0
}

const PREAMBLE_AND_GAP_BYTES: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_method::line_rate::{Family, Framing, Transport};

    #[test]
    fn frames_of_every_usual_size() {
        let table = [
            (64, 1_488_095.2),
            (128, 844_594.6),
            (256, 452_898.6),
            (320, 367_647.1),
            (512, 234_962.4),
            (900, 135_869.6),
            (1024, 119_731.8),
            (1280, 96_153.8),
            (1518, 81_274.4),
        ];
        for (bytes, expected) in table {
            assert!(
                (frames_per_second(1e9, bytes) - expected).abs() < 0.051,
                "{bytes}"
            );
            assert!(
                (frames_per_second(1e8, bytes) - expected / 10.0).abs() < 0.051,
                "{bytes}"
            );
        }
    }

    #[test]
    fn a_rate_with_preamble_and_gap_is_told_from_one_without() {
        assert!((l1_bits_per_second(19_200.0, 320) - 52_224_000.0).abs() < 1.0);
    }

    #[test]
    fn goodput_of_a_gigabit() {
        let framing = |transport| Framing {
            link_bits_per_second: 1_000_000_000,
            mtu_bytes: 1500,
            transport,
            family: Family::V4,
        };
        let udp = framing(Transport::Udp).line_rate(1470).unwrap();
        assert!((udp.l4_bits_per_second / 1e6 - 957.03).abs() < 0.005);
        let tcp = framing(Transport::Tcp { timestamps: true })
            .line_rate(1448)
            .unwrap();
        assert!((tcp.l4_bits_per_second / 1e6 - 941.48).abs() < 0.005);
    }
}
