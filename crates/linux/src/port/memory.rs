// SPDX-License-Identifier: MIT OR Apache-2.0
//! One mapping of memory: the program's own, or shared with the kernel. Unmapped when its last owner is dropped.
#![expect(unsafe_code, reason = "mmap")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Zeroed when it is made, aligned to a page.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    bytes: usize,
    mapping: Arc<Mapping>,
}

// SAFETY: an address range without thread affinity; the users of addresses control access.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared reference only gives addresses away.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory of this process alone.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn own(bytes: usize) -> io::Result<Self> {
        Self::map(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    }

    /// What a socket offers at `offset`.
    ///
    /// # Errors
    /// EINVAL if it offers nothing so large there, ENOMEM.
    pub(crate) fn of(socket: BorrowedFd<'_>, offset: u64, bytes: usize) -> io::Result<Self> {
        Self::map(bytes, libc::MAP_SHARED, socket.as_raw_fd(), offset)
    }

    fn map(bytes: usize, flags: i32, descriptor: i32, offset: u64) -> io::Result<Self> {
        let (protection, anywhere) = (libc::PROT_READ | libc::PROT_WRITE, ptr::null_mut());
        let offset = offset as libc::off64_t;
        // SAFETY: a new mapping at an address of the kernel's choice, so it replaces none.
        let start = unsafe { libc::mmap64(anywhere, bytes, protection, flags, descriptor, offset) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => {
                let mapping = Arc::new(Mapping { start, bytes });
                Ok(Self {
                    start,
                    bytes,
                    mapping,
                })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Another owner, for another part of it.
    pub(crate) fn share(&self) -> Self {
        let (start, bytes) = (self.start, self.bytes);
        let mapping = Arc::clone(&self.mapping);
        Self {
            start,
            bytes,
            mapping,
        }
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of `length` bytes at `offset`, if all of them are inside.
    pub(crate) fn at(&self, offset: usize, length: usize) -> Option<NonNull<u8>> {
        let inside = offset.checked_add(length)? <= self.bytes;
        // SAFETY: within the mapping, as was just compared.
        inside.then(|| unsafe { self.start.add(offset) })
    }
}

#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: an address range without a thread's identity.
unsafe impl Send for Mapping {}
// SAFETY: as above; nothing can be done with a shared reference.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped; every holder of an address also holds an owner.
        let _unmapped = unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
