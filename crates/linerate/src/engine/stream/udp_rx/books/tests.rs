// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use linerate_wire::iperf3::datagram::CounterWidth;

/// A datagram of 100 bytes that arrives at `at_ns`.
fn arrive(books: &mut Books, at_ns: u64, sequence: u64, warm_up: bool) {
    stamped(books, at_ns, sequence, warm_up, None);
}

fn stamped(books: &mut Books, at_ns: u64, sequence: u64, warm_up: bool, kernel_ns: Option<u64>) {
    let mut bytes = [0; 100];
    books.stamp.write(&mut bytes, at_ns, sequence, warm_up);
    books.now_ns = at_ns;
    books.take(&Datagram {
        bytes: &bytes,
        length: 100,
        kernel_ns,
        tos: None,
        local: None,
        source: None,
    });
}

#[test]
fn a_marked_warm_up_is_in_no_count_of_the_test() {
    let mut books = Books::new(Stamp::Own, 1);
    (1..=7).for_each(|sequence| arrive(&mut books, sequence * 10, sequence, true));
    // 1 2 . 4, and a straggler of the warm-up between them.
    (1..=2).for_each(|sequence| arrive(&mut books, 1000 * sequence, sequence, false));
    arrive(&mut books, 2500, 9, true);
    arrive(&mut books, 4000, 4, false);
    let closed = books.close(Some(5));
    let totals = closed.totals;
    assert_eq!(
        (totals.sent, totals.received_unique, totals.lost),
        (5, 3, 2)
    );
    assert_eq!(
        (closed.bytes, totals.duplicates, totals.reordered),
        (300, 0, 0)
    );
    assert_eq!(books.duration_ns(&closed), 3000 * 5 / 3);
    assert_eq!(books.timing.spacing.between().len(), 2);
}

#[test]
fn a_stock_warm_up_ends_by_the_clock_and_its_counts_are_taken_out() {
    let mut books = Books::new(Stamp::Stock(CounterWidth::Bits64), 50);
    books.warm_up.until_ns = Some(50);
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
        arrive(&mut books, at_ns, sequence, false);
    }
    let closed = books.close(Some(8));
    let totals = closed.totals;
    assert_eq!(
        (totals.sent, totals.received_unique, totals.lost),
        (4, 2, 2)
    );
    assert_eq!((totals.duplicates, totals.reordered), (0, 1));
    assert_eq!(closed.omitted, (4, 0));
    assert_eq!(books.first, Some((5, 50)));
}

#[test]
fn a_stock_warm_up_longer_than_the_test_leaves_nothing() {
    let mut books = Books::new(Stamp::Stock(CounterWidth::Bits32), 50);
    arrive(&mut books, 10, 1, false);
    arrive(&mut books, 20, 3, false);
    let closed = books.close(Some(3));
    assert_eq!(
        (closed.totals.sent, closed.totals.lost, closed.bytes),
        (0, 0, 0)
    );
    assert_eq!(closed.omitted, (3, 1));
}

#[test]
fn a_clock_that_is_set_changes_no_time_of_the_test() {
    let mut books = Books::new(Stamp::Own, 0);
    let start_ns = books.now_ns;
    for (sequence, step_ns) in [(1, 0), (2, 0), (3, 1 << 60), (4, 1 << 60)] {
        let at_ns = start_ns + sequence * 1_000_000;
        let kernel_ns = books.wall.at(at_ns) + step_ns;
        stamped(&mut books, at_ns, sequence, false, Some(kernel_ns));
    }
    let between = books.timing.spacing.between().percentiles().unwrap();
    assert_eq!((between.min, between.max), (1_000_000, 1_000_000));
}
