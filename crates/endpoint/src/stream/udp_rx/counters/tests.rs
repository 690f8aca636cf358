// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use linerate_method::clock_offset::Drift;
use linerate_wire::iperf3::datagram::CounterWidth;
use proptest::prelude::*;

/// A datagram of 100 bytes that arrives at `at_ns`.
fn arrive(counters: &mut RxCounters, at_ns: u64, sequence: u64, warm_up: bool) {
    stamped(counters, at_ns, sequence, warm_up, None);
}

fn stamped(
    counters: &mut RxCounters,
    at_ns: u64,
    sequence: u64,
    warm_up: bool,
    kernel_ns: Option<u64>,
) {
    let mut bytes = [0; 100];
    counters.stamp.write(&mut bytes, at_ns, sequence, warm_up);
    let length = bytes.len();
    long(counters, at_ns, &bytes, length, kernel_ns);
}

/// A datagram of `length` bytes that begins so.
fn long(
    counters: &mut RxCounters,
    at_ns: u64,
    bytes: &[u8],
    length: usize,
    kernel_ns: Option<u64>,
) {
    counters.now_ns = at_ns;
    counters.take([datagram(bytes, length, kernel_ns).into()]);
}

fn datagram(bytes: &[u8], length: usize, kernel_ns: Option<u64>) -> Datagram<'_> {
    Datagram {
        bytes,
        length,
        kernel_ns,
        tos: None,
        local: None,
        source: None,
    }
}

#[test]
fn a_marked_warm_up_is_in_no_count_of_the_test() {
    let mut counters = RxCounters::new(Stamp::Own, 1);
    (1..=7).for_each(|sequence| arrive(&mut counters, sequence * 10, sequence, true));
    // 1 2 . 4, and a straggler of the warm-up between them.
    (1..=2).for_each(|sequence| arrive(&mut counters, 1000 * sequence, sequence, false));
    arrive(&mut counters, 2500, 9, true);
    arrive(&mut counters, 4000, 4, false);
    let closed = counters.close(Some(5));
    let totals = closed.totals;
    assert_eq!(
        (totals.sent, totals.received_unique, totals.lost),
        (5, 3, 2)
    );
    assert_eq!(
        (closed.bytes, totals.duplicates, totals.reordered),
        (300, 0, 0)
    );
    assert_eq!(counters.duration_ns(&closed, 10_000), 3000 * 5 / 3);
    assert_eq!(counters.duration_ns(&closed, 0), 3000 + 1000);
    assert_eq!(counters.timing.spacing.between().len(), 2);
}

/// Two datagrams, 20 ms apart, of 863 044 that a test of 10 s sent: 17 260 s by their gap.
#[test]
fn two_arrivals_do_not_make_the_test_longer() {
    let mut counters = RxCounters::new(Stamp::Own, 0);
    arrive(&mut counters, 1_000_000, 1, false);
    arrive(&mut counters, 21_000_000, 2, false);
    let closed = counters.close(Some(863_044));
    assert_eq!(
        counters.duration_ns(&closed, 10_000_000_000),
        10_000_000_000
    );
    assert_eq!(counters.duration_ns(&closed, 0), 40_000_000);
}

#[test]
fn a_stock_warm_up_ends_by_the_clock_and_its_counts_are_taken_out() {
    let mut counters = RxCounters::new(Stamp::Stock(CounterWidth::Bits64), 50);
    counters.warm_up.until_ns = Some(50);
    // Warm-up 1 2 2 . 4, behind it 5 . 7 and late the 3 of the warm-up.
    for (at_ns, sequence) in [
        (10, 1),
        (20, 2),
        (25, 2),
        (40, 4),
        (50, 5),
        (70, 7),
        (80, 3),
    ] {
        arrive(&mut counters, at_ns, sequence, false);
    }
    let closed = counters.close(Some(8));
    let totals = closed.totals;
    assert_eq!(
        (totals.sent, totals.received_unique, totals.lost),
        (4, 2, 2)
    );
    assert_eq!((totals.duplicates, totals.reordered), (0, 1));
    assert_eq!(closed.omitted, (4, 0));
    assert_eq!(counters.first, Some((5, 50)));
}

