// SPDX-License-Identifier: MIT OR Apache-2.0
//! An allocator of two parts: large blocks are mappings of their own, all others come from another allocator.
//!
//! A mapping is zero without being written, so a large block occupies memory only where it is used, and it returns to the
//! kernel when it is freed. dlmalloc does so from 256 KiB on; below, it writes the zeros itself: the histograms of one
//! receiving stream (17 of 135 KiB, mostly unused) occupied 2.4 MB, on a board with 64.
#![expect(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout};
use std::ptr;

/// `A` has the blocks below [`LARGE_BYTES`].
#[derive(Debug)]
pub struct Heap<A>(pub A);

// SAFETY: whether a block is a mapping follows from its layout alone, which is the same when it is freed or resized; a
// mapping is page-aligned, and no other block overlaps it.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Heap<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promise.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promise.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout) {
            // SAFETY: such a block is a mapping of this length, which nothing uses any more.
            let _kept_if_refused = unsafe { libc::munmap(block.cast(), layout.size()) };
            return;
        }
        // SAFETY: the caller's promise; the block came from there.
        unsafe { self.0.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let Ok(new) = Layout::from_size_align(bytes, layout.align()) else {
            return ptr::null_mut();
        };
        match (is_large(layout), is_large(new)) {
            // SAFETY: the caller's promise; the block came from there.
            (false, false) => unsafe { self.0.realloc(block, layout, bytes) },
            (true, true) => {
                // SAFETY: such a block is a mapping of this length; where it moves to, only the caller learns.
                let moved = unsafe {
                    libc::mremap(block.cast(), layout.size(), bytes, libc::MREMAP_MAYMOVE)
                };
                mapped(moved)
            }
            // SAFETY: the caller's promise.
            (true, false) | (false, true) => unsafe { self.copied(block, layout, new) },
        }
    }
}

impl<A: GlobalAlloc> Heap<A> {
    /// Moves a block to the other part.
    ///
    /// # Safety
    /// As [`GlobalAlloc::realloc`].
    unsafe fn copied(&self, block: *mut u8, old: Layout, new: Layout) -> *mut u8 {
        // SAFETY: the caller promises that the size is not 0.
        let copy = unsafe { self.alloc(new) };
        if !copy.is_null() {
            let bytes = old.size().min(new.size());
            // SAFETY: both have at least this length, and they are different blocks.
            unsafe { ptr::copy_nonoverlapping(block, copy, bytes) };
            // SAFETY: the caller gives the old block up.
            unsafe { self.dealloc(block, old) };
        }
        copy
    }
}

/// From here on the page that a mapping is rounded up to costs little.
pub const LARGE_BYTES: usize = 64 << 10;

const fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE_BYTES && layout.align() <= LEAST_PAGE_BYTES
}

fn map(bytes: usize) -> *mut u8 {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address that the kernel chooses.
    mapped(unsafe { libc::mmap64(ptr::null_mut(), bytes, protection, flags, -1, 0) })
}

/// The block, or null.
fn mapped(block: *mut libc::c_void) -> *mut u8 {
    if block == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    block.cast()
}

/// No machine has smaller pages.
const LEAST_PAGE_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;

    const HEAP: Heap<System> = Heap(System);

    fn bytes(block: *mut u8, count: usize) -> Vec<u8> {
        // SAFETY: the tests ask for no more than the block has.
        unsafe { std::slice::from_raw_parts(block, count) }.to_vec()
    }

    /// From every size to every other, its content stays and the rest can be written.
    #[test]
    fn a_resized_block_keeps_its_content() {
        let sizes = [
            1,
            100,
            LARGE_BYTES - 1,
            LARGE_BYTES,
            LARGE_BYTES + 5000,
            1 << 20,
        ];
        for from in sizes {
            for to in sizes {
                let [old, new] = [from, to].map(|size| Layout::from_size_align(size, 16).unwrap());
                // SAFETY: the size is not 0.
                let block = unsafe { HEAP.alloc(old) };
                // SAFETY: it has this length.
                unsafe { block.write_bytes(7, from) };
                // SAFETY: it came from there with this layout.
                let block = unsafe { HEAP.realloc(block, old, to) };
                assert!(bytes(block, from.min(to)).iter().all(|byte| *byte == 7));
                assert!(block.addr().is_multiple_of(16), "{from} to {to}");
                // SAFETY: it has this length now.
                unsafe { block.write_bytes(8, to) };
                // SAFETY: it came from there with this layout.
                unsafe { HEAP.dealloc(block, new) };
            }
        }
    }

    /// The first reading of a page makes the kernel give one: before, none is resident.
    #[test]
    fn a_large_block_of_zeros_occupies_no_memory() {
        let layout = Layout::from_size_align(16 << 20, 8).unwrap();
        // SAFETY: the size is not 0.
        let block = unsafe { HEAP.alloc_zeroed(layout) };
        let mut resident = vec![1_u8; layout.size() / LEAST_PAGE_BYTES];
        // SAFETY: the mapping has this length, and the list an entry for each of the smallest pages.
        let known = unsafe { libc::mincore(block.cast(), layout.size(), resident.as_mut_ptr()) };
        assert_eq!(known, 0);
        // SAFETY: it reads a constant of the kernel.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let pages = resident.iter().take(layout.size() / page);
        assert_eq!(pages.filter(|page| *page & 1 == 1).count(), 0);
        assert!(bytes(block, layout.size()).iter().all(|byte| *byte == 0));
        // SAFETY: it came from there with this layout.
        unsafe { HEAP.dealloc(block, layout) };
        // SAFETY: the kernel refuses what is not mapped.
        let gone = unsafe { libc::mincore(block.cast(), layout.size(), resident.as_mut_ptr()) };
        assert_eq!(gone, -1, "it was returned");
    }

    #[test]
    fn what_cannot_be_had_is_null() {
        let layout = Layout::from_size_align(isize::MAX as usize - 4096, 8).unwrap();
        // SAFETY: the size is not 0.
        assert!(unsafe { HEAP.alloc(layout) }.is_null());
    }
}
