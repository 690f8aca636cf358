// SPDX-License-Identifier: MIT OR Apache-2.0
//! A UDP receiver: one thread, one socket, every datagram accounted.
//!
//! Data path: no allocation, no lock, no log. Arrival times are the kernel's where it stamps.

use super::stamp::Read;
use super::start::Drain;
use super::{Progress, Stamp, StartLine};
use crate::engine::account::{Burst, RxAccount, SequenceAccountTotals};
use crate::engine::quantiles::{buckets, quantiles};
use linerate_linux::clock::{self, Wall};
use linerate_linux::udp::{Datagram, Receiver};
use linerate_method::histogram::Histogram;
use linerate_method::jitter::Jitter;
use linerate_method::sequence::{Arrival, SequenceAccount, SequenceTotals, unwrap32};
use linerate_method::spacing::Spacing;
use linerate_wire::iperf3::hello as stock;
use linerate_wire::linerate::hello;
use std::time::Duration;

/// All that one receiver needs.
#[derive(Debug)]
pub struct UdpRx {
    /// The connected socket.
    pub receiver: Receiver,
    /// The header's form.
    pub stamp: Stamp,
    /// Warm-up, not counted.
    pub omit_ns: u64,
    /// Receive buffer asked for, granted, bytes.
    pub buffer_bytes: (Option<u64>, u64),
    /// Drops that the socket counted before the test (strays).
    pub drops_before: u32,
}

/// A receiver that has left its socket, its books still open: the sender's count may come later.
#[derive(Debug)]
pub struct UdpReceived {
    books: Books,
    start_ns: u64,
    mode: String,
    buffer_bytes: (Option<u64>, u64),
    socket_drops: Option<u64>,
    failure: Option<String>,
}

impl UdpRx {
    /// Receives from now on until the drain is over; `None` when the test never started.
    pub fn run(mut self, line: &StartLine, progress: &Progress) -> Option<UdpReceived> {
        let mut books = Books::new(self.stamp, self.omit_ns);
        let mut failure = None;
        while books.go_on(line, progress) {
            match self.receiver.receive(WAIT) {
                Ok(batch) => {
                    books.now_ns = clock::monotonic_ns();
                    books.learn_start(line);
                    books.socket_is_empty = true;
                    for datagram in batch {
                        books.take(&datagram);
                    }
                    books.publish(progress);
                }
                // A peer that closed its socket answers with ICMP: the end of the test tells, not this.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                    books.now_ns = clock::monotonic_ns();
                }
                Err(error) => {
                    failure = Some(error.to_string());
                    break;
                }
            }
        }
        let start_ns = line.started_ns()?;
        Some(self.close(books, start_ns, failure))
    }

    fn close(self, books: Books, start_ns: u64, failure: Option<String>) -> UdpReceived {
        let drops = self
            .receiver
            .drops()
            .map(|drops| u64::from(drops.wrapping_sub(self.drops_before)));
        UdpReceived {
            books,
            start_ns,
            mode: format!("{:?}", self.receiver.mode()).to_lowercase(),
            buffer_bytes: self.buffer_bytes,
            socket_drops: drops,
            failure,
        }
    }
}

impl UdpReceived {
    /// Closes the books with the sender's final count, if it is known.
    pub fn account(mut self, sent: Option<u64>) -> RxAccount {
        let totals = self.books.account.finish(sent);
        self.books.transit.settle();
        let books = &self.books;
        // The first datagrams may be here before this side has heard that the test began.
        let start_ns = books
            .first
            .map_or(self.start_ns, |(_, first_ns)| self.start_ns.min(first_ns));
        RxAccount {
            bytes: books.bytes - books.omitted_bytes,
            packets: totals.received_unique,
            omitted_packets: books.omitted_packets,
            omitted_lost: books.omitted_lost.min(totals.lost),
            duration_ns: books.duration_ns(totals.sent),
            sequence: Some(sequence_totals(&totals, &books.account, sent.is_some())),
            jitter_ns: books.jitter.jitter_ns(),
            spacing_ns: quantiles(books.spacing.between()),
            spacing_histogram: buckets(books.spacing.between()),
            window_bytes_max: Some(books.spacing.max_bytes_in_1ms()),
            transit_ns: quantiles(&books.transit.histogram),
            transit_base_ns: books.transit.base_ns,
            corrupt_packets: books.damaged + totals.wild,
            socket_drops: self.socket_drops,
            buffer_asked_bytes: self.buffer_bytes.0,
            buffer_granted_bytes: Some(self.buffer_bytes.1),
            mode: self.mode,
            dscp_seen: books.tos.map(|tos| tos >> 2),
            bursts: bursts(&books.account, start_ns),
            bursts_dropped: books.account.bursts_dropped(),
            failure: self.failure,
            ..RxAccount::default()
        }
    }

