// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiver accounting of one flow: loss, duplication and reordering.
//!
//! Sequences are 64 bits and start at 1. A sliding bitmap covers the last `window` of them, in which
//! reordered packets and duplicates are distinguished exactly. An older packet may be either: it counts as
//! *late*, and its sequence stays lost.
//!
//! Two equations always hold: `sent = received_unique + lost`, and
//! `arrivals = received_unique + duplicates + late + wild`.
//!
//! Nothing here allocates, locks or panics after [`SequenceAccount::new`].
//!
//! ```
//! use linerate_method::sequence::{Arrival, SequenceAccount};
//! let mut account = SequenceAccount::new(65_536);
//! assert_eq!(account.record(1, 10), Arrival::New);
//! assert_eq!(account.record(3, 20), Arrival::New);
//! assert_eq!(account.record(2, 30), Arrival::Reordered { extent: 1 });
//! let totals = account.finish(Some(5));
//! assert_eq!((totals.received_unique, totals.lost, totals.tail_lost), (3, 2, 2));
//! ```

use linerate_model::fields::Fields;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The classification of one arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Higher than all before it (RFC 4737 §3.3: at least *NextExp*).
    New,
    /// Lower than one before it: reordered by the definition of RFC 4737 §3.3.
    /// `extent` is that of §4.2.2: the number of unique packets from the first one that overtook it.
    Reordered { extent: u64 },
    /// A copy of a packet that had already arrived.
    Duplicate,
    /// Older than the window: reordered or duplicate, which is unknown. The state of its sequence does not change.
    Late,
    /// A jump of more than a window, which counts as wild until a second packet near it confirms it:
    /// see [`SequenceAccount::take_confirmed`].
    Held,
    /// A sequence that this flow cannot have sent (0, or far too high), or a copy of the one held.
    Wild,
}

/// The totals of an account. Its serialised names are part of the results that two linerates exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Fields)]
pub struct SequenceTotals {
    /// Packets of the flow: the sender's final count, or the highest sequence if that is unknown.
    pub sent: u64,
    /// Unique packets that arrived.
    #[serde(rename = "unique")]
    pub received_unique: u64,
    /// `sent − received_unique`.
    pub lost: u64,
    /// The part of `lost` after the highest sequence that arrived: unknown without the sender's count.
    #[serde(skip)]
    pub tail_lost: u64,
    /// Arrivals of packets that had already arrived.
    pub duplicates: u64,
    /// Unique arrivals after one with a higher sequence.
    pub reordered: u64,
    /// Largest reordering extent in packets, RFC 4737 §4.2.2; 0 without reordering.
    pub reorder_extent_max: u64,
    /// Arrivals older than the window.
    pub late: u64,
    /// Arrivals with an impossible sequence.
    #[serde(skip)]
    pub wild: u64,
    /// The highest sequence that arrived; 0 if none did.
    pub highest: u64,
    /// The sender's count is below the highest sequence that arrived: one of the two is wrong, the test is
    /// invalid, and `sent` is the highest sequence.
    pub contradicted: bool,
}

/// A run of consecutive lost packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossBurst {
    /// The first lost sequence.
    pub first_sequence: u64,
    /// The number of lost packets.
    pub packets: u64,
    /// When the packet that revealed the gap arrived, by the receiver's clock.
    pub at_ns: u64,
}

/// The account of one flow.
#[derive(Debug, Clone)]
pub struct SequenceAccount {
    /// One bit per sequence of `(closed, closed + window]`, at `sequence % window`; 1 = arrived.
    bits: Box<[u64]>,
    window: u64,
    /// Sequences up to here have left the window and are final.
    closed: u64,
    counted: SequenceTotals,
    suspect: Option<Suspect>,
    confirmed: Option<Arrival>,
    gaps: VecDeque<Gap>,
    bursts: Vec<LossBurst>,
    last_lost: u64,
    bursts_dropped: u64,
    bursts_dropped_packets: u64,
}

