// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state vector: every setting, clock limit and temperature of a host that must be the same before and after a test.
//!
//! It is a part of a host's settings. Values that change although nothing was changed are left out or made coarse, so that a
//! difference is a reason to doubt the test:
//!
//! - counters among the sysctls, and what adaptive moderation writes in `ethtool -c`: left out;
//! - the frequency of a processor: only of one that was busy, and only below 90 % of what it was. Turbo and governors move
//!   an idle one all the time, and by a few percent also a busy one;
//! - counts of thermal throttling: only growth;
//! - a temperature: only where it crosses a trip point, at which the kernel or the device acts.
//!
//! What was not read is unknown, not different.

mod steady;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::output::{Moved, MovedKind, Role};
use crate::setting::Setting;
use steady::steady;

/// What is known of the state of all hosts of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateVector {
    settings: Vec<Setting>,
}

impl StateVector {
    /// Takes in what was read, without a comparison.
    pub fn learn(&mut self, read: &[Setting]) {
        for setting in read.iter().filter(|setting| is_part(setting)) {
            let known = |known: &Setting| same_source(known, setting);
            match self.settings.iter().position(known) {
                Some(at) => add(&mut self.settings[at].values, &setting.values),
                None if self.settings.len() < MOST_SOURCES => self.settings.push(setting.clone()),
                None => {}
            }
        }
    }

    /// Takes in what was read, and returns what has changed.
    pub fn update(&mut self, read: &[Setting]) -> Vec<Moved> {
        let moved = difference(&self.settings, read);
        self.learn(read);
        moved
    }

    /// A number for the state of one host: another number is another state. 0 if nothing is known.
    #[must_use]
    pub fn digest(&self, host: Role) -> u64 {
        let own = self.settings.iter().filter(|one| one.host == host);
        own.map(digest_of).fold(0, u64::wrapping_add)
    }
}

/// Whether some value of it is in the state vector.
#[must_use]
pub fn is_part(setting: &Setting) -> bool {
    let mut values = setting.values.iter();
    values.any(|(name, value)| steady(setting, name, value).is_some())
}

/// A number for these settings of one host, in any order: see [`StateVector::digest`].
#[must_use]
pub fn digest(settings: &[Setting]) -> u64 {
    settings.iter().map(digest_of).fold(0, u64::wrapping_add)
}

/// The values of both that differ, in the order of the later reading.
#[must_use]
pub fn difference(before: &[Setting], after: &[Setting]) -> Vec<Moved> {
    let mut all = Vec::new();
    for later in after {
        let earlier = before.iter().find(|one| same_source(one, later));
        for (name, value) in &later.values {
            let old = earlier.and_then(|one| one.values.get(name));
            all.extend(moved(earlier, later, name, old, value));
        }
    }
    all.retain(|one| !follows(one, after, before));
    all
}

fn moved(
    earlier: Option<&Setting>,
    later: &Setting,
    name: &str,
    old: Option<&String>,
    value: &str,
) -> Option<Moved> {
    let (kind, now) = steady(later, name, value)?;
    let (before, was) = match steady::origin(later, name) {
        Some(origin) => (origin.clone(), Cow::Borrowed("")),
        None => (old?.clone(), steady(earlier?, name, old?)?.1),
    };
    let growth = |was: &str, now: &str| Some(now.parse::<u64>().ok()? > was.parse::<u64>().ok()?);
    let changed = match steady::only_grows(name) {
        true => growth(&was, &now) == Some(true),
        false => was != now,
    };
    changed.then(|| Moved {
        host: later.host,
        source: later.source.clone(),
        interface: later.interface.clone(),
        name: name.to_owned(),
        before,
        after: value.to_owned(),
        owner: None,
        kind,
    })
}

/// The kernel sets the effective affinity of an interrupt when its affinity is written: one change, not two.
fn follows(moved: &Moved, after: &[Setting], before: &[Setting]) -> bool {
    let affinity = |all: &[Setting]| {
        let own = all
            .iter()
            .find(|one| one.host == moved.host && one.source == moved.source)?;
        own.values.get(steady::AFFINITY).cloned()
    };
    moved.name == steady::EFFECTIVE_AFFINITY && affinity(before) != affinity(after)
}

/// A value that was not read this time stays known, as far as there is room.
fn add(known: &mut BTreeMap<String, String>, read: &BTreeMap<String, String>) {
    known.extend(read.clone());
    if known.len() > MOST_VALUES {
        known.clone_from(read);
    }
}

fn same_source(one: &Setting, other: &Setting) -> bool {
    (one.host, &one.source, &one.interface) == (other.host, &other.source, &other.interface)
}

/// FNV-1a of each value with its place, added up: the order does not matter.
fn digest_of(setting: &Setting) -> u64 {
    let interface = setting.interface.as_deref().unwrap_or_default();
    let one = |(name, value): (&String, &String)| {
        let (_, value) = steady(setting, name, value)?;
        let words = [&setting.source, interface, name, &value];
        let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
        Some(bytes.fold(FNV_OFFSET, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
        }))
    };
    let values = setting.values.iter().filter_map(one);
    values.fold(0, u64::wrapping_add)
}

/// Whether a setting, not a clock or a temperature, is among them.
#[must_use]
pub fn any_setting(moved: &[Moved]) -> bool {
    moved.iter().any(|one| one.kind == MovedKind::Setting)
}

/// More than two hosts with hundreds of processors and interrupts have. The far end is not trusted.
const MOST_SOURCES: usize = 8192;
/// Of one source: an interface with hundreds of queues has three values for each.
const MOST_VALUES: usize = 8192;
/// The source of the frequency of a processor that was busy during a test.
pub const BUSY_CLOCK: &str = "/sys/devices/system/cpu/cpufreq";
/// Its value when it was first seen busy, kHz.
pub const BUSY_BEFORE: &str = "busy_freq_before";
/// Its value when it was last seen busy, kHz.
pub const BUSY_AFTER: &str = "busy_freq";
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

#[cfg(test)]
mod tests;
