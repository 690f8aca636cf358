// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory shared with the kernel. Unmapped when dropped.
#![expect(unsafe_code, reason = "mmap")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};

/// Zeroed when it is made, aligned to a page.
#[derive(Debug)]
pub(super) struct Memory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: an address range without a thread's identity; who may access what is decided by those that ask for pointers.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared reference only gives addresses away.
unsafe impl Sync for Memory {}

impl Memory {
    /// What a socket offers at `offset`.
    ///
    /// # Errors
    /// EINVAL if it offers nothing so large there, ENOMEM.
    pub(super) fn of(socket: BorrowedFd<'_>, offset: u64, bytes: usize) -> io::Result<Self> {
        Self::map(bytes, libc::MAP_SHARED, socket.as_raw_fd(), offset)
    }

    fn map(bytes: usize, flags: i32, descriptor: i32, offset: u64) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let anywhere = ptr::null_mut();
        // SAFETY: a new mapping at an address of the kernel's choice, so it replaces none.
        let start = unsafe {
            libc::mmap64(
                anywhere,
                bytes,
                protection,
                flags,
                descriptor,
                offset as libc::off64_t,
            )
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { start, bytes }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The address of `length` bytes at `offset`, if all of them are inside.
    pub(super) fn at(&self, offset: usize, length: usize) -> Option<NonNull<u8>> {
        let inside = offset.checked_add(length)? <= self.bytes;
        // SAFETY: within the mapping, as was just compared.
        inside.then(|| unsafe { self.start.add(offset) })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped; who holds an address of it also holds this value.
        let _unmapped = unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
