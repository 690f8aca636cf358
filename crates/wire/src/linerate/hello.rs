// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hello that binds a UDP socket to a test by its cookie; idempotent, so it may be sent again.
//!
//! Request: `LRUP`, the 37-byte cookie, u16 stream index, u8 kind. Reply: `LRUA`, the same index and kind.

use crate::iperf3::cookie::Cookie;

/// What the socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A stream of test data.
    Data = 0,
    /// A latency probe.
    Probe = 1,
}

/// Client to server: this socket is stream `index` of the test with that cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The cookie of the control connection.
    pub cookie: Cookie,
    /// Stream, counted from 0 in order of creation.
    pub index: u16,
    /// Data or probe.
    pub kind: Kind,
}

/// Server to client: taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// As in the hello.
    pub index: u16,
    /// As in the hello.
    pub kind: Kind,
}

impl Hello {
    /// Bytes of the datagram.
    pub const LEN: usize = 4 + Cookie::LEN + 3;

    /// Writes the datagram.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut datagram = [0; Self::LEN];
        datagram[..4].copy_from_slice(HELLO);
        datagram[4..41].copy_from_slice(self.cookie.as_bytes());
        datagram[41..43].copy_from_slice(&self.index.to_be_bytes());
        datagram[43] = self.kind as u8;
        datagram
    }

    /// Reads a datagram; `None` if it is no hello.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let datagram: &[u8; Self::LEN] = datagram.try_into().ok()?;
        let (magic, rest) = datagram.split_first_chunk::<4>()?;
        let (cookie, rest) = rest.split_first_chunk()?;
        let (index, kind) = index_and_kind(rest)?;
        (magic == HELLO).then_some(Self {
            cookie: Cookie::from_wire(*cookie),
            index,
            kind,
        })
    }
}

impl Reply {
    /// Bytes of the datagram.
    pub const LEN: usize = 7;

    /// Writes the datagram.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let [high, low] = self.index.to_be_bytes();
        [
            REPLY[0],
            REPLY[1],
            REPLY[2],
            REPLY[3],
            high,
            low,
            self.kind as u8,
        ]
    }

    /// Reads a datagram; `None` if it is no reply.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let (magic, rest) = datagram.split_first_chunk::<4>()?;
        let (index, kind) = index_and_kind(rest)?;
        (magic == REPLY).then_some(Self { index, kind })
    }
}

const HELLO: &[u8; 4] = b"LRUP";
const REPLY: &[u8; 4] = b"LRUA";

fn index_and_kind(bytes: &[u8]) -> Option<(u16, Kind)> {
    let [high, low, kind] = *<&[u8; 3]>::try_from(bytes).ok()?;
    let kind = match kind {
        0 => Kind::Data,
        1 => Kind::Probe,
        _ => return None,
    };
    Some((u16::from_be_bytes([high, low]), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_round_trip_and_are_distinguished() {
        let hello = Hello {
            cookie: Cookie::from_random(&[9; 23]),
            index: 258,
            kind: Kind::Probe,
        };
        assert_eq!(Hello::decode(&hello.encode()), Some(hello));
        let reply = Reply {
            index: 258,
            kind: Kind::Probe,
        };
        assert_eq!(reply.encode(), *b"LRUA\x01\x02\x01");
        assert_eq!(Reply::decode(&reply.encode()), Some(reply));
        assert_eq!(Reply::decode(&hello.encode()), None);
        assert_eq!(Hello::decode(&reply.encode()), None);
    }

    #[test]
    fn another_length_or_kind_is_refused() {
        let whole = Hello {
            cookie: Cookie::from_random(&[9; 23]),
            index: 0,
            kind: Kind::Data,
        }
        .encode();
        assert_eq!(Hello::decode(&whole[..43]), None);
        assert_eq!(Reply::decode(b"LRUA\x00\x00\x02"), None);
        assert_eq!(Reply::decode(b"LRUA\x00\x00\x00\x00"), None);
    }
}
