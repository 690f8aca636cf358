// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words in the byte order of the kernel that wrote them.

use super::blob::Pages;

/// A section of a blob.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Section {
    /// None if the blob is shorter.
    pub(super) fn within(pages: &Pages<'_>, start: usize, length: usize) -> Option<Self> {
        if let Some(last) = start.checked_add(length)?.checked_sub(1) {
            pages.array_at::<1>(last)?;
        }
        Some(Self { start, length })
    }
}

/// The words of a section.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'p> {
    pub(super) pages: &'p Pages<'p>,
    pub(super) section: Section,
    pub(super) big: bool,
}

impl Reader<'_> {
    pub(super) const fn len(self) -> usize {
        self.section.length
    }

    pub(super) fn byte_at(self, at: usize) -> Option<u8> {
        let inside = at < self.section.length;
        let [byte] = self.pages.array_at(self.section.start.checked_add(at)?)?;
        inside.then_some(byte)
    }

    pub(super) fn u32_at(self, at: usize) -> Option<u32> {
        if at.checked_add(4)? > self.section.length {
            return None;
        }
        let word = self.pages.array_at(self.section.start.checked_add(at)?)?;
        Some(if self.big {
            u32::from_be_bytes(word)
        } else {
            u32::from_le_bytes(word)
        })
    }
}
