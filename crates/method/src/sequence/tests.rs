// SPDX-License-Identifier: MIT OR Apache-2.0
use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// The definitions, written down as slowly as possible: every arrival is kept.
#[derive(Default)]
struct Naive {
    arrivals: Vec<(u64, u64)>,
    first_position: HashMap<u64, usize>,
    unique: Vec<u64>,
    duplicates: u64,
    reordered: u64,
    extent_max: u64,
    late: u64,
    window: u64,
}

impl Naive {
    fn new(window: u64) -> Self {
        Self {
            window,
            ..Self::default()
        }
    }

    fn highest(&self) -> u64 {
        self.unique.iter().copied().max().unwrap_or(0)
    }

    fn record(&mut self, sequence: u64, now_ns: u64) -> Arrival {
        self.arrivals.push((sequence, now_ns));
        if sequence + self.window <= self.highest() {
            self.late += 1;
            return Arrival::Late;
        }
        if self.first_position.contains_key(&sequence) {
            self.duplicates += 1;
            return Arrival::Duplicate;
        }
        self.first_position.insert(sequence, self.unique.len());
        self.unique.push(sequence);
        let position = self.unique.len() - 1;
        let Some(overtook) = self.unique.iter().position(|&other| other > sequence) else {
            return Arrival::New;
        };
        self.reordered += 1;
        let extent = (position - overtook) as u64;
        self.extent_max = self.extent_max.max(extent);
        Arrival::Reordered { extent }
    }

    /// Runs of sequences without an arrival, dated by the first arrival above them.
    fn bursts(&self) -> Vec<LossBurst> {
        let mut bursts: Vec<LossBurst> = Vec::new();
        for missing in (1..self.highest()).filter(|s| !self.first_position.contains_key(s)) {
            match bursts.last_mut() {
                Some(burst) if burst.first_sequence + burst.packets == missing => {
                    burst.packets += 1
                }
                _ => bursts.push(LossBurst {
                    first_sequence: missing,
                    packets: 1,
                    at_ns: self.arrivals.iter().find(|(s, _)| *s > missing).unwrap().1,
                }),
            }
        }
        bursts
    }

    fn totals(&self, sent: u64) -> SequenceTotals {
        let unique = self.unique.len() as u64;
        SequenceTotals {
            sent,
            received_unique: unique,
            lost: sent - unique,
            tail_lost: sent - self.highest(),
            duplicates: self.duplicates,
            reordered: self.reordered,
            reorder_extent_max: self.extent_max,
            late: self.late,
            wild: 0,
            highest: self.highest(),
            contradicted: false,
        }
    }
}

/// What happens to one packet: lost, copies, and by how many places it is held back.
#[derive(Debug, Clone, Copy)]
struct Treatment {
    lost: bool,
    copies: usize,
    held_back: u64,
}

fn treatment() -> impl Strategy<Value = Treatment> {
    let lost = prop::bool::weighted(0.15);
    let copies = prop_oneof![9 => Just(1_usize), 1 => 2..4_usize];
    let held_back = prop_oneof![8 => Just(0_u64), 2 => 1..20_u64, 1 => 50..200_u64];
    (lost, copies, held_back).prop_map(|(lost, copies, held_back)| Treatment {
        lost,
        copies,
        held_back,
    })
}

/// The sequences in their order of arrival.
fn arrivals(treatments: &[Treatment]) -> Vec<u64> {
    let mut order: Vec<(u64, u64)> = Vec::new();
    for (sequence, treatment) in (1..).zip(treatments).filter(|(_, t)| !t.lost) {
        for copy in 0..treatment.copies as u64 {
            order.push((sequence + treatment.held_back + copy * 7, sequence));
        }
    }
    order.sort();
    order.into_iter().map(|(_, sequence)| sequence).collect()
}

