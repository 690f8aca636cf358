// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the lab does to its own link: its wire switches the hosts' offloads off, and loses frames when it is overloaded.

use linerate_model::output::{Direction, Role, Test};
use linerate_model::record::Record;

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let record = evidence.record;
    let wire = !record.run.lab_wire.is_empty();
    for test in record.tests() {
        let lost = lost(test).filter(|_| wire);
        let drops = lost.map(|lost| drops(evidence, test, lost));
        let share = drops.zip(lost);
        let share = share.map_or(0.0, |(drops, lost)| drops as f64 / lost.max(1) as f64);
        let mut add = |name, value: Option<f64>| {
            facts.add_to_test(&test.id, name, value, SOURCE);
        };
        add("lab_wire_drop_share", Some(share));
        add("lab_wire_drops", drops.map(|drops| drops as f64));
        facts.add_to_test(&test.id, "lab_wire", wire, SOURCE);
    }
}

/// Of the packets that a test lost, those that the wire did: as it counted around the test, else the test's share of what
/// it counted around all tests of the direction.
fn drops(evidence: &Evidence<'_>, test: &Test, lost: u64) -> u64 {
    let name = match test.direction {
        Direction::Down => "down_overload_drops",
        _ => "up_overload_drops",
    };
    let host = evidence.at(Role::Local, None, evidence.window(test));
    let counted = host.moved(Source::LabWire, name);
    let counted = counted.map(|moved| moved.grew.at_least.min(lost));
    counted
        .unwrap_or_else(|| (lost as f64 * overload_share(evidence.record, test.direction)) as u64)
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

const SOURCE: &str = "the lab's wire";
