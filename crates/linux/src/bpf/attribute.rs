// SPDX-License-Identifier: MIT OR Apache-2.0
//! bpf(2) and the attributes of its commands. Source: include/uapi/linux/bpf.h, `union bpf_attr`.
#![expect(unsafe_code, reason = "bpf(2) has no safe wrapper")]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// The command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Command {
    MapCreate = 0,
    Lookup = 1,
    Update = 2,
    NextKey = 4,
    ProgramLoad = 5,
    ProgramNextId = 11,
    ObjectInfo = 15,
    RawTracepointOpen = 17,
    LinkCreate = 28,
}

/// `BPF_MAP_CREATE`.
#[repr(C)]
#[derive(Default)]
pub(super) struct MapCreate {
    pub(super) kind: u32,
    pub(super) key_bytes: u32,
    pub(super) value_bytes: u32,
    pub(super) most_entries: u32,
    pub(super) flags: u32,
    pub(super) inner_map: u32,
    pub(super) numa_node: u32,
    pub(super) name: [u8; NAME_BYTES],
}

/// `BPF_PROG_LOAD`.
#[repr(C)]
#[derive(Default)]
pub(super) struct ProgramLoad {
    pub(super) kind: u32,
    pub(super) instructions: u32,
    pub(super) code: u64,
    pub(super) license: u64,
    pub(super) log_level: u32,
    pub(super) log_bytes: u32,
    pub(super) log: u64,
    pub(super) kernel_version: u32,
    pub(super) flags: u32,
    pub(super) name: [u8; NAME_BYTES],
}

/// What map commands share.
#[repr(C)]
#[derive(Default)]
pub(super) struct Element {
    pub(super) map: u32,
    pub(super) unused: u32,
    pub(super) key: u64,
    pub(super) value: u64,
    pub(super) flags: u64,
}

/// `BPF_RAW_TRACEPOINT_OPEN`.
#[repr(C)]
#[derive(Default)]
pub(super) struct RawTracepoint {
    pub(super) name: u64,
    pub(super) program: u32,
    pub(super) unused: u32,
}

/// `BPF_LINK_CREATE`.
#[repr(C)]
#[derive(Default)]
pub(super) struct LinkCreate {
    pub(super) program: u32,
    pub(super) target: u32,
    pub(super) kind: u32,
    pub(super) flags: u32,
}

/// `BPF_PROG_GET_NEXT_ID`.
#[repr(C)]
#[derive(Default)]
pub(super) struct NextId {
    pub(super) after: u32,
    pub(super) next: u32,
    pub(super) flags: u32,
}

/// `BPF_OBJ_GET_INFO_BY_FD`.
#[repr(C)]
#[derive(Default)]
pub(super) struct Info {
    pub(super) descriptor: u32,
    pub(super) bytes: u32,
    pub(super) into: u64,
}

pub(super) const NAME_BYTES: usize = 16;

/// Calls bpf(2); the result is 0 or a descriptor.
///
/// # Safety
/// `A` is the command's part of `union bpf_attr`, and every address in it is that of memory which
/// is alive, and large enough for what the command reads and writes there.
pub(super) unsafe fn ask<A>(command: Command, attribute: &mut A) -> io::Result<libc::c_long> {
    let (command, address) = (command as libc::c_long, std::ptr::from_mut(attribute));
    // SAFETY: the caller vouches for what `attribute` holds, and it is borrowed for the call.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, address, size_of::<A>()) };
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(answer)
    }
}

/// As [`ask`], for commands that answer with a new descriptor.
///
/// # Safety
/// As [`ask`], and the command is one that makes a descriptor.
pub(super) unsafe fn open<A>(command: Command, attribute: &mut A) -> io::Result<OwnedFd> {
    // SAFETY: the caller vouches for it.
    let descriptor = unsafe { ask(command, attribute) }? as i32;
    // SAFETY: the kernel has just created it for us; it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Where `bytes` begin, as the kernel takes addresses.
pub(super) fn address_of<T>(items: &[T]) -> u64 {
    items.as_ptr() as usize as u64
}

/// As [`address_of`], for what the kernel writes.
pub(super) fn address_of_mut<T>(items: &mut [T]) -> u64 {
    items.as_mut_ptr() as usize as u64
}

/// A name as the kernel keeps it: short, ended by a zero.
pub(super) fn name(text: &str) -> [u8; NAME_BYTES] {
    let mut name = [0; NAME_BYTES];
    let bytes = text.as_bytes();
    let length = bytes.len().min(NAME_BYTES - 1);
    name[..length].copy_from_slice(&bytes[..length]);
    name
}
