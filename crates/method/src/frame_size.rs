// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frame sizes, their line rates, and mixes.
//!
//! A frame size counts from the destination address to the FCS, as in RFC 2544 §9: 64 … 1518 bytes.

mod mix;

pub use mix::{Mix, MixError};

/// The sizes of RFC 2544 §9.1 for Ethernet, in bytes with FCS.
pub const RFC_2544_BYTES: [u16; 7] = [64, 128, 256, 512, 1024, 1280, 1518];

/// The smallest IPv6 frame with room for UDP and an 18-byte signature, in bytes with FCS. It replaces 64 with
/// IPv6 (as RFC 8219 §5.1.1).
pub const IPV6_SMALLEST_BYTES: u16 = 84;

/// The layer of a bit rate. Never print a rate without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Frame, preamble, delimiter and inter-frame gap.
    L1,
    /// The frame with its FCS.
    L2,
    /// The IP packet: the frame without Ethernet header and FCS (no VLAN tag counted).
    L3,
}

/// Returns the line rate for `frame_bytes` in frames per second and direction (RFC 2544 §20).
///
/// ```
/// use linerate_method::frame_size::line_rate_fps;
/// assert_eq!(line_rate_fps(1_000_000_000, 64).round(), 1_488_095.0);
/// ```
pub fn line_rate_fps(link_bits_per_second: u64, frame_bytes: u16) -> f64 {
    link_bits_per_second as f64 / Layer::L1.bits(f64::from(frame_bytes))
}

/// Converts `fps` frames of `frame_bytes` to bits per second at `layer`.
pub fn bits_per_second(layer: Layer, fps: f64, frame_bytes: u16) -> f64 {
    fps * layer.bits(f64::from(frame_bytes))
}

impl Layer {
    /// The bits of this layer in a frame of (on average) `frame_bytes`.
    fn bits(self, frame_bytes: f64) -> f64 {
        8.0 * match self {
            Self::L1 => frame_bytes + PREAMBLE_AND_GAP_BYTES,
            Self::L2 => frame_bytes,
            Self::L3 => frame_bytes - HEADER_AND_FCS_BYTES,
        }
    }
}

/// 7 preamble, 1 delimiter, 12 gap (IEEE 802.3 §3.1.1, §4.4.2).
const PREAMBLE_AND_GAP_BYTES: f64 = 20.0;
const HEADER_AND_FCS_BYTES: f64 = 18.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2544 Appendix B, with the digits that it cuts off, and the same for other links.
    #[test]
    fn line_rates_of_the_usual_links() {
        const SIZES: [u16; 8] = [64, 128, 256, 512, 768, 1024, 1280, 1518];
        #[rustfmt::skip]
        let table: [(u64, [f64; 8]); 3] = [
            (10_000_000, [14880.952, 8445.946, 4528.986, 2349.624, 1586.294, 1197.318, 961.538, 812.744]),
            (2_500_000_000, [3720238.095, 2111486.486, 1132246.377, 587406.015, 396573.604, 299329.502, 240384.615, 203185.956]),
            (25_000_000_000, [37202380.952, 21114864.865, 11322463.768, 5874060.150, 3965736.041, 2993295.019, 2403846.154, 2031859.558]),
        ];
        for (link, rates) in table {
            for (size, rate) in SIZES.into_iter().zip(rates) {
                let fps = line_rate_fps(link, size);
                assert!((fps - rate).abs() < 0.001, "{link} {size}: {fps}");
            }
        }
    }

    #[test]
    fn a_full_link_at_each_layer() {
        let fps = line_rate_fps(1_000_000_000, 1518);
        let rate = |layer| bits_per_second(layer, fps, 1518).round();
        assert_eq!(rate(Layer::L1), 1_000_000_000.0);
        assert_eq!(rate(Layer::L2), 986_996_099.0);
        assert_eq!(rate(Layer::L3), 975_292_588.0);
    }
}
