// SPDX-License-Identifier: MIT OR Apache-2.0
//! The latency probe: a request with the client's time, and a reply that adds the server's two.
//!
//! Request: `LRPB`, u32 sequence, u64 t1. Reply: `LRPR`, sequence, t1, t2 (received), t3 (sent back). Times are
//! nanoseconds of the Unix epoch on the clock of the side that wrote them; the four-time arithmetic is that of
//! RFC 5905 section 8.

/// Client to server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Counts the probes of a run.
    pub sequence: u32,
    /// When the client sent it, its clock.
    pub sent_ns: u64,
}

/// Server to client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// As in the request.
    pub sequence: u32,
    /// t1: as in the request.
    pub sent_ns: u64,
    /// t2: when the server received it, its clock.
    pub server_received_ns: u64,
    /// t3: when the server answered, its clock.
    pub server_sent_ns: u64,
}

impl Request {
    /// Bytes of the datagram.
    pub const LEN: usize = 16;

    /// Writes the datagram.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut datagram = [0; Self::LEN];
        datagram[..4].copy_from_slice(REQUEST);
        datagram[4..8].copy_from_slice(&self.sequence.to_be_bytes());
        datagram[8..].copy_from_slice(&self.sent_ns.to_be_bytes());
        datagram
    }

    /// Reads a datagram; `None` if it is no probe.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let whole = datagram.len() == Self::LEN && datagram.starts_with(REQUEST);
        whole.then_some(Self {
            sequence: u32_at(datagram, 4)?,
            sent_ns: u64_at(datagram, 8)?,
        })
    }
}

impl Reply {
    /// Bytes of the datagram.
    pub const LEN: usize = 32;

    /// Writes the datagram.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut datagram = [0; Self::LEN];
        datagram[..4].copy_from_slice(REPLY);
        datagram[4..8].copy_from_slice(&self.sequence.to_be_bytes());
        datagram[8..16].copy_from_slice(&self.sent_ns.to_be_bytes());
        datagram[16..24].copy_from_slice(&self.server_received_ns.to_be_bytes());
        datagram[24..].copy_from_slice(&self.server_sent_ns.to_be_bytes());
        datagram
    }

    /// Reads a datagram; `None` if it is no answer.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let whole = datagram.len() == Self::LEN && datagram.starts_with(REPLY);
        whole.then_some(Self {
            sequence: u32_at(datagram, 4)?,
            sent_ns: u64_at(datagram, 8)?,
            server_received_ns: u64_at(datagram, 16)?,
            server_sent_ns: u64_at(datagram, 24)?,
        })
    }

    /// Round trip without the server's own time, ns, when the reply arrived at `t4_ns` of the client's clock;
    /// `None` if a clock stepped in between.
    #[must_use]
    pub fn rtt_ns(&self, t4_ns: u64) -> Option<u64> {
        let whole = t4_ns.checked_sub(self.sent_ns)?;
        whole.checked_sub(self.server_sent_ns.checked_sub(self.server_received_ns)?)
    }

    /// Server's clock minus the client's, ns, known to half the round trip.
    #[must_use]
    pub fn clock_offset_ns(&self, t4_ns: u64) -> i64 {
        let there = i128::from(self.server_received_ns) - i128::from(self.sent_ns);
        let back = i128::from(self.server_sent_ns) - i128::from(t4_ns);
        i64::try_from(there.midpoint(back)).unwrap_or(0)
    }
}

const REQUEST: &[u8; 4] = b"LRPB";
const REPLY: &[u8; 4] = b"LRPR";

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|word| u32::from_be_bytes(*word))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|word| u64::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLY: Reply = Reply {
        sequence: 7,
        sent_ns: 1_000,
        server_received_ns: 501_500,
        server_sent_ns: 501_700,
    };

    #[test]
    fn both_round_trip_and_are_distinguished() {
        let request = Request {
            sequence: 7,
            sent_ns: 1_000,
        };
        assert_eq!(Request::decode(&request.encode()), Some(request));
        assert_eq!(Reply::decode(&REPLY.encode()), Some(REPLY));
        assert_eq!(Request::decode(&REPLY.encode()), None);
        assert_eq!(Reply::decode(&request.encode()), None);
        assert_eq!(Reply::decode(&REPLY.encode()[..31]), None);
    }

    #[test]
    fn four_times_give_round_trip_and_offset() {
        assert_eq!(REPLY.rtt_ns(2_200), Some(1_000));
        assert_eq!(REPLY.clock_offset_ns(2_200), 500_000);
    }

    #[test]
    fn a_stepped_clock_gives_no_round_trip() {
        assert_eq!(REPLY.rtt_ns(999), None);
        assert_eq!(
            Reply {
                server_sent_ns: 0,
                ..REPLY
            }
            .rtt_ns(2_200),
            None
        );
    }
}
