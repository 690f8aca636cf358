// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities with units: from text ([parse]) and as text ([mod@format]).
//!
//! Rates are decimal bits per second (SI). Sizes are bytes with 1024-based suffixes, as iperf3's `-l`, `-n` and
//! `-w`. Times are stored in nanoseconds; a bare number is seconds.

pub mod format;
pub mod parse;
pub mod rate_unit;

pub use parse::UnitError;

/// A bit rate; the text next to it names the layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct BitsPerSecond(pub f64);

/// A packet rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct PacketsPerSecond(pub f64);

/// An amount of memory or payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A length of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

/// A share, 0 … 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

/// A requested rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// `100M`, `1.5Gbit`, `940Mbit/s`.
    Bits(BitsPerSecond),
    /// `80%` of the link's line rate.
    LineRate(Ratio),
    /// `14.88Mpps`.
    Packets(PacketsPerSecond),
}

impl BitsPerSecond {
    /// Rounds to whole bits per second.
    #[must_use]
    pub fn whole(self) -> u64 {
        self.0.round() as u64
    }
}

impl Rate {
    /// Converts to payload bits per second for datagrams of `payload_bytes`, given the payload rate at line
    /// rate. `None` for a share of an unknown line rate.
    #[must_use]
    pub fn of_payload(
        self,
        payload_bytes: u32,
        line_rate: Option<BitsPerSecond>,
    ) -> Option<BitsPerSecond> {
        match self {
            Self::Bits(bits) => Some(bits),
            Self::LineRate(share) => line_rate.map(|line| BitsPerSecond(line.0 * share.0)),
            Self::Packets(packets) => {
                Some(BitsPerSecond(packets.0 * f64::from(payload_bytes) * 8.0))
            }
        }
    }
}
