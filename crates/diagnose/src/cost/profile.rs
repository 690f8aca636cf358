// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the processors were during a test, by what the kernel's functions do (`knowledge/functions.toml`).
//!
//! The function that was running decides the family, the nearest caller that begins a context the context. Intervals are
//! those of Clopper and Pearson: samples are treated as independent.

#[cfg(test)]
mod tests;

use linerate_knowledge::{Functions, functions};
use linerate_method::bound::loss_interval95;
use linerate_model::order;
use linerate_model::output::{
    CostDirection, CostFunction, CostProfile, CostShare, Estimate, Role, SamplingMissing, Test,
};
use linerate_model::record::{Record, Side};
use linerate_model::sample::Sample;
use linerate_model::sampled::{HZ, IDLE, LOST, OTHERS, Place, SOURCE, USER, missing_of};

use super::machine::MachineTime;
use crate::evidence::Evidence;

/// Whether the processors of a host were sampled during this test.
pub(super) fn is_sampled(record: &Record, test: &Test) -> bool {
    let mut samples = record
        .samples
        .iter()
        .filter(|sample| sample.source == SOURCE);
    samples.any(|sample| sample.group.as_deref() == Some(&test.group))
}

/// One for each sampled test; one without a test where nothing could be sampled.
pub(crate) fn profiles(evidence: &Evidence<'_>) -> Vec<CostProfile> {
    let samples = evidence.record.samples.iter();
    let own = samples.filter(|sample| sample.source == SOURCE);
    own.filter_map(|sample| profile(evidence, sample)).collect()
}

fn profile(evidence: &Evidence<'_>, sample: &Sample) -> Option<CostProfile> {
    let missing = sample.counters.keys().find_map(|name| missing_of(name));
    let host = sample.host;
    let Some(group) = sample.group.as_deref() else {
        let nothing = nothing(host, missing);
        return Some(nothing).filter(|_| missing.is_some());
    };
    let mut tests = evidence.record.tests();
    let test = tests.find(|test| test.valid && test.group == group)?;
    let (direction, payload_bytes) = part(test, host)?;
    let seen = Seen::of(
        sample,
        &carriers(evidence, test, host),
        &drivers(evidence.record, host),
    );
    Some(CostProfile {
        host,
        direction,
        protocol: test.protocol,
        af: test.af,
        payload_bytes,
        test_ids: vec![test.id.clone()],
        shared_host: evidence.record.one_machine(),
        hz: counter(sample, HZ),
        processors: seen.processors,
        samples: seen.samples,
        idle_samples: seen.idle,
        lost_samples: counter(sample, LOST),
        families: shares(seen.families, seen.samples),
        contexts: shares(seen.contexts, seen.samples),
        others: largest(seen.others),
        missing,
    })
}

fn nothing(host: Role, missing: Option<SamplingMissing>) -> CostProfile {
    CostProfile {
        host,
        missing,
        ..CostProfile::default()
    }
}

/// What a host does in a test, and the payload of its packets.
fn part(test: &Test, host: Role) -> Option<(CostDirection, u32)> {
    let direction = match Side::Sender.role(test) == host {
        true => CostDirection::Tx,
        false => CostDirection::Rx,
    };
    let payload_bytes = test.mss_bytes.unwrap_or(test.payload_bytes);
    (payload_bytes > 0).then_some((direction, payload_bytes))
}

fn counter(sample: &Sample, name: &str) -> u64 {
    sample.counters.get(name).copied().unwrap_or_default()
}

/// The processors that the test made busier; none where that is not known.
fn carriers(evidence: &Evidence<'_>, test: &Test, host: Role) -> Vec<u32> {
    let machine = MachineTime::of(evidence, test, host);
    let processors = machine
        .map(|machine| machine.processors)
        .unwrap_or_default();
    processors.iter().map(|processor| processor.cpu).collect()
}

/// The drivers of a host's interfaces: the names of their modules.
fn drivers(record: &Record, host: Role) -> Vec<&str> {
    let interfaces = record.host(host).map(|host| host.interfaces.as_slice());
    let each = interfaces.unwrap_or_default().iter();
    each.filter_map(|interface| interface.driver.as_deref())
        .collect()
}