#[test]
fn a_stock_warm_up_longer_than_the_test_leaves_nothing() {
    let mut counters = RxCounters::new(Stamp::Stock(CounterWidth::Bits32), 50);
    arrive(&mut counters, 10, 1, false);
    arrive(&mut counters, 20, 3, false);
    let closed = counters.close(Some(3));
    assert_eq!(
        (closed.totals.sent, closed.totals.lost, closed.bytes),
        (0, 0, 0)
    );
    assert_eq!(closed.omitted, (3, 1));
}

#[test]
fn a_clock_that_is_set_changes_no_time_of_the_test() {
    let mut counters = RxCounters::new(Stamp::Own, 0);
    let start_ns = counters.now_ns;
    for (sequence, step_ns) in [(1, 0), (2, 0), (3, 1 << 60), (4, 1 << 60)] {
        let at_ns = start_ns + sequence * 1_000_000;
        let kernel_ns = counters.wall.at(at_ns) + step_ns;
        stamped(&mut counters, at_ns, sequence, false, Some(kernel_ns));
    }
    let between = counters.timing.spacing.between().percentiles().unwrap();
    assert_eq!((between.min, between.max), (1_000_000, 1_000_000));
}

/// A stretch of the test behind an outage of `gap` datagrams: what becomes of each of it.
#[derive(Debug, Clone)]
struct Stretch {
    gap: u64,
    lost: Vec<bool>,
    copied: bool,
    swapped: bool,
}

fn stretch() -> impl Strategy<Value = Stretch> {
    let gap = prop_oneof![
        Just(0),
        1..200_u64,
        65_530..65_545_u64,
        65_537..1_000_000_u64
    ];
    let lost = prop::collection::vec(any::<bool>(), 0..30);
    (gap, lost, any::<bool>(), any::<bool>()).prop_map(|(gap, lost, copied, swapped)| Stretch {
        gap,
        lost,
        copied,
        swapped,
    })
}

impl Stretch {
    /// The sequences behind `last` that arrive, in their order: the first two always do, so that
    /// the gap is seen to be one.
    fn arrivals(&self, last: u64) -> Vec<u64> {
        let first = last + self.gap + 1;
        let rest = (first + 2..).zip(&self.lost).filter(|(_, lost)| !**lost);
        let mut order = vec![first, first + 1];
        order.extend(rest.map(|(sequence, _)| sequence));
        if self.swapped {
            order.swap(0, 1);
        }
        if self.copied {
            order.insert(1, order[0]);
        }
        order
    }
}

/// The length tells which datagram's bytes were counted.
fn length_of(sequence: u64) -> usize {
    100 + (sequence % 1000) as usize
}

proptest! {
    /// However wide the gaps: sent = unique + lost, and the bytes are those of the unique.
    #[test]
    fn the_books_balance_to_the_packet(
        stretches in prop::collection::vec(stretch(), 1..12),
        tail in 0..100_000_u64,
        width in prop_oneof![
            Just(Stamp::Own),
            Just(Stamp::Stock(CounterWidth::Bits32)),
            Just(Stamp::Stock(CounterWidth::Bits64)),
        ],
    ) {
        let mut counters = RxCounters::new(width, 0);
        let (mut came, mut last, mut copies) = (std::collections::BTreeSet::new(), 0, 0);
        for stretch in &stretches {
            for sequence in stretch.arrivals(last) {
                let mut bytes = [0; 100];
                counters.stamp.write(&mut bytes, 1, sequence, false);
                long(&mut counters, 1, &bytes, length_of(sequence), None);
                copies += u64::from(!came.insert(sequence));
            }
            last = came.last().copied().unwrap_or(0);
        }
        let unique = came.len() as u64;
        let closed = counters.close(Some(last + tail));
        prop_assert_eq!(counters.unique, unique);
        let totals = closed.totals;
        prop_assert_eq!(totals.sent, last + tail);
        prop_assert_eq!((totals.received_unique, totals.lost), (unique, last + tail - unique));
        prop_assert_eq!((totals.duplicates, totals.wild, totals.late), (copies, 0, 0));
        let bytes: usize = came.iter().map(|&sequence| length_of(sequence)).sum();
        prop_assert_eq!(closed.bytes, bytes as u64);
    }
}