proptest! {
    #[test]
    fn agrees_with_the_naive_model(treatments in prop::collection::vec(treatment(), 1..600)) {
        let mut account = SequenceAccount::new(64);
        let mut naive = Naive::new(64);
        for (now_ns, sequence) in (1000..).zip(arrivals(&treatments)) {
            // The model knows no doubt about a jump of more than a window.
            prop_assume!(sequence <= naive.highest() + 64);
            prop_assert_eq!(account.record(sequence, now_ns), naive.record(sequence, now_ns));
            prop_assert_eq!(account.totals(), naive.totals(naive.highest()));
        }
        let sent = treatments.len() as u64;
        prop_assert_eq!(account.finish(Some(sent)), naive.totals(sent));
        prop_assert_eq!(account.bursts(), naive.bursts());
        prop_assert_eq!(account.bursts_dropped(), 0);
    }

    #[test]
    fn its_equations_hold_for_any_sequences(sequences in prop::collection::vec(0..100_000_u64, 1..400), sent in 0..200_000_u64) {
        let mut account = SequenceAccount::new(1024);
        let is_unique = |arrival| matches!(arrival, Arrival::New | Arrival::Reordered { .. });
        let mut reported = 0;
        for (now_ns, &sequence) in sequences.iter().enumerate() {
            reported += u64::from(is_unique(account.record(sequence, now_ns as u64)));
            reported += u64::from(account.take_confirmed().is_some_and(is_unique));
        }
        let totals = account.finish(Some(sent));
        reported += u64::from(account.take_confirmed().is_some_and(is_unique));
        prop_assert_eq!(reported, totals.received_unique, "each unique one was reported");
        prop_assert_eq!(totals.sent, totals.received_unique + totals.lost);
        let arrivals = totals.received_unique + totals.duplicates + totals.late + totals.wild;
        prop_assert_eq!(arrivals, sequences.len() as u64);
        let in_bursts: u64 = account.bursts().iter().map(|burst| burst.packets).sum();
        prop_assert_eq!(in_bursts + account.bursts_dropped_packets(), totals.lost - totals.tail_lost);
    }

    #[test]
    fn extreme_sequences_do_not_panic(sequences in prop::collection::vec(any::<u64>(), 1..100)) {
        let mut account = SequenceAccount::new(64);
        for sequence in sequences {
            account.record(sequence, 0);
            account.record(sequence.wrapping_add(1), 0);
        }
        let totals = account.finish(None);
        prop_assert_eq!(totals.sent, totals.received_unique + totals.lost);
    }

    #[test]
    fn a_wrapping_32_bit_counter_is_followed(start in any::<u32>(), steps in prop::collection::vec(-1000..100_000_i64, 1..200)) {
        let mut truth = u64::from(start) + 2000;
        let mut highest = truth;
        for step in steps {
            truth = highest.saturating_add_signed(step);
            prop_assert_eq!(unwrap32(highest, truth as u32), truth);
            highest = highest.max(truth);
        }
    }
}

#[test]
fn rfc_4737_extent_counts_arrivals_not_sequences() {
    // §4.2.2: the extent is the distance in positions to the first packet that overtook.
    let mut account = SequenceAccount::new(64);
    for sequence in [1, 2, 3, 7, 8] {
        account.record(sequence, 0);
    }
    assert_eq!(account.record(4, 0), Arrival::Reordered { extent: 2 });
    assert_eq!(account.record(5, 0), Arrival::Reordered { extent: 3 });
}

#[test]
fn the_edge_of_the_window_is_exact() {
    let mut account = SequenceAccount::new(64);
    account.record(2, 0);
    for sequence in 3..=65 {
        account.record(sequence, 0);
    }
    // 65 − 64 = 1: sequence 1 has just left; 2 is still known.
    assert_eq!(account.record(1, 0), Arrival::Late);
    assert_eq!(account.record(2, 0), Arrival::Duplicate);
    assert_eq!(account.finish(Some(65)).lost, 1);
}

#[test]
fn a_filled_gap_splits_its_burst() {
    let mut account = SequenceAccount::new(64);
    account.record(1, 100);
    account.record(8, 200);
    account.record(4, 300);
    account.record(10, 400);
    account.finish(Some(12));
    let burst = |first_sequence, packets, at_ns| LossBurst {
        first_sequence,
        packets,
        at_ns,
    };
    assert_eq!(
        account.bursts(),
        [burst(2, 2, 200), burst(5, 3, 200), burst(9, 1, 400)]
    );
}