impl SequenceAccount {
    /// Creates an empty account with a window of `window_packets` (rounded up to a power of two, at least 64).
    pub fn new(window_packets: u64) -> Self {
        let window = window_packets.clamp(64, MAX_WINDOW).next_power_of_two();
        Self {
            bits: vec![0; (window / 64) as usize].into_boxed_slice(),
            window,
            closed: 0,
            counted: SequenceTotals::default(),
            suspect: None,
            confirmed: None,
            gaps: VecDeque::with_capacity(GAPS),
            bursts: Vec::with_capacity(BURSTS),
            last_lost: 0,
            bursts_dropped: 0,
            bursts_dropped_packets: 0,
        }
    }

    /// Records the arrival of `sequence` at `now_ns` (any clock, the same for all calls).
    #[inline]
    pub fn record(&mut self, sequence: u64, now_ns: u64) -> Arrival {
        if sequence <= self.counted.highest {
            return self.behind(sequence);
        }
        let distance = sequence - self.counted.highest;
        if distance > self.window {
            return self.far_ahead(sequence, now_ns);
        }
        self.advance(sequence, now_ns);
        if self.suspect.is_some() {
            self.pass_suspect();
        }
        Arrival::New
    }

    /// Records `packets` consecutive sequences from `first` on that arrived at once, if all of them are
    /// [`Arrival::New`]; otherwise none, and returns `false`: they are to be recorded one by one.
    pub fn record_run(&mut self, first: u64, packets: u64, now_ns: u64) -> bool {
        let distance = first.saturating_sub(self.counted.highest);
        let is_next = (1..=self.window).contains(&distance);
        if !is_next || self.suspect.is_some() || !(1..=self.window).contains(&packets) {
            return false;
        }
        self.advance(first, now_ns);
        let last = first + (packets - 1);
        self.close_up_to(last.saturating_sub(self.window));
        self.set_run(first + 1, packets - 1);
        self.counted.highest = last;
        self.counted.received_unique += packets - 1;
        true
    }

    /// Returns, once, the classification of the last packet that was [`Arrival::Held`], after the
    /// [`Self::record`] or [`Self::finish`] that confirmed it.
    pub fn take_confirmed(&mut self) -> Option<Arrival> {
        self.confirmed.take()
    }

    /// Returns the totals so far, as if no packet after the highest sequence were in flight.
    pub fn totals(&self) -> SequenceTotals {
        self.totals_of(None)
    }

    /// Closes the account. `sent` is the sender's exact count, if known (stock senders report it only in their
    /// results). Nothing may be recorded afterwards.
    pub fn finish(&mut self, sent: Option<u64>) -> SequenceTotals {
        let end = sent.unwrap_or(0).max(self.counted.highest);
        if let Some(suspect) = self.suspect.take_if(|suspect| suspect.sequence <= end) {
            self.accept(suspect);
        }
        self.close_up_to(self.counted.highest);
        self.totals_of(sent)
    }

    /// The loss bursts that have left the window, oldest first; complete after [`Self::finish`], when their
    /// packets and [`Self::bursts_dropped_packets`] sum up to `lost − tail_lost`.
    ///
    /// Times are exact for about 500 gaps within one window; further gaps take the time of one at most
    /// `window / 512` sequences before.
    pub fn bursts(&self) -> &[LossBurst] {
        &self.bursts
    }

    /// The number of bursts that did not fit into the list.
    pub fn bursts_dropped(&self) -> u64 {
        self.bursts_dropped
    }

    /// The number of lost packets in those bursts.
    pub fn bursts_dropped_packets(&self) -> u64 {
        self.bursts_dropped_packets
    }

    /// The highest lost sequence that has left the window and is below one that arrived; final after
    /// [`Self::finish`].
    pub fn last_lost(&self) -> Option<u64> {
        (self.last_lost > 0).then_some(self.last_lost)
    }

    fn totals_of(&self, sent: Option<u64>) -> SequenceTotals {
        let SequenceTotals {
            highest,
            received_unique,
            ..
        } = self.counted;
        let claimed = sent.unwrap_or(highest);
        let sent = claimed.max(highest);
        SequenceTotals {
            sent,
            lost: sent - received_unique,
            tail_lost: sent - highest,
            contradicted: claimed < highest,
            ..self.counted
        }
    }

