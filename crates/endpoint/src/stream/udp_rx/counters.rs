// SPDX-License-Identifier: MIT OR Apache-2.0
//! The running counters of one UDP receiver. No allocation, no lock.

use super::timing::Timing;
use crate::stream::stamp::Read;
use crate::stream::start::Drain;
use crate::stream::{Progress, Stamp, StartLine};
use linerate_linux::clock::{self, Wall};
use linerate_linux::udp::{Datagram, Joined};
use linerate_method::sequence::{Arrival, SequenceAccount, SequenceTotals, unwrap32};
use linerate_model::output::Arrived;
use linerate_wire::iperf3::hello as stock;
use linerate_wire::linerate::hello;

/// The counters while the test runs.
#[derive(Debug)]
pub(super) struct RxCounters {
    stamp: Stamp,
    /// Fixed: the sender's stamps are steady too, so that setting a clock changes no transit time.
    wall: Wall,
    /// What the kernel's time stamps follow: the clock as it is set now.
    kernel: Wall,
    pub(super) account: SequenceAccount,
    pub(super) timing: Timing,
    warm_up: WarmUp,
    pub(super) now_ns: u64,
    /// The last look into the socket found nothing.
    pub(super) socket_is_empty: bool,
    last_arrival_ns: u64,
    /// Sequence and arrival of the first datagram after the warm-up.
    pub(super) first: Option<(u64, u64)>,
    highest: (u64, u64),
    /// A datagram after a gap so wide that the next one has to confirm it.
    held: Option<Datum>,
    /// What is taken but not yet counted; none between two batches.
    run: Option<Run>,
    unique: u64,
    bytes: u64,
    pub(super) damaged: u64,
    pub(super) tos: Option<u8>,
    /// By the codepoint of the ECN field.
    pub(super) codepoints: [u64; 4],
}

/// A datagram of the test, as far as it is counted.
#[derive(Debug, Clone, Copy)]
struct Datum {
    sequence: u64,
    arrival_ns: u64,
    sent_wall_ns: u64,
    length: usize,
}

/// Datagrams in succession that arrived at one time, as those of a GRO message, and are counted at once.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: Datum,
    packets: u32,
}

/// The warm-up: marked in each datagram of a linerate; of a stock sender everything that arrives within its time.
#[derive(Debug, Default)]
struct WarmUp {
    omit_ns: u64,
    until_ns: Option<u64>,
    /// What it brought of itself, outside all other counts.
    packets: u64,
    bytes: u64,
    /// The counts at the end of a stock sender's warm-up, which continue after it.
    before: Option<Border>,
    /// For the time after it: nothing is allocated then.
    fresh: Option<Box<Timing>>,
}

/// The counts at the end of a stock sender's warm-up.
#[derive(Debug, Clone, Copy)]
struct Border {
    totals: SequenceTotals,
    bytes: u64,
    /// Datagrams of the warm-up that came after its end.
    stragglers: u64,
}

/// The final counts without the warm-up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closed {
    pub(super) totals: SequenceTotals,
    pub(super) bytes: u64,
    /// The last sequence of a stock sender's warm-up, and how many of it were missing.
    pub(super) omitted: (u64, u64),
}

impl RxCounters {
    pub(super) fn new(stamp: Stamp, omit_ns: u64) -> Self {
        let by_clock = omit_ns > 0 && !stamp.marks_warm_up();
        let wall = Wall::start();
        Self {
            stamp,
            wall,
            kernel: wall,
            account: SequenceAccount::new(WINDOW_PACKETS),
            timing: Timing::new(),
            warm_up: WarmUp {
                omit_ns: if by_clock { omit_ns } else { 0 },
                fresh: by_clock.then(|| Box::new(Timing::new())),
                ..WarmUp::default()
            },
            now_ns: clock::monotonic_ns(),
            socket_is_empty: false,
            last_arrival_ns: 0,
            first: None,
            highest: (0, 0),
            held: None,
            run: None,
            unique: 0,
            bytes: 0,
            damaged: 0,
            tos: None,
            codepoints: [0; 4],
        }
    }

