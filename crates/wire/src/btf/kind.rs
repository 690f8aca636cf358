// SPDX-License-Identifier: MIT OR Apache-2.0
//! One type's record: twelve bytes that all kinds have, and what follows them.

use super::reader::Reader;

/// The kinds that matter here; the rest is only stepped over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Pointer,
    Array,
    /// A structure or a union.
    Aggregate,
    Enum,
    Typedef,
    /// `const`, `volatile`, `restrict`, a tag: the same type in other words.
    Modifier,
    FunctionType,
    Enum64,
    Other,
}

/// `struct btf_type`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) name: u32,
    pub(super) kind: Kind,
    /// How many members, values or parameters follow.
    pub(super) count: u16,
    pub(super) flag: bool,
    /// Bytes of the type, or the number of the type that it refers to.
    pub(super) size_or_type: u32,
    /// Where what follows begins.
    pub(super) after: usize,
}

impl Record {
    pub(super) fn read(types: Reader<'_>, at: usize) -> Option<Self> {
        let info = types.u32_at(at + 4)?;
        Some(Self {
            name: types.u32_at(at)?,
            kind: kind(number(info)),
            count: info as u16,
            flag: info >> 31 == 1,
            size_or_type: types.u32_at(at + 8)?,
            after: at + COMMON_BYTES,
        })
    }

    /// Bytes of the record at `at`; the error is the number of a kind that is not known, `None` at the end.
    pub(super) fn length(types: Reader<'_>, at: usize) -> Result<usize, Option<u32>> {
        let info = types.u32_at(at + 4).ok_or(None)?;
        let each = info as u16 as usize;
        let kind = number(info);
        let follows = match kind {
            2 | 7..=12 | 16 | 18 => 0,
            1 | 14 | 17 => 4,
            3 => 12,
            4 | 5 | 15 | 19 => 12 * each,
            6 | 13 => 8 * each,
            _ => return Err(Some(kind)),
        };
        Ok(COMMON_BYTES + follows)
    }
}

const fn number(info: u32) -> u32 {
    info >> 24 & 0x1f
}

const fn kind(number: u32) -> Kind {
    match number {
        1 => Kind::Int,
        2 => Kind::Pointer,
        3 => Kind::Array,
        4 | 5 => Kind::Aggregate,
        6 => Kind::Enum,
        8 => Kind::Typedef,
        9..=11 | 18 => Kind::Modifier,
        13 => Kind::FunctionType,
        19 => Kind::Enum64,
        _ => Kind::Other,
    }
}

const COMMON_BYTES: usize = 12;
