// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the sockets of one server share its port.
//!
//! With `SO_REUSEADDR` any user of the host can bind the port as well, and receives what is meant for the server. With
//! `SO_REUSEPORT` only the same user can (udp(7), socket(7)). Before Linux 5.4 a group of `SO_REUSEPORT` sockets gave
//! datagrams of another peer to connected members (kernel commit acdcecc61285); whether this kernel does is tried once.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::OnceLock;
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::readable_within;

/// Lets an unbound socket share its port with others of this user; on a kernel that would misdeliver, with all users'.
pub(super) fn share(socket: &Socket) -> io::Result<()> {
    match misdelivers() {
        true => socket.set_reuse_address(true),
        false => socket.set_reuse_port(true),
    }
}

/// Whether this kernel was seen to give a connected socket of an `SO_REUSEPORT` group another peer's datagram. What could
/// not be tried is no reason to share the port with other users.
#[must_use]
pub fn misdelivers() -> bool {
    static MISDELIVERS: OnceLock<bool> = OnceLock::new();
    *MISDELIVERS.get_or_init(|| a_twin_gets_anothers().unwrap_or(false))
}

/// One unconnected socket, connected ones on its port, and a datagram from each of many other peers.
fn a_twin_gets_anothers() -> io::Result<bool> {
    let acceptor = member(0)?;
    let port = acceptor.local_addr()?.port();
    let mut kept = Vec::new();
    for _ in 0..MEMBERS {
        let (twin, peer) = (member(port)?, peer()?);
        twin.connect(peer.local_addr()?)?;
        kept.push((twin, peer));
    }
    for _ in 0..OTHERS {
        peer()?.send_to(b"?", acceptor.local_addr()?)?;
        if readable_within(&acceptor, PATIENCE)? {
            acceptor.recv(&mut [0])?;
            continue;
        }
        for (twin, _) in &kept {
            if readable_within(twin, Duration::ZERO)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn member(port: u16) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_port(true)?;
    socket.bind(&SockAddr::from(SocketAddr::from((
        Ipv4Addr::LOCALHOST,
        port,
    ))))?;
    Ok(socket.into())
}

fn peer() -> io::Result<UdpSocket> {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
}

const MEMBERS: usize = 8;
/// A kernel that picks a member by a hash of the addresses passes with a chance of 1 in 9^16.
const OTHERS: usize = 16;
/// The loopback delivers within a send; this is for a machine without a free processor.
const PATIENCE: Duration = Duration::from_millis(200);
