// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the interface's counters agree with the frames that a packet socket sees.

use std::collections::BTreeMap;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use linerate_model::output::NicCheck;

use crate::bench::{Bench, Family};
use crate::craft::{self, Marks};
use crate::far::End;
use crate::message::Ask;
use crate::tally::{Tally, grew};
use crate::vectors;

/// Rounds of datagrams each way. Others use the interface, too: a difference counts if each round has it.
pub(super) fn counted(bench: &mut Bench) -> io::Result<Vec<NicCheck>> {
    let Some(family) = bench.families.first().copied() else {
        return Ok(Vec::new());
    };
    let mut sent = Ways::default();
    let mut received = Ways::default();
    for round in 1..=ROUNDS {
        sent.round(bench, "tx", |bench| outward(bench, &family, round))?;
        received.round(bench, "rx", |bench| inward(bench, &family, round))?;
    }
    let check = |tally: Tally, id: &str, what: &str| {
        tally.check(bench.property(id.to_owned(), "counters", what.to_owned(), ""))
    };
    Ok(vec![
        check(
            sent.tally(),
            "tx-counters",
            "tx_packets and tx_bytes count what was sent, tx_dropped and tx_errors nothing",
        ),
        check(
            received.tally(),
            "rx-counters",
            "rx_packets and rx_bytes count what was received, rx_dropped and rx_errors nothing",
        ),
    ])
}

/// None is looked for at the other end.
fn outward(bench: &mut Bench, family: &Family, round: usize) -> io::Result<usize> {
    let socket = bench.socket(family)?;
    for number in 0..FRAMES {
        socket.send(&vectors::payload(size(number), round as u64))?;
        if number % BATCH == BATCH - 1 {
            thread::sleep(PAUSE);
        }
    }
    Ok(0)
}

/// How many did not arrive: a slow machine's receive ring overflows.
fn inward(bench: &mut Bench, family: &Family, round: usize) -> io::Result<usize> {
    let path = bench.inward(family, FROM_PORT, family.near_udp);
    let frame = |number| {
        let payload = vectors::payload(size(number), round as u64);
        craft::udp(&path, Marks::default(), &payload)
    };
    let frames: Vec<Vec<u8>> = (0..FRAMES).map(frame).collect();
    bench.send_inward(&frames)?;
    let mut left = FRAMES;
    Bench::frames(&mut bench.near, |seen, _| {
        left = left.saturating_sub(usize::from(!seen.is_outgoing));
        left == 0
    })?;
    Ok(left)
}

/// No two frames of a round are alike.
const fn size(number: usize) -> usize {
    10 + 3 * number
}

/// What a counter grew by beyond what was seen, at least, over all rounds.
#[derive(Default)]
struct Ways {
    /// Counter → the smallest difference.
    least: BTreeMap<String, Difference>,
}

impl Ways {
    fn round(
        &mut self,
        bench: &mut Bench,
        way: &str,
        pass: impl FnOnce(&mut Bench) -> io::Result<usize>,
    ) -> io::Result<()> {
        let before = read(bench)?;
        let lost = pass(bench)? as u64;
        let grown = settled(bench, way, &before)?;
        self.judge(way, &grown, lost);
        Ok(())
    }

    /// What was lost may be counted, as dropped or as an error.
    fn judge(&mut self, way: &str, grown: &BTreeMap<String, u64>, lost: u64) {
        let of = |name: String| grown.get(&name).copied().unwrap_or(0);
        let seen = of(format!("seen_{way}_packets"));
        let bytes = of(format!("seen_{way}_bytes"));
        // Some drivers do not count the Ethernet header; some count the FCS, and the padding of short frames.
        let low = bytes.saturating_sub(seen.saturating_mul(14));
        let high = bytes + seen.saturating_mul(24);
        let mut note = |name: &str, seen: u64, low: u64, high: u64| {
            let name = format!("{way}_{name}");
            let grown = of(name.clone());
            let beyond = grown.saturating_sub(high) as i64 - low.saturating_sub(grown) as i64;
            self.note(
                name,
                Difference {
                    beyond,
                    seen,
                    grown,
                },
            );
        };
        note("packets", seen, seen, seen);
        note("bytes", bytes, low, high);
        note("dropped", 0, 0, lost);
        note("errors", 0, 0, lost);
    }

    fn note(&mut self, name: String, difference: Difference) {
        let least = self.least.entry(name).or_insert(difference);
        if difference.beyond.abs() < least.beyond.abs() {
            *least = difference;
        }
    }

    fn tally(self) -> Tally {
        let mut tally = Tally::default();
        for (name, difference) in self.least {
            let Difference {
                beyond,
                seen,
                grown,
            } = difference;
            // A counter that lacks frames is wrong; one that has more may have seen those of others.
            let is_wrong = beyond < 0 || beyond as u64 * FEW > seen.max(1);
            tally.case(0, is_wrong.then(|| grew(&name, seen, grown)));
        }
        tally
    }
}

/// What a counter grew by in a round.
#[derive(Clone, Copy)]
struct Difference {
    /// More than what is allowed, or less.
    beyond: i64,
    /// What a packet socket saw.
    seen: u64,
    grown: u64,
}

fn read(bench: &mut Bench) -> io::Result<BTreeMap<String, u64>> {
    Ok(bench.near.ask(&Ask::Counters { driver: false })?.counters)
}

/// The growth of all counters, as soon as the interface has counted what was seen: some drivers take seconds.
fn settled(
    bench: &mut Bench,
    way: &str,
    before: &BTreeMap<String, u64>,
) -> io::Result<BTreeMap<String, u64>> {
    let end = Instant::now() + SETTLE;
    loop {
        thread::sleep(PAUSE);
        let mut grown = read(bench)?;
        for (name, count) in &mut grown {
            *count = count.wrapping_sub(before.get(name).copied().unwrap_or(0));
        }
        let of = |name: String| grown.get(&name).copied().unwrap_or(0);
        let seen = of(format!("seen_{way}_packets"));
        let has_all = seen >= FRAMES as u64 && of(format!("{way}_packets")) >= seen;
        if has_all || Instant::now() > end {
            return Ok(grown);
        }
    }
}

const ROUNDS: usize = 3;
const FRAMES: usize = 120;
const BATCH: usize = 40;
const FROM_PORT: u16 = 40_010;
/// A twentieth of the frames.
const FEW: u64 = 20;
const PAUSE: Duration = Duration::from_millis(20);
const SETTLE: Duration = Duration::from_secs(4);

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::NicState;

    /// A round in which 119 of 120 frames arrived.
    fn judged(errors: u64, lost: u64) -> NicState {
        let mut ways = Ways::default();
        let grown = [
            ("seen_rx_packets", 119),
            ("seen_rx_bytes", 20_000),
            ("rx_packets", 119),
            ("rx_bytes", 20_000),
            ("rx_errors", errors),
        ];
        let grown = grown.map(|(name, count)| (name.to_owned(), count));
        ways.judge("rx", &grown.into(), lost);
        ways.tally().check(Default::default()).state
    }

    #[test]
    fn a_frame_that_was_lost_may_be_counted_as_an_error() {
        assert_eq!(judged(0, 1), NicState::Right);
        assert_eq!(judged(1, 1), NicState::Right);
        assert_eq!(judged(1, 0), NicState::Wrong);
        assert_eq!(judged(2, 1), NicState::Wrong);
    }
}
