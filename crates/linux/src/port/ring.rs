// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring in memory that is shared with the kernel: one side writes entries, the other reads them. No system call here.
//!
//! Each side of a ring is one value that owns the memory: nothing else in the program can touch its entries. An entry is accessed only
//! after the other side has published it (acquire) and before this side publishes that it is done (release).
#![expect(unsafe_code, reason = "memory shared with the kernel")]

mod index;

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::memory::Memory;
use index::{Reading, Writing};

/// Where the parts of a ring are in its memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) producer: usize,
    pub(super) consumer: usize,
    pub(super) entries: usize,
    /// Missing before Linux 5.4.
    pub(super) flags: Option<usize>,
    /// How many entries, a power of two.
    pub(super) size: u32,
}

/// What a ring may hold: numbers without padding, of which all bits make a value.
pub(super) trait Entry: Copy {}
impl Entry for u64 {}
impl Entry for Descriptor {}

/// `struct xdp_desc`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) address: u64,
    pub(super) length: u32,
    pub(super) options: u32,
}

/// The side that writes.
#[derive(Debug)]
pub(super) struct Producer<T> {
    shared: Shared<T>,
    index: Writing,
}

impl<T: Entry> Producer<T> {
    /// `None` if the memory is too small for the layout. The memory is one of a ring whose other side reads.
    pub(super) fn new(memory: Memory, layout: Layout) -> Option<Self> {
        let shared = Shared::new(memory, layout)?;
        let start = shared.producer().load(Ordering::Relaxed);
        Some(Self {
            index: Writing::new(layout.size, start),
            shared,
        })
    }

    /// How many entries can be written; asks the other side if that is less than `wanted`.
    pub(super) fn room(&mut self, wanted: u32) -> u32 {
        if self.index.room() < wanted {
            self.note();
        }
        self.index.room()
    }

    /// Writes an entry; false if there is no room for it.
    pub(super) fn push(&mut self, entry: T) -> bool {
        let Some(place) = self.index.take() else {
            return false;
        };
        let address = self.shared.entry(place);
        // SAFETY: inside the memory and aligned (`Shared::new`); `index` gives only places that the other side is done with.
        unsafe { address.write(entry) };
        true
    }

    /// Shows the other side what was written.
    pub(super) fn show(&mut self) {
        let shown = self.index.show();
        self.shared.producer().store(shown, Ordering::Release);
    }

    /// How many entries the other side has not read.
    pub(super) fn unread(&mut self) -> u32 {
        self.note();
        self.index.unread()
    }

    /// Whether the other side sleeps until a system call.
    pub(super) fn needs_wakeup(&self) -> bool {
        self.shared.needs_wakeup()
    }

    fn note(&mut self) {
        self.index
            .note_read(self.shared.consumer().load(Ordering::Acquire));
    }
}

/// The side that reads.
#[derive(Debug)]
pub(super) struct Consumer<T> {
    shared: Shared<T>,
    index: Reading,
}

impl<T: Entry> Consumer<T> {
    /// `None` if the memory is too small for the layout. The memory is one of a ring whose other side writes.
    pub(super) fn new(memory: Memory, layout: Layout) -> Option<Self> {
        let shared = Shared::new(memory, layout)?;
        let start = shared.consumer().load(Ordering::Relaxed);
        Some(Self {
            index: Reading::new(layout.size, start),
            shared,
        })
    }

    /// How many entries can be read; asks the other side if there are none.
    pub(super) fn waiting(&mut self) -> u32 {
        if self.index.waiting() == 0 {
            self.index
                .note_written(self.shared.producer().load(Ordering::Acquire));
        }
        self.index.waiting()
    }

    /// The next entry.
    pub(super) fn pop(&mut self) -> Option<T> {
        let address = self.shared.entry(self.index.take()?);
        // SAFETY: inside the memory and aligned (`Shared::new`); `index` gives only places that the other side has written.
        Some(unsafe { address.read() })
    }

    /// Gives the other side back what was read.
    pub(super) fn release(&mut self) {
        self.shared
            .consumer()
            .store(self.index.read(), Ordering::Release);
    }
}

/// The memory of a ring, of which one side is ours.
#[derive(Debug)]
struct Shared<T> {
    memory: Memory,
    layout: Layout,
    entries: NonNull<T>,
}

// SAFETY: owns its memory, and no thread's identity matters to it.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T: Entry> Shared<T> {
    fn new(memory: Memory, layout: Layout) -> Option<Self> {
        let words = [Some(layout.producer), Some(layout.consumer), layout.flags];
        for word in words.into_iter().flatten() {
            memory
                .at(word, size_of::<u32>())
                .filter(|word| word.cast::<u32>().is_aligned())?;
        }
        let bytes = size_of::<T>().checked_mul(layout.size as usize)?;
        let entries = memory.at(layout.entries, bytes)?.cast();
        let whole = layout.size.is_power_of_two() && entries.is_aligned();
        whole.then_some(Self {
            memory,
            layout,
            entries,
        })
    }

    /// The address of an entry. `place` is below the size, as `index` gives them.
    fn entry(&self, place: u32) -> NonNull<T> {
        let place = (place & (self.layout.size - 1)) as usize;
        // SAFETY: below the size, so inside the memory (`new`).
        unsafe { self.entries.add(place) }
    }

    fn producer(&self) -> &AtomicU32 {
        self.word(self.layout.producer)
    }

    fn consumer(&self) -> &AtomicU32 {
        self.word(self.layout.consumer)
    }

    fn needs_wakeup(&self) -> bool {
        // Without the word the kernel always wants to be called.
        self.layout
            .flags
            .is_none_or(|flags| self.word(flags).load(Ordering::Relaxed) & NEED_WAKEUP != 0)
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        let start = self.memory.start();
        // SAFETY: inside the memory (`new`).
        let word = unsafe { start.add(offset) };
        // SAFETY: aligned (`new`), alive as long as `self`, and accessed only whole by both sides.
        unsafe { AtomicU32::from_ptr(word.as_ptr().cast()) }
    }
}

/// `XDP_RING_NEED_WAKEUP`.
const NEED_WAKEUP: u32 = 1;

#[cfg(test)]
mod tests;
