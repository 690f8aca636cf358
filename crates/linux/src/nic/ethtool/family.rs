// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `ethtool` family of generic netlink: a request, and the parts of its answer.

use std::io;

use linerate_wire::netlink::ethtool::FAMILY;

use crate::netlink::Netlink;

/// Answers the requests of the family: the kernel, or a script in tests.
pub trait Family {
    /// Hands out each part of the answer.
    ///
    /// # Errors
    /// What the kernel refused it with: EOPNOTSUPP for what the driver or the kernel does not have, EPERM.
    fn ask(&mut self, request: &[u8], part: &mut dyn FnMut(&[u8])) -> io::Result<()>;
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
}

impl Family for Kernel {
    fn ask(&mut self, request: &[u8], part: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.socket.ask(self.family, false, request, part)
    }
}
