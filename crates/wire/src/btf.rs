// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own description of its types, as `/sys/kernel/btf/vmlinux` has it: where a member stands, what an
//! enumeration names, how many arguments a tracepoint has. Format: Documentation/bpf/btf.rst.
//!
//! ```
//! use linerate_wire::btf::{Btf, Malformed};
//! assert_eq!(Btf::parse(b"no types here").err(), Some(Malformed::Header));
//! ```

mod blob;
mod enumeration;
mod index;
mod kind;
mod member;
mod names;
mod reader;

pub use blob::Blob;
pub use member::Member;

use blob::Pages;
use index::Index;
use kind::{Kind, Record};
use names::Places;
use reader::{Reader, Section};

/// Types found in a blob, which stay there.
#[derive(Debug)]
pub struct Btf<'b> {
    pages: Pages<'b>,
    big: bool,
    types: Section,
    strings: Section,
    index: Index,
    places: Places,
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
        Self::read(Box::new(blob), &[])
    }

    /// As [`Btf::parse`], a piece at a time. What is looked for by name is found soonest if it is among the
    /// `names` (of types, not of members).
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn read(blob: Box<dyn Blob + 'b>, names: &[&str]) -> Result<Self, Malformed> {
        let pages = Pages::of(blob);
        let big = match pages.array_at::<3>(0) {
            Some([0x9f, 0xeb, VERSION]) => false,
            Some([0xeb, 0x9f, VERSION]) => true,
            _ => return Err(Malformed::Header),
        };
        let header = Section {
            start: 0,
            length: HEADER_BYTES,
        };
        let header = reader(&pages, header, big);
        let word = |at| header.u32_at(at).ok_or(Malformed::Header);
        let header_bytes = word(4)?;
        let section = |offset: u32, length: u32| {
            let start = header_bytes.checked_add(offset)? as usize;
            Section::within(&pages, start, length as usize)
        };
        let types = section(word(8)?, word(12)?).ok_or(Malformed::Short)?;
        let strings = section(word(16)?, word(20)?).ok_or(Malformed::Short)?;
        let index = Index::of(reader(&pages, types, big))?;
        let places = Places::find(reader(&pages, strings, big), names);
        Ok(Self {
            pages,
            big,
            types,
            strings,
            index,
            places,
        })
    }

    /// How many types there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.index.count
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
        let looked;
        let places = if self.places.know(name) {
            &self.places
        } else {
            looked = Places::find(self.strings(), &[name]);
            &looked
        };
        let named = self.index.named.iter();
        let named = named.filter(|(place, _)| places.has(name, *place));
        let mut records = named.filter_map(|(_, at)| Record::read(self.types(), *at as usize));
        records.find(|record| record.kind == kind)
    }

    fn record(&self, number: u32) -> Option<Record> {
        let at = self.index.start(self.types(), number)?;
        Record::read(self.types(), at)
    }

    fn is_named(&self, at: u32, name: &str) -> bool {
        let bytes = name.bytes().chain([0]);
        (at as usize..)
            .zip(bytes)
            .all(|(at, byte)| self.strings().byte_at(at) == Some(byte))
    }

    fn name(&self, at: u32) -> Option<String> {
        let mut name = Vec::new();
        for at in at as usize.. {
            match self.strings().byte_at(at)? {
                0 => break,
                byte => name.push(byte),
            }
        }
        String::from_utf8(name).ok()
    }

    const fn types(&self) -> Reader<'_> {
        reader(&self.pages, self.types, self.big)
    }

    const fn strings(&self) -> Reader<'_> {
        reader(&self.pages, self.strings, self.big)
    }
}

const fn reader<'p>(pages: &'p Pages<'p>, section: Section, big: bool) -> Reader<'p> {
    Reader {
        pages,
        section,
        big,
    }
}

const VERSION: u8 = 1;
/// `struct btf_header`, as far as it is read here.
const HEADER_BYTES: usize = 24;

#[cfg(test)]
mod tests;
