// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the types' records begin, which are of many lengths.

use super::Malformed;
use super::kind::{Kind, Record};
use super::reader::Reader;

/// What one pass over the types keeps.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// How many types there are; number 1 is the first.
    pub(super) count: usize,
    /// Name and beginning of each type that may be asked for by its name.
    pub(super) named: Vec<(u32, u32)>,
    /// The beginning of every n-th type.
    starts: Vec<u32>,
}

impl Index {
    pub(super) fn of(types: Reader<'_>) -> Result<Self, Malformed> {
        let mut index = Self::default();
        let mut at = 0;
        while at < types.len() {
            let length = Record::length(types, at).map_err(|kind| match kind {
                Some(kind) => Malformed::Kind {
                    number: index.count + 1,
                    kind,
                },
                None => Malformed::Short,
            })?;
            index.note(types, at).ok_or(Malformed::Short)?;
            at += length;
        }
        if at == types.len() {
            Ok(index)
        } else {
            Err(Malformed::Short)
        }
    }

    fn note(&mut self, types: Reader<'_>, at: usize) -> Option<()> {
        let start = u32::try_from(at).ok()?;
        if self.count.is_multiple_of(STRIDE) {
            self.starts.push(start);
        }
        self.count += 1;
        // The last record may be cut short; then the pass says so.
        if let Some(record) = Record::read(types, at)
            && record.name != 0
            && matches!(
                record.kind,
                Kind::Int | Kind::Aggregate | Kind::Enum | Kind::Enum64 | Kind::Typedef
            )
        {
            self.named.push((record.name, start));
        }
        Some(())
    }

    /// Where the type of this number begins.
    pub(super) fn start(&self, types: Reader<'_>, number: u32) -> Option<usize> {
        let index = (number as usize).checked_sub(1)?;
        if index >= self.count {
            return None;
        }
        let mut at = *self.starts.get(index / STRIDE)? as usize;
        for _ in 0..index % STRIDE {
            at += Record::length(types, at).ok()?;
        }
        Some(at)
    }
}

const STRIDE: usize = 32;
