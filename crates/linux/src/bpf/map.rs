// SPDX-License-Identifier: MIT OR Apache-2.0
//! A map that programs and this process share.
#![expect(unsafe_code, reason = "bpf(2) has no safe wrapper")]

mod per_cpu;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::attribute::{Command, Element, MapCreate, address_of, address_of_mut, ask, name, open};

/// What a map is, `enum bpf_map_type`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MapKind {
    /// From any key.
    Hash = 1,
    /// From small numbers to a value for each processor (4.6).
    PerCpuArray = 6,
    /// From small numbers to interfaces that frames are redirected to (4.14).
    Devices = 14,
    /// From queues to sockets that frames are redirected to (4.18).
    Sockets = 17,
}

/// The kernel's map from keys of `K` bytes to values of `V` bytes.
#[derive(Debug)]
pub(crate) struct Map<const K: usize, const V: usize> {
    descriptor: OwnedFd,
}

impl<const K: usize, const V: usize> Map<K, V> {
    /// A new map with room for `most_entries`, all of it taken now.
    ///
    /// # Errors
    /// EPERM without CAP_BPF in the initial user namespace, ENOSYS or EINVAL on a kernel without BPF.
    pub(crate) fn create(kind: MapKind, called: &str, most_entries: u32) -> io::Result<Self> {
        let mut attribute = MapCreate {
            kind: kind as u32,
            key_bytes: K as u32,
            value_bytes: V as u32,
            most_entries,
            name: name(called),
            ..MapCreate::default()
        };
        // SAFETY: the command's own structure, without addresses.
        let descriptor = unsafe { open(Command::MapCreate, &mut attribute) }?;
        Ok(Self { descriptor })
    }

    /// What an instruction names it by.
    pub(crate) fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// Sets one entry.
    ///
    /// # Errors
    /// E2BIG when the map is full.
    pub(crate) fn insert(&self, key: &[u8; K], value: &[u8; V]) -> io::Result<()> {
        let mut attribute = Element {
            key: address_of(key),
            value: address_of(value),
            ..self.element()
        };
        // SAFETY: the map was made for keys and values as long as these arrays, which are only read.
        unsafe { ask(Command::Update, &mut attribute) }?;
        Ok(())
    }

    /// One entry's value.
    ///
    /// # Errors
    /// ENOENT where there is none.
    pub(crate) fn get(&self, key: &[u8; K]) -> io::Result<[u8; V]> {
        let mut value = [0; V];
        let mut attribute = Element {
            key: address_of(key),
            value: address_of_mut(&mut value),
            ..self.element()
        };
        // SAFETY: the map was made for keys and values as long as these arrays; the value is ours alone.
        unsafe { ask(Command::Lookup, &mut attribute) }?;
        Ok(value)
    }

    /// Every entry. Entries made meanwhile may be missing.
    ///
    /// # Errors
    /// Those of the kernel, none of which is expected.
    pub(crate) fn entries(&self) -> io::Result<Vec<([u8; K], [u8; V])>> {
        let mut entries = Vec::new();
        let mut last = None;
        while let Some(key) = self.key_after(last.as_ref())? {
            entries.push((key, self.get(&key)?));
            last = Some(key);
        }
        Ok(entries)
    }

    fn key_after(&self, last: Option<&[u8; K]>) -> io::Result<Option<[u8; K]>> {
        let mut next = [0; K];
        let mut attribute = Element {
            key: last.map_or(0, |last| address_of(last)),
            value: address_of_mut(&mut next),
            ..self.element()
        };
        // SAFETY: the map was made for keys as long as these arrays; 0 asks for the first.
        match unsafe { ask(Command::NextKey, &mut attribute) } {
            Ok(_) => Ok(Some(next)),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn element(&self) -> Element {
        Element {
            map: self.descriptor.as_raw_fd() as u32,
            ..Element::default()
        }
    }
}
