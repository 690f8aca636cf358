// SPDX-License-Identifier: MIT OR Apache-2.0
//! The account of one UDP client, and the report that its final datagram is answered with.
//!
//! Clients of 2.0.10 and newer count from 1 and count their final datagram, and so does iperf's
//! server; the report follows it. Older ones count from 0, so that the final one's magnitude is the
//! number of data datagrams.

use crate::plan::Direction;
use crate::totals::{Amount, Totals};
use linerate_linux::clock::Wall;
use linerate_linux::udp::Datagram;
use linerate_method::jitter::Jitter;
use linerate_method::sequence::{Arrival, SequenceAccount, SequenceTotals};
use linerate_wire::iperf2::client_header::ClientHeader;
use linerate_wire::iperf2::datagram::{self, Header};
use linerate_wire::iperf2::server_report::{ServerReport, Transit};

/// A running flow.
#[derive(Debug)]
pub(super) struct Flow {
    /// What the client announced.
    pub(super) header: ClientHeader,
    /// Datagrams that the socket had dropped when it began.
    pub(super) drops_before: Option<u32>,
    has_64_bit_sequence: bool,
    from_zero: bool,
    account: SequenceAccount,
    jitter: Jitter,
    transit: Transits,
    bytes: u64,
    /// Behind a gap so wide that the next one has to confirm it: length, arrival, transit.
    held: Option<(usize, u64, i64)>,
    first_ns: u64,
    last_ns: u64,
}

/// One-way times by the two hosts' clocks, nanoseconds.
#[derive(Debug, Default)]
struct Transits {
    min_ns: i64,
    max_ns: i64,
    sum_ns: i128,
    count: u32,
}

/// What a flow came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    /// For the client.
    pub(super) report: ServerReport,
    /// For the log.
    pub(super) totals: SequenceTotals,
}

impl Flow {
    /// A flow begins with a datagram of data; `None`: this is none.
    pub(super) fn begin(first: &Datagram<'_>, now_ns: u64) -> Option<Self> {
        let has_64_bit_sequence = datagram::has_64_bit_sequence(first.bytes);
        let preamble = Header::decode(first.bytes, has_64_bit_sequence)?;
        let behind = if has_64_bit_sequence {
            Header::LEN
        } else {
            OLD_HEADER_BYTES
        };
        let header = ClientHeader::decode(first.bytes.get(behind..)?)?;
        let plausible = (0..FARTHEST_FIRST).contains(&preamble.sequence)
            && preamble.microseconds < 1_000_000
            && preamble.time_ns() > 0;
        plausible.then(|| Self {
            header,
            drops_before: None,
            has_64_bit_sequence,
            from_zero: preamble.sequence == 0,
            account: SequenceAccount::new(WINDOW_PACKETS),
            jitter: Jitter::new(),
            transit: Transits::default(),
            bytes: 0,
            held: None,
            first_ns: now_ns,
            last_ns: now_ns,
        })
    }

    /// Takes one datagram, its arrival as nanoseconds of the monotonic clock. The count, if it is
    /// the final one.
    pub(super) fn take(
        &mut self,
        datagram: &Datagram<'_>,
        wall: &Wall,
        now_ns: u64,
    ) -> Option<Counted> {
        let preamble = Header::decode(datagram.bytes, self.has_64_bit_sequence)?;
        let arrival_ns = datagram
            .kernel_ns
            .map_or(now_ns, |wall_ns| wall.monotonic_of(wall_ns));
        if preamble.is_final() {
            self.note_time(arrival_ns);
            return Some(self.count(preamble.sequence.unsigned_abs(), datagram.length));
        }
        let sequence = preamble.sequence.unsigned_abs() + u64::from(self.from_zero);
        let sent_ns = preamble.time_ns();
        let transit_ns = wall.at(arrival_ns).wrapping_sub(sent_ns).cast_signed();
        let arrival = self.account.record(sequence, arrival_ns);
        self.note_confirmed();
        match arrival {
            Arrival::New | Arrival::Reordered { .. } => {
                self.note(datagram.length, arrival_ns, transit_ns);
            }
            Arrival::Held => self.held = Some((datagram.length, arrival_ns, transit_ns)),
            Arrival::Duplicate | Arrival::Late | Arrival::Wild => {}
        }
        None
    }

