// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last reading. Some drivers refresh what they count only now and then: there the interface is
//! read again until two readings agree.

use super::reader::Reader;
use linerate_knowledge as knowledge;
use linerate_linux::clock::{monotonic_ns, sleep_until_ns};
use linerate_model::sample::{Phase, Sample};

/// Reads for the last time; a driver that counts late is read until two readings agree.
pub(super) fn last(reader: &mut Reader, phase: Phase) -> Vec<Sample> {
    let mut samples = reader.read_last(phase);
    if !reader.drivers().any(counts_late) {
        return samples;
    }
    // Counters that go on counting (other traffic) never agree.
    let deadline_ns = monotonic_ns() + LONGEST_NS;
    while monotonic_ns() < deadline_ns {
        sleep_until_ns(monotonic_ns() + PAUSE_NS, 0);
        let again = reader.of_interface_now(phase);
        if !take_over(&mut samples, again) {
            break;
        }
    }
    samples
}

/// Replaces the readings of the interface; whether any of them had moved.
fn take_over(samples: &mut Vec<Sample>, again: Vec<Sample>) -> bool {
    let before = |sample: &Sample| samples.iter().find(|old| old.same_source(sample));
    let moved = again
        .iter()
        .any(|sample| before(sample).is_none_or(|old| old.counters != sample.counters));
    samples.retain(|old| !again.iter().any(|sample| sample.same_source(old)));
    samples.extend(again);
    moved
}

/// Whether some of the driver's counters are refreshed only now and then.
fn counts_late(driver: &str) -> bool {
    let table = knowledge::driver(driver);
    table.is_some_and(|table| {
        let mut counters = table.counters.iter();
        counters.any(|counter| counter.refresh_ms.is_some())
    })
}

/// The longest that the end of a test waits for counters.
pub(super) const LONGEST_NS: u64 = 3_000_000_000;
const PAUSE_NS: u64 = 250_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(source: &str, interface: Option<&str>, count: u64) -> Sample {
        Sample {
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            counters: [("n".to_owned(), count)].into(),
            ..Sample::default()
        }
    }

    #[test]
    fn only_drivers_that_count_late_are_waited_for() {
        assert!(counts_late("ice"));
        assert!(!counts_late("veth") && !counts_late("no-such-driver"));
    }

    #[test]
    fn a_later_reading_replaces_the_interface_s() {
        let mut samples = vec![sample("snmp", None, 1), sample("link", Some("eth0"), 1)];
        assert!(take_over(
            &mut samples,
            vec![sample("link", Some("eth0"), 2)]
        ));
        assert!(!take_over(
            &mut samples,
            vec![sample("link", Some("eth0"), 2)]
        ));
        assert_eq!(
            samples,
            [sample("snmp", None, 1), sample("link", Some("eth0"), 2)]
        );
    }
}
