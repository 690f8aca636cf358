// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an Ethernet link of a known speed can carry at most, layer by layer.
//!
//! Each frame costs 20 bytes of preamble, delimiter and inter-frame gap (IEEE 802.3 §3.1.1, §4.4.2),
//! 14 of header and 4 of FCS, and is at least 64 bytes long. No VLAN tag is counted.

/// The transport and what it adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// 8 bytes.
    Udp,
    /// 20 bytes, and 12 more with timestamps (RFC 7323; on by default in Linux).
    Tcp { timestamps: bool },
}

/// The version of IP: 20 or 40 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// The flow whose ceiling is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// Nominal speed of the link.
    pub link_bits_per_second: u64,
    /// IP MTU in bytes.
    pub mtu_bytes: u32,
    pub transport: Transport,
    pub family: Family,
}

/// The ceiling. All rates are those of a link without a pause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineRate {
    /// Payload of the transport: goodput.
    pub l4_bits_per_second: f64,
    /// IP packets, with their headers.
    pub l3_bits_per_second: f64,
    /// Frames from destination address to FCS, as RFC 2544 counts them.
    pub l2_bits_per_second: f64,
    /// Frames with preamble and gap: the speed of the link.
    pub l1_bits_per_second: f64,
    /// Datagrams or full segments per second.
    pub packets_per_second: f64,
    /// Frames for each of them: above 1, IP fragments.
    pub frames_per_packet: u32,
}

impl Framing {
    /// The largest payload that fits into one frame; `None` if the MTU has no room for any.
    pub fn largest_payload_bytes(&self) -> Option<u32> {
        let payload = self
            .mtu_bytes
            .checked_sub(self.ip_bytes() + self.transport_bytes())?;
        (payload > 0).then_some(payload)
    }

    /// The ceiling for packets of `payload_bytes`: a larger UDP datagram is fragmented, a larger TCP
    /// write leaves in full segments. `None` for an MTU without room, or an empty link.
    pub fn line_rate(&self, payload_bytes: u32) -> Option<LineRate> {
        let largest = self.largest_payload_bytes()?;
        if self.link_bits_per_second == 0 {
            return None;
        }
        Some(match self.transport {
            Transport::Tcp { .. } => self.ceiling(payload_bytes.min(largest), 1, 0),
            Transport::Udp if payload_bytes <= largest => self.ceiling(payload_bytes, 1, 0),
            Transport::Udp => self.fragmented(payload_bytes)?,
        })
    }

    /// The goodput in bits per second with the largest payload that fits into one frame.
    pub fn goodput_bits_per_second(&self) -> Option<f64> {
        let payload = self.largest_payload_bytes()?;
        Some(self.line_rate(payload)?.l4_bits_per_second)
    }

    /// RFC 791 §3.2, RFC 8200 §4.5: all fragments but the last carry a multiple of eight bytes.
    fn fragmented(&self, payload_bytes: u32) -> Option<LineRate> {
        let option_bytes = match self.family {
            Family::V4 => 0,
            Family::V6 => 8,
        };
        let room = self.mtu_bytes.checked_sub(self.ip_bytes() + option_bytes)? / 8 * 8;
        if room == 0 {
            return None;
        }
        let fragments = payload_bytes
            .checked_add(self.transport_bytes())?
            .div_ceil(room);
        Some(self.ceiling(payload_bytes, fragments, option_bytes))
    }

    fn ceiling(&self, payload_bytes: u32, frames: u32, option_bytes: u32) -> LineRate {
        let carried = u64::from(payload_bytes + self.transport_bytes());
        let per_frame = u64::from(self.ip_bytes() + option_bytes);
        let l3_bytes = carried + u64::from(frames) * per_frame;
        let l2_bytes = self.frame_bytes(carried, frames, per_frame);
        let l1_bytes = l2_bytes + u64::from(frames) * PREAMBLE_AND_GAP_BYTES;
        let link = self.link_bits_per_second as f64;
        let share = |bytes: u64| link * bytes as f64 / l1_bytes as f64;
        LineRate {
            l4_bits_per_second: share(u64::from(payload_bytes)),
            l3_bits_per_second: share(l3_bytes),
            l2_bits_per_second: share(l2_bytes),
            l1_bits_per_second: link,
            packets_per_second: link / (l1_bytes as f64 * 8.0),
            frames_per_packet: frames,
        }
    }

    /// Bytes of all frames; only the last one can be short enough to be padded.
    fn frame_bytes(&self, carried: u64, frames: u32, per_frame: u64) -> u64 {
        let overhead = per_frame + HEADER_AND_FCS_BYTES;
        let full = u64::from(frames - 1);
        let room = (u64::from(self.mtu_bytes) - per_frame) / 8 * 8;
        let last = carried - full * room + overhead;
        full * (room + overhead) + last.max(MIN_FRAME_BYTES)
    }

    fn ip_bytes(&self) -> u32 {
        match self.family {
            Family::V4 => 20,
            Family::V6 => 40,
        }
    }

    fn transport_bytes(&self) -> u32 {
        match self.transport {
            Transport::Udp => 8,
            Transport::Tcp { timestamps: false } => 20,
            Transport::Tcp { timestamps: true } => 32,
        }
    }
}

