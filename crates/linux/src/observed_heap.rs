// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system's allocator, with an observer of each block: tests count with it.
#![expect(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};

/// Calls `allocated` and `freed` with the bytes of each block. They must not allocate without an end.
#[derive(Clone, Copy, Debug)]
pub struct ObservedHeap {
    /// Before a block is allocated.
    pub allocated: fn(usize),
    /// Before a block is freed.
    pub freed: fn(usize),
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for ObservedHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        (self.allocated)(layout.size());
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        (self.freed)(layout.size());
        // SAFETY: the block came from `System.alloc` with this layout, as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}
