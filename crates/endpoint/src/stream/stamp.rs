// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which header the datagrams of a test carry.

use linerate_wire::iperf2::datagram as iperf2;
use linerate_wire::iperf3::datagram::{CounterWidth, Header};
use linerate_wire::linerate::stamp as own;

/// The form of the datagram header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// Ours: nanoseconds, 64-bit sequence, a check where it fits.
    Own,
    /// iperf3's: seconds, microseconds and a 32- or 64-bit sequence.
    Stock(CounterWidth),
    /// iperf2's: a signed 64-bit sequence around seconds and microseconds.
    Iperf2,
}

/// What one header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// Sender's wall clock and sequence (a 32-bit one not yet unwrapped).
    Stamp {
        /// Sender's wall clock.
        wall_ns: u64,
        /// Sequence from 1.
        sequence: u64,
        /// It says of itself that it belongs to the warm-up.
        warm_up: bool,
    },
    /// Too short, or the check does not fit.
    Damaged,
}

impl Stamp {
    /// The smallest payload that carries it.
    pub(crate) fn min_payload_bytes(self) -> u32 {
        match self {
            Self::Own => own::Stamp::LEN as u32,
            Self::Stock(width) => width.header_bytes() as u32,
            Self::Iperf2 => iperf2::Header::LEN as u32,
        }
    }

    /// Whether the datagrams say of themselves what belongs to the warm-up, numbered apart.
    pub(crate) fn marks_warm_up(self) -> bool {
        self == Self::Own
    }

    /// Writes it at the front of `payload`, which is long enough by construction of the test.
    pub(crate) fn write(self, payload: &mut [u8], wall_ns: u64, sequence: u64, warm_up: bool) {
        let written = match self {
            Self::Own => own::Stamp {
                wall_ns,
                sequence,
                warm_up,
            }
            .encode(payload),
            Self::Stock(width) => Header::at(wall_ns, sequence).encode(width, payload),
            Self::Iperf2 => iperf2::Header::at(wall_ns, sequence.cast_signed()).encode(payload),
        };
        debug_assert!(written, "payload shorter than its stamp");
    }

    /// Reads it from the front of `payload`.
    pub(crate) fn read(self, payload: &[u8]) -> Read {
        match self {
            Self::Own => match own::Stamp::decode(payload) {
                Ok(stamp) => Read::Stamp {
                    wall_ns: stamp.wall_ns,
                    sequence: stamp.sequence,
                    warm_up: stamp.warm_up,
                },
                Err(_) => Read::Damaged,
            },
            Self::Stock(width) => {
                Header::decode(width, payload).map_or(Read::Damaged, |header| Read::Stamp {
                    wall_ns: header.time_ns(),
                    sequence: header.sequence,
                    warm_up: false,
                })
            }
            Self::Iperf2 => {
                iperf2::Header::decode(payload, true).map_or(Read::Damaged, |header| Read::Stamp {
                    wall_ns: header.time_ns(),
                    sequence: header.sequence.unsigned_abs(),
                    warm_up: false,
                })
            }
        }
    }

    /// How many payloads from the begin of `joined`, each of `size` bytes, are of one succession with `payload`, as far
    /// as it can be known without reading each.
    pub(crate) fn followers(self, payload: &[u8], (joined, size): (&[u8], usize)) -> usize {
        match self {
            Self::Own => {
                own::Stamp::decode(payload).map_or(0, |first| first.followers(joined, size))
            }
            Self::Stock(_) | Self::Iperf2 => 0,
        }
    }

    /// Whether the sequence wraps at 2³² on the wire.
    pub(crate) fn is_narrow(self) -> bool {
        self == Self::Stock(CounterWidth::Bits32)
    }
}
