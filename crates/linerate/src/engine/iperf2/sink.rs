// SPDX-License-Identifier: MIT OR Apache-2.0
//! A TCP test from the client: read to the end and counted. The header counts as data, as in iperf.

use super::front::Front;
use super::server::Server;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::tcp::{Mover, RxMode, TxMode};
use std::net::TcpStream;

/// A stream that is read.
pub(super) struct Sink<'a> {
    server: &'a Server<'a>,
    front: &'a Front,
    mover: Mover,
    bytes: u64,
    heard_ns: u64,
}

impl<'a> Sink<'a> {
    /// Goes on behind the front.
    pub(super) fn new(
        server: &'a Server<'a>,
        stream: TcpStream,
        front: &'a Front,
    ) -> Result<Self, String> {
        let mover = Mover::new(stream, BLOCK_BYTES, TxMode::Copy, RxMode::Copy, |_| {});
        Ok(Self {
            server,
            front,
            mover: mover.map_err(|error| format!("ended: {error}"))?,
            bytes: front.bytes,
            heard_ns: monotonic_ns(),
        })
    }

    /// Reads to the end; what came, for the log.
    pub(super) fn read(mut self) -> Result<String, String> {
        loop {
            match self.mover.receive_block() {
                Ok(None) if self.is_short() => {
                    return Err(self.ended("the client left before its time"));
                }
                Ok(None) => return Ok(self.so_far()),
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
        let now_ns = monotonic_ns();
        if self.server.is_stopped() {
            Some("this server was stopped")
        } else if now_ns >= self.heard_ns.saturating_add(SILENCE_NS) {
            Some("the client fell silent")
        } else if now_ns >= self.front.begun_ns.saturating_add(self.longest_ns()) {
            Some("it goes on beyond --max-time")
        } else {
            None
        }
    }

    /// A client by time that ends well before it was killed or interrupted.
    fn is_short(&self) -> bool {
        let took_ms = monotonic_ns().saturating_sub(self.front.begun_ns) / 1_000_000;
        let asked_ms = self.front.header.duration_ms();
        asked_ms.is_some_and(|asked_ms| took_ms + asked_ms / 10 + SLACK_MS < asked_ms)
    }

    fn longest_ns(&self) -> u64 {
        let seconds = self.server.options.max_duration_s;
        seconds.map_or(u64::MAX, |limit| {
            limit.saturating_mul(1_000_000_000).saturating_add(LATE_NS)
        })
    }

    fn took_ns(&self) -> u64 {
        self.heard_ns.saturating_sub(self.front.begun_ns)
    }

    fn ended(&self, why: &str) -> String {
        format!("ended: {why}: TCP, {}", self.so_far())
    }

    fn so_far(&self) -> String {
        let (bytes, seconds) = (self.bytes, self.took_ns() as f64 / 1e9);
        format!("{bytes} bytes received in {seconds:.3} s")
    }
}

/// A client that lives (a dead one is found by keep-alive probes) but sends nothing for so long.
const SILENCE_NS: u64 = 60_000_000_000;
/// What queues on the way may come after the time.
const LATE_NS: u64 = 10_000_000_000;
const SLACK_MS: u64 = 200;
const BLOCK_BYTES: usize = 128 * 1024;
