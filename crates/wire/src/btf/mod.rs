// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own description of its types, as `/sys/kernel/btf/vmlinux` has it: where a member stands, what an
//! enumeration names, how many arguments a tracepoint has. Format: Documentation/bpf/btf.rst.
//!
//! ```
//! use linerate_wire::btf::{Btf, Malformed};
//! assert_eq!(Btf::parse(b"no types here").err(), Some(Malformed::Header));
//! ```

mod enumeration;
mod kind;
mod member;
mod reader;

pub use member::Member;

use kind::{Kind, Record};
use reader::Reader;

/// Types found in a blob, which stay there.
#[derive(Debug)]
pub struct Btf<'b> {
    types: Reader<'b>,
    strings: &'b [u8],
    /// Where each type's record begins; number 1 is the first.
    starts: Vec<u32>,
}

/// Why a blob cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// No header, or one of another format.
    #[error("not in the BTF format")]
    Header,
    /// A section that its header describes is not there.
    #[error("cut short")]
    Short,
    /// A type of a kind that this reader does not know, whose length is therefore unknown.
    #[error("type {number} is of the unknown kind {kind}")]
    Kind {
        /// Which one, from 1.
        number: usize,
        /// The number of its kind.
        kind: u32,
    },
}

impl<'b> Btf<'b> {
    /// Reads the header and finds where each type begins.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn parse(blob: &'b [u8]) -> Result<Self, Malformed> {
        let whole = Reader::of(blob).ok_or(Malformed::Header)?;
        let word = |at| whole.u32_at(at).ok_or(Malformed::Header);
        let header_bytes = word(4)?;
        let section = |offset: u32, length: u32| {
            let start = header_bytes.checked_add(offset)? as usize;
            blob.get(start..)?.get(..length as usize)
        };
        let types = section(word(8)?, word(12)?).ok_or(Malformed::Short)?;
        let strings = section(word(16)?, word(20)?).ok_or(Malformed::Short)?;
        let types = whole.same_order(types);
        let starts = starts(types)?;
        Ok(Self {
            types,
            strings,
            starts,
        })
    }

    /// How many types there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Bytes of a pointer in that kernel; `None` if it does not say.
    #[must_use]
    pub fn pointer_bytes(&self) -> Option<u32> {
        ["long unsigned int", "unsigned long"]
            .iter()
            .find_map(|name| self.find(Kind::Int, name))
            .map(|long| long.size_or_type)
    }

    /// How many arguments a program on the tracepoint `name` gets; `None` if there is no such tracepoint.
    #[must_use]
    pub fn tracepoint_arguments(&self, name: &str) -> Option<usize> {
        let named = self.find(Kind::Typedef, &format!("btf_trace_{name}"))?;
        let pointer = self.record(named.size_or_type)?;
        let function = self.record(pointer.size_or_type)?;
        if (pointer.kind, function.kind) != (Kind::Pointer, Kind::FunctionType) {
            return None;
        }
        // The first is the kernel's own.
        usize::from(function.count).checked_sub(1)
    }

    /// The first type of this kind and name.
    fn find(&self, kind: Kind, name: &str) -> Option<Record> {
        let records = self.starts.iter();
        let mut records = records.filter_map(|start| Record::read(self.types, *start as usize));
        records.find(|record| record.kind == kind && self.is_named(record.name, name))
    }

    fn record(&self, number: u32) -> Option<Record> {
        let start = self.starts.get((number as usize).checked_sub(1)?)?;
        Record::read(self.types, *start as usize)
    }

    fn is_named(&self, at: u32, name: &str) -> bool {
        let rest = self.strings.get(at as usize..).unwrap_or_default();
        rest.strip_prefix(name.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&0))
    }

    fn name(&self, at: u32) -> Option<&'b str> {
        let rest = self.strings.get(at as usize..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(rest.get(..length)?).ok()
    }
}

fn starts(types: Reader<'_>) -> Result<Vec<u32>, Malformed> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at < types.len() {
        let length = Record::length(types, at).map_err(|kind| match kind {
            Some(kind) => Malformed::Kind {
                number: starts.len() + 1,
                kind,
            },
            None => Malformed::Short,
        })?;
        starts.push(u32::try_from(at).map_err(|_| Malformed::Short)?);
        at += length;
    }
    if at == types.len() {
        Ok(starts)
    } else {
        Err(Malformed::Short)
    }
}

#[cfg(test)]
mod tests;