    /// False once the drain is over: all is in, or silence, or the deadline. Time without the
    /// processor is no silence: what has arrived by then lies in the socket.
    pub(super) fn go_on(&self, line: &StartLine, progress: &Progress) -> bool {
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

    pub(super) fn learn_start(&mut self, line: &StartLine) {
        let warm_up = &mut self.warm_up;
        if warm_up.omit_ns > 0 && warm_up.until_ns.is_none() {
            warm_up.until_ns = line.started_ns().map(|start_ns| start_ns + warm_up.omit_ns);
        }
    }

    /// Counts the messages of a batch.
    pub(super) fn take<'a>(&mut self, batch: impl IntoIterator<Item = Joined<'a>>) {
        for message in batch {
            self.gather(&message);
        }
        self.end_run();
    }

    fn gather(&mut self, message: &Joined<'_>) {
        self.socket_is_empty = false;
        let Datagram { kernel_ns, tos, .. } = message.whole;
        let arrival_ns = kernel_ns.map_or(self.now_ns, |kernel_ns| self.arrival_ns(kernel_ns));
        let mut payloads = message.payloads();
        while let Some((bytes, length)) = payloads.next() {
            let followers = self.stamp.followers(bytes, payloads.joined());
            payloads.leave_out(followers);
            let packets = 1 + followers as u32;
            self.gather_run(bytes, length, packets, arrival_ns, tos);
        }
    }

    /// A datagram, and those of its message that follow it in direct succession.
    fn gather_run(
        &mut self,
        bytes: &[u8],
        length: usize,
        packets: u32,
        arrival_ns: u64,
        tos: Option<u8>,
    ) {
        match self.stamp.read(bytes) {
            Read::Stamp { warm_up: true, .. } => self.warm_up.note(length, packets),
            Read::Stamp {
                wall_ns, sequence, ..
            } => {
                self.note_tos(tos, packets);
                let first = Datum {
                    sequence: self.unwrapped(sequence),
                    arrival_ns,
                    sent_wall_ns: wall_ns,
                    length,
                };
                return self.measure(Run { first, packets });
            }
            Read::Damaged if is_hello(bytes) => return,
            Read::Damaged => return self.damaged += 1,
        }
        self.last_arrival_ns = self.now_ns;
    }

    fn unwrapped(&self, sequence: u64) -> u64 {
        if self.stamp.is_narrow() {
            unwrap32(self.highest.0, sequence as u32)
        } else {
            sequence
        }
    }

    fn measure(&mut self, this: Run) {
        match &mut self.run {
            Some(run) if run.goes_on_with(&this.first) => run.packets += this.packets,
            _ => {
                self.end_run();
                self.run = Some(this);
            }
        }
    }

    /// Counts what was gathered.
    fn end_run(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        let Run { first, packets } = run;
        if self.warm_up.ends_by(first.arrival_ns) {
            self.end_warm_up();
        }
        let account = &mut self.account;
        if account.record_run(first.sequence, packets.into(), first.arrival_ns) {
            self.note(run);
        } else {
            run.singles().for_each(|one| self.count(one));
        }
        let bytes = first.length as u64 * u64::from(packets);
        let spacing = &mut self.timing.spacing;
        spacing.arrive_batch(first.arrival_ns, packets, bytes);
    }

    fn count(&mut self, this: Datum) {
        let arrival = self.account.record(this.sequence, this.arrival_ns);
        self.note_confirmed();
        match arrival {
            Arrival::New | Arrival::Reordered { .. } => self.note(this.into()),
            Arrival::Held => self.held = Some(this),
            Arrival::Duplicate | Arrival::Late => self.last_arrival_ns = self.now_ns,
            Arrival::Wild => {}
        }
    }

