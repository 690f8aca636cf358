// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket buffer sizes: requested with privilege, then without, and reported as granted.
//!
//! The kernel stores twice what is asked, because it charges each packet's own bookkeeping
//! (`sk_buff` and page rounding, "truesize") to the buffer (socket(7)); `granted_bytes` is half of what it
//! stores, so that it compares with what was asked. The payload that fits is less than the stored value
//! and depends on packet size and driver: a 64-byte datagram is charged 768 bytes or more.

use std::io;
use std::os::fd::AsFd;

use rustix::net::sockopt;

/// One direction's socket buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketBuffer {
    /// What was asked for; `None`: the system's default was left alone.
    pub asked_bytes: Option<usize>,
    /// What the kernel gave, in the same meaning as asked (half of what `getsockopt` answers).
    pub granted_bytes: usize,
}

impl SocketBuffer {
    /// Whether less was granted than asked: `net.core.rmem_max`/`wmem_max` and no `CAP_NET_ADMIN`.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.asked_bytes
            .is_some_and(|asked| self.granted_bytes < asked)
    }
}

/// Asks for a receive buffer (`SO_RCVBUFFORCE`, else `SO_RCVBUF`) and reads back the grant.
pub fn receive(fd: impl AsFd, asked_bytes: Option<usize>) -> io::Result<SocketBuffer> {
    let fd = fd.as_fd();
    if let Some(asked) = asked_bytes {
        let asked = asked.min(LARGEST_BYTES);
        if sockopt::set_socket_recv_buffer_size_force(fd, asked).is_err() {
            sockopt::set_socket_recv_buffer_size(fd, asked)?;
        }
    }
    Ok(SocketBuffer {
        asked_bytes,
        granted_bytes: sockopt::socket_recv_buffer_size(fd)? / 2,
    })
}

/// Asks for a send buffer (`SO_SNDBUFFORCE`, else `SO_SNDBUF`) and reads back the grant.
pub fn send(fd: impl AsFd, asked_bytes: Option<usize>) -> io::Result<SocketBuffer> {
    let fd = fd.as_fd();
    if let Some(asked) = asked_bytes {
        let asked = asked.min(LARGEST_BYTES);
        if sockopt::set_socket_send_buffer_size_force(fd, asked).is_err() {
            sockopt::set_socket_send_buffer_size(fd, asked)?;
        }
    }
    Ok(SocketBuffer {
        asked_bytes,
        granted_bytes: sockopt::socket_send_buffer_size(fd)? / 2,
    })
}

/// The kernel doubles into a signed 32-bit integer.
const LARGEST_BYTES: usize = (i32::MAX / 2) as usize;