#[test]
fn one_damaged_sequence_does_not_ruin_the_account() {
    let mut account = SequenceAccount::new(64);
    account.record(1, 0);
    assert_eq!(account.record(1 << 20, 0), Arrival::Held);
    assert_eq!(account.record(u64::MAX, 0), Arrival::Wild);
    assert_eq!(account.record(0, 0), Arrival::Wild);
    assert_eq!(account.record(2, 0), Arrival::New);
    let totals = account.finish(Some(2));
    assert_eq!(
        (totals.received_unique, totals.lost, totals.wild),
        (2, 0, 3)
    );
}

#[test]
fn a_long_outage_is_loss_once_a_second_packet_confirms_it() {
    let mut account = SequenceAccount::new(64);
    account.record(1, 10);
    assert_eq!(account.record(1000, 20), Arrival::Held);
    assert_eq!(account.record(1000, 21), Arrival::Wild);
    assert_eq!(account.take_confirmed(), None);
    assert_eq!(account.record(1001, 22), Arrival::New);
    assert_eq!(account.take_confirmed(), Some(Arrival::New));
    assert_eq!(account.take_confirmed(), None, "reported once");
    let totals = account.finish(Some(1001));
    assert_eq!((totals.received_unique, totals.lost), (3, 998));
    assert_eq!((totals.duplicates, totals.wild), (1, 0));
    assert_eq!(
        account.bursts(),
        [LossBurst {
            first_sequence: 2,
            packets: 998,
            at_ns: 20
        }]
    );
}

#[test]
fn a_suspect_that_the_stream_reaches_was_genuine() {
    let mut account = SequenceAccount::new(64);
    account.record(1, 0);
    assert_eq!(account.record(66, 0), Arrival::Held);
    for sequence in 2..=66 {
        assert_eq!(account.record(sequence, 0), Arrival::New);
    }
    let totals = account.finish(None);
    assert_eq!((totals.lost, totals.duplicates, totals.wild), (0, 1, 0));
    assert_eq!(account.take_confirmed(), Some(Arrival::Duplicate));
}

/// The packet that shows the gap overtakes its first, which is not too far to be believed.
#[test]
fn a_suspect_that_the_stream_passes_does_not_grow_late() {
    let mut account = SequenceAccount::new(64);
    account.record(1, 0);
    assert_eq!(account.record(66, 0), Arrival::Held);
    assert_eq!(account.record(65, 0), Arrival::New);
    assert_eq!(account.record(67, 0), Arrival::New);
    let confirmed = account.take_confirmed();
    assert!(matches!(confirmed, Some(Arrival::Reordered { .. })));
    (68..500).for_each(|sequence| assert_eq!(account.record(sequence, 0), Arrival::New));
    let totals = account.finish(None);
    assert_eq!((totals.lost, totals.late, totals.wild), (63, 0, 0));
}

/// A second jump follows before the stream passes the one held: it had come near enough by then.
#[test]
fn a_suspect_is_not_forgotten_for_another() {
    let mut account = SequenceAccount::new(64);
    assert_eq!(account.record(65, 0), Arrival::Held);
    assert_eq!(account.record(64, 0), Arrival::New);
    assert_eq!(account.record(200, 0), Arrival::Held);
    assert_eq!(account.take_confirmed(), Some(Arrival::New), "65");
    assert_eq!(account.record(201, 0), Arrival::New);
    assert_eq!(account.take_confirmed(), Some(Arrival::New), "200");
    let totals = account.finish(Some(201));
    assert_eq!((totals.received_unique, totals.lost), (4, 197));
    assert_eq!((totals.late, totals.wild), (0, 0));
}

