// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the lab does to its own link: its wire switches the hosts' offloads off, and loses frames when it is overloaded.

use linerate_model::output::{Direction, Test};
use linerate_model::record::Record;

use crate::facts::Facts;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let source = "the lab's wire";
    for direction in [Direction::Up, Direction::Down] {
        let share = overload_share(record, direction);
        let tests = record.tests();
        for test in tests.filter(|test| test.direction == direction) {
            let wire = !record.run.lab_wire.is_empty();
            facts.add_to_test(&test.id, "lab_wire", wire, source);
            facts.add_to_test(&test.id, "lab_wire_drop_share", share, source);
            let lost = lost(test).filter(|_| wire);
            let drops = lost.map(|lost| (lost as f64 * share).floor());
            facts.add_to_test(&test.id, "lab_wire_drops", drops, source);
        }
    }
}

/// Of all that the tests of a direction lost, what the wire lost because it was overloaded, at most.
fn overload_share(record: &Record, direction: Direction) -> f64 {
    let wires = record.run.lab_wire.iter();
    let of_way = wires.filter(|wire| wire.direction == direction);
    let drops = of_way.map(|wire| wire.overload_drops);
    let drops = drops.fold(0, u64::saturating_add);
    let tests = record.tests();
    let of_way = tests.filter(|test| test.direction == direction);
    let lost = of_way.filter_map(lost).fold(0, u64::saturating_add);
    (drops as f64 / lost.max(1) as f64).min(1.0)
}

fn lost(test: &Test) -> Option<u64> {
    test.lost_packets.or(test.retransmits)
}
