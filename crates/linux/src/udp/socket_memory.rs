// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a UDP socket says of its receive buffer: how much waits in it, and how many datagrams found no room.

use std::os::fd::{AsFd, BorrowedFd};

use libc::c_int;

use super::receiver::word;
use crate::sockopt;

/// The drop count that the socket itself holds: `SO_MEMINFO`, else the last column of `/proc/self/net/udp{,6}`.
#[must_use]
pub fn drops_so_far(fd: impl AsFd) -> Option<u32> {
    drops_of_socket(fd.as_fd()).or_else(|| drops_of_inode(fd.as_fd()))
}

/// What waits in a socket's receive buffer, in bytes as the buffer's limit counts them (overhead included);
/// `None`: unknown (`SO_MEMINFO`, Linux 4.12).
#[must_use]
pub fn queued_bytes(fd: impl AsFd) -> Option<u32> {
    memory_info(fd.as_fd(), SK_MEMINFO_RMEM_ALLOC)
}

pub(super) fn drops_of_socket(fd: BorrowedFd<'_>) -> Option<u32> {
    memory_info(fd, SK_MEMINFO_DROPS)
}

fn memory_info(fd: BorrowedFd<'_>, index: usize) -> Option<u32> {
    let mut words = [0; 36];
    let length = sockopt::get_bytes(fd, libc::SOL_SOCKET, SO_MEMINFO, &mut words).ok()?;
    word(words.get(..length)?.get(index * 4..)?)
}

fn drops_of_inode(fd: BorrowedFd<'_>) -> Option<u32> {
    let inode = rustix::fs::fstat(fd).ok()?.st_ino.to_string();
    [
        "/proc/thread-self/net/udp",
        "/proc/thread-self/net/udp6",
        "/proc/net/udp",
        "/proc/net/udp6",
    ]
    .iter()
    .filter_map(|path| std::fs::read_to_string(path).ok())
    .find_map(|table| drops_in_table(&table, &inode))
}

/// Columns of net/ipv4/udp.c `udp4_format_sock`: the tenth is the inode, the last the drops.
fn drops_in_table(table: &str, inode: &str) -> Option<u32> {
    let line = table
        .lines()
        .find(|line| line.split_whitespace().nth(9) == Some(inode))?;
    line.split_whitespace().nth(12)?.parse().ok()
}

/// include/uapi/asm-generic/socket.h
const SO_MEMINFO: c_int = 55;
/// include/uapi/linux/sock_diag.h
const SK_MEMINFO_RMEM_ALLOC: usize = 0;
const SK_MEMINFO_DROPS: usize = 8;
