// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the way between the ends carries one rate and no more, in bits or in packets, and whether losses come like
//! clockwork.
//!
//! A level is a rate that got past the wire stage of different offers: what later stages lost got through. No test of
//! the direction, of any size and protocol, carried more than a ceiling.

mod load;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use linerate_model::output::{Direction, Protocol, Test};
use linerate_model::record::Record;
use linerate_model::{order, work};

use crate::facts::Facts;
use load::{Carried, Load};

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for direction in [Direction::Up, Direction::Down] {
        let way = Way::of(record, direction, facts);
        let ceilings = Ceilings::of(way.ceilings());
        let loads = way.loads.iter().map(|load| (load.test.id.as_str(), load));
        let loads: Map<&str, &Load<'_>> = loads.gather();
        for test in way.lossy() {
            let load = loads.get(test.id.as_str()).copied();
            let met = ceilings.met(test, load);
            let below = load.filter(|load| !ceilings.may_be_met(load));
            let ceiling = match met {
                Some(_) => Some(true),
                None => below.map(|_| false),
            };
            facts.add_to_test(&test.id, "path_ceiling", ceiling, SOURCE);
            tell(test, met, facts);
        }
    }
}

/// All tests of one direction.
struct Way<'r> {
    tests: Vec<&'r Test>,
    /// The rates that TCP had, in frames.
    tcp: Vec<f64>,
    /// Those of UDP of which the wire's losses are known.
    loads: Vec<Load<'r>>,
    /// The most that any of them carried.
    most: Carried,
}

/// No more than this got through.
#[derive(Debug, Clone, Copy)]
struct Ceiling {
    at: Carried,
    unit: Unit,
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bits,
    Packets,
    /// Only one size of packet met the ceiling.
    Either,
}

impl<'r> Way<'r> {
    fn of(record: &'r Record, direction: Direction, facts: &Facts) -> Self {
        let tests = record.tests();
        let tests: Vec<&Test> = tests.filter(|test| test.direction == direction).collect();
        let loads: Vec<Load<'_>> = tests
            .iter()
            .filter_map(|test| Load::of(test, facts))
            .collect();
        let passed = loads.iter().map(|load| load.passed);
        let delivered = tests.iter().filter_map(|test| Carried::by(test));
        let most = passed
            .chain(delivered)
            .fold(Carried::default(), Carried::max);
        let tcp = tests.iter().filter(|test| test.protocol == Protocol::Tcp);
        let tcp = tcp
            .take(MOST)
            .filter_map(|test| Some(Carried::by(test)?.bits));
        Self {
            tcp: tcp.collect(),
            tests,
            loads,
            most,
        }
    }

    fn lossy(&self) -> impl Iterator<Item = &'r Test> {
        let tests = self.tests.iter().copied();
        tests.filter(|test| test.protocol == Protocol::Udp && test.lost_packets > Some(0))
    }

    /// Every level that no test refutes, by the test that met it.
    fn ceilings(&self) -> Vec<(&'r str, Ceiling)> {
        let lossy: Vec<&Load<'_>> = self.loads.iter().filter(|load| load.is_lossy()).collect();
        let level = |load: &&Load<'r>| {
            let others = lossy.iter().take(MOST).inspect(|_| work::look());
            let alike = others.filter(|other| load.is_level_with(other));
            let level = alike
                .map(|other| load.passed.max(other.passed))
                .reduce(Carried::max)
                .or_else(|| self.as_tcp_shows(load))?;
            Some((load.test.id.as_str(), self.ceiling(level, load)?))
        };
        lossy
            .iter()
            .copied()
            .filter_map(|load| level(&load))
            .collect()
    }

    /// What a level is a ceiling of; `None` if a test of the direction carried more.
    fn ceiling(&self, at: Carried, load: &Load<'_>) -> Option<Ceiling> {
        let holds = |most: f64, at: f64| most <= at * MORE;
        let bits = holds(self.most.bits, at.bits);
        let packets = holds(self.most.packets, at.packets);
        let same = |other: &Load<'_>| {
            let apart = (other.passed.packets / at.packets).ln();
            let well_above = other.offered.packets >= at.packets * WELL_ABOVE;
            other.is_lossy()
                && other.is_of_another_size(load)
                && apart.abs() < SAME_PACKETS
                && (well_above || self.is_at_level(other))
        };
        let unit = match (bits, packets) {
            (_, true) if self.loads.iter().take(MOST).any(same) => Unit::Packets,
            (true, true) => Unit::Either,
            (true, false) => Unit::Bits,
            (false, _) => return None,
        };
        Some(Ceiling { at, unit })
    }

    /// Whether the same rate got through of another offer of this size.
    fn is_at_level(&self, load: &Load<'_>) -> bool {
        let lossy = self.loads.iter().filter(|other| other.is_lossy());
        let mut others = lossy.take(MOST).inspect(|_| work::look());
        others.any(|other| load.is_level_with(other))
    }

    /// A path that loses a sixth of a flow for other reasons than its rate leaves TCP next to nothing: if TCP gets the
    /// same rate through the same way, the loss is the overload's.
    fn as_tcp_shows(&self, load: &Load<'_>) -> Option<Carried> {
        let shares = self.tcp.iter().map(|bits| bits / load.passed.bits);
        let alike = shares.filter(|share| load.is_far_above() && share.ln().abs() < AS_MUCH);
        alike
            .reduce(f64::max)
            .map(|share| load.passed.times(share.max(1.0)))
    }
}

/// The ceilings of a direction.
struct Ceilings<'r> {
    own: Map<&'r str, Ceiling>,
    /// The lowest in bits.
    lowest: Option<Ceiling>,
    /// In ascending order of packet rate, each the lowest in bits so far.
    in_packets: Vec<(f64, Ceiling)>,
}

