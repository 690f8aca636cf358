// SPDX-License-Identifier: MIT OR Apache-2.0
//! A socket for frames of one interface (packet(7)) and its options.
#![expect(unsafe_code, reason = "sockaddr_ll and packet options")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::netdevice;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::port::link::{self, Link};
use crate::sockopt;

/// Bound to one interface.
#[derive(Debug)]
pub(crate) struct PacketSocket {
    descriptor: OwnedFd,
    link: Link,
}

impl PacketSocket {
    /// Receives nothing until it is bound.
    ///
    /// # Errors
    /// EPERM without CAP_NET_RAW, ENODEV for an unknown interface, EAFNOSUPPORT where the kernel has no packet sockets.
    pub(crate) fn open(interface: &str) -> io::Result<Self> {
        let (family, kind) = (AddressFamily::PACKET, SocketType::RAW);
        let descriptor = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        let link = Link::new(netdevice::name_to_index(&descriptor, interface)?, interface);
        Ok(Self { descriptor, link })
    }

    /// Sends past the queueing discipline.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn open_to_send(interface: &str) -> io::Result<Self> {
        let socket = Self::open(interface)?;
        // An old kernel queues instead: slower, not wrong.
        let _queued = socket.set(libc::PACKET_QDISC_BYPASS, &1_i32);
        Ok(socket)
    }

    /// Sends out of the interface and, if `protocol` is not [`NOTHING`], receives from it.
    ///
    /// # Errors
    /// NetworkDown if it is down.
    pub(crate) fn bind(&self, protocol: u16) -> io::Result<()> {
        self.bind_down(protocol)?;
        self.link.must_be_up(self.as_fd())
    }

    /// As [`Self::bind`], for an interface that may be down.
    ///
    /// # Errors
    /// Those of bind(2).
    pub(crate) fn bind_down(&self, protocol: u16) -> io::Result<()> {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as libc::c_ushort,
            sll_protocol: protocol.to_be(),
            sll_ifindex: self.link.index() as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = size_of_val(&address) as libc::socklen_t;
        let socket = self.descriptor.as_raw_fd();
        // SAFETY: `address` is a sockaddr_ll of that length and outlives the call.
        link::check(unsafe { libc::bind(socket, (&raw const address).cast(), length) })
    }

    /// Makes the interface take what is for others, until the socket is closed.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub(crate) fn join_promiscuous(&self) -> io::Result<()> {
        let member = libc::packet_mreq {
            mr_ifindex: self.link.index() as i32,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.set(libc::PACKET_ADD_MEMBERSHIP, &member)
    }

    /// # Errors
    /// Those of setsockopt(2); ENOPROTOOPT where the kernel is too old.
    pub(crate) fn set<T: Copy>(&self, option: i32, value: &T) -> io::Result<()> {
        sockopt::set(self, libc::SOL_PACKET, option, value)
    }

    /// Frames seen, and dropped for lack of room, since the last call.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub(crate) fn take_statistics(&self) -> io::Result<[u32; 3]> {
        let mut bytes = [0; 12];
        sockopt::get_bytes(self, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut bytes)?;
        let (words, _none) = bytes.as_chunks();
        Ok(std::array::from_fn(|at| u32::from_ne_bytes(words[at])))
    }

    pub(in crate::port) fn link(&self) -> &Link {
        &self.link
    }

    /// The result of a send that failed: a full device is not an error, a lost one is.
    pub(in crate::port) fn none_sent(&self, error: io::Error) -> io::Result<usize> {
        let error = self.explain(error);
        match error.raw_os_error() {
            Some(libc::ENOBUFS | libc::EAGAIN | libc::EINTR) => Ok(0),
            _ => Err(error),
        }
    }

    /// What failed, as it concerns the interface.
    pub(crate) fn explain(&self, error: io::Error) -> io::Error {
        self.link.explain(self.descriptor.as_fd(), error)
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Protocols to receive.
pub(crate) const NOTHING: u16 = 0;
pub(crate) const EVERYTHING: u16 = libc::ETH_P_ALL as u16;
