// SPDX-License-Identifier: MIT OR Apache-2.0
//! A paced UDP sender: one thread, one socket.
//!
//! Data path: no allocation, no lock, no log. The schedule is [`Pacer`]'s; this loop sleeps,
//! stamps and sends. Datagrams that the kernel refused are not "sent": they keep their sequence
//! and are offered again, or stand among the unsent at the end.

use super::{Limit, Progress, Stamp, StartLine};
use crate::account::TxAccount;
use linerate_linux::clock::{self, Sleeper, Wall};
use linerate_linux::udp::{Fault, Sender, Sent};
use linerate_method::pacing::{Pace, Pacer, PacerConfig};

/// All that one sender needs.
#[derive(Debug)]
pub(crate) struct UdpTx {
    /// The connected socket with its batch of prepared datagrams.
    pub(crate) sender: Sender,
    /// Payload rate; `None` as fast as it goes.
    pub(crate) bits_per_second: Option<u64>,
    /// Declared burst.
    pub(crate) burst_packets: u32,
    /// The header's form.
    pub(crate) stamp: Stamp,
    /// When it ends.
    pub(crate) limit: Limit,
    /// How long after the start signal its own time begins.
    pub(crate) delay_ns: u64,
    /// A wait is slept, although its end is then late by tens of microseconds: its CPU time is not that of the datagrams.
    pub(crate) never_spins: bool,
    /// This many ICMP errors end it: the server is absent.
    pub(crate) errors_most: u64,
}

impl UdpTx {
    /// Sends until the limit or the stop sign; `None` when the test never started.
    pub(crate) fn run(mut self, line: &StartLine, progress: &Progress) -> Option<TxAccount> {
        clock::precise_sleep();
        let start_ns = line.wait()? + self.delay_ns;
        if self.delay_ns > 0 {
            clock::sleep_until_ns(start_ns, 0);
        }
        let mut pacer = self.pacer(start_ns);
        let mut counters = TxCounters::new(start_ns, &self.limit);
        self.send_all(line, progress, &mut pacer, &mut counters);
        Some(self.close(&pacer, counters))
    }

    fn pacer(&self, start_ns: u64) -> Pacer {
        Pacer::new(PacerConfig {
            bits_per_second: self.bits_per_second,
            payload_bytes: self.payload_bytes(),
            burst_packets: self.burst_packets,
            start_ns,
        })
    }

    fn send_all(
        &mut self,
        line: &StartLine,
        progress: &Progress,
        pacer: &mut Pacer,
        counters: &mut TxCounters,
    ) {
        let wall = Wall::start();
        let mut sleeper = Sleeper::new(if self.never_spins { 0 } else { SPIN_LIMIT_NS });
        let mut now = clock::monotonic_ns();
        while !line.sending_is_over() && counters.failure.is_none() {
            if counters.warms_up && now >= counters.omit_until_ns {
                // What the warm-up still owes is not sent in the measured time.
                counters.warms_up = false;
                *pacer = self.pacer(counters.omit_until_ns);
            }
            let left = self.left(pacer, counters, now);
            if left == 0 {
                if !self.lasts(counters, now) {
                    break;
                }
                now = clock::sleep_until_ns(counters.end_ns.min(now + NAP_NS), 0);
                continue;
            }
            match pacer.next(now) {
                Pace::WaitUntil(at_ns) => now = sleeper.until(at_ns.min(now + NAP_NS)),
                Pace::Send(batch) => {
                    let count = (batch as usize)
                        .min(self.sender.slots())
                        .min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.send_batch(count, wall.at(now), counters);
                    now = clock::monotonic_ns();
                    counters.sent_ns = now;
                    pacer.sent(counters.just_sent);
                    progress.show(counters.bytes, counters.packets, 0);
                    if counters.take_pause() {
                        now = clock::sleep_until_ns(now + REFUSED_PAUSE_NS, 0);
                    }
                }
            }
        }
        counters.last_ns = now;
    }

    /// Datagrams still to send; 0 ends the test. A paced sender owes exactly those due before the
    /// end, and may be a little late with them; an unpaced one ends on time.
    fn left(&self, pacer: &Pacer, counters: &TxCounters, now: u64) -> u64 {
        let by_amount = self.amount_left(counters);
        match pacer.packets_due_before(counters.end_ns) {
            Some(_) if now >= counters.end_ns + self.limit.grace_ns() => 0,
            Some(due) => by_amount.min(due.saturating_sub(pacer.sent_packets())),
            None if now >= counters.end_ns => 0,
            None => by_amount,
        }
    }

    /// Whether all that is due before the end is sent and the end is still to come: at a low rate
    /// that may be long, and the test lasts for the requested time.
    fn lasts(&self, counters: &TxCounters, now: u64) -> bool {
        now < counters.end_ns && self.amount_left(counters) > 0
    }

    /// Datagrams of the requested amount that are still to be sent, without the warm-up.
    fn amount_left(&self, counters: &TxCounters) -> u64 {
        let packets = counters.packets - counters.omitted_packets;
        let bytes = counters.bytes - counters.omitted_bytes;
        self.limit
            .packets_left(packets, bytes, self.payload_bytes())
    }

