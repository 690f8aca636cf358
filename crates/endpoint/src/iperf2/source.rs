// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TCP test to the client (`iperf -c … -R`): the server sends for the time or the amount that the
//! client's header names, then closes.

use crate::stop::Stop;
use crate::totals::Amount;
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_linux::tcp::{Mover, RxMode, TxMode};
use linerate_method::pacing::{Pace, Pacer, PacerConfig};
use linerate_wire::iperf2::client_header::ClientHeader;
use std::net::TcpStream;

/// Sends to the end; returns a summary for the log, and what it sent.
pub(super) fn send(
    stop: &Stop,
    stream: TcpStream,
    header: &ClientHeader,
) -> Result<(String, Amount), String> {
    let block_bytes = match header.buffer_bytes {
        0 => BLOCK_BYTES,
        asked => (asked as usize).min(BLOCK_BYTES),
    };
    let mover = Mover::new(stream, block_bytes, TxMode::Copy, RxMode::Copy, |_| {});
    let mut load = Load {
        mover: mover.map_err(|error| format!("ended: {error}"))?,
        amount_bytes: u64::try_from(header.amount).ok().filter(|&bytes| bytes > 0),
        duration_ns: header.duration_ms().map_or(u64::MAX, |ms| ms * 1_000_000),
        bytes: 0,
        part: 0,
        start_ns: monotonic_ns(),
        taken_ns: monotonic_ns(),
    };
    let rate = header.extension.map_or(0, |more| more.rate);
    let ended = load.run(stop, pacer(rate, block_bytes, load.start_ns));
    let amount = Amount {
        bytes: load.bytes,
        packets: 0,
        duration_ns: monotonic_ns() - load.start_ns,
    };
    let sent = format!(
        "{} bytes sent in {:.3} s{}",
        amount.bytes,
        amount.duration_ns as f64 / 1e9,
        amount.rate(", ")
    );
    match ended {
        Ok(()) => Ok((sent, amount)),
        Err(why) => Err(format!("ended: {why}: TCP, {sent}")),
    }
}

struct Load {
    mover: Mover,
    amount_bytes: Option<u64>,
    duration_ns: u64,
    bytes: u64,
    part: usize,
    start_ns: u64,
    /// When the client last accepted data.
    taken_ns: u64,
}

impl Load {
    fn run(&mut self, stop: &Stop, mut pacer: Pacer) -> Result<(), String> {
        loop {
            let now_ns = monotonic_ns();
            let left = self.left(now_ns);
            if left == 0 {
                return Ok(());
            }
            if stop.is_set() {
                return Err("this server was stopped".to_owned());
            }
            if is_stalled(self.taken_ns, now_ns) {
                return Err("the client stopped reading".to_owned());
            }
            match pacer.next(now_ns) {
                Pace::WaitUntil(at_ns) => {
                    self.taken_ns = sleep_until_ns(at_ns.min(now_ns + NAP_NS), 0);
                }
                Pace::Send(_) => self.send(left, &mut pacer)?,
            }
        }
    }

    /// A write; a short one is completed by the next before the pacer counts it.
    fn send(&mut self, left: u64, pacer: &mut Pacer) -> Result<(), String> {
        let block_bytes = self.mover.block().len();
        let wanted = usize::try_from(left).unwrap_or(usize::MAX);
        let sent = self.mover.send_block(wanted.min(block_bytes - self.part));
        let sent = sent.map_err(|error| error.to_string())?;
        if sent > 0 {
            self.taken_ns = monotonic_ns();
        }
        self.bytes += sent as u64;
        self.part += sent;
        if self.part >= block_bytes {
            self.part = 0;
            pacer.sent(1);
        }
        Ok(())
    }

    /// Bytes still to send.
    fn left(&self, now_ns: u64) -> u64 {
        if now_ns >= self.start_ns.saturating_add(self.duration_ns) {
            return 0;
        }
        self.amount_bytes
            .map_or(u64::MAX, |amount| amount.saturating_sub(self.bytes))
    }
}

/// Whether the client read nothing for too long.
fn is_stalled(taken_ns: u64, now_ns: u64) -> bool {
    now_ns >= taken_ns.saturating_add(STALL_NS)
}

fn pacer(bits_per_second: u64, block_bytes: usize, start_ns: u64) -> Pacer {
    Pacer::new(PacerConfig {
        bits_per_second: (bits_per_second > 0).then_some(bits_per_second),
        payload_bytes: u32::try_from(block_bytes).unwrap_or(u32::MAX),
        burst_packets: 4,
        start_ns,
    })
}

/// iperf2's default block, and the longest.
const BLOCK_BYTES: usize = 128 * 1024;
/// The longest time for which a client that is alive may read nothing.
const STALL_NS: u64 = 60_000_000_000;
/// The longest sleep before the stop sign is looked at again.
const NAP_NS: u64 = 20_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_read_nothing_for_a_minute() {
        assert!(!is_stalled(7, STALL_NS + 6));
        assert!(is_stalled(7, STALL_NS + 7));
        assert!(!is_stalled(u64::MAX, u64::MAX - 1));
    }
}
