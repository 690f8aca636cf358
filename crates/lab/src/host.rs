// SPDX-License-Identifier: MIT OR Apache-2.0
//! One host of the lab: its addresses, and how to run code and commands in it.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use linerate_linux::buffer_limit::BufferLimit;
use linerate_linux::netns::NetNs;
use linerate_linux::nic;
use linerate_linux::proc;
use linerate_linux::process::{self, Reader};
use linerate_linux::rtnl::{Rtnl, RtnlError};
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
    /// `None`: this machine, over the loopback.
    namespace: Option<NetNs>,
    /// How faults restrict the commands of this host.
    pub(super) commands: Commands,
}

/// The address of each family.
pub(super) type Addresses = (Ipv4Addr, Option<Ipv6Addr>);

/// The commands of a host.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The one CPU they run on.
    pub cpu: Option<usize>,
    /// The limit of their datagram sockets' receive buffers.
    pub receive_buffer_bytes: Option<u32>,
    /// Those that were started.
    pub started: Arc<Mutex<Vec<Reader>>>,
}

impl Host {
    pub(super) fn create(name: &'static str, addresses: Addresses) -> Result<Self, LabError> {
        let namespace = NetNs::create().map_err(cannot("create a network namespace"))?;
        namespace
            .run(settle)
            .map_err(cannot("enter a network namespace"))?;
        Ok(Self::new(name, ETHERNET, addresses, Some(namespace)))
    }

    pub(super) fn this_machine(name: &'static str) -> Self {
        let addresses = (Ipv4Addr::LOCALHOST, Some(Ipv6Addr::LOCALHOST));
        Self::new(name, "lo", addresses, None)
    }

    fn new(
        name: &'static str,
        interface: &'static str,
        (ipv4, ipv6): Addresses,
        namespace: Option<NetNs>,
    ) -> Self {
        Self {
            name,
            interface,
            ipv4,
            ipv6,
            namespace,
            commands: Commands::default(),
        }
    }

    /// Runs `act` in this host; `what` is for the error.
    pub(super) fn configure<E: fmt::Display + Send>(
        &self,
        what: &str,
        act: impl FnOnce() -> Result<(), E> + Send,
    ) -> Result<(), LabError> {
        let done = self
            .enter(act)
            .map_err(cannot("enter a network namespace"))?;
        done.map_err(|why| LabError::measuring(what, why))
    }

    /// Configures the network of this host.
    pub(super) fn set(
        &self,
        act: impl FnOnce(&mut Rtnl) -> Result<(), RtnlError> + Send,
    ) -> Result<(), LabError> {
        let what = format!("configure host {}", self.name);
        self.configure(&what, || act(&mut Rtnl::open()?))
    }

    /// Waits until every veth of this host is in use: for a moment after both ends are up, the kernel drops
    /// what is sent.
    pub(super) fn wait_for_links(&self) -> Result<(), LabError> {
        let end = Instant::now() + LINKS_UP_WITHIN;
        while !self
            .enter(veths_are_up)
            .and_then(|up| up)
            .map_err(cannot("read the state of the links"))?
        {
            if Instant::now() > end {
                let what = format!("bring the links of host {} up", self.name);
                return Err(LabError::measuring(what, "they have no carrier"));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Its network namespace; `None` for this machine.
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

    /// Whether only the loopback connects it to the other host.
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
    /// permanently. Called by the main thread, `/proc/net` is this host's too.
    ///
    /// # Errors
    /// Those of setns(2).
    pub fn move_in(&self) -> io::Result<()> {
        self.namespace.as_ref().map_or(Ok(()), NetNs::move_in)
    }

    /// Starts a command in this host, restricted by its faults. The command ends with the lab.
    ///
    /// # Errors
    /// Those of [`Command::spawn`].
    pub fn spawn(&self, mut command: Command) -> io::Result<Child> {
        if let Some(namespace) = &self.namespace {
            namespace.start_inside(&mut command)?;
        }
        if let Some(cpu) = self.commands.cpu {
            process::pin_command(&mut command, cpu);
        }
        let limit = self.commands.receive_buffer_bytes;
        let limit = limit
            .map(|bytes| BufferLimit::prepare(&mut command, bytes))
            .transpose()?;
        let child = command.spawn()?;
        limit.map_or(Ok(()), BufferLimit::watch)?;
        let mut started = self
            .commands
            .started
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        started.push(Reader::of(&child));
        Ok(child)
    }
}

/// Settings of a new host: no duplicate address detection, no router solicitation, addresses that outlive a link, ping
/// sockets for its root. A kernel that lacks a setting does not need it.
fn settle() {
    for (name, value) in [
        (IPV6_OFF, "0"),
        ("net.ipv6.conf.default.accept_dad", "0"),
        ("net.ipv6.conf.default.accept_ra", "0"),
        ("net.ipv6.conf.default.keep_addr_on_down", "1"),
        ("net.ipv6.conf.default.router_solicitations", "0"),
        ("net.ipv4.ping_group_range", "0 0"),
    ] {
        let _absent = sysctl::write(name, value);
    }
}

fn veths_are_up() -> io::Result<bool> {
    let links = nic::list()?;
    let mut veths = links
        .iter()
        .filter(|link| link.link_kind == nic::LinkKind::Veth);
    Ok(veths.all(|link| link.operstate == "up"))
}

pub(super) fn kernel_has_ipv6() -> bool {
    proc::sysctl(IPV6_OFF).is_ok()
}

/// Keeps the calling thread's namespace from sending anything on its own.
pub(super) fn disable_ipv6() {
    for name in ["net.ipv6.conf.all.disable_ipv6", IPV6_OFF] {
        // A kernel without IPv6 sends nothing.
        let _without_ipv6 = sysctl::write(name, "1");
    }
}

pub(super) fn enable_forwarding(host: &Host, ipv6: bool) -> Result<(), LabError> {
    host.configure("make the device a router", || {
        sysctl::write("net.ipv4.ip_forward", "1")?;
        match ipv6 {
            true => sysctl::write("net.ipv6.conf.all.forwarding", "1"),
            false => Ok(()),
        }
    })
}

/// Absent from a kernel without IPv6.
const IPV6_OFF: &str = "net.ipv6.conf.default.disable_ipv6";
const LINKS_UP_WITHIN: Duration = Duration::from_secs(5);
/// Every host's first interface.
pub(super) const ETHERNET: &str = "eth0";
