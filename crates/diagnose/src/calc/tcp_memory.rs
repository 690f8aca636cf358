// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel makes of `net.ipv4.tcp_mem`, `tcp_rmem` and `tcp_wmem` when it starts, from its
//! free buffer pages (`net/ipv4/tcp.c` `tcp_init_mem`, `tcp_init`), and whether values in force still are that.

/// The kernel's rules, which changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// An eighth of the pages, as in 3.0.
    Eighth,
    /// A sixteenth, as in 6.12.
    Sixteenth,
}

/// What the kernel sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpMemory {
    /// `tcp_mem`, pages.
    pub pages: [u64; 3],
    /// `tcp_wmem[2]`, bytes.
    pub send_max_bytes: u64,
    /// `tcp_rmem[2]`, bytes.
    pub receive_max_bytes: u64,
}

impl TcpMemory {
    /// From the free buffer pages at the start of the kernel, pages of 4 KiB.
    #[must_use]
    pub fn of_free_pages(rules: Rules, free_pages: u64) -> Self {
        let (share, floor_bytes) = match rules {
            Rules::Eighth => (8, 87_380),
            Rules::Sixteenth => (16, 131_072),
        };
        let limit = (free_pages / share).max(128);
        let low = limit / 4 * 3;
        let socket_bytes = match rules {
            Rules::Eighth => limit << SOCKET_SHIFT,
            Rules::Sixteenth => free_pages << SOCKET_SHIFT,
        };
        Self {
            pages: [low, limit, low * 2],
            send_max_bytes: socket_bytes.clamp(65_536, 4 << 20),
            receive_max_bytes: socket_bytes.clamp(floor_bytes, 6 << 20),
        }
    }
}

/// Whether these are values that a kernel sets on its own, not written by an administrator.
#[must_use]
pub const fn is_autosized(tcp_mem_pages: [u64; 3]) -> bool {
    let [low, pressure, high] = tcp_mem_pages;
    low == pressure / 4 * 3 && high == low * 2
}

/// From how many free pages on a kernel sets this `tcp_mem[1]`.
#[must_use]
pub const fn free_pages(rules: Rules, pressure_pages: u64) -> u64 {
    match rules {
        Rules::Eighth => pressure_pages * 8,
        Rules::Sixteenth => pressure_pages * 16,
    }
}

/// `PAGE_SHIFT - 7` with pages of 4 KiB.
const SOCKET_SHIFT: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (u64, [u64; 3], (u64, u64), [u64; 3], (u64, u64));

    /// Free pages; 3.0: `tcp_mem`, largest send and receive buffer; 6.12: the same.
    const TABLE: [Row; 6] = [
        (
            194_560,
            [18_240, 24_320, 36_480],
            (778_240, 778_240),
            [9_120, 12_160, 18_240],
            (4_194_304, 6_225_920),
        ),
        (
            99_040,
            [9_285, 12_380, 18_570],
            (396_160, 396_160),
            [4_641, 6_190, 9_282],
            (3_169_280, 3_169_280),
        ),
        (
            16_384,
            [1_536, 2_048, 3_072],
            (65_536, 87_380),
            [768, 1_024, 1_536],
            (524_288, 524_288),
        ),
        (
            2_000,
            [186, 250, 372],
            (65_536, 87_380),
            [96, 128, 192],
            (65_536, 131_072),
        ),
        (
            262_144,
            [24_576, 32_768, 49_152],
            (1_048_576, 1_048_576),
            [12_288, 16_384, 24_576],
            (4_194_304, 6_291_456),
        ),
        (
            2_097_152,
            [196_608, 262_144, 393_216],
            (4_194_304, 6_291_456),
            [98_304, 131_072, 196_608],
            (4_194_304, 6_291_456),
        ),
    ];

    #[test]
    fn what_kernels_set_by_themselves() {
        for (free, old, old_max, new, new_max) in TABLE {
            for (rules, pages, (send, receive)) in [
                (Rules::Eighth, old, old_max),
                (Rules::Sixteenth, new, new_max),
            ] {
                let expected = TcpMemory {
                    pages,
                    send_max_bytes: send,
                    receive_max_bytes: receive,
                };
                assert_eq!(
                    TcpMemory::of_free_pages(rules, free),
                    expected,
                    "{free} {rules:?}"
                );
                assert!(is_autosized(pages));
            }
        }
    }

    #[test]
    fn a_value_that_somebody_wrote_is_recognised() {
        assert!(!is_autosized([18_240, 24_320, 54_720]));
        assert_eq!(free_pages(Rules::Eighth, 24_320), 194_560);
    }
}
