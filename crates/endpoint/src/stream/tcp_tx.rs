// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TCP sender: one thread, one stream, blocks of one size, paced if a rate is set.

use super::{Limit, Progress, StartLine};
use crate::account::TxAccount;
use linerate_linux::clock;
use linerate_linux::tcp::{self, Mover};
use linerate_method::pacing::{Pace, Pacer, PacerConfig};
use std::io;

/// All that one sender needs.
#[derive(Debug)]
pub(crate) struct TcpTx {
    /// The stream and its block; its socket has a send time-out, so that the stop sign is seen.
    pub(crate) mover: Mover,
    /// Bytes of a write.
    pub(crate) block_bytes: usize,
    /// Payload rate; `None` as fast as it goes.
    pub(crate) bits_per_second: Option<u64>,
    /// When it ends.
    pub(crate) limit: Limit,
}

impl TcpTx {
    /// Sends until the limit or the stop sign; `None` when the test never started.
    pub(crate) fn run(mut self, line: &StartLine, progress: &Progress) -> Option<TxAccount> {
        let start_ns = line.wait()?;
        let mut pacer = Pacer::new(PacerConfig {
            bits_per_second: self.bits_per_second,
            payload_bytes: u32::try_from(self.block_bytes).unwrap_or(u32::MAX),
            burst_packets: 4,
            start_ns,
        });
        let mut counters = TxCounters {
            start_ns,
            warms_up: self.limit.omit_ns > 0,
            // A cookie that found the accept queue full was sent before the test.
            omitted_retransmits: self.retransmits(),
            ..TxCounters::default()
        };
        self.send_all(line, progress, &mut pacer, &mut counters);
        Some(self.close(counters))
    }

    fn send_all(
        &mut self,
        line: &StartLine,
        progress: &Progress,
        pacer: &mut Pacer,
        counters: &mut TxCounters,
    ) {
        let end_ns = counters.start_ns.saturating_add(self.limit.total_ns());
        let omit_until_ns = counters.start_ns + self.limit.omit_ns;
        let mut now = clock::monotonic_ns();
        while now < end_ns && !line.sending_is_over() && counters.failure.is_none() {
            // The warm-up is not part of a requested amount.
            let wanted = self.limit.next_write(
                counters.writes - counters.omitted_writes,
                counters.bytes - counters.omitted_bytes,
                self.block_bytes - counters.part,
            );
            if wanted == 0 {
                break;
            }
            now = match pacer.next(now) {
                Pace::WaitUntil(at_ns) => {
                    clock::sleep_until_ns(at_ns.min(end_ns).min(now + NAP_NS), 0)
                }
                Pace::Send(_) => {
                    counters.note(
                        self.mover.send_block(wanted),
                        self.block_bytes,
                        now < omit_until_ns,
                        pacer,
                    );
                    progress.show(counters.bytes, counters.writes, 0);
                    clock::monotonic_ns()
                }
            };
            if counters.warms_up && now >= omit_until_ns {
                counters.warms_up = false;
                counters.omitted_retransmits = self.retransmits();
            }
        }
        counters.last_ns = now;
    }

    fn retransmits(&self) -> u64 {
        tcp::info(self.mover.stream()).map_or(0, |info| u64::from(info.total_retrans))
    }

    fn close(self, counters: TxCounters) -> TxAccount {
        TxAccount {
            omitted_retransmits: counters.omitted_retransmits,
            packets: counters.writes,
            bytes: counters.bytes - counters.omitted_bytes,
            duration_ns: counters.last_ns.saturating_sub(counters.start_ns),
            mode: Some(self.mover.tx_mode().into()),
            failure: counters.failure,
            ..TxAccount::default()
        }
    }
}

#[derive(Debug, Default)]
struct TxCounters {
    start_ns: u64,
    last_ns: u64,
    writes: u64,
    bytes: u64,
    part: usize,
    omitted_writes: u64,
    omitted_bytes: u64,
    warms_up: bool,
    omitted_retransmits: u64,
    failure: Option<String>,
}

impl TxCounters {
    /// Counts a write; a short one is completed by the next, so that the peer sees whole blocks.
    fn note(
        &mut self,
        result: io::Result<usize>,
        block_bytes: usize,
        warming_up: bool,
        pacer: &mut Pacer,
    ) {
        match result {
            Ok(sent) => {
                self.bytes += sent as u64;
                self.part += sent;
                if self.part >= block_bytes {
                    self.part = 0;
                    self.writes += 1;
                    pacer.sent(1);
                }
                if warming_up {
                    self.omitted_writes = self.writes;
                    self.omitted_bytes = self.bytes;
                }
            }
            Err(error) => self.failure = Some(error.to_string()),
        }
    }
}

/// The stop flag is checked this often.
const NAP_NS: u64 = 20_000_000;
