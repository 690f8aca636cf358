// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that the kernel changes together with another: `ethtool -L` resets the RSS table, the queues' processors and the
//! interrupts. They are one entry of the journal before the change itself, so that they are restored after it.

use std::io;

use linerate_knowledge::tunable_of;
use linerate_wire::json;
use serde_json::to_string;

use crate::entry::{Key, Phase, Place, Undo};
use crate::journal::{JournalError, Trace};
use crate::kernel::Kernel;
use crate::knob::Knob;
use crate::open::Open;
use crate::owner::Owner;
use crate::restore::End;
use crate::world::World;

/// A coupled setting that has another value after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideEffect {
    /// The setting.
    pub knob: String,
    /// Its value before.
    pub before: String,
    /// Its value now; nothing where it no longer exists.
    pub now: Option<String>,
}

/// Names and values.
type Values = Vec<(String, String)>;

/// Records what could change together with a change that is about to be made.
pub(crate) fn begin(
    trace: &mut impl Trace,
    world: &mut impl World,
    key: &Key,
) -> Result<Option<u64>, JournalError> {
    let Some(bundle) = world.coupled(key) else {
        return Ok(None);
    };
    let Ok(old) = world.read(&bundle) else {
        return Ok(None);
    };
    let intended = Phase::Intended {
        key: bundle,
        new: old.clone(),
        old,
        undo: Undo::Write,
        because: format!("changes with {}", key.knob),
        owner: Owner::this(),
    };
    trace.begin(intended).map(Some)
}

/// The entry that was made with a change.
pub(crate) fn of_change(all: &[Open], change: u64) -> Option<&Open> {
    let main = all.iter().find(|open| open.change == change)?;
    let name = name_of(&main.key.knob);
    let is_coupled = |open: &&Open| {
        open.change < change && open.key.place == main.key.place && open.key.knob == name
    };
    all.iter().rev().find(is_coupled)
}

/// The entries of a place whose own change is undone.
pub(crate) fn left(all: &[Open], place: &Place) -> Vec<Open> {
    let has_change = |bundle: &Open| {
        let mut later = all.iter().filter(|open| open.change > bundle.change);
        later.any(|open| open.key.place == *place && name_of(&open.key.knob) == bundle.key.knob)
    };
    let bundles = all.iter().filter(|open| main_of(&open.key.knob).is_some());
    let of_place = bundles.filter(|open| open.key.place == *place && !has_change(open));
    of_place.cloned().collect()
}

/// Whether an entry has a value of this setting.
pub(crate) fn has(bundle: &Open, knob: &str) -> bool {
    values(&bundle.old).is_ok_and(|all| all.iter().any(|(name, _)| name == knob))
}

/// Restores coupled settings after the change itself is undone. What another open change has set stays, or is set again: then the
/// entry stays open, because the old value of that change is not the first one.
pub(crate) fn restore(
    trace: &mut impl Trace,
    world: &mut impl World,
    bundle: &Open,
) -> Result<End, JournalError> {
    let all = trace.open()?;
    let wanted = with_others(&all, bundle);
    let end = match world.read(&bundle.key) {
        Ok(now) if now == wanted => End::WasUndone,
        Ok(_) => match world.write(&bundle.key, &wanted) {
            Ok(()) => ended(world.read(&bundle.key), &wanted),
            Err(why) => End::Failed(why),
        },
        Err(why) => End::Failed(why),
    };
    let is_shared = all
        .iter()
        .any(|open| open.key.place == bundle.key.place && has(bundle, &open.key.knob));
    if end.is_closed() && !is_shared {
        trace.step(bundle.change, Phase::Restored)?;
    }
    Ok(end)
}

fn ended(read: io::Result<String>, wanted: &str) -> End {
    match read {
        Ok(now) if now == wanted => End::Undone,
        Ok(value) => End::Differs { value },
        Err(why) => End::Failed(why),
    }
}

/// The values of before, and those of the last open change of each setting.
fn with_others(all: &[Open], bundle: &Open) -> String {
    let last_of = |knob: &str| {
        let is_of = |open: &&Open| open.key.place == bundle.key.place && open.key.knob == knob;
        all.iter().rev().find(is_of)
    };
    let Ok(mut wanted) = values(&bundle.old) else {
        return bundle.old.clone();
    };
    for (knob, value) in &mut wanted {
        if let Some(open) = last_of(knob) {
            *value = open.effective.as_ref().unwrap_or(&open.new).clone();
        }
    }
    to_string(&wanted).unwrap_or_else(|_| bundle.old.clone())
}