    /// Highest sequence seen.
    pub fn highest(&self) -> u64 {
        self.books.account.totals().highest
    }
}

/// Transit times above a base. The clocks' offset makes them any number: the base is learnt from
/// the first datagrams, so that the histogram's digits go to what varies.
#[derive(Debug)]
struct Transit {
    histogram: Histogram,
    base_ns: i64,
    first: [i64; LEARN_PACKETS],
    learnt: usize,
}

impl Transit {
    fn new() -> Self {
        Self {
            histogram: Histogram::new(),
            base_ns: 0,
            first: [0; LEARN_PACKETS],
            learnt: 0,
        }
    }

    fn record(&mut self, transit_ns: i64) {
        if self.learnt > LEARN_PACKETS {
            return self.note(transit_ns);
        }
        if self.learnt == LEARN_PACKETS {
            self.settle();
            return self.note(transit_ns);
        }
        self.first[self.learnt] = transit_ns;
        self.learnt += 1;
    }

    /// Ends the learning, early if there were few datagrams.
    fn settle(&mut self) {
        if self.learnt > LEARN_PACKETS {
            return;
        }
        let known = self.learnt;
        self.base_ns = self.first[..known]
            .iter()
            .min()
            .map_or(0, |least| least - MARGIN_NS);
        for index in 0..known {
            self.note(self.first[index]);
        }
        self.learnt = LEARN_PACKETS + 1;
    }

    fn note(&mut self, transit_ns: i64) {
        self.histogram
            .record(u64::try_from(transit_ns.saturating_sub(self.base_ns)).unwrap_or(0));
    }
}

/// The receiver's running books.
#[derive(Debug)]
struct Books {
    stamp: Stamp,
    wall: Wall,
    account: SequenceAccount,
    jitter: Jitter,
    spacing: Spacing,
    transit: Transit,
    omit_ns: u64,
    omit_until_ns: Option<u64>,
    now_ns: u64,
    /// The last look into the socket found nothing.
    socket_is_empty: bool,
    last_arrival_ns: u64,
    first: Option<(u64, u64)>,
    highest: (u64, u64),
    unique: u64,
    bytes: u64,
    omitted_bytes: u64,
    omitted_packets: u64,
    omitted_lost: u64,
    damaged: u64,
    tos: Option<u8>,
}

impl Books {
    fn new(stamp: Stamp, omit_ns: u64) -> Self {
        Self {
            stamp,
            wall: Wall::start(),
            account: SequenceAccount::new(WINDOW_PACKETS),
            jitter: Jitter::new(),
            spacing: Spacing::new(),
            transit: Transit::new(),
            omit_ns,
            omit_until_ns: None,
            now_ns: clock::monotonic_ns(),
            socket_is_empty: false,
            last_arrival_ns: 0,
            first: None,
            highest: (0, 0),
            unique: 0,
            bytes: 0,
            omitted_bytes: 0,
            omitted_packets: 0,
            omitted_lost: 0,
            damaged: 0,
            tos: None,
        }
    }

    /// False once the drain is over: all is in, or silence, or the deadline. Time without the
    /// processor is no silence: what has arrived by then lies in the socket.
    fn go_on(&self, line: &StartLine, progress: &Progress) -> bool {
        let Some(Drain {
            quiet_ns,
            deadline_ns,
            ordered_ns,
        }) = line.draining()
        else {
            return true;
        };
        let expected = progress.expected.read();
        let complete = expected > 0 && self.unique >= expected;
        let since_ns = self.last_arrival_ns.max(ordered_ns);
        let quiet = self.socket_is_empty && self.now_ns >= since_ns.saturating_add(quiet_ns);
        !complete && self.now_ns < deadline_ns && !quiet
    }

    fn learn_start(&mut self, line: &StartLine) {
        if self.omit_until_ns.is_none() && self.omit_ns > 0 {
            self.omit_until_ns = line.started_ns().map(|start_ns| start_ns + self.omit_ns);
        }
    }