impl<'r> Ceilings<'r> {
    fn of(all: Vec<(&'r str, Ceiling)>) -> Self {
        let lower = |one: Ceiling, other: Ceiling| match other.at.bits < one.at.bits {
            true => other,
            false => one,
        };
        let found = || all.iter().map(|(_, ceiling)| *ceiling);
        let mut packets: Vec<Ceiling> = found().filter(|one| one.unit == Unit::Packets).collect();
        order::by(&mut packets, |one, other| {
            one.at.packets.total_cmp(&other.at.packets)
        });
        let so_far = packets.iter().scan(None, |lowest, ceiling| {
            let next = lowest.map_or(*ceiling, |lowest| lower(lowest, *ceiling));
            *lowest = Some(next);
            Some((ceiling.at.packets, next))
        });
        Self {
            in_packets: so_far.gather(),
            lowest: found()
                .filter(|one| one.unit != Unit::Packets)
                .reduce(lower),
            own: all.into_iter().rev().gather(),
        }
    }

    /// The ceiling that a lossy test met: its own, else the lowest that its offer comes close to. Packets come in
    /// bursts, so a little below is close.
    fn met(&self, test: &Test, load: Option<&Load<'_>>) -> Option<Ceiling> {
        let of_others = || {
            let offered = load?.offered;
            let near = |packets: f64| offered.packets >= packets * CLOSE;
            let reached = self
                .in_packets
                .partition_point(|(packets, _)| near(*packets));
            let packets = self.in_packets[..reached]
                .last()
                .map(|(_, ceiling)| *ceiling);
            let bits = self
                .lowest
                .filter(|lowest| offered.bits >= lowest.at.bits * CLOSE);
            let both = bits.into_iter().chain(packets);
            both.min_by(|one, other| one.at.bits.total_cmp(&other.at.bits))
        };
        let own = self.own.get(test.id.as_str()).copied();
        own.or_else(of_others)
    }

    /// Whether a sender that catches up after a pause may have met a ceiling for a moment: where there is little buffer,
    /// that loses many packets close to the ceiling and a few far below.
    fn may_be_met(&self, load: &Load<'_>) -> bool {
        let known = self.lowest.is_some() || !self.in_packets.is_empty();
        known && (!load.loses_more_than(FEW) || self.is_near(load))
    }

    fn is_near(&self, load: &Load<'_>) -> bool {
        let offered = load.offered;
        let in_bits = self
            .lowest
            .is_some_and(|lowest| offered.bits >= lowest.at.bits * NEAR);
        let least = self.in_packets.first();
        in_bits || least.is_some_and(|(packets, _)| offered.packets >= packets * NEAR)
    }
}

fn tell(test: &Test, met: Option<Ceiling>, facts: &mut Facts) {
    let mut add = |name, value: Option<f64>| facts.add_to_test(&test.id, name, value, SOURCE);
    let in_bits = met.filter(|met| met.unit != Unit::Packets);
    let in_packets = met.filter(|met| met.unit != Unit::Bits);
    let (bits, packets) = (
        in_bits.map(|met| met.at.bits.floor()),
        in_packets.map(|met| met.at.packets.floor()),
    );
    add("path_ceiling_bits_per_second", bits);
    add("path_ceiling_packets_per_second", packets);
    let unit = met.map(|met| met.unit.word());
    facts.add_to_test(&test.id, "path_ceiling_unit", unit, SOURCE);
    let variation = spacing_variation(test);
    let source = "the test's account, loss_bursts";
    facts.add_to_test(&test.id, "loss_spacing_variation", variation, source);
}

impl Unit {
    const fn word(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Packets => "packets",
            Self::Either => "bits or packets",
        }
    }
}

/// The coefficient of variation of the distances between losses: 1 by chance, less the more regular;
/// 1 too where there are too few to tell.
fn spacing_variation(test: &Test) -> Option<f64> {
    let mut runs = test.loss_bursts.clone();
    let first = runs.first()?.flow;
    runs.retain(|run| run.flow == first);
    order::by_key(&mut runs, |run| run.first_sequence);
    let distances: Vec<f64> = runs
        .windows(2)
        .map(|pair| (pair[1].first_sequence - pair[0].first_sequence) as f64)
        .collect();
    if distances.len() < ENOUGH {
        return Some(1.0);
    }
    let count = distances.len() as f64;
    let mean = distances.iter().sum::<f64>() / count;
    let variance = distances
        .iter()
        .map(|distance| (distance - mean).powi(2))
        .sum::<f64>()
        / count;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

const SOURCE: &str = "the tests' accounts, without what was lost after the wire";
/// More loads of one direction say nothing new.
const MOST: usize = 64;
/// An offer of at least this share of the ceiling meets it.
const CLOSE: f64 = 0.9;
/// Of a ceiling, the least offer whose bursts may meet it again and again.
const NEAR: f64 = 0.5;
/// The share of its packets that a test at most loses in single bursts.
const FEW: f64 = 0.01;
/// An offer of this much more than a rate met it.
const WELL_ABOVE: f64 = 1.3;
/// A test that carried this much more than a level refutes that it is a ceiling.
const MORE: f64 = 1.1;
/// Packet rates of two sizes whose ratio has a logarithm below this are one.
const SAME_PACKETS: f64 = 0.15;
/// Rates of TCP and UDP whose ratio has a logarithm below this are one.
const AS_MUCH: f64 = 0.2;
/// Distances from which a variation can be seen.
const ENOUGH: usize = 20;