    fn send_batch(&mut self, count: usize, wall_ns: u64, counters: &mut TxCounters) {
        let warm_up = counters.warms_up;
        let apart = !warm_up && self.stamp.marks_warm_up();
        let first = counters.packets + 1 - if apart { counters.omitted_packets } else { 0 };
        for slot in 0..count {
            let sequence = first + slot as u64;
            self.stamp
                .write(self.sender.slot(slot), wall_ns, sequence, warm_up);
        }
        let sent = self.sender.send(0..count);
        counters.accept(&sent, self.payload_bytes());
        if counters.errors >= self.errors_most {
            counters.failure = Some(describe(Fault::Refused));
        }
    }

    fn payload_bytes(&self) -> u32 {
        u32::try_from(self.sender.payload_bytes()).unwrap_or(u32::MAX)
    }

    fn close(self, pacer: &Pacer, counters: TxCounters) -> TxAccount {
        let amount_reached = self.amount_left(&counters) == 0;
        let lateness = pacer.lateness(counters.end_ns.min(counters.last_ns));
        let paced = self.bits_per_second.is_some();
        TxAccount {
            packets: counters.packets - counters.omitted_packets,
            bytes: counters.bytes - counters.omitted_bytes,
            omitted_packets: counters.omitted_packets,
            duration_ns: counters.sent_ns.saturating_sub(counters.start_ns),
            unsent_packets: if paced && !amount_reached && !counters.warms_up {
                lateness.unsent_packets
            } else {
                0
            },
            behind_ns_max: paced.then_some(lateness.behind_ns_max),
            refused_packets: counters.refused,
            mode: Some(self.sender.mode().into()),
            burst_packets: paced.then(|| pacer.burst_packets()),
            failure: counters.failure,
            ..TxAccount::default()
        }
    }
}

/// The sender's running counters.
#[derive(Debug)]
struct TxCounters {
    start_ns: u64,
    omit_until_ns: u64,
    warms_up: bool,
    end_ns: u64,
    /// When the last batch was sent.
    sent_ns: u64,
    /// When the sender ended.
    last_ns: u64,
    packets: u64,
    bytes: u64,
    omitted_packets: u64,
    omitted_bytes: u64,
    just_sent: u32,
    refused: u64,
    refused_in_a_row: u32,
    errors: u64,
    failure: Option<String>,
    pause: bool,
}

impl TxCounters {
    fn new(start_ns: u64, limit: &Limit) -> Self {
        Self {
            start_ns,
            omit_until_ns: start_ns + limit.omit_ns,
            warms_up: limit.omit_ns > 0,
            end_ns: start_ns.saturating_add(limit.total_ns()),
            sent_ns: start_ns,
            last_ns: start_ns,
            packets: 0,
            bytes: 0,
            omitted_packets: 0,
            omitted_bytes: 0,
            just_sent: 0,
            refused: 0,
            refused_in_a_row: 0,
            errors: 0,
            failure: None,
            pause: false,
        }
    }

    /// Whether the queue was full just now: asking again at once would only burn the processor.
    fn take_pause(&mut self) -> bool {
        std::mem::take(&mut self.pause)
    }

    fn accept(&mut self, sent: &Sent, payload_bytes: u32) {
        self.just_sent = u32::try_from(sent.accepted).unwrap_or(u32::MAX);
        self.packets += sent.accepted as u64;
        self.bytes += sent.accepted as u64 * u64::from(payload_bytes);
        self.errors += u64::from(sent.pending_errors);
        if self.warms_up {
            self.omitted_packets = self.packets;
            self.omitted_bytes = self.bytes;
        }
        if let Some(fault) = sent.fault {
            self.judge(fault);
        }
    }

    /// `ENOBUFS` is expected at full rate: it is counted and the send retried. Other errors end the stream
    /// (`EPERM` after a while: a firewall may drop some datagrams only).
    fn judge(&mut self, fault: Fault) {
        match fault {
            Fault::QueueFull | Fault::SendBufferFull | Fault::Interrupted => {
                self.pause = fault == Fault::QueueFull;
                self.refused += u64::from(fault == Fault::QueueFull);
                self.refused_in_a_row = 0;
            }
            Fault::Filtered if self.refused_in_a_row < FILTERED_LIMIT => {
                self.refused += 1;
                self.refused_in_a_row += 1;
            }
            fault => self.failure = Some(describe(fault)),
        }
    }
}

/// Why a stream ended, as a person reads it.
fn describe(fault: Fault) -> String {
    match fault {
        Fault::TooBig => "datagrams longer than the path MTU, which must not be fragmented (EMSGSIZE): a smaller -l, or no --dont-fragment".to_owned(),
        Fault::Refused => "the peer's port is closed (ICMP port unreachable)".to_owned(),
        Fault::Filtered => "a local firewall rule refuses every datagram (EPERM)".to_owned(),
        Fault::Unreachable(errno) | Fault::Other(errno) => {
            std::io::Error::from_raw_os_error(errno).to_string()
        }
        Fault::QueueFull => "the local queue is full (ENOBUFS)".to_owned(),
        Fault::SendBufferFull => "the send buffer stays full".to_owned(),
        Fault::Interrupted => "interrupted".to_owned(),
    }
}

/// At most this last part of a wait is spun, not slept: a timer's wake-up is late by tens of
/// microseconds on an idle core.
const SPIN_LIMIT_NS: u64 = 40_000;
/// A full local queue is given this long to drain.
const REFUSED_PAUSE_NS: u64 = 50_000;
/// The stop flag is checked this often.
const NAP_NS: u64 = 20_000_000;
/// After this many refusals by a local rule in a row the stream ends.
const FILTERED_LIMIT: u32 = 10_000;
