// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantities with their unit: how a person types them ([parse]) and reads them ([mod@format]).
//!
//! Rates are decimal bits a second (SI). Sizes are bytes, and their letters are 1024-based as in
//! iperf3's `-l`, `-n` and `-w`. Times are nanoseconds inside, seconds when typed bare.

pub mod format;
pub mod parse;

pub use parse::UnitError;

/// A rate of payload bits; the layer is told by whoever prints it.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct BitsPerSecond(pub f64);

/// A rate of packets.
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

/// A rate as it may be asked for.
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
    /// The nearest whole number of bits a second.
    #[must_use]
    pub fn whole(self) -> u64 {
        self.0.round() as u64
    }
}

impl Rate {
    /// The payload bits a second that this means for datagrams of `payload_bytes`, given the
    /// payload rate that the link can carry. `None`: a share of a line rate that is not known.
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
