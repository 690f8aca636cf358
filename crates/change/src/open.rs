// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is not undone yet, and what was kept.

use std::collections::BTreeMap;

use crate::coupled;
use crate::entry::{Entry, Key, Phase, Undo};
use crate::owner::Owner;

/// A change that was intended, perhaps made, and not undone.
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
    /// The user wants it to stay.
    pub kept: bool,
}

impl Open {
    /// Whether it only records what the kernel changes together with another change.
    #[must_use]
    pub fn is_coupled(&self) -> bool {
        coupled::main_of(&self.key.knob).is_some()
    }

    /// Whether it may be in force in the boot with this id: a command of the user may outlive a boot, and a file does.
    #[must_use]
    pub fn outlives(&self, boot_id: &str) -> bool {
        self.boot_id == boot_id || self.undo != Undo::Write || !self.key.is_volatile()
    }
}

/// Changes that are neither undone nor kept, the oldest first.
#[must_use]
pub fn open(entries: &[Entry]) -> Vec<Open> {
    let all = standing(entries).into_iter();
    all.filter(|one| !one.kept).collect()
}

/// Changes that are not undone, the oldest first; also those that were kept.
#[must_use]
pub fn standing(entries: &[Entry]) -> Vec<Open> {
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
                kept: false,
            };
            all.insert(entry.change, open);
        }
        Phase::Applied { effective } => {
            if let Some(open) = all.get_mut(&entry.change) {
                open.effective = Some(effective.clone());
            }
        }
        Phase::Restored | Phase::Vanished | Phase::Forgotten => {
            all.remove(&entry.change);
        }
        Phase::Kept => kept(all, entry.change),
    }
}

/// With a change also what changed together with it, in the same step.
fn kept(all: &mut BTreeMap<u64, Open>, change: u64) {
    let list: Vec<Open> = all.values().filter(|one| !one.kept).cloned().collect();
    let Some(main) = list.iter().find(|one| one.change == change) else {
        return;
    };
    let left = coupled::left(&list, &main.key.place).into_iter();
    let left = left.filter(|bundle| coupled::has(bundle, &main.key.knob));
    let of_change = coupled::of_change(&list, change).cloned();
    let bundles = left.chain(of_change).map(|bundle| bundle.change);
    for number in bundles.chain([change]) {
        if let Some(one) = all.get_mut(&number) {
            one.kept = true;
        }
    }
}
