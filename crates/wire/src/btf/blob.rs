// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes that are read a piece at a time: a kernel has five megabytes of types, and a small board little
//! memory for a look at a dozen of them.

use std::cell::RefCell;

/// Bytes that stay where they are.
pub trait Blob {
    /// Fills `into` with the bytes from `at` on; how many there were, fewer only at the end.
    fn read_at(&self, at: usize, into: &mut [u8]) -> usize;
}

impl Blob for &[u8] {
    fn read_at(&self, at: usize, into: &mut [u8]) -> usize {
        let rest = self.get(at..).unwrap_or_default();
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        length
    }
}

/// A blob with the pages of it that were read last.
pub(super) struct Pages<'b> {
    blob: Box<dyn Blob + 'b>,
    /// The page of number n is in the place n modulo the number of places.
    held: RefCell<Vec<Page>>,
}

#[derive(Default)]
struct Page {
    /// None before the first.
    number: Option<usize>,
    bytes: Vec<u8>,
}

impl<'b> Pages<'b> {
    pub(super) fn of(blob: Box<dyn Blob + 'b>) -> Self {
        let mut held = Vec::new();
        held.resize_with(PLACES, Page::default);
        Self {
            blob,
            held: RefCell::new(held),
        }
    }

    /// The bytes from `at` on; `None` where there are fewer.
    pub(super) fn array_at<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let mut held = self.held.borrow_mut();
        let mut array = [0; N];
        for (index, byte) in array.iter_mut().enumerate() {
            let at = at.checked_add(index)?;
            let (number, offset) = (at / PAGE_BYTES, at % PAGE_BYTES);
            let page = &mut held[number % PLACES];
            if page.number != Some(number) {
                page.number = Some(number);
                page.bytes.resize(PAGE_BYTES, 0);
                let length = self.blob.read_at(number * PAGE_BYTES, &mut page.bytes);
                page.bytes.truncate(length);
            }
            *byte = *page.bytes.get(offset)?;
        }
        Some(array)
    }

    /// Reads past the pages, for sequential readers.
    pub(super) fn read_at(&self, at: usize, into: &mut [u8]) -> usize {
        self.blob.read_at(at, into)
    }
}

impl std::fmt::Debug for Pages<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

/// What sysfs gives at a time.
const PAGE_BYTES: usize = 4096;
const PLACES: usize = 16;
