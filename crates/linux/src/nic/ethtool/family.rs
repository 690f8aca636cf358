// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `ethtool` family of generic netlink: a request, and the parts of its answer.

use std::io;

use linerate_wire::netlink::ethtool::FAMILY;
use linerate_wire::netlink::ethtool::cable::GROUP;

use crate::netlink::Netlink;

/// Answers the requests of the family: the kernel, or a script in tests.
pub trait Family {
    /// Hands out each part of the answer.
    ///
    /// # Errors
    /// What the kernel refused it with: EOPNOTSUPP for what the driver or the kernel does not have, EPERM.
    fn ask(&mut self, request: &[u8], part: &mut dyn FnMut(&[u8])) -> io::Result<()>;

    /// Hands out notifications until one is the wanted.
    ///
    /// # Errors
    /// WouldBlock where none came within some seconds.
    fn listen(&mut self, wanted: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()>;
}

/// Of the network namespace of the thread that opened it.
#[derive(Debug)]
pub(super) struct Kernel {
    socket: Netlink,
    family: u16,
}

impl Kernel {
    /// # Errors
    /// Those of netlink sockets; NotFound before Linux 5.6.
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Netlink::generic()?;
        let family = socket.family(FAMILY)?;
        Ok(Self { socket, family })
    }

    /// The same, with its notifications.
    pub(super) fn open_listening() -> io::Result<Self> {
        let mut kernel = Self::open()?;
        kernel.socket.join(FAMILY, GROUP)?;
        Ok(kernel)
    }
}

impl Family for Kernel {
    fn ask(&mut self, request: &[u8], part: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.socket.ask(self.family, false, request, part)
    }

    fn listen(&mut self, wanted: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
        self.socket.listen(wanted)
    }
}
