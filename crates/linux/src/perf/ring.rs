// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ring buffer of an event: the kernel writes records and their end, the reader how far it has read
//! (`struct perf_event_mmap_page`).
#![expect(unsafe_code, reason = "memory that the kernel writes")]

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{Ordering, fence};

use crate::host::page_bytes;
use crate::port::Memory;

/// A page of positions, then the records.
#[derive(Debug)]
pub(super) struct Ring {
    memory: Memory,
    page_bytes: usize,
    head: NonNull<u64>,
    tail: NonNull<u64>,
}

impl Ring {
    /// Maps the ring of an event, of a power of two `pages`.
    ///
    /// # Errors
    /// EPERM above `kernel.perf_event_mlock_kb`, ENOMEM.
    pub(super) fn of(event: BorrowedFd<'_>, pages: usize) -> io::Result<Self> {
        let page_bytes = page_bytes().and_then(|bytes| usize::try_from(bytes).ok());
        let page_bytes = page_bytes.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        Self::in_memory(Memory::of(event, 0, (1 + pages) * page_bytes)?, page_bytes)
    }

    fn in_memory(memory: Memory, page_bytes: usize) -> io::Result<Self> {
        let at = |offset| memory.at(offset, size_of::<u64>()).map(NonNull::cast);
        let ends = at(HEAD_AT).zip(at(TAIL_AT));
        let (head, tail) = ends.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        Ok(Self {
            memory,
            page_bytes,
            head,
            tail,
        })
    }

    /// Takes whole records, oldest first, to the end of `taken`.
    pub(super) fn take(&mut self, taken: &mut Vec<u8>) {
        // SAFETY: within the first page, aligned to eight bytes; volatile, because the kernel writes it.
        let head = unsafe { self.head.read_volatile() };
        // What the kernel wrote before the head is read after it.
        fence(Ordering::Acquire);
        // SAFETY: as above; only this reader writes it.
        let tail = unsafe { self.tail.read_volatile() };
        let room = (self.memory.bytes() - self.page_bytes) as u64;
        let length = head.wrapping_sub(tail).min(room);
        let begin = tail % room;
        let first = length.min(room - begin);
        self.copy(begin, first, taken);
        self.copy(0, length - first, taken);
        // The records are read before the kernel may write over them.
        fence(Ordering::Release);
        // SAFETY: as above.
        unsafe { self.tail.write_volatile(head) };
    }

    /// Copies `length` bytes of the records.
    fn copy(&self, begin: u64, length: u64, taken: &mut Vec<u8>) {
        let (begin, length) = (begin as usize, length as usize);
        let Some(from) = self.memory.at(self.page_bytes + begin, length) else {
            return;
        };
        let known = taken.len();
        taken.resize(known + length, 0);
        if let Some(to) = taken.get_mut(known..) {
            // SAFETY: both have `length` bytes and do not overlap; the kernel writes none of these until the tail is
            // behind them.
            unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), length) };
        }
    }
}

// SAFETY: positions in a mapping that the ring owns, without thread affinity.
unsafe impl Send for Ring {}

/// `data_head` and `data_tail` of `struct perf_event_mmap_page`.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> Ring {
        Ring::in_memory(Memory::own(2 * 4096).unwrap(), 4096).unwrap()
    }

    /// What the kernel does.
    fn write(ring: &Ring, bytes: &[u8]) {
        // SAFETY: within the first page; nothing else has the ring.
        let head = unsafe { ring.head.read_volatile() };
        for (byte, position) in bytes.iter().zip(head..) {
            let place = ring.memory.at(4096 + (position % 4096) as usize, 1);
            // SAFETY: within the mapping.
            unsafe { place.unwrap().write(*byte) };
        }
        // SAFETY: as above.
        unsafe { ring.head.write_volatile(head + bytes.len() as u64) };
    }

    #[test]
    fn records_are_taken_once_and_in_order_across_the_end() {
        let mut ring = ring();
        for round in 0..10_u8 {
            let written: Vec<u8> = (0..1000_u32).map(|at| at as u8 ^ round).collect();
            write(&ring, &written);
            let mut taken = Vec::new();
            ring.take(&mut taken);
            assert_eq!(taken, written, "{round}");
            ring.take(&mut taken);
            assert_eq!(taken.len(), 1000, "nothing twice");
        }
    }
}
