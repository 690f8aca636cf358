// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is not undone yet.

use std::collections::BTreeMap;

use crate::coupled;
use crate::entry::{Entry, Key, Phase, Undo};
use crate::owner::Owner;

/// A change that was intended, perhaps made, and neither undone nor kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its number.
    pub change: u64,
    /// When it was intended.
    pub wall_ns: u64,
    /// The boot in which it was.
    pub boot_id: String,
    /// The setting.
    pub key: Key,
    /// What it was.
    pub old: String,
    /// What was written.
    pub new: String,
    /// What was read back; nothing where the process ended before.
    pub effective: Option<String>,
    /// How it is undone.
    pub undo: Undo,
    /// The rule or command that wanted it.
    pub because: String,
    /// The process that made it.
    pub owner: Owner,
}

/// Open changes, the oldest first.
#[must_use]
pub fn open(entries: &[Entry]) -> Vec<Open> {
    let mut all = BTreeMap::new();
    for entry in entries {
        step(&mut all, entry);
    }
    all.into_values().collect()
}

fn step(all: &mut BTreeMap<u64, Open>, entry: &Entry) {
    match &entry.phase {
        Phase::Intended {
            key,
            old,
            new,
            undo,
            because,
            owner,
        } => {
            let open = Open {
                change: entry.change,
                wall_ns: entry.wall_ns,
                boot_id: entry.boot_id.clone(),
                key: key.clone(),
                old: old.clone(),
                new: new.clone(),
                effective: None,
                undo: undo.clone(),
                because: because.clone(),
                owner: *owner,
            };
            all.insert(entry.change, open);
        }
        Phase::Applied { effective } => {
            if let Some(open) = all.get_mut(&entry.change) {
                open.effective = Some(effective.clone());
            }
        }
        Phase::Restored | Phase::Vanished => {
            all.remove(&entry.change);
        }
        Phase::Kept => kept(all, entry.change),
    }
}

/// With a change also what changed together with it, in the same step.
fn kept(all: &mut BTreeMap<u64, Open>, change: u64) {
    let list: Vec<Open> = all.values().cloned().collect();
    let of_change = coupled::of_change(&list, change).map(|bundle| bundle.change);
    let main = all.remove(&change);
    let left = main.iter().flat_map(|main| {
        let left = coupled::left(&list, &main.key.place).into_iter();
        left.filter(|bundle| coupled::has(bundle, &main.key.knob))
    });
    for bundle in left.map(|bundle| bundle.change).chain(of_change) {
        all.remove(&bundle);
    }
}