    /// Whether it is a final one.
    pub(super) fn is_final(&self, datagram: &Datagram<'_>) -> bool {
        let preamble = Header::decode(datagram.bytes, self.has_64_bit_sequence);
        preamble.is_some_and(|preamble| preamble.is_final())
    }

    /// Whether it is the first of the client's next test.
    pub(super) fn is_first(&self, datagram: &Datagram<'_>) -> bool {
        let preamble = Header::decode(datagram.bytes, self.has_64_bit_sequence);
        preamble.is_some_and(|preamble| preamble.sequence == i64::from(!self.from_zero))
    }

    /// What it came to without a final datagram.
    pub(super) fn break_off(&mut self) -> Counted {
        let totals = self.account.finish(None);
        self.note_confirmed();
        self.counted(totals, 0, 0)
    }

    fn note_confirmed(&mut self) {
        let Some((length, arrival_ns, transit_ns)) = self.held else {
            return;
        };
        if let Some(arrival) = self.account.take_confirmed() {
            self.held = None;
            if let Arrival::New | Arrival::Reordered { .. } = arrival {
                self.note(length, arrival_ns, transit_ns);
            }
        }
    }

    fn note(&mut self, length: usize, arrival_ns: u64, transit_ns: i64) {
        if self.bytes == 0 {
            self.first_ns = arrival_ns;
        }
        self.note_time(arrival_ns);
        self.bytes += length as u64;
        self.jitter.record(transit_ns);
        self.transit.note(transit_ns);
    }

    fn note_time(&mut self, arrival_ns: u64) {
        self.last_ns = self.last_ns.max(arrival_ns);
    }

    fn count(&mut self, magnitude: u64, length: usize) -> Counted {
        let finals = u64::from(!self.from_zero);
        let totals = self.account.finish(Some(magnitude.saturating_sub(finals)));
        self.note_confirmed();
        self.counted(totals, finals, finals * length as u64)
    }

    fn counted(&self, totals: SequenceTotals, finals: u64, final_bytes: u64) -> Counted {
        Counted {
            totals,
            report: ServerReport {
                bytes: self.bytes + final_bytes,
                duration_us: self.last_ns.saturating_sub(self.first_ns) / 1000,
                lost: totals.lost,
                out_of_order: totals.reordered,
                datagrams: totals.sent + finals,
                jitter_us: (self.jitter.jitter_ns().unwrap_or(0.0) / 1e3) as u64,
                transit: self.transit.report(),
            },
        }
    }
}

impl Transits {
    fn note(&mut self, transit_ns: i64) {
        if self.count == 0 {
            (self.min_ns, self.max_ns) = (transit_ns, transit_ns);
        }
        self.min_ns = self.min_ns.min(transit_ns);
        self.max_ns = self.max_ns.max(transit_ns);
        self.sum_ns += i128::from(transit_ns);
        self.count = self.count.saturating_add(1);
    }

    /// `None` where the client's clock is ahead: a negative time has no form there.
    fn report(&self) -> Option<Transit> {
        let mean_ns = self.sum_ns.checked_div(i128::from(self.count))?;
        let us = |ns: i64| u64::try_from(ns / 1000).ok();
        Some(Transit {
            min_us: us(self.min_ns)?,
            max_us: us(self.max_ns)?,
            mean_us: us(i64::try_from(mean_ns).ok()?)?,
            count: self.count,
        })
    }
}

