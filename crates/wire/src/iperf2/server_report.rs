// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a UDP server answers to a final datagram: four zero words, then its counts.
//!
//! The client repeats its final datagram up to ten times until the report arrives. A report of old servers has ten
//! words after the zeros; 2.1.8 adds fifteen of transit times and the high halves of three counts.

use super::{put, word};

/// The server's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerReport {
    /// Payload bytes received, final datagram included.
    pub bytes: u64,
    /// From the first to the last datagram, microseconds.
    pub duration_us: u64,
    /// Lost datagrams.
    pub lost: u64,
    /// Datagrams out of order.
    pub out_of_order: u64,
    /// Highest sequence: received and lost together.
    pub datagrams: u64,
    /// RFC 3550 jitter, microseconds.
    pub jitter_us: u64,
    /// One-way times by the two hosts' clocks; only of new servers.
    pub transit: Option<Transit>,
}

/// One-way times, microseconds; meaningless if the clocks differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transit {
    /// Least.
    pub min_us: u64,
    /// Greatest.
    pub max_us: u64,
    /// Mean.
    pub mean_us: u64,
    /// Datagrams that were timed.
    pub count: u32,
}

impl ServerReport {
    /// Bytes of a whole report.
    pub const LEN: usize = 128;

    /// Writes a whole report.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut datagram = [0; Self::LEN];
        put(&mut datagram, 4, VERSION_1 | SEQUENCE_64_BIT);
        put_split(&mut datagram, 5, 6, self.bytes);
        put_time(&mut datagram, 7, self.duration_us);
        put_split(&mut datagram, 29, 9, self.lost);
        put_split(&mut datagram, 30, 10, self.out_of_order);
        put_split(&mut datagram, 31, 11, self.datagrams);
        put_time(&mut datagram, 12, self.jitter_us);
        if let Some(transit) = &self.transit {
            transit.encode(&mut datagram);
        }
        datagram
    }

    /// Reads a report, old or new; `None` if the datagram is none (2.1.8 also echoes final datagrams).
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let zeros = datagram.get(..16)?.iter().all(|byte| *byte == 0);
        let flags = word(datagram, 4)?;
        if !zeros || flags & VERSION_1 == 0 {
            return None;
        }
        let long = flags & SEQUENCE_64_BIT != 0 && datagram.len() >= Self::LEN;
        let count = |high, low| {
            let high = if long { word(datagram, high)? } else { 0 };
            Some((u64::from(high) << 32) | u64::from(word(datagram, low)?))
        };
        Some(Self {
            bytes: (u64::from(word(datagram, 5)?) << 32) | u64::from(word(datagram, 6)?),
            duration_us: time(datagram, 7)?,
            lost: count(29, 9)?,
            out_of_order: count(30, 10)?,
            datagrams: count(31, 11)?,
            jitter_us: time(datagram, 12)?,
            transit: if long {
                Transit::decode(datagram)
            } else {
                None
            },
        })
    }
}

impl Transit {
    fn encode(&self, datagram: &mut [u8]) {
        put_time(datagram, 14, self.min_us);
        put_time(datagram, 16, self.max_us);
        put_time(datagram, 18, self.mean_us.saturating_mul(self.count.into()));
        put_time(datagram, 20, self.mean_us);
        put(datagram, 26, self.count);
    }

    fn decode(datagram: &[u8]) -> Option<Self> {
        let count = word(datagram, 26)?;
        (count > 0).then_some(Self {
            min_us: time(datagram, 14)?,
            max_us: time(datagram, 16)?,
            mean_us: time(datagram, 20)?,
            count,
        })
    }
}

const VERSION_1: u32 = 0x8000_0000;
const SEQUENCE_64_BIT: u32 = 0x0800_0000;

/// Seconds and microseconds in two words.
fn time(bytes: &[u8], index: usize) -> Option<u64> {
    Some(u64::from(word(bytes, index)?) * 1_000_000 + u64::from(word(bytes, index + 1)?))
}

fn put_time(bytes: &mut [u8], index: usize, microseconds: u64) {
    put(
        bytes,
        index,
        u32::try_from(microseconds / 1_000_000).unwrap_or(u32::MAX),
    );
    put(bytes, index + 1, (microseconds % 1_000_000) as u32);
}

#[expect(clippy::cast_possible_truncation, reason = "split in two words")]
fn put_split(bytes: &mut [u8], high: usize, low: usize, value: u64) {
    put(bytes, high, (value >> 32) as u32);
    put(bytes, low, value as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2.1.8 after datagrams 1 2 3 5 4 6 9 10 of 1470 bytes and the final -11.
    const CAPTURED: &str = "000000000000000000000000000000008800000000000000000033ae0000000000027bbf0000\
        0002000000010000000b0000000000000007000000000000004d000000000000006d00000000\
        000003110000000000000057000003b500087a2300000000fffffff800000009000000430000\
        0001000000000000000000000000";

    fn captured() -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&CAPTURED[at..at + 2], 16).unwrap();
        (0..CAPTURED.len()).step_by(2).map(digit).collect()
    }

    #[test]
    fn a_captured_report_is_read() {
        let expected = ServerReport {
            bytes: 9 * 1470,
            duration_us: 162_751,
            lost: 2,
            out_of_order: 1,
            datagrams: 11,
            jitter_us: 7,
            transit: Some(Transit {
                min_us: 77,
                max_us: 109,
                mean_us: 87,
                count: 9,
            }),
        };
        assert_eq!(ServerReport::decode(&captured()), Some(expected));
    }

    #[test]
    fn an_old_report_ends_after_the_jitter() {
        let report = ServerReport::decode(&captured()[..56]).unwrap();
        assert_eq!(
            (report.lost, report.datagrams, report.transit),
            (2, 11, None)
        );
        assert_eq!(ServerReport::decode(&captured()[..55]), None);
    }

    #[test]
    fn counts_above_32_bits_round_trip() {
        let report = ServerReport {
            bytes: 1 << 40,
            duration_us: 10_000_001,
            lost: (1 << 33) + 5,
            out_of_order: (1 << 34) + 6,
            datagrams: (1 << 35) + 7,
            jitter_us: 1_000_002,
            transit: Some(Transit {
                min_us: 1,
                max_us: 5_000_000,
                mean_us: 2,
                count: 3,
            }),
        };
        assert_eq!(ServerReport::decode(&report.encode()), Some(report));
    }

    #[test]
    fn an_echoed_final_datagram_is_no_report() {
        let mut echo = captured();
        echo[..4].copy_from_slice(&(-11_i32).to_be_bytes());
        assert_eq!(ServerReport::decode(&echo), None);
        assert_eq!(ServerReport::decode(&[0; 128]), None);
    }
}
