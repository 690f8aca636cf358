// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error queue of a socket (`IP_RECVERR`): ICMP messages and local errors, with their origin.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::BorrowedFd;

use crate::message::{Message, ReceiveBuffers};

/// The origin of a queued error (include/uapi/linux/errqueue.h, `SO_EE_ORIGIN_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This host's own stack.
    Local,
    /// An ICMP message.
    Icmp,
    /// An ICMPv6 message.
    Icmp6,
    /// Another origin number.
    Other(u8),
}

/// One entry of the error queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedError {
    /// The errno it was turned into.
    pub errno: i32,
    /// Its origin.
    pub origin: Origin,
    /// ICMP type (0 for local).
    pub icmp_type: u8,
    /// ICMP code (0 for local).
    pub icmp_code: u8,
    /// For `EMSGSIZE`: the MTU to use, in bytes of IP packet.
    pub mtu: Option<u32>,
    /// The host that sent the ICMP message.
    pub offender: Option<IpAddr>,
}

/// Empties a socket's error queue, oldest first. Unread entries are charged to its receive buffer.
pub fn drain_errors(fd: BorrowedFd<'_>, each: impl FnMut(QueuedError)) {
    drain_into(fd, &mut buffers(), each);
}

/// The buffers that [`drain_into`] needs, for a path that must not allocate.
pub(super) fn buffers() -> ReceiveBuffers {
    ReceiveBuffers::new(1, QUOTED_BYTES, false)
}

pub(super) fn drain_into(
    fd: BorrowedFd<'_>,
    buffers: &mut ReceiveBuffers,
    mut each: impl FnMut(QueuedError),
) {
    for _ in 0..LONGEST_QUEUE {
        if buffers
            .receive_first(fd, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)
            .is_err()
        {
            return;
        }
        if let Some(queued) = parse(&buffers.message(0)) {
            each(queued);
        }
    }
}

fn parse(message: &Message<'_>) -> Option<QueuedError> {
    message
        .controls()
        .find_map(|(level, kind, data)| match (level, kind) {
            (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR) => {
                extended(data)
            }
            _ => None,
        })
}

/// `struct sock_extended_err` followed by the offender's address.
fn extended(data: &[u8]) -> Option<QueuedError> {
    let word = |at: usize| Some(u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?));
    let errno = word(0)? as i32;
    let info = word(8)?;
    Some(QueuedError {
        errno,
        origin: match *data.get(4)? {
            1 => Origin::Local,
            2 => Origin::Icmp,
            3 => Origin::Icmp6,
            other => Origin::Other(other),
        },
        icmp_type: *data.get(5)?,
        icmp_code: *data.get(6)?,
        mtu: (errno == libc::EMSGSIZE && info > 0).then_some(info),
        offender: offender(data.get(16..)?),
    })
}

fn offender(address: &[u8]) -> Option<IpAddr> {
    let family = u16::from_ne_bytes(address.get(..2)?.try_into().ok()?);
    match i32::from(family) {
        libc::AF_INET => Some(Ipv4Addr::from(<[u8; 4]>::try_from(address.get(4..8)?).ok()?).into()),
        libc::AF_INET6 => {
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(address.get(8..24)?).ok()?).to_canonical())
        }
        _ => None,
    }
}

const QUOTED_BYTES: usize = 64;
const LONGEST_QUEUE: usize = 4096;
