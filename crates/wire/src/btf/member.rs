// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a member of a structure stands, through structures and unions without a name.

use super::Btf;
use super::kind::{Kind, Record};

/// A member's place, from the beginning of the structure that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its first byte.
    pub offset_bytes: u32,
    /// Its length; `None` if its type has none, or the kernel does not say how long its pointers are.
    pub size_bytes: Option<u32>,
    /// Whether it is a pointer.
    pub is_pointer: bool,
}

/// A member as its structure lists it.
struct Listed {
    name: u32,
    kind: u32,
    offset_bits: u32,
}

impl Btf<'_> {
    /// Where `path` (names with dots between) stands in the structure or union `aggregate`; `None` if there is no such
    /// member, or it begins within a byte.
    #[must_use]
    pub fn member(&self, aggregate: &str, path: &str) -> Option<Member> {
        let mut record = self.find(Kind::Aggregate, aggregate)?;
        let mut offset_bits = 0_u32;
        let mut kind = None;
        for name in path.split('.') {
            if let Some(kind) = kind {
                record = self.plain(kind)?;
            }
            let mut patience = MOST_LOOKS;
            let found = self.within(&record, name, MOST_LEVELS, &mut patience)?;
            offset_bits = offset_bits.checked_add(found.offset_bits)?;
            kind = Some(found.kind);
        }
        let kind = kind?;
        Some(Member {
            offset_bytes: offset_bits.is_multiple_of(8).then_some(offset_bits / 8)?,
            size_bytes: self.size_bytes(kind, MOST_LEVELS),
            is_pointer: self
                .plain(kind)
                .is_some_and(|record| record.kind == Kind::Pointer),
        })
    }

    fn within(
        &self,
        record: &Record,
        name: &str,
        levels: u32,
        patience: &mut u32,
    ) -> Option<Listed> {
        let levels = levels.checked_sub(1)?;
        if record.kind != Kind::Aggregate {
            return None;
        }
        for index in 0..usize::from(record.count) {
            *patience = patience.checked_sub(1)?;
            let listed = self.listed(record, index)?;
            if self.is_named(listed.name, name) {
                return Some(listed);
            }
            if !self.is_named(listed.name, "") {
                continue;
            }
            let Some(inner) = self.plain(listed.kind) else {
                continue;
            };
            if let Some(found) = self.within(&inner, name, levels, patience) {
                let offset_bits = listed.offset_bits.checked_add(found.offset_bits)?;
                return Some(Listed {
                    offset_bits,
                    ..found
                });
            }
        }
        None
    }

    fn listed(&self, record: &Record, index: usize) -> Option<Listed> {
        let at = record.after + index * 12;
        let offset = self.types().u32_at(at + 8)?;
        Some(Listed {
            name: self.types().u32_at(at)?,
            kind: self.types().u32_at(at + 4)?,
            // With the flag, the upper byte is the width of a bit field.
            offset_bits: if record.flag {
                offset & 0x00ff_ffff
            } else {
                offset
            },
        })
    }

    /// Resolves typedefs and modifiers.
    fn plain(&self, kind: u32) -> Option<Record> {
        let mut record = self.record(kind)?;
        for _ in 0..MOST_LEVELS {
            if !matches!(record.kind, Kind::Typedef | Kind::Modifier) {
                return Some(record);
            }
            record = self.record(record.size_or_type)?;
        }
        None
    }

    fn size_bytes(&self, kind: u32, levels: u32) -> Option<u32> {
        let levels = levels.checked_sub(1)?;
        let record = self.plain(kind)?;
        match record.kind {
            Kind::Int | Kind::Aggregate | Kind::Enum | Kind::Enum64 => Some(record.size_or_type),
            Kind::Pointer => self.pointer_bytes(),
            Kind::Array => {
                let element = self.types().u32_at(record.after)?;
                let count = self.types().u32_at(record.after + 8)?;
                self.size_bytes(element, levels)?.checked_mul(count)
            }
            _ => None,
        }
    }
}

/// Deeper nesting is a circle.
const MOST_LEVELS: u32 = 32;
/// `struct task_struct`, the largest, has a few hundred members.
const MOST_LOOKS: u32 = 100_000;
