// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the time stamps of received frames run forward, and are of the time in which the frames were sent. All frames
//! are of one flow, so that one receive queue carries them: between queues there is no order.

use std::io;

use linerate_linux::clock::{monotonic_ns, wall_ns};
use linerate_linux::nic::{Ethtool, time_stamps};
use linerate_model::output::{NicCheck, NicExample};

use crate::bench::{Bench, Family};
use crate::craft::{self, Marks};
use crate::packet::ports_of_beginning;
use crate::tally::Tally;
use crate::vectors;

/// Those that the kernel writes when it takes a frame from the driver.
pub(super) fn of_software(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let what = "the kernel's time stamps of received frames never run backward on a queue, and lie between the host's \
                times before sending and after receiving";
    let property = bench.property("rx-time-stamps".to_owned(), GROUP, what.to_owned(), "");
    let Some(family) = bench.families.first().copied() else {
        return Ok(vec![property.impossible("the ends share no network")]);
    };
    for _ in 0..ATTEMPTS {
        let round = Round::of(bench, &family)?;
        if !round.was_set() {
            return Ok(vec![round.tally().check(property)]);
        }
    }
    Ok(vec![property.impossible(
        "this host's clock was set during the check: its times before and after cannot be compared",
    )])
}

/// Those of the interface's own clock. They are off until somebody switches them on, and a check changes nothing.
pub(super) fn of_hardware(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let what = "the interface's own time stamps of received frames";
    let id = "rx-hardware-time-stamps".to_owned();
    let property = bench.property(id, GROUP, what.to_owned(), "");
    let card = Ethtool::of(&bench.here.interface);
    let has = card.and_then(|card| time_stamps::in_hardware(&card));
    let judged = bench.here.host.interfaces.first();
    let driver = judged.and_then(|one| one.driver.as_deref());
    Ok(vec![
        property.impossible(untried(has, driver.unwrap_or("its driver"))),
    ])
}

fn untried(has: io::Result<bool>, driver: &str) -> String {
    match has {
        Ok(true) => format!(
            "not tried: {driver} has them (ethtool -T), but they must be switched on first, and a check changes no setting"
        ),
        Ok(false) => format!("not tried: {driver} has none (ethtool -T)"),
        Err(why) => format!("not tried: {driver} does not answer whether it has any: {why}"),
    }
}

/// What one round of frames shows.
struct Round {
    /// The host's clock before the first was sent and after the last was received.
    span_ns: [u64; 2],
    /// The time between, of a clock that nobody sets.
    elapsed_ns: u64,
    /// In the order in which the frames came.
    stamps_ns: Vec<u64>,
}

impl Round {
    fn of(bench: &mut Bench, family: &Family) -> io::Result<Self> {
        let (start_ns, before_ns) = (monotonic_ns(), wall_ns());
        let stamps_ns = received(bench, family)?;
        Ok(Self {
            span_ns: [before_ns, wall_ns()],
            elapsed_ns: monotonic_ns().saturating_sub(start_ns),
            stamps_ns,
        })
    }

    /// The clock went further or less far than time did.
    fn was_set(&self) -> bool {
        let [before_ns, after_ns] = self.span_ns.map(u128::from);
        let expected_ns = before_ns + u128::from(self.elapsed_ns);
        expected_ns.abs_diff(after_ns) > u128::from(SLEWED_NS)
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let [before_ns, after_ns] = self.span_ns;
        let mut earliest_ns = before_ns.saturating_sub(SLEWED_NS);
        let latest_ns = after_ns.saturating_add(SLEWED_NS);
        for stamp_ns in &self.stamps_ns {
            tally.case(0, fault(*stamp_ns, [earliest_ns, latest_ns]));
            earliest_ns = earliest_ns.max(*stamp_ns);
        }
        tally
    }
}

