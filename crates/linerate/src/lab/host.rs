// SPDX-License-Identifier: MIT OR Apache-2.0
//! One host of the lab: its addresses, and how to act inside it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command};

use linerate_linux::netns::NetNs;

/// A host of the lab.
#[derive(Debug)]
pub struct Host {
    /// `a`, `b` or `device`.
    pub name: &'static str,
    /// The interface that is measured.
    pub interface: &'static str,
    /// Its address.
    pub ipv4: Ipv4Addr,
    /// Its address; none where the MTU is below IPv6's 1280.
    pub ipv6: Option<Ipv6Addr>,
    /// `None`: this machine itself, over the loopback.
    pub(super) namespace: Option<NetNs>,
}

impl Host {
    /// The address of one family.
    pub fn address(&self, ipv6: bool) -> Option<IpAddr> {
        if ipv6 {
            self.ipv6.map(IpAddr::V6)
        } else {
            Some(IpAddr::V4(self.ipv4))
        }
    }

    /// Is there a link to the other host, or only the loopback?
    pub fn is_loopback(&self) -> bool {
        self.namespace.is_none()
    }

    /// Runs `inside` on a thread in this host and waits for it. Sockets opened and threads
    /// started there stay in the host; the sockets may be used from anywhere.
    ///
    /// # Errors
    /// Those of starting a thread and of setns(2).
    pub fn enter<T: Send>(&self, inside: impl FnOnce() -> T + Send) -> io::Result<T> {
        match &self.namespace {
            Some(namespace) => namespace.run(inside),
            None => Ok(inside()),
        }
    }

    /// Starts a command in this host. It dies with the lab.
    ///
    /// # Errors
    /// Those of [`Command::spawn`].
    pub fn spawn(&self, mut command: Command) -> io::Result<Child> {
        if let Some(namespace) = &self.namespace {
            namespace.start_inside(&mut command)?;
        }
        command.spawn()
    }
}