#[test]
fn the_last_packet_after_an_outage_counts_if_the_sender_sent_it() {
    let mut with_count = SequenceAccount::new(64);
    with_count.record(1, 10);
    with_count.record(1000, 20);
    let mut without = with_count.clone();
    assert_eq!(with_count.finish(Some(1000)).lost, 998);
    assert_eq!(with_count.take_confirmed(), Some(Arrival::New));
    assert_eq!(without.finish(None).wild, 1);
    assert_eq!(without.take_confirmed(), None);
}

#[test]
fn a_sender_that_claims_too_few_is_contradicted() {
    let mut account = SequenceAccount::new(64);
    account.record(1, 0);
    account.record(2, 0);
    let totals = account.finish(Some(1));
    assert!(totals.contradicted);
    assert_eq!((totals.sent, totals.lost), (2, 0));
}

#[test]
fn memory_stays_as_allocated_under_the_worst_loss() {
    let mut account = SequenceAccount::new(65_536);
    let before = (account.gaps.capacity(), account.bursts.capacity());
    for sequence in (1..400_000).step_by(2) {
        account.record(sequence, sequence * 10);
    }
    let totals = account.finish(Some(400_000));
    assert_eq!((account.gaps.capacity(), account.bursts.capacity()), before);
    assert_eq!(totals.lost, 200_000);
    assert_eq!(
        account.bursts().len() as u64 + account.bursts_dropped(),
        199_999
    );
    let in_bursts: u64 = account.bursts().iter().map(|burst| burst.packets).sum();
    assert_eq!(in_bursts + account.bursts_dropped_packets(), 199_999);
}

#[test]
fn crowded_gaps_are_dated_early_by_at_most_a_stretch() {
    let mut account = SequenceAccount::new(65_536);
    for sequence in (1..8_000).step_by(2) {
        account.record(sequence, sequence);
    }
    account.finish(None);
    for burst in account.bursts() {
        let early = burst.first_sequence + 1 - burst.at_ns;
        assert!(early <= 65_536 / 512, "{burst:?} is {early} early");
    }
}

proptest! {
    /// A run that is refused is recorded one by one; in any case the account is the same.
    #[test]
    fn a_run_counts_as_its_packets(
        runs in prop::collection::vec((0..400_u64, 0..300_u64, 1..150_u64), 1..60),
        window in prop_oneof![Just(64), Just(256_u64)],
    ) {
        let [mut at_once, mut singly] = [(); 2].map(|()| SequenceAccount::new(window));
        for (now_ns, (ahead, back, packets)) in (0..).zip(runs) {
            let first = (singly.totals().highest + 1 + ahead).saturating_sub(back * (ahead % 2));
            let sequences = first..first + packets;
            let one_by_one = |account: &mut SequenceAccount| -> Vec<Arrival> {
                sequences.clone().map(|sequence| account.record(sequence, now_ns)).collect()
            };
            let arrivals = one_by_one(&mut singly);
            if at_once.record_run(first, packets, now_ns) {
                prop_assert!(arrivals.iter().all(|arrival| *arrival == Arrival::New));
            } else {
                prop_assert_eq!(one_by_one(&mut at_once), arrivals);
            }
            prop_assert_eq!(at_once.totals(), singly.totals());
            prop_assert_eq!(at_once.take_confirmed(), singly.take_confirmed());
        }
        prop_assert_eq!(at_once.finish(None), singly.finish(None));
        prop_assert_eq!(at_once.bursts(), singly.bursts());
        prop_assert_eq!(at_once.last_lost(), singly.last_lost());
    }
}

#[test]
fn a_run_is_refused_where_one_of_it_may_not_be_new() {
    let mut account = SequenceAccount::new(64);
    assert!(account.record_run(1, 64, 0) && account.record_run(70, 10, 1));
    assert_eq!((account.totals().highest, account.totals().lost), (79, 5));
    for (first, packets) in [(0, 5), (79, 2), (80, 0), (80, 65), (200, 2), (u64::MAX, 2)] {
        assert!(
            !account.record_run(first, packets, 2),
            "{packets} from {first}"
        );
    }
    assert_eq!(account.record(1_000, 3), Arrival::Held);
    assert!(!account.record_run(80, 2, 4), "one is to be confirmed");
    assert_eq!(account.totals().received_unique, 74);
}
