// SPDX-License-Identifier: MIT OR Apache-2.0
//! One host of the lab: its addresses, and how to act inside it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};

use linerate_linux::buffer_limit::BufferLimit;
use linerate_linux::netns::NetNs;
use linerate_linux::process::{self, Reader};
use linerate_linux::sysctl;

use super::{LabError, cannot};

/// A host of the lab.
#[derive(Debug)]
pub struct Host {
    /// `a`, `b` or `device`.
    pub name: &'static str,
    /// The interface that is measured.
    pub interface: &'static str,
    /// Its address.
    pub ipv4: Ipv4Addr,
    /// Its address; none where the MTU is below IPv6's 1280 or the kernel has no IPv6.
    pub ipv6: Option<Ipv6Addr>,
    /// `None`: this machine itself, over the loopback.
    namespace: Option<NetNs>,
    /// What faults do to the commands of this host.
    pub(super) treatment: Treatment,
}

/// How a host's commands are treated.
#[derive(Debug, Default)]
pub(super) struct Treatment {
    /// The one CPU they run on.
    pub cpu: Option<usize>,
    /// What their datagram sockets get at most.
    pub receive_buffer_bytes: Option<u32>,
    /// Those that have been started.
    pub started: Arc<Mutex<Vec<Reader>>>,
}

impl Host {
    pub(super) fn create(
        name: &'static str,
        (ipv4, ipv6): (Ipv4Addr, Option<Ipv6Addr>),
    ) -> Result<Self, LabError> {
        let namespace = NetNs::create().map_err(cannot("create a network namespace"))?;
        namespace
            .run(settle)
            .map_err(cannot("enter a network namespace"))?;
        let namespace = Some(namespace);
        let treatment = Treatment::default();
        Ok(Self {
            name,
            interface: ETHERNET,
            ipv4,
            ipv6,
            namespace,
            treatment,
        })
    }

    pub(super) fn this_machine(
        name: &'static str,
        (ipv4, ipv6): (Ipv4Addr, Option<Ipv6Addr>),
    ) -> Self {
        let treatment = Treatment::default();
        Self {
            name,
            interface: "lo",
            ipv4,
            ipv6,
            namespace: None,
            treatment,
        }
    }

    /// Its network namespace; `None` if it is this machine itself.
    pub fn namespace(&self) -> Option<&NetNs> {
        self.namespace.as_ref()
    }

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

    /// Moves the calling thread, and the threads that it starts from now on, into this host
    /// for good. Called by the main thread, `/proc/net` is this host's too.
    ///
    /// # Errors
    /// Those of setns(2).
    pub fn move_in(&self) -> io::Result<()> {
        self.namespace.as_ref().map_or(Ok(()), NetNs::move_in)
    }

    /// Starts a command in this host, treated as its faults want. It dies with the lab.
    ///
    /// # Errors
    /// Those of [`Command::spawn`].
    pub fn spawn(&self, mut command: Command) -> io::Result<Child> {
        if let Some(namespace) = &self.namespace {
            namespace.start_inside(&mut command)?;
        }
        if let Some(cpu) = self.treatment.cpu {
            process::pin_command(&mut command, cpu);
        }
        let limit = self.treatment.receive_buffer_bytes;
        let limit = limit
            .map(|bytes| BufferLimit::prepare(&mut command, bytes))
            .transpose()?;
        let child = command.spawn()?;
        limit.map_or(Ok(()), BufferLimit::watch)?;
        let mut started = self
            .treatment
            .started
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        started.push(Reader::of(&child));
        Ok(child)
    }
}

/// Settings that keep a new host quiet and usable by who is root in it only: no address
/// detection, no router to look for, addresses that outlive a link, echo sockets. A kernel without one of them needs none.
fn settle() {
    for (name, value) in [
        ("net.ipv6.conf.default.disable_ipv6", "0"),
        ("net.ipv6.conf.default.accept_dad", "0"),
        ("net.ipv6.conf.default.accept_ra", "0"),
        ("net.ipv6.conf.default.keep_addr_on_down", "1"),
        ("net.ipv6.conf.default.router_solicitations", "0"),
        ("net.ipv4.ping_group_range", "0 0"),
    ] {
        let _absent = sysctl::write(name, value);
    }
}

/// Every host's first interface.
pub(super) const ETHERNET: &str = "eth0";