    fn note_tos(&mut self, tos: Option<u8>, packets: u32) {
        self.tos = self.tos.or(tos);
        let codepoint = tos.map(|tos| usize::from(tos & 0b11));
        let count = codepoint.and_then(|at| self.codepoints.get_mut(at));
        count
            .into_iter()
            .for_each(|count| *count += u64::from(packets));
    }

    /// How datagrams arrived, if that was asked.
    pub(super) fn ecn(&self) -> Option<Arrived> {
        let [not_ect_packets, ect1_packets, ect0_packets, ce_packets] = self.codepoints;
        self.tos.map(|_| Arrived {
            not_ect_packets,
            ect1_packets,
            ect0_packets,
            ce_packets,
        })
    }

    /// A kernel time stamp as a monotonic instant, which lies a little before now: otherwise the clock was set.
    fn arrival_ns(&mut self, kernel_ns: u64) -> u64 {
        let arrival_ns = self.kernel.monotonic_of(kernel_ns);
        let possible = self.now_ns.saturating_sub(LONGEST_WAIT_NS)..=self.now_ns + MARGIN_NS;
        if possible.contains(&arrival_ns) {
            return arrival_ns;
        }
        self.kernel = Wall::start();
        let arrival_ns = self.kernel.monotonic_of(kernel_ns);
        // Stamped before the clock was set, taken after.
        if possible.contains(&arrival_ns) {
            arrival_ns
        } else {
            self.now_ns
        }
    }

    /// What was held back is known to be the test's, or not.
    fn note_confirmed(&mut self) {
        let Some(held) = self.held else {
            return;
        };
        if let Some(arrival) = self.account.take_confirmed() {
            self.held = None;
            if let Arrival::New | Arrival::Reordered { .. } = arrival {
                self.note(held.into());
            }
        }
    }

    fn note(&mut self, run: Run) {
        let Datum {
            sequence,
            arrival_ns,
            sent_wall_ns,
            length,
        } = run.first;
        self.last_arrival_ns = self.now_ns;
        self.unique += u64::from(run.packets);
        self.bytes += length as u64 * u64::from(run.packets);
        // A run lies above all before it: the warm-up has none of it, or it is a single one.
        if self.warm_up.claims(sequence, length) {
            return;
        }
        if self.first.is_none() {
            self.first = Some((sequence, arrival_ns));
        }
        let last = sequence + u64::from(run.packets - 1);
        if last > self.highest.0 {
            self.highest = (last, arrival_ns);
        }
        let wall_ns = self.wall.at(arrival_ns);
        let transit_ns = wall_ns.wrapping_sub(sent_wall_ns).cast_signed();
        self.timing.travel(wall_ns, transit_ns, run.packets);
    }

    /// A stock sender's warm-up is over: the counts of its end are remembered, everything else begins anew.
    fn end_warm_up(&mut self) {
        self.warm_up.until_ns = None;
        self.warm_up.omit_ns = 0;
        self.warm_up.before = Some(self.border_here());
        if let Some(fresh) = self.warm_up.fresh.take() {
            self.timing = *fresh;
        }
        self.first = None;
    }

    pub(super) fn publish(&self, progress: &Progress) {
        progress.show(
            self.bytes + self.warm_up.bytes,
            self.unique + self.warm_up.packets,
            self.highest.0.saturating_sub(self.unique),
        );
    }

    /// Judges everything still open. `sent` is the sender's final count.
    pub(super) fn close(&mut self, sent: Option<u64>) -> Closed {
        let totals = self.account.finish(sent);
        self.note_confirmed();
        match self.border() {
            Some(border) => border.beyond(&totals, self.bytes),
            None => Closed {
                totals,
                bytes: self.bytes,
                omitted: (0, 0),
            },
        }
    }

    /// A stock sender's warm-up that outlived the test is all there was.
    fn border(&self) -> Option<Border> {
        let unfinished = self.warm_up.omit_ns > 0;
        let before = self.warm_up.before;
        before.or_else(|| unfinished.then(|| self.border_here()))
    }

    fn border_here(&self) -> Border {
        Border {
            totals: self.account.totals(),
            bytes: self.bytes,
            stragglers: 0,
        }
    }