    /// Makes `sequence` the highest and opens a gap for the skipped ones.
    #[inline]
    fn advance(&mut self, sequence: u64, now_ns: u64) {
        let skipped = sequence - self.counted.highest - 1;
        if skipped > 0 {
            self.open_gap(now_ns);
        }
        self.close_up_to(sequence.saturating_sub(self.window));
        self.set(sequence);
        self.counted.highest = sequence;
        self.counted.received_unique += 1;
    }

    fn behind(&mut self, sequence: u64) -> Arrival {
        if sequence == 0 {
            self.counted.wild += 1;
            return Arrival::Wild;
        }
        if sequence <= self.closed {
            self.counted.late += 1;
            return Arrival::Late;
        }
        if self.is_set(sequence) {
            self.counted.duplicates += 1;
            return Arrival::Duplicate;
        }
        self.fill(sequence)
    }

    fn fill(&mut self, sequence: u64) -> Arrival {
        self.set(sequence);
        self.counted.received_unique += 1;
        self.counted.reordered += 1;
        let overtaken_at = self.gap_of(sequence).map_or(0, |gap| gap.arrival);
        let extent = self.counted.received_unique - overtaken_at;
        self.counted.reorder_extent_max = self.counted.reorder_extent_max.max(extent);
        Arrival::Reordered { extent }
    }

    /// Accepts a jump of more than a window only when a second packet near it arrives: one corrupt sequence
    /// must not make all following packets late (as RFC 3550 A.1).
    #[cold]
    fn far_ahead(&mut self, sequence: u64, now_ns: u64) -> Arrival {
        self.counted.wild += 1;
        if sequence - self.counted.highest > WILD_AHEAD {
            return Arrival::Wild;
        }
        match self.suspect.take() {
            Some(known) if known.sequence == sequence => {
                let copies = known.copies + 1;
                self.suspect = Some(Suspect { copies, ..known });
                Arrival::Wild
            }
            // Confirmed; or no longer far ahead itself: the next jump must not discard it.
            Some(known)
                if known.sequence.abs_diff(sequence) < self.window
                    || known.sequence.saturating_sub(self.counted.highest) <= self.window =>
            {
                self.counted.wild -= 1;
                self.accept(known);
                self.record(sequence, now_ns)
            }
            _ => {
                self.suspect = Some(Suspect {
                    sequence,
                    at_ns: now_ns,
                    copies: 1,
                });
                Arrival::Held
            }
        }
    }

    /// A suspect that the stream reaches without a jump was genuine.
    #[cold]
    fn pass_suspect(&mut self) {
        let highest = self.counted.highest;
        if let Some(suspect) = self.suspect.take_if(|suspect| suspect.sequence <= highest) {
            self.accept(suspect);
        }
    }

    /// Counts a genuine suspect, which the stream may have passed meanwhile.
    fn accept(&mut self, suspect: Suspect) {
        self.counted.wild -= suspect.copies;
        for copy in 0..suspect.copies {
            let arrival = if suspect.sequence > self.counted.highest {
                self.advance(suspect.sequence, suspect.at_ns);
                Arrival::New
            } else {
                self.behind(suspect.sequence)
            };
            if copy == 0 {
                self.confirmed = Some(arrival);
            }
        }
    }

    /// Moves the window above `sequence`: what has not arrived up to there is lost.
    #[inline]
    fn close_up_to(&mut self, sequence: u64) {
        let end = sequence.min(self.counted.highest);
        while self.closed < end {
            let (word, bits, packets) = self.span(self.closed + 1, end - self.closed);
            if self.bits[word] & bits == bits {
                self.bits[word] &= !bits;
                self.closed += packets;
            } else {
                self.close_next();
            }
        }
        if sequence > self.closed {
            self.lose(self.closed + 1, sequence - self.closed);
            self.closed = sequence;
        }
    }

    fn close_next(&mut self) {
        self.closed += 1;
        if self.is_set(self.closed) {
            self.clear(self.closed);
        } else {
            self.lose(self.closed, 1);
        }
    }