/// What differs from what was recorded.
pub(crate) fn side_effects(world: &mut impl World, bundle: &Open) -> io::Result<Vec<SideEffect>> {
    let (before, now) = (values(&bundle.old)?, values(&world.read(&bundle.key)?)?);
    let differing = before.into_iter().filter_map(|(knob, before)| {
        let same_name = |(name, _): &&(String, String)| *name == knob;
        let now = now.iter().find(same_name).map(|(_, value)| value.clone());
        (now.as_ref() != Some(&before)).then_some(SideEffect { knob, before, now })
    });
    Ok(differing.collect())
}

fn values(text: &str) -> io::Result<Values> {
    json::text(text).map_err(io::Error::from)
}

/// The key of what is coupled with a setting of an interface.
pub(crate) fn key_of(key: &Key) -> Option<Key> {
    let is_of_interface = matches!(key.place, Place::Interface { .. });
    let coupled = tunable_of(&key.knob).is_some_and(|tunable| !tunable.coupled.is_empty());
    (is_of_interface && coupled).then(|| Key {
        knob: name_of(&key.knob),
        place: key.place.clone(),
    })
}

fn name_of(knob: &str) -> String {
    format!("{COUPLED}{knob}")
}

/// The setting with which those of a key are coupled.
pub(crate) fn main_of(knob: &str) -> Option<&str> {
    knob.strip_prefix(COUPLED)
}

/// Those that can be read, with their values. `irq #0` is the first interrupt of the interface: its number may change.
pub(crate) fn read(kernel: &dyn Kernel, main: &str, interface: &str) -> io::Result<String> {
    let each = names(kernel, main, interface).into_iter();
    let readable = each.filter_map(|name| {
        let value = numbered(kernel, &name, interface);
        let value = Knob::of(&value)?.read(kernel, interface).ok()?;
        Some((name, value))
    });
    Ok(to_string(&readable.collect::<Values>())?)
}

/// Writes those that differ. All are tried; the first error is returned.
pub(crate) fn write(kernel: &dyn Kernel, interface: &str, value: &str) -> io::Result<()> {
    let mut ended = Ok(());
    for (name, value) in values(value)? {
        let name = numbered(kernel, &name, interface);
        let Some(knob) = Knob::of(&name) else {
            continue;
        };
        // A queue that no longer exists has no setting.
        let differs = knob.read(kernel, interface).is_ok_and(|now| now != value);
        if differs {
            ended = ended.and(knob.write(kernel, interface, &value));
        }
    }
    ended
}

/// What is coupled with `main`, without what it sets itself.
fn names(kernel: &dyn Kernel, main: &str, interface: &str) -> Vec<String> {
    let coupled = tunable_of(main).map_or(&[][..], |tunable| &tunable.coupled);
    let all = coupled
        .iter()
        .flat_map(|name| expanded(kernel, name, interface));
    all.filter(|name| !is_word_of(name, main)).collect()
}

/// `ethtool -A rx` is one of `ethtool -A rx tx`.
fn is_word_of(name: &str, main: &str) -> bool {
    let (Some((tool, word)), Some((option, words))) = (name.rsplit_once(' '), split(main)) else {
        return false;
    };
    tool == option && words.split(' ').any(|one| one == word)
}

fn split(main: &str) -> Option<(&str, &str)> {
    let at = main.match_indices(' ').nth(1)?.0;
    Some((&main[..at], &main[at + 1..]))
}

/// A name for each queue and interrupt.
fn expanded(kernel: &dyn Kernel, name: &str, interface: &str) -> Vec<String> {
    if name == "irq N" {
        let count = kernel.interrupts(interface).len();
        return (0..count).map(|at| format!("irq #{at}")).collect();
    }
    let Some((before, after)) = name.split_once("-N/") else {
        return vec![name.to_owned()];
    };
    let prefix = before.rsplit_once('/').map_or(before, |(_, prefix)| prefix);
    let queues = kernel.queues(interface, prefix);
    (0..queues)
        .map(|queue| format!("{before}-{queue}/{after}"))
        .collect()
}

/// The interrupt that has this place now.
fn numbered(kernel: &dyn Kernel, name: &str, interface: &str) -> String {
    let place = name
        .strip_prefix("irq #")
        .and_then(|place| place.parse::<usize>().ok());
    let number = place.and_then(|place| kernel.interrupts(interface).get(place).cloned());
    number.map_or_else(|| name.to_owned(), |number| format!("irq {number}"))
}

const COUPLED: &str = "coupled ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_change_sets_itself_is_not_coupled_with_it() {
        assert!(is_word_of("ethtool -A rx", "ethtool -A rx tx"));
        assert!(!is_word_of("ethtool -A autoneg", "ethtool -A rx tx"));
        assert!(!is_word_of("ethtool -C rx", "ethtool -A rx tx"));
    }
}