/// Samples by family and by context.
#[derive(Debug, Default)]
struct Seen {
    processors: Vec<u32>,
    samples: u64,
    idle: u64,
    families: Vec<CostShare>,
    contexts: Vec<CostShare>,
    others: Vec<CostFunction>,
}

impl Seen {
    /// Of the `carriers`; of all processors where there are none.
    fn of(sample: &Sample, carriers: &[u32], drivers: &[&str]) -> Self {
        let mut seen = Self::default();
        for (name, count) in &sample.counters {
            let place = Place::read(name);
            let is_carrier =
                |place: &Place<'_>| carriers.is_empty() || carriers.contains(&place.cpu);
            if let Some(place) = place.filter(is_carrier) {
                seen.add(place, *count, drivers);
            }
        }
        order::by_key(&mut seen.processors, |cpu| *cpu);
        seen
    }

    fn add(&mut self, place: Place<'_>, count: u64, drivers: &[&str]) {
        if !self.processors.contains(&place.cpu) {
            self.processors.push(place.cpu);
        }
        if place.function == OTHERS {
            return;
        }
        if place.function == IDLE {
            self.idle += count;
            return;
        }
        self.samples += count;
        let family = family(functions(), &place, drivers);
        if family == OTHER {
            self.unnamed(place, count);
        }
        raise(&mut self.families, family, count);
        raise(&mut self.contexts, context(functions(), &place), count);
    }

    /// Counts a function of no family.
    fn unnamed(&mut self, place: Place<'_>, count: u64) {
        let is_it = |one: &&mut CostFunction| {
            one.function == place.function && one.module.as_deref() == place.module
        };
        match self.others.iter_mut().find(is_it) {
            Some(known) => known.samples += count,
            None => self.others.push(CostFunction {
                function: place.function.to_owned(),
                module: place.module.map(ToOwned::to_owned),
                samples: count,
            }),
        }
    }
}

/// The module of the interface's driver is its driver, whatever its functions are called.
fn family<'f>(table: &'f Functions, place: &Place<'_>, drivers: &[&str]) -> &'f str {
    let is_driver = |module: &str| drivers.iter().any(|driver| same_module(driver, module));
    match place.function {
        USER => USER_MODE,
        _ if place.module.is_some_and(is_driver) => DRIVER,
        name => table.family(name).map_or(OTHER, |family| &family.id),
    }
}

/// A module's file may have `-` where the kernel has `_`.
fn same_module(driver: &str, module: &str) -> bool {
    let letters = driver
        .bytes()
        .map(|byte| if byte == b'-' { b'_' } else { byte });
    letters.eq(module.bytes())
}

fn context<'f>(table: &'f Functions, place: &Place<'_>) -> &'f str {
    let under = place.under.and_then(|name| table.context(name));
    match (place.function, under) {
        (USER, _) => USER_MODE,
        (_, Some(context)) => &context.id,
        (_, None) => PROCESS,
    }
}

fn raise(all: &mut Vec<CostShare>, name: &str, count: u64) {
    match all.iter_mut().find(|one| one.name == name) {
        Some(known) => known.samples += count,
        None => all.push(CostShare {
            name: name.to_owned(),
            samples: count,
            ..CostShare::default()
        }),
    }
}

/// With their shares, the largest first.
fn shares(mut all: Vec<CostShare>, samples: u64) -> Vec<CostShare> {
    for one in &mut all {
        let (least, most) = loss_interval95(one.samples, samples).unwrap_or((0.0, 1.0));
        one.ratio = Estimate {
            value: one.samples as f64 / samples.max(1) as f64,
            ci95: [least, most],
        };
    }
    order::by(&mut all, |one, other| other.samples.cmp(&one.samples));
    all
}

fn largest(mut all: Vec<CostFunction>) -> Vec<CostFunction> {
    order::by(&mut all, |one, other| other.samples.cmp(&one.samples));
    all.truncate(OTHERS_SHOWN);
    all
}

const OTHER: &str = "other";
const USER_MODE: &str = "user";
const DRIVER: &str = "driver";
const PROCESS: &str = "process";
const OTHERS_SHOWN: usize = 8;
