// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one-byte control messages.

/// A control message. Some numbers exist in the protocol but are never sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Server: all streams are connected.
    TestStart = 1,
    /// Server: send now.
    TestRunning = 2,
    /// Never sent.
    ResultRequest = 3,
    /// Client: its time, bytes or blocks are done.
    TestEnd = 4,
    /// Never sent.
    StreamBegin = 5,
    /// Never sent.
    StreamRunning = 6,
    /// Never sent.
    StreamEnd = 7,
    /// Never sent.
    AllStreamsEnd = 8,
    /// Server: send the parameters.
    ParamExchange = 9,
    /// Server: open all data streams.
    CreateStreams = 10,
    /// Server: it was interrupted.
    ServerTerminate = 11,
    /// Client: it was interrupted.
    ClientTerminate = 12,
    /// Server: send your results, then read mine.
    ExchangeResults = 13,
    /// Server: done, you may print.
    DisplayResults = 14,
    /// Never sent.
    IperfStart = 15,
    /// Client: goodbye.
    IperfDone = 16,
    /// linerate's extension: a length and a JSON document follow. Only between two linerates.
    Agent = 32,
    /// Server: two 32-bit error numbers follow.
    ServerError = 0xFE,
    /// Server: busy, or a wrong cookie on a data stream.
    AccessDenied = 0xFF,
}

impl State {
    /// The byte on the wire.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    /// Reads a byte; `None` if no message has that number.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::TestStart,
            2 => Self::TestRunning,
            3 => Self::ResultRequest,
            4 => Self::TestEnd,
            5 => Self::StreamBegin,
            6 => Self::StreamRunning,
            7 => Self::StreamEnd,
            8 => Self::AllStreamsEnd,
            9 => Self::ParamExchange,
            10 => Self::CreateStreams,
            11 => Self::ServerTerminate,
            12 => Self::ClientTerminate,
            13 => Self::ExchangeResults,
            14 => Self::DisplayResults,
            15 => Self::IperfStart,
            16 => Self::IperfDone,
            32 => Self::Agent,
            0xFE => Self::ServerError,
            0xFF => Self::AccessDenied,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_byte_round_trips() {
        let known: Vec<u8> = (0..=255)
            .filter(|byte| State::from_byte(*byte).is_some())
            .collect();
        assert_eq!(known.len(), 19);
        for byte in known {
            assert_eq!(State::from_byte(byte).map(State::byte), Some(byte));
        }
    }
}