    fn lose(&mut self, first: u64, packets: u64) {
        let continues = first == self.last_lost + 1 && self.last_lost > 0;
        self.last_lost = first + packets - 1;
        let stored = self.bursts.len();
        match self.bursts.last_mut() {
            Some(burst) if burst.first_sequence + burst.packets == first => {
                burst.packets += packets;
            }
            _ if stored < BURSTS => {
                let at_ns = self.gap_of(first).map_or(0, |gap| gap.at_ns);
                self.bursts.push(LossBurst {
                    first_sequence: first,
                    packets,
                    at_ns,
                });
            }
            _ => {
                self.bursts_dropped += u64::from(!continues);
                self.bursts_dropped_packets += packets;
            }
        }
    }

    /// Records when and at which arrival the gap after the highest sequence was seen. Half of the entries are
    /// exact; each entry of the other half covers a part of the window, so the ring cannot overflow.
    fn open_gap(&mut self, now_ns: u64) {
        let first_sequence = self.counted.highest + 1;
        while self
            .gaps
            .get(1)
            .is_some_and(|next| next.first_sequence <= self.closed + 1)
        {
            self.gaps.pop_front();
        }
        let stretch = self.window / (GAPS as u64 / 2);
        let near = |last: &Gap| first_sequence - last.first_sequence < stretch;
        let crowded = self.gaps.len() >= GAPS / 2 && self.gaps.back().is_some_and(near);
        if !crowded && self.gaps.len() < GAPS {
            let arrival = self.counted.received_unique + 1;
            self.gaps.push_back(Gap {
                first_sequence,
                at_ns: now_ns,
                arrival,
            });
        }
    }

    fn gap_of(&self, sequence: u64) -> Option<&Gap> {
        let after = self
            .gaps
            .partition_point(|gap| gap.first_sequence <= sequence);
        self.gaps.get(after.checked_sub(1)?)
    }

    #[inline]
    fn place(&self, sequence: u64) -> (usize, u64) {
        let slot = sequence & (self.window - 1);
        ((slot / 64) as usize, 1 << (slot % 64))
    }

    /// The word of `sequence`, its bits from there on for at most `packets` sequences, and how many these are.
    #[inline]
    fn span(&self, sequence: u64, packets: u64) -> (usize, u64, u64) {
        let (word, first) = self.place(sequence);
        let packets = packets.min(u64::from(first.leading_zeros()) + 1);
        let bits = (u64::MAX >> (64 - packets)) * first;
        (word, bits, packets)
    }

    fn set_run(&mut self, mut first: u64, mut packets: u64) {
        while packets > 0 {
            let (word, bits, taken) = self.span(first, packets);
            self.bits[word] |= bits;
            first += taken;
            packets -= taken;
        }
    }

    #[inline]
    fn is_set(&self, sequence: u64) -> bool {
        let (word, bit) = self.place(sequence);
        self.bits[word] & bit != 0
    }

    #[inline]
    fn set(&mut self, sequence: u64) {
        let (word, bit) = self.place(sequence);
        self.bits[word] |= bit;
    }

    #[inline]
    fn clear(&mut self, sequence: u64) {
        let (word, bit) = self.place(sequence);
        self.bits[word] &= !bit;
    }
}

/// Extends a 32-bit counter to the 64-bit sequence nearest to the highest one so far.
pub fn unwrap32(last_highest: u64, sequence: u32) -> u64 {
    let step = sequence.wrapping_sub(last_highest as u32).cast_signed();
    last_highest
        .checked_add_signed(i64::from(step))
        .unwrap_or(u64::from(sequence))
}

/// A gap: its first sequence, and when and at which unique arrival it was seen.
#[derive(Debug, Clone, Copy)]
struct Gap {
    first_sequence: u64,
    at_ns: u64,
    arrival: u64,
}

/// A packet from more than a window ahead, not yet confirmed.
#[derive(Debug, Clone, Copy)]
struct Suspect {
    sequence: u64,
    at_ns: u64,
    copies: u64,
}

/// The largest window: 2 MiB of bitmap.
const MAX_WINDOW: u64 = 1 << 24;
/// The largest possible jump: seven minutes of loss at ten million packets per second.
const WILD_AHEAD: u64 = 1 << 32;
/// The number of gaps recorded per window.
const GAPS: usize = 1024;
/// The number of loss bursts kept; the memory is touched only when they occur.
const BURSTS: usize = 4096;

#[cfg(test)]
mod tests;
