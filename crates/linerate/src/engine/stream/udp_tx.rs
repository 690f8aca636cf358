// SPDX-License-Identifier: MIT OR Apache-2.0
//! A paced UDP sender: one thread, one socket.
//!
//! Data path: no allocation, no lock, no log. The schedule is [`Pacer`]'s; this loop sleeps,
//! stamps and sends. Datagrams that the kernel refused are not "sent" and keep their sequence.

use super::Limit;
use super::progress::Progress;
use super::stamp::Stamp;
use super::start::StartLine;
use crate::engine::account::TxAccount;
use linerate_linux::clock::{self, Wall};
use linerate_linux::udp::Sender;
use linerate_method::pacing::{Pace, Pacer, PacerConfig};

/// All that one sender needs.
#[derive(Debug)]
pub struct UdpTx {
    /// The connected socket with its batch of prepared datagrams.
    pub sender: Sender,
    /// UDP payload.
    pub payload_bytes: u32,
    /// Payload rate; `None` as fast as it goes.
    pub bits_per_second: Option<u64>,
    /// Declared burst in datagrams; `None` lets the pacer choose.
    pub burst_packets: Option<u32>,
    /// The header's form.
    pub stamp: Stamp,
    /// When it ends.
    pub limit: Limit,
}

impl UdpTx {
    /// Sends until the limit or the stop sign; `None` when the test never started.
    pub fn run(mut self, line: &StartLine, progress: &Progress) -> Option<TxAccount> {
        clock::precise_sleep();
        let start_ns = line.wait()?;
        let mut pacer = Pacer::new(PacerConfig {
            bits_per_second: self.bits_per_second,
            payload_bytes: self.payload_bytes,
            burst_packets: self.burst_packets,
            start_ns,
        });
        let mut books = Books::new(start_ns, self.limit.omit_ns);
        self.send_all(line, progress, &mut pacer, &mut books);
        Some(self.close(&pacer, &books))
    }

    fn send_all(&mut self, line: &StartLine, progress: &Progress, pacer: &mut Pacer, books: &mut Books) {
        let wall = Wall::start();
        let end_ns = books.start_ns.saturating_add(self.limit.total_ns());
        let grace_ns = self.limit.grace_ns();
        let mut now = clock::monotonic_ns();
        while !line.sending_is_over() {
            if now >= end_ns && (pacer.due(end_ns) == 0 || now >= end_ns + grace_ns || self.bits_per_second.is_none()) {
                break;
            }
            match pacer.next(now) {
                Pace::WaitUntil(at_ns) if at_ns >= end_ns && now < end_ns && pacer.due(end_ns) == 0 => {
                    now = clock::sleep_until_ns(end_ns, 0);
                }
                Pace::WaitUntil(at_ns) => now = clock::sleep_until_ns(at_ns, SPIN_NS),
                Pace::Send(wanted) => {
                    let count = self.allowed(wanted, now.min(end_ns), end_ns, pacer, books);
                    if count == 0 {
                        break;
                    }
                    self.send_batch(count, wall.at(now), pacer, books, now);
                    progress.show(books.bytes, books.packets, 0);
                    now = clock::monotonic_ns();
                }
            }
            if books.failure.is_some() {
                break;
            }
        }
        books.last_ns = now;
    }

    fn allowed(&self, wanted: u32, _now: u64, end_ns: u64, pacer: &Pacer, books: &Books) -> u32 {
        let by_limit = self.limit.packets_left(books.packets, books.bytes, self.payload_bytes);
        let by_time = if self.bits_per_second.is_some() { pacer.due(end_ns) } else { u64::MAX };
        wanted.min(u32::try_from(by_limit.min(by_time)).unwrap_or(u32::MAX))
    }

    fn send_batch(&mut self, count: u32, wall_ns: u64, pacer: &mut Pacer, books: &mut Books, now: u64) {
        for slot in 0..count {
            self.stamp.write(self.sender.slot(slot as usize), wall_ns, books.packets + 1 + u64::from(slot));
        }
        match self.sender.send(count as usize) {
            Ok(sent) => {
                books.accept(sent.accepted as u64, u64::from(self.payload_bytes), now);
                books.refused += sent.refused as u64;
                pacer.sent(sent.accepted as u32 + sent.refused as u32, now);
            }
            Err(error) => books.failure = Some(error.to_string()),
        }
    }

    fn close(self, pacer: &Pacer, books: &Books) -> TxAccount {
        let lateness = pacer.lateness();
        let timed_out = self.limit.packets_left(books.packets, books.bytes, self.payload_bytes) > 0;
        let due = pacer.due(books.start_ns.saturating_add(self.limit.total_ns()));
        TxAccount {
            packets: books.packets,
            bytes: books.bytes - books.omitted_bytes,
            omitted_packets: books.omitted_packets,
            duration_ns: books.last_ns.saturating_sub(books.start_ns),
            unsent_packets: if self.bits_per_second.is_some() && timed_out { due } else { 0 },
            behind_ns_max: self.bits_per_second.map(|_| lateness.behind_ns_max),
            refused_packets: books.refused,
            mode: self.sender.mode().to_string(),
            burst_packets: Some(pacer.burst_packets()),
            failure: books.failure.clone(),
            ..TxAccount::default()
        }
    }
}

/// The sender's running books.
#[derive(Debug)]
struct Books {
    start_ns: u64,
    omit_until_ns: u64,
    last_ns: u64,
    packets: u64,
    bytes: u64,
    omitted_packets: u64,
    omitted_bytes: u64,
    refused: u64,
    failure: Option<String>,
}

impl Books {
    fn new(start_ns: u64, omit_ns: u64) -> Self {
        Self {
            start_ns,
            omit_until_ns: start_ns + omit_ns,
            last_ns: start_ns,
            packets: 0,
            bytes: 0,
            omitted_packets: 0,
            omitted_bytes: 0,
            refused: 0,
            failure: None,
        }
    }

    fn accept(&mut self, packets: u64, payload_bytes: u64, now: u64) {
        self.packets += packets;
        self.bytes += packets * payload_bytes;
        if now < self.omit_until_ns {
            self.omitted_packets = self.packets;
            self.omitted_bytes = self.bytes;
        }
    }
}

/// The last part of a wait that is spun, not slept: a timer wake-up is late by some tens of
/// microseconds on an idle core.
const SPIN_NS: u64 = 30_000;