/// All that is said of the arrivals so far.
fn seen(counters: &mut RxCounters, sent: u64) -> String {
    let closed = counters.close(Some(sent));
    let (account, timing) = (&counters.account, &counters.timing);
    let spacing = &timing.spacing;
    format!(
        "{closed:?} {} {:?} {:?} {:?} {:?} {:?} {} {:?}",
        counters.damaged,
        account.bursts(),
        counters.first,
        counters.highest,
        timing.jitter.jitter_ns(),
        timing.transits.quantiles(Drift::default()),
        spacing.max_bytes_in_1ms(),
        spacing.between().percentiles(),
    )
}

proptest! {
    /// Datagrams that came together are counted at once, and nothing differs from one batch for each.
    #[test]
    fn a_batch_counts_as_its_datagrams(
        stretches in prop::collection::vec(stretch(), 1..12),
        together in 1..70_usize,
        stamp in prop_oneof![Just(Stamp::Own), Just(Stamp::Stock(CounterWidth::Bits32))],
        damaged in 5..200_u64,
        omit_ns in prop_oneof![Just(0), Just(5_000_u64)],
    ) {
        let mut sequences = Vec::new();
        for stretch in &stretches {
            sequences.extend(stretch.arrivals(sequences.iter().copied().max().unwrap_or(0)));
        }
        let [mut at_once, mut joined, mut singly] = [(); 3].map(|()| RxCounters::new(stamp, omit_ns));
        for other in [&mut joined, &mut singly] {
            other.wall = at_once.wall;
            other.kernel = at_once.kernel;
        }
        for (batch, at_ns) in sequences.chunks(together).zip((1_000_u64..).step_by(700)) {
            let kernel_ns = Some(at_once.wall.at(at_ns));
            let payload = |&sequence: &u64| {
                let mut bytes = [0; 100];
                stamp.write(&mut bytes, at_ns / 3_000, sequence, false);
                bytes[19] ^= u8::from(sequence % damaged == 0);
                bytes
            };
            let payloads: Vec<[u8; 100]> = batch.iter().map(payload).collect();
            for counters in [&mut at_once, &mut joined, &mut singly] {
                counters.now_ns = at_ns;
                counters.warm_up.until_ns = (counters.warm_up.omit_ns > 0).then_some(omit_ns);
            }
            at_once.take(payloads.iter().map(|bytes| datagram(bytes, 100, kernel_ns).into()));
            let whole = payloads.concat();
            joined.take([Joined {
                whole: datagram(&whole, whole.len(), kernel_ns),
                segment_bytes: Some(100),
            }]);
            payloads.iter().for_each(|bytes| singly.take([datagram(bytes, 100, kernel_ns).into()]));
        }
        let sent = sequences.iter().copied().max().unwrap_or(0) + 3;
        let expected = seen(&mut singly, sent);
        prop_assert_eq!(seen(&mut at_once, sent), expected.as_str());
        prop_assert_eq!(seen(&mut joined, sent), expected);
    }
}

/// Nothing behind it confirms the last datagram, but the sender's count.
#[test]
fn the_last_datagram_behind_a_wide_gap_is_counted_with_its_bytes() {
    let mut counters = RxCounters::new(Stamp::Own, 0);
    arrive(&mut counters, 10, 1, false);
    arrive(&mut counters, 20, 100_000, false);
    assert_eq!(counters.unique, 1);
    let closed = counters.close(Some(100_000));
    let totals = closed.totals;
    assert_eq!((totals.received_unique, totals.lost), (2, 99_998));
    assert_eq!((closed.bytes, totals.wild), (200, 0));
}