fn fault(stamp_ns: u64, [earliest_ns, latest_ns]: [u64; 2]) -> Option<NicExample> {
    let expected = match stamp_ns {
        early if early < earliest_ns => format!("{earliest_ns} or later"),
        late if late > latest_ns => format!("{latest_ns} or earlier"),
        _ => return None,
    };
    Some(NicExample {
        what: "time stamp, nanoseconds since 1970".to_owned(),
        expected,
        seen: stamp_ns.to_string(),
        ..NicExample::default()
    })
}

fn received(bench: &mut Bench, family: &Family) -> io::Result<Vec<u64>> {
    let ports = [FROM_PORT, family.near_udp];
    let path = bench.inward(family, FROM_PORT, family.near_udp);
    let frame = |number: u64| {
        let payload = vectors::payload(PAYLOAD_BYTES, number);
        craft::udp(&path, Marks::default(), &payload)
    };
    let frames: Vec<Vec<u8>> = (0..FRAMES).map(frame).collect();
    bench.send_inward(&frames)?;
    let mut stamps_ns = Vec::new();
    Bench::frames(&mut bench.near, |seen, bytes| {
        let is_of_flow = ports_of_beginning(bytes) == Some(ports);
        if !seen.is_outgoing && is_of_flow {
            stamps_ns.push(seen.wall_ns);
        }
        stamps_ns.len() as u64 == FRAMES
    })?;
    Ok(stamps_ns)
}

const GROUP: &str = "time";
const ATTEMPTS: usize = 3;
const FRAMES: u64 = 240;
const FROM_PORT: u16 = 40_013;
/// A frame of it fits every MTU that IPv6 allows, and most that IPv4 does.
const PAYLOAD_BYTES: usize = 64;
/// What adjusting a clock's rate (adjtimex(2), at most 500 ppm) makes of the seconds of a round, and more.
const SLEWED_NS: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn round(stamps_ns: &[u64]) -> Round {
        Round {
            span_ns: [100 * SECOND_NS, 101 * SECOND_NS],
            elapsed_ns: SECOND_NS,
            stamps_ns: stamps_ns.to_vec(),
        }
    }

    /// Tried, wrong, and the example of what was seen.
    fn judged(stamps_ns: &[u64]) -> (u64, u64, Option<NicExample>) {
        let check = round(stamps_ns).tally().check(Default::default());
        (check.tried, check.wrong, check.example)
    }

    #[test]
    fn time_stamps_that_run_forward_within_the_round_are_right() {
        let middle_ns = 100 * SECOND_NS + 5;
        let last_ns = 101 * SECOND_NS;
        let stamps_ns = [100 * SECOND_NS, middle_ns, middle_ns, last_ns];
        assert_eq!(judged(&stamps_ns), (4, 0, None));
    }

    #[test]
    fn each_that_runs_backward_is_wrong() {
        let latest_ns = 100 * SECOND_NS + 500;
        let (tried, wrong, example) = judged(&[latest_ns, latest_ns - 1, latest_ns - 2, latest_ns]);
        assert_eq!((tried, wrong), (4, 2));
        let example = example.unwrap();
        assert_eq!(example.expected, format!("{latest_ns} or later"));
        assert_eq!(example.seen, (latest_ns - 1).to_string());
    }

    #[test]
    fn those_of_another_time_than_the_round_are_wrong() {
        for stamp_ns in [0, 99 * SECOND_NS, 102 * SECOND_NS] {
            assert_eq!(judged(&[stamp_ns]).1, 1, "{stamp_ns}");
        }
    }

    #[test]
    fn a_clock_that_was_set_is_noticed() {
        let mut round = round(&[]);
        assert!(!round.was_set());
        for after_ns in [90 * SECOND_NS, 111 * SECOND_NS] {
            round.span_ns[1] = after_ns;
            assert!(round.was_set(), "{after_ns}");
        }
    }

    #[test]
    fn why_hardware_time_stamps_were_not_tried_is_said() {
        let none = untried(Ok(false), "veth");
        assert_eq!(none, "not tried: veth has none (ethtool -T)");
        assert!(untried(Ok(true), "igb").contains("a check changes no setting"));
        let refused = untried(Err(io::Error::other("refused")), "lo");
        assert!(refused.ends_with("refused"), "{refused}");
    }
}
