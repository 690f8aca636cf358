// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device's memory, mapped to be read: never written, one aligned 32-bit read at a time.
#![expect(
    unsafe_code,
    reason = "a mapping of device memory, and volatile reads of it"
)]

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::ptr::{self, NonNull};

use libc::c_void;

use super::DeviceMemory;

/// A mapping of a device's memory.
#[derive(Debug)]
pub struct Window {
    mapping: NonNull<c_void>,
    mapped_bytes: usize,
    /// Where in the mapping the device begins.
    begin: usize,
    bytes: usize,
}

impl Window {
    /// Maps at most the first `bytes` of the device's memory for reading.
    ///
    /// # Errors
    /// Those of opening and mapping: `EPERM` without root, or where the kernel forbids it
    /// (lockdown, `CONFIG_IO_STRICT_DEVMEM`).
    pub fn open(memory: &DeviceMemory, bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_SYNC | libc::O_CLOEXEC)
            .open(&memory.file)?;
        let page = page_bytes().ok_or_else(too_large)?;
        let begin = memory.offset % page;
        let size = |bytes: u64| usize::try_from(bytes).map_err(|_| too_large());
        let bytes = bytes.min(memory.bytes);
        let mapped_bytes = size(begin.checked_add(bytes).ok_or_else(too_large)?)?;
        let offset = i64::try_from(memory.offset - begin).map_err(|_| too_large())?;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing; it is
        // only read, and only through this structure.
        let mapping = unsafe {
            libc::mmap64(
                ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                offset,
            )
        };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::new(mapping).ok_or_else(too_large)?;
        Ok(Self {
            mapping,
            mapped_bytes,
            begin: size(begin)?,
            bytes: size(bytes)?,
        })
    }

    /// The little-endian word at an offset; none if it is outside or not aligned.
    #[must_use]
    pub fn word(&self, offset: u32) -> Option<u32> {
        let offset = usize::try_from(offset).ok()?;
        let within = offset.is_multiple_of(4) && offset.checked_add(4)? <= self.bytes;
        if !within || !self.begin.is_multiple_of(4) {
            return None;
        }
        let word = self.mapping.as_ptr().cast::<u8>();
        let word = word.wrapping_add(self.begin + offset).cast::<u32>();
        // SAFETY: the word is aligned and inside the mapping (checked above), which lives as
        // long as `self`; volatile, because the device changes it.
        let value = unsafe { word.read_volatile() };
        Some(u32::from_le(value))
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: exactly what `open` mapped; no pointer into it exists elsewhere.
        unsafe { libc::munmap(self.mapping.as_ptr(), self.mapped_bytes) };
    }
}

pub(crate) fn page_bytes() -> Option<u64> {
    // SAFETY: a question without pointers.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).ok().filter(|bytes| *bytes > 0)
}

fn too_large() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

#[cfg(test)]
mod tests {
    use super::{DeviceMemory, Window};

    /// A file replaces the device.
    #[test]
    fn words_are_read_where_they_are_and_nowhere_else() {
        let file = std::env::temp_dir().join(format!("linerate-window-{}", std::process::id()));
        let mut bytes = vec![0; 8192];
        bytes[4096 + 0x84..][..4].copy_from_slice(&0x05ee_0264_u32.to_le_bytes());
        std::fs::write(&file, &bytes).unwrap();
        for offset in [4096, 4] {
            let memory = DeviceMemory {
                file: file.clone(),
                offset,
                bytes: 4096,
            };
            let window = Window::open(&memory, 0x100).unwrap();
            let place = u32::try_from(4096 + 0x84 - offset).unwrap();
            let expected = (place < 0x100).then_some(0x05ee_0264);
            assert_eq!(window.word(place), expected);
            assert_eq!(window.word(0), Some(0));
            for outside in [0x100, 0xfd, 0x82, u32::MAX, u32::MAX - 3] {
                assert_eq!(window.word(outside), None, "{outside:#x}");
            }
        }
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let memory = DeviceMemory {
            file: "/proc/linerate-none".into(),
            offset: 0,
            bytes: 4096,
        };
        assert!(Window::open(&memory, 4096).is_err());
    }
}
