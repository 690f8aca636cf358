// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flat superset of the fields of all steps, for deserialisation.
//!
//! A derive for the flattened, internally tagged enum would buffer each entry and compile the readers of keys, undos and owners
//! a second time, over that buffer.

use std::mem::take;

use serde::Deserialize;

use super::{Entry, Key, Phase, Undo};
use crate::owner::Owner;

/// The fields of an [`Entry`] and of all kinds of [`Phase`].
#[derive(Deserialize)]
pub(super) struct RawEntry {
    change: u64,
    wall_ns: u64,
    boot_id: String,
    phase: String,
    key: Option<Key>,
    old: Option<String>,
    new: Option<String>,
    undo: Option<Undo>,
    because: Option<String>,
    owner: Option<Owner>,
    effective: Option<String>,
}

impl TryFrom<RawEntry> for Entry {
    type Error = &'static str;

    fn try_from(mut raw: RawEntry) -> Result<Self, Self::Error> {
        let (change, wall_ns, boot_id) = (raw.change, raw.wall_ns, take(&mut raw.boot_id));
        let phase = raw
            .phase()
            .ok_or("an unknown step, or one without its fields")?;
        Ok(Self {
            change,
            wall_ns,
            boot_id,
            phase,
        })
    }
}

impl RawEntry {
    /// Returns `None` for a step of a later version, or if a field of the step is missing.
    fn phase(self) -> Option<Phase> {
        Some(match self.phase.as_str() {
            "intended" => Phase::Intended {
                key: self.key?,
                old: self.old?,
                new: self.new?,
                undo: self.undo?,
                because: self.because?,
                owner: self.owner?,
            },
            "applied" => Phase::Applied {
                effective: self.effective?,
            },
            "restored" => Phase::Restored,
            "kept" => Phase::Kept,
            "vanished" => Phase::Vanished,
            "forgotten" => Phase::Forgotten,
            _ => return None,
        })
    }
}