impl Counted {
    /// The same, for the metrics.
    pub(super) fn totals(&self) -> Totals {
        Totals::of_one(Direction::Up, self.amount(), self.report.lost)
    }

    fn amount(&self) -> Amount {
        Amount {
            bytes: self.report.bytes,
            packets: self.report.datagrams.saturating_sub(self.report.lost),
            duration_ns: self.report.duration_us.saturating_mul(1000),
        }
    }
}

impl std::fmt::Display for Counted {
    /// As iperf prints it: lost of all, the final datagram with them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ServerReport {
            bytes,
            duration_us,
            lost,
            datagrams,
            jitter_us,
            ..
        } = self.report;
        let SequenceTotals {
            reordered,
            duplicates,
            ..
        } = self.totals;
        write!(
            f,
            "{bytes} bytes received in {:.3} s{}, {lost}/{datagrams} datagrams lost, {reordered} reordered, {duplicates} duplicates, jitter {:.3} ms",
            duration_us as f64 / 1e6,
            self.amount().rate(", "),
            jitter_us as f64 / 1e3
        )
    }
}

/// Sequence, seconds, microseconds.
const OLD_HEADER_BYTES: usize = 12;
/// Reordered datagrams and duplicates are distinguished within this many; a later first datagram is no flow.
const WINDOW_PACKETS: u64 = 65_536;
const FARTHEST_FIRST: i64 = 65_536;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::iperf2::client_header::SEQUENCE_64_BIT;

    fn new(sequence: i64) -> Vec<u8> {
        let mut bytes = vec![0; 100];
        assert!(Header::at(1_600_000_000_000_000_000, sequence).encode(&mut bytes));
        bytes[16..20].copy_from_slice(&SEQUENCE_64_BIT.to_be_bytes());
        bytes
    }

    fn old(sequence: i64) -> Vec<u8> {
        let mut bytes = new(sequence);
        // No high word: the client's header, here of zeros, begins there.
        bytes[12..20].fill(0);
        bytes
    }

    fn datagram(bytes: &[u8]) -> Datagram<'_> {
        Datagram {
            bytes,
            length: bytes.len(),
            kernel_ns: None,
            tos: None,
            local: None,
            source: None,
        }
    }

    fn counted(make: fn(i64) -> Vec<u8>, sequences: &[i64]) -> Counted {
        let wall = Wall::start();
        let first = make(sequences[0]);
        let mut flow = Flow::begin(&datagram(&first), 0).unwrap();
        let counts = sequences.iter().filter_map(|&sequence| {
            let bytes = make(sequence);
            flow.take(&datagram(&bytes), &wall, 1_000_000)
        });
        counts.last().unwrap()
    }

    #[test]
    fn the_final_datagram_counts_and_reveals_the_tail() {
        let Counted { report, totals } = counted(new, &[1, 2, 4, 3, 3, 6, -8]);
        assert_eq!((report.lost, report.datagrams), (2, 8));
        assert_eq!((report.out_of_order, totals.duplicates), (1, 1));
        assert_eq!(report.bytes, 600);
    }

    #[test]
    fn the_datagrams_around_a_wide_gap_count_with_their_bytes() {
        let Counted { report, .. } = counted(new, &[1, 100_000, 100_001, -100_003]);
        // Three of them and the final one.
        assert_eq!((report.lost, report.datagrams), (99_999, 100_003));
        assert_eq!(report.bytes, 400);
    }

    #[test]
    fn an_old_client_counts_from_zero_and_not_its_final_datagram() {
        let Counted { report, .. } = counted(old, &[0, 1, 3, -5]);
        assert_eq!((report.lost, report.datagrams, report.bytes), (2, 5, 300));
    }

    #[test]
    fn what_begins_no_flow() {
        for bytes in [new(-1), new(70_000), vec![0; 100], new(1)[..19].to_vec()] {
            assert!(Flow::begin(&datagram(&bytes), 0).is_none(), "{bytes:?}");
        }
    }
}
