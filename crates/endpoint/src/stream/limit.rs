// SPDX-License-Identifier: MIT OR Apache-2.0
//! When a sender ends.

/// The end of a stream: by time, by bytes, or by writes; whichever comes first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limit {
    /// Warm-up, not counted.
    pub(crate) omit_ns: u64,
    /// Measured time; `None` until stopped.
    pub(crate) duration_ns: Option<u64>,
    /// Payload bytes, this stream.
    pub(crate) bytes: Option<u64>,
    /// Writes or datagrams, this stream.
    pub(crate) packets: Option<u64>,
}

impl Limit {
    /// Warm-up and measured time; the far future without a time limit.
    pub(crate) fn total_ns(&self) -> u64 {
        self.duration_ns.map_or(FAR_NS, |duration_ns| {
            duration_ns.saturating_add(self.omit_ns)
        })
    }

    /// How long after the end a paced sender may send what is still due: a tenth of the time, at most
    /// 100 ms.
    pub(crate) fn grace_ns(&self) -> u64 {
        self.duration_ns
            .map_or(0, |duration_ns| (duration_ns / 10).min(100_000_000))
    }

    /// Datagrams (writes) of `payload_bytes` that may still be sent.
    pub(crate) fn packets_left(&self, packets: u64, bytes: u64, payload_bytes: u32) -> u64 {
        let by_count = self
            .packets
            .map_or(u64::MAX, |limit| limit.saturating_sub(packets));
        let by_bytes = self.bytes.map_or(u64::MAX, |limit| {
            limit
                .saturating_sub(bytes)
                .div_ceil(u64::from(payload_bytes.max(1)))
        });
        by_count.min(by_bytes)
    }

    /// Bytes of the next write: a whole block, less at the end of a byte limit, 0 when it is over.
    pub(crate) fn next_write(&self, writes: u64, bytes: u64, block_bytes: usize) -> usize {
        if self.packets.is_some_and(|limit| writes >= limit) {
            return 0;
        }
        let left = self
            .bytes
            .map_or(u64::MAX, |limit| limit.saturating_sub(bytes));
        usize::try_from(left).unwrap_or(usize::MAX).min(block_bytes)
    }
}

/// A year: no test is longer.
const FAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_write_is_cut_to_the_byte_limit() {
        let limit = Limit {
            bytes: Some(300),
            ..Limit::default()
        };
        assert_eq!(limit.next_write(0, 0, 128), 128);
        assert_eq!(limit.next_write(2, 256, 128), 44);
        assert_eq!(limit.next_write(3, 300, 128), 0);
        assert_eq!(limit.packets_left(2, 256, 128), 1);
        assert_eq!(limit.packets_left(3, 384, 128), 0);
    }

    #[test]
    fn whichever_limit_comes_first() {
        let limit = Limit {
            bytes: Some(1000),
            packets: Some(3),
            ..Limit::default()
        };
        assert_eq!(limit.packets_left(0, 0, 100), 3);
        assert_eq!(limit.next_write(3, 300, 100), 0);
    }
}
