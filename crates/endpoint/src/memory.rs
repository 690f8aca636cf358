// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits the memory of a test: the same binary runs on a board of 64 MB, and clients decide how much
//! a server uses. Bytes; pure functions of the machine's memory.

use linerate_linux::host;

/// The memory of the machine that a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    bytes: u64,
}

impl Memory {
    /// This machine's.
    pub(crate) fn of_host() -> Self {
        Self::new(host::memory_bytes())
    }

    /// A machine of `bytes`; `None`: unknown.
    pub(crate) fn new(bytes: Option<u64>) -> Self {
        Self {
            bytes: bytes.unwrap_or(UNKNOWN_BYTES),
        }
    }

    /// The receive buffer that each of `streams` UDP sockets is asked for by default.
    pub(crate) fn default_buffer_bytes(self, streams: u32) -> usize {
        let each = (self.bytes / 64).min(DEFAULT_BUFFER_BYTES);
        small(each).min(self.most_buffer_bytes(streams))
    }

    /// The most that a client is given for the socket buffer of each of its `streams`: the kernel
    /// takes twice that (socket(7)), and the client decides, not this host.
    pub(crate) fn most_buffer_bytes(self, streams: u32) -> usize {
        small(self.bytes / 8 / each(streams)).max(LEAST_BUFFER_BYTES)
    }

    /// How many datagrams of `bytes` each of `streams` may hold in this program, at most `wanted`.
    pub(crate) fn slots(self, streams: u32, bytes: usize, wanted: usize) -> usize {
        let budget = small(self.bytes / 32).min(SLOTS_BYTES) / small(each(streams));
        (budget / bytes.max(1)).clamp(1, wanted)
    }

    /// Whether a client's `streams` may write or read in blocks of this many bytes.
    pub(crate) fn has_room_for_blocks(self, streams: u64, block_bytes: u64) -> bool {
        streams.saturating_mul(block_bytes) <= self.bytes / 4
    }
}

fn each(streams: u32) -> u64 {
    u64::from(streams.max(1))
}

fn small(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Where `/proc/meminfo` cannot be read.
const UNKNOWN_BYTES: u64 = 1 << 30;
/// What loses nothing on a machine with memory to spare.
const DEFAULT_BUFFER_BYTES: u64 = 4 << 20;
/// However many streams: room for some datagrams.
const LEAST_BUFFER_BYTES: usize = 64 << 10;
/// Of all streams of a test: `serve` stays below 12 MiB.
const SLOTS_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const BOARD: Memory = Memory { bytes: 64 << 20 };
    const HOST: Memory = Memory { bytes: 8 << 30 };

    #[test]
    fn default_buffers_are_a_small_part_of_the_memory() {
        for (memory, streams, bytes) in [
            (HOST, 1, 4 << 20),
            (HOST, 256, 4 << 20),
            (BOARD, 1, 1 << 20),
            (BOARD, 8, 1 << 20),
            (BOARD, 64, 128 << 10),
            (BOARD, 256, 64 << 10),
            (Memory::new(None), 1, 4 << 20),
        ] {
            assert_eq!(memory.default_buffer_bytes(streams), bytes, "{streams}");
        }
    }

    #[test]
    fn a_client_gets_an_eighth_at_most() {
        assert_eq!(BOARD.most_buffer_bytes(1), 8 << 20);
        assert_eq!(BOARD.most_buffer_bytes(8), 1 << 20);
        assert_eq!(HOST.most_buffer_bytes(0), 1 << 30);
        assert!(BOARD.has_room_for_blocks(128, 128 << 10));
        assert!(!BOARD.has_room_for_blocks(256, 1 << 20));
        assert!(!HOST.has_room_for_blocks(u64::MAX, 2));
    }

    /// With `UDP_GRO` each takes 64 KiB.
    #[test]
    fn more_streams_have_fewer_slots_each() {
        const JOINED: usize = 65_535;
        for (memory, streams, slots) in [
            (HOST, 1, 64),
            (HOST, 8, 8),
            (HOST, 256, 1),
            (BOARD, 1, 32),
            (BOARD, 8, 4),
        ] {
            assert_eq!(memory.slots(streams, JOINED, 64), slots, "{streams}");
        }
        assert_eq!(BOARD.slots(8, 64, 64), 64, "small ones take little");
        assert_eq!(HOST.slots(0, 0, 16), 16);
    }
}
