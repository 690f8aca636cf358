// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TCP test from the client: read to the end and counted. The header counts as data, as in iperf.

use super::preamble::Preamble;
use crate::stop::Stop;
use crate::totals::Amount;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::tcp::{Mover, RxMode, TxMode};
use std::net::TcpStream;

/// A stream that is read.
pub(super) struct Sink<'a> {
    stop: &'a Stop,
    max_duration_s: Option<u64>,
    preamble: &'a Preamble,
    mover: Mover,
    bytes: u64,
    heard_ns: u64,
}

impl<'a> Sink<'a> {
    /// Continues after the preamble.
    pub(super) fn new(
        stop: &'a Stop,
        max_duration_s: Option<u64>,
        stream: TcpStream,
        preamble: &'a Preamble,
    ) -> Result<Self, String> {
        let mover = Mover::new(stream, BLOCK_BYTES, TxMode::Copy, RxMode::Copy, |_| {});
        Ok(Self {
            stop,
            max_duration_s,
            preamble,
            mover: mover.map_err(|error| format!("ended: {error}"))?,
            bytes: preamble.bytes,
            heard_ns: monotonic_ns(),
        })
    }

    /// Reads to the end; returns a summary for the log, and what it read.
    pub(super) fn read(mut self) -> Result<(String, Amount), String> {
        loop {
            match self.mover.receive_block() {
                Ok(None) if self.is_short() => {
                    return Err(self.ended("the client disconnected early"));
                }
                Ok(None) => return Ok((self.so_far(), self.amount())),
                Ok(Some(0)) => {}
                Ok(Some(count)) => {
                    self.bytes += count as u64;
                    self.heard_ns = monotonic_ns();
                }
                Err(error) => return Err(self.ended(&error.to_string())),
            }
            if let Some(reason) = self.overdue() {
                return Err(self.ended(reason));
            }
        }
    }

    fn overdue(&self) -> Option<&'static str> {
        if self.stop.is_set() {
            return Some("this server was stopped");
        }
        let times = Times {
            begun_ns: self.preamble.begun_ns,
            heard_ns: self.heard_ns,
            most_seconds: self.max_duration_s,
        };
        times.overdue(monotonic_ns())
    }

    /// A client by time that ends well before it was killed or interrupted.
    fn is_short(&self) -> bool {
        let took_ms = monotonic_ns().saturating_sub(self.preamble.begun_ns) / 1_000_000;
        let asked_ms = self.preamble.header.duration_ms();
        asked_ms.is_some_and(|asked_ms| took_ms + asked_ms / 10 + SLACK_MS < asked_ms)
    }

    fn took_ns(&self) -> u64 {
        self.heard_ns.saturating_sub(self.preamble.begun_ns)
    }

    fn ended(&self, why: &str) -> String {
        format!("ended: {why}: TCP, {}", self.so_far())
    }

    fn so_far(&self) -> String {
        let (bytes, seconds) = (self.bytes, self.took_ns() as f64 / 1e9);
        let rate = self.amount().rate(", ");
        format!("{bytes} bytes received in {seconds:.3} s{rate}")
    }

    fn amount(&self) -> Amount {
        Amount {
            bytes: self.bytes,
            packets: 0,
            duration_ns: self.took_ns(),
        }
    }
}

/// How long a client has been there, and silent.
struct Times {
    begun_ns: u64,
    heard_ns: u64,
    /// `--max-time`.
    most_seconds: Option<u64>,
}

impl Times {
    /// Returns why the connection has to end.
    fn overdue(&self, now_ns: u64) -> Option<&'static str> {
        let longest_ns = self.most_seconds.map_or(u64::MAX, |limit| {
            limit.saturating_mul(1_000_000_000).saturating_add(LATE_NS)
        });
        if now_ns >= self.heard_ns.saturating_add(SILENCE_NS) {
            Some("no data from the client")
        } else if now_ns >= self.begun_ns.saturating_add(longest_ns) {
            Some("it exceeded --max-time")
        } else {
            None
        }
    }
}

/// The longest silence of a client that is alive (a dead one is found by keep-alive probes).
const SILENCE_NS: u64 = 60_000_000_000;
/// Queued data may arrive this long after the time.
const LATE_NS: u64 = 10_000_000_000;
const SLACK_MS: u64 = 200;
const BLOCK_BYTES: usize = 128 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_be_silent_for_a_minute_and_stay_a_little_beyond_its_time() {
        const SECOND_NS: u64 = 1_000_000_000;
        let silent = Some("no data from the client");
        let beyond = Some("it exceeded --max-time");
        for (heard_s, most_seconds, now_ns, reason) in [
            (100, None, 160 * SECOND_NS - 1, None),
            (100, None, 160 * SECOND_NS, silent),
            (u64::MAX / SECOND_NS, None, u64::MAX - 1, None),
            (125, Some(20), 130 * SECOND_NS - 1, None),
            (125, Some(20), 130 * SECOND_NS, beyond),
            (100, Some(u64::MAX), 159 * SECOND_NS, None),
        ] {
            let times = Times {
                begun_ns: 100 * SECOND_NS,
                heard_ns: heard_s * SECOND_NS,
                most_seconds,
            };
            assert_eq!(times.overdue(now_ns), reason, "{heard_s} {now_ns}");
        }
    }
}