const PREAMBLE_AND_GAP_BYTES: u64 = 20;
const HEADER_AND_FCS_BYTES: u64 = 18;
const MIN_FRAME_BYTES: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: Transport = Transport::Tcp { timestamps: true };

    fn gigabit(mtu_bytes: u32, transport: Transport, family: Family) -> Framing {
        Framing {
            link_bits_per_second: 1_000_000_000,
            mtu_bytes,
            transport,
            family,
        }
    }

    #[test]
    fn goodput_of_a_gigabit_in_full_frames() {
        // payload / (MTU + 38) by hand.
        let table = [
            (1500, TCP, Family::V4, 941_482_444.7),
            (1500, TCP, Family::V6, 928_478_543.6),
            (
                1500,
                Transport::Tcp { timestamps: false },
                Family::V4,
                949_284_785.4,
            ),
            (1500, Transport::Udp, Family::V4, 957_087_126.1),
            (1500, Transport::Udp, Family::V6, 944_083_224.9),
            (9000, TCP, Family::V4, 990_042_044.7),
            (100, Transport::Udp, Family::V4, 521_739_130.4),
        ];
        for (mtu, transport, family, goodput) in table {
            let value = gigabit(mtu, transport, family)
                .goodput_bits_per_second()
                .unwrap();
            assert!(
                (value - goodput).abs() < 0.1,
                "{mtu} {transport:?} {family:?}: {value}"
            );
        }
    }

    #[test]
    fn smallest_frames_are_1_488_million_a_second() {
        for payload in [0, 1, 18] {
            let rate = gigabit(1500, Transport::Udp, Family::V4)
                .line_rate(payload)
                .unwrap();
            assert!(
                (rate.packets_per_second - 1_488_095.238).abs() < 0.001,
                "{payload}"
            );
            assert!((rate.l2_bits_per_second - 761_904_761.9).abs() < 0.1);
        }
    }

    #[test]
    fn the_default_datagram_of_iperf2() {
        let rate = gigabit(1500, Transport::Udp, Family::V4)
            .line_rate(1470)
            .unwrap();
        assert!((rate.l4_bits_per_second - 957_031_250.0).abs() < 0.1);
        assert!((rate.l3_bits_per_second - 975_260_416.7).abs() < 0.1);
        assert!((rate.packets_per_second - 81_380.208).abs() < 0.001);
        assert_eq!(rate.frames_per_packet, 1);
    }

    #[test]
    fn fragments_each_pay_for_their_frame() {
        // 8192 + 8 = 5 · 1480 + 800: six frames; 8192 / (8200 + 6 · 58).
        let v4 = gigabit(1500, Transport::Udp, Family::V4)
            .line_rate(8192)
            .unwrap();
        assert_eq!(v4.frames_per_packet, 6);
        assert!(
            (v4.l4_bits_per_second - 958_352_831.1).abs() < 0.1,
            "{v4:?}"
        );
        // 8200 = 5 · 1448 + 960: six frames; 8192 / (8200 + 6 · 86).
        let v6 = gigabit(1500, Transport::Udp, Family::V6)
            .line_rate(8192)
            .unwrap();
        assert!(
            (v6.l4_bits_per_second - 939_880_679.2).abs() < 0.1,
            "{v6:?}"
        );
    }

    #[test]
    fn a_tiny_last_fragment_is_padded() {
        // 1480 + 1 bytes after the IP header: the second frame has one byte, padded to 64.
        let rate = gigabit(1500, Transport::Udp, Family::V4)
            .line_rate(1473)
            .unwrap();
        let wire_bytes = 1518.0 + 64.0 + 40.0;
        assert!((rate.packets_per_second - 1e9 / (wire_bytes * 8.0)).abs() < 1e-6);
    }

    #[test]
    fn one_byte_more_than_fits_is_two_frames() {
        for (family, fits) in [(Family::V4, 1472), (Family::V6, 1452)] {
            let framing = gigabit(1500, Transport::Udp, family);
            assert_eq!(framing.line_rate(fits).unwrap().frames_per_packet, 1);
            assert_eq!(framing.line_rate(fits + 1).unwrap().frames_per_packet, 2);
        }
    }

    #[test]
    fn nothing_fits() {
        assert_eq!(
            gigabit(28, Transport::Udp, Family::V4).goodput_bits_per_second(),
            None
        );
        assert_eq!(gigabit(0, TCP, Family::V6).line_rate(1), None);
        let unknown = Framing {
            link_bits_per_second: 0,
            ..gigabit(1500, TCP, Family::V4)
        };
        assert_eq!(unknown.goodput_bits_per_second(), None);
    }

    #[test]
    fn the_largest_datagram_never_exceeds_the_link() {
        for mtu in 29..3000 {
            for payload in [1, 100, 1470, 65_507] {
                let rate = gigabit(mtu, Transport::Udp, Family::V4).line_rate(payload);
                assert!(
                    rate.is_none_or(|rate| rate.l2_bits_per_second < 1e9),
                    "{mtu} {payload}"
                );
            }
        }
    }
}