    fn take(&mut self, datagram: &Datagram<'_>) {
        self.socket_is_empty = false;
        let (wall_ns, sequence) = match self.stamp.read(datagram.bytes) {
            Read::Stamp { wall_ns, sequence } => (wall_ns, sequence),
            Read::Damaged if is_hello(datagram.bytes) => return,
            Read::Damaged => return self.damaged += 1,
        };
        let sequence = if self.stamp.is_narrow() {
            unwrap32(self.highest.0, sequence as u32)
        } else {
            sequence
        };
        let arrival_ns = datagram
            .kernel_ns
            .map_or(self.now_ns, |wall_ns| self.wall.monotonic_of(wall_ns));
        self.tos = self.tos.or(datagram.tos);
        match self.account.record(sequence, arrival_ns) {
            Arrival::New | Arrival::Reordered { .. } => {
                self.note(sequence, arrival_ns, wall_ns, datagram.length)
            }
            Arrival::Duplicate | Arrival::Late => self.last_arrival_ns = self.now_ns,
            Arrival::Wild => {}
        }
        self.spacing.arrive(arrival_ns, datagram.length as u32);
    }

    fn note(&mut self, sequence: u64, arrival_ns: u64, sent_wall_ns: u64, length: usize) {
        self.last_arrival_ns = self.now_ns;
        self.unique += 1;
        self.bytes += length as u64;
        if self.first.is_none() {
            self.first = Some((sequence, arrival_ns));
        }
        if sequence > self.highest.0 {
            self.highest = (sequence, arrival_ns);
        }
        if self
            .omit_until_ns
            .is_some_and(|until_ns| arrival_ns < until_ns)
        {
            self.omitted_bytes = self.bytes;
            self.omitted_packets = self.highest.0;
            self.omitted_lost = self.highest.0.saturating_sub(self.unique);
        }
        let transit_ns = self
            .wall
            .at(arrival_ns)
            .wrapping_sub(sent_wall_ns)
            .cast_signed();
        self.jitter.record(transit_ns);
        self.transit.record(transit_ns);
    }

    fn publish(&self, progress: &Progress) {
        progress.show(
            self.bytes,
            self.unique,
            self.highest.0.saturating_sub(self.unique),
        );
    }

    /// The flow's time: the mean gap between the first and the last arrival, times the datagrams
    /// sent. Independent of when each side heard of start and end, and of losses at the edges.
    fn duration_ns(&self, sent: u64) -> u64 {
        let Some((first_sequence, first_ns)) = self.first else {
            return 0;
        };
        let steps = self.highest.0.saturating_sub(first_sequence);
        if steps == 0 {
            return 0;
        }
        let span_ns = u128::from(self.highest.1.saturating_sub(first_ns));
        u64::try_from(span_ns * u128::from(sent.max(self.highest.0)) / u128::from(steps))
            .unwrap_or(u64::MAX)
    }
}

fn sequence_totals(
    totals: &SequenceTotals,
    account: &SequenceAccount,
    exact: bool,
) -> SequenceAccountTotals {
    let stock = account.stock();
    SequenceAccountTotals {
        sent: totals.sent,
        sent_is_exact: exact && !totals.contradicted,
        unique: totals.received_unique,
        lost: totals.lost,
        duplicates: totals.duplicates,
        reordered: totals.reordered,
        reorder_extent_max: totals.reorder_extent_max,
        late: totals.late,
        highest: totals.highest,
        contradicted: totals.contradicted,
        stock_errors: stock.errors,
        stock_out_of_order: stock.out_of_order,
    }
}

fn bursts(account: &SequenceAccount, start_ns: u64) -> Vec<Burst> {
    let dated = |burst: &linerate_method::sequence::LossBurst| Burst {
        at_ns: burst.at_ns.saturating_sub(start_ns),
        first_sequence: burst.first_sequence,
        packets: burst.packets,
    };
    account.bursts().iter().map(dated).collect()
}

/// A greeting or its reply, come late or twice: no datagram of the test, and not damaged.
fn is_hello(bytes: &[u8]) -> bool {
    hello::Hello::decode(bytes).is_some()
        || hello::Reply::decode(bytes).is_some()
        || stock::is_hello(bytes)
        || stock::is_reply(bytes)
}

/// The longest wait before the stop sign is looked at again.
const WAIT: Duration = Duration::from_millis(50);
/// Reordered or duplicate is told apart within so many datagrams.
const WINDOW_PACKETS: u64 = 65_536;
/// Datagrams from which the base of the transit times is learnt.
const LEARN_PACKETS: usize = 64;
/// Room below the base for drifting clocks (50 ppm over 20 s are 1 ms).
const MARGIN_NS: i64 = 1_000_000;