    /// The flow's time after the warm-up: the mean gap between the first and the last arrival, times
    /// the datagrams sent. Independent of when each side heard of start and end, and of losses at the edges. Where a few
    /// arrived of many, it is no longer than the arrivals and one gap, or the test (`test_ns`).
    pub(super) fn duration_ns(&self, closed: &Closed, test_ns: u64) -> u64 {
        let Some((first_sequence, first_ns)) = self.first else {
            return 0;
        };
        let steps = self.highest.0.saturating_sub(first_sequence);
        if steps == 0 {
            return 0;
        }
        let span_ns = self.highest.1.saturating_sub(first_ns);
        let seen_ns = span_ns.saturating_add(span_ns / steps);
        let whole_ns = u128::from(span_ns) * u128::from(closed.totals.sent) / u128::from(steps);
        let whole_ns = u64::try_from(whole_ns).unwrap_or(u64::MAX);
        whole_ns.min(seen_ns.max(test_ns))
    }
}

impl Run {
    fn goes_on_with(&self, next: &Datum) -> bool {
        let Self { first, packets } = self;
        let follows = next.sequence == first.sequence.wrapping_add((*packets).into());
        let together = next.arrival_ns == first.arrival_ns;
        let alike = next.sent_wall_ns == first.sent_wall_ns && next.length == first.length;
        follows && together && alike
    }

    fn singles(self) -> impl Iterator<Item = Datum> {
        let datum = move |offset: u32| Datum {
            sequence: self.first.sequence.wrapping_add(offset.into()),
            ..self.first
        };
        (0..self.packets).map(datum)
    }
}

impl From<Datum> for Run {
    fn from(first: Datum) -> Self {
        Self { first, packets: 1 }
    }
}

impl WarmUp {
    fn note(&mut self, length: usize, packets: u32) {
        self.packets += u64::from(packets);
        self.bytes += length as u64 * u64::from(packets);
    }

    /// Whether a stock sender's warm-up had that sequence, which came only after its end.
    fn claims(&mut self, sequence: u64, length: usize) -> bool {
        let border = self.before.as_mut();
        let Some(border) = border.filter(|border| sequence <= border.totals.highest) else {
            return false;
        };
        border.stragglers += 1;
        border.bytes += length as u64;
        true
    }

    fn ends_by(&self, arrival_ns: u64) -> bool {
        self.until_ns.is_some_and(|until_ns| arrival_ns >= until_ns)
    }
}

impl Border {
    /// The counts after it.
    fn beyond(&self, all: &SequenceTotals, bytes: u64) -> Closed {
        let before = &self.totals;
        let arrived = before.received_unique + self.stragglers;
        let missing = before.highest - arrived;
        let totals = SequenceTotals {
            sent: all.sent - before.highest,
            received_unique: all.received_unique - arrived,
            lost: all.lost - missing,
            duplicates: all.duplicates - before.duplicates,
            reordered: all.reordered - before.reordered,
            late: all.late - before.late,
            wild: all.wild.saturating_sub(before.wild),
            ..*all
        };
        Closed {
            totals,
            bytes: bytes - self.bytes,
            omitted: (before.highest, missing),
        }
    }
}

/// A greeting or its reply, come late or twice: no datagram of the test, and not damaged.
fn is_hello(bytes: &[u8]) -> bool {
    hello::Hello::decode(bytes).is_some()
        || hello::Reply::decode(bytes).is_some()
        || stock::is_hello(bytes)
        || stock::is_reply(bytes)
}

/// Reordered datagrams and duplicates are distinguished within this many.
const WINDOW_PACKETS: u64 = 65_536;
/// No datagram waits longer for its receiver in the socket.
const LONGEST_WAIT_NS: u64 = 60_000_000_000;
/// The kernel's stamp may seem later than now by what the two clocks differ in their rate since the start.
const MARGIN_NS: u64 = 10_000_000;

#[cfg(test)]
mod tests;
