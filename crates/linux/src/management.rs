// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interfaces that carry the session in which this process was started, or the connections of another process: who
//! takes one down may lock himself out.
//!
//! What is found: the client of `SSH_CONNECTION` in the environment of this process or of one that started it (sudo
//! removes it from the first), the TCP connections that those processes hold (sshd's, dropbear's, telnetd's), and the
//! ports, slaves and lower devices of the interface on the route there. What is not: a session that goes through a
//! tunnel's outer address, or one that no ancestor belongs to (a job of systemd or at).

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use linerate_model::order::Gather as _;
use linerate_wire::proc::net_tcp::{TcpSocket, established};

use crate::{nic, sysfs};

/// Connections that must not be cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Management {
    /// The far end of each, and how it was found.
    ends: Vec<(IpAddr, String)>,
}

impl Management {
    /// Those by which this process was started.
    #[must_use]
    pub fn of_session() -> Self {
        let processes = ancestors(std::process::id());
        let mut ends: Vec<(IpAddr, String)> =
            processes.iter().filter_map(|id| client(*id)).collect();
        // This process's own connections are a test's.
        for id in processes.iter().skip(1) {
            ends.extend(held(*id));
        }
        Self { ends }
    }

    /// Those that a process holds, or one that it started: ssh, and what its ProxyCommand runs.
    #[must_use]
    pub fn of_process(id: u32) -> Self {
        let ends = descendants(id).into_iter().flat_map(held);
        Self {
            ends: ends.collect(),
        }
    }

    /// With those of another.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.ends.extend(other.ends);
        self
    }

    /// The interfaces of the calling thread's network namespace that carry one of them, each with the reason.
    #[must_use]
    pub fn interfaces(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (end, how) in &self.ends {
            let Some(way) = nic::route(*end).ok().flatten() else {
                continue;
            };
            for name in below(&way) {
                if all.iter().any(|(known, _)| *known == name) {
                    continue;
                }
                let why = match way == name {
                    true => format!("the route to {how}"),
                    false => format!("below {way}, the route to {how}"),
                };
                all.push((name, why));
            }
        }
        all
    }

    /// Why an interface of the calling thread's network namespace carries one of them; `None` if it carries none.
    #[must_use]
    pub fn by(&self, interface: &str) -> Option<String> {
        let mut all = self.interfaces().into_iter();
        all.find_map(|(name, why)| (name == interface).then_some(why))
    }
}

/// `SSH_CONNECTION` in the environment with which a process was started: address and port of the client come first.
fn client(id: u32) -> Option<(IpAddr, String)> {
    let environment = fs::read(of(id, "environ")).ok()?;
    let value = environment
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(b"SSH_CONNECTION="))?;
    let address = str::from_utf8(value).ok()?.split(' ').next()?;
    // A link-local address may have a scope.
    let ip: IpAddr = address.split('%').next()?.parse().ok()?;
    let ip = ip.to_canonical();
    Some((ip, format!("{ip}, the client of SSH_CONNECTION")))
}

/// The far ends of the TCP connections that a process holds.
fn held(id: u32) -> Vec<(IpAddr, String)> {
    let sockets = inodes(id);
    if sockets.is_empty() {
        return Vec::new();
    }
    let name = sysfs::line(&of(id, "comm")).unwrap_or_default();
    let own = connections(id)
        .into_iter()
        .filter(|one| sockets.contains(&one.inode));
    own.map(|one| one.remote.ip())
        .map(|ip| (ip, format!("{ip}, a connection of {name} (process {id})")))
        .collect()
}

/// In the network namespace of the process.
fn connections(id: u32) -> Vec<TcpSocket> {
    ["net/tcp", "net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(of(id, table)).ok())
        .flat_map(|text| established(&text))
        .collect()
}

/// `socket:[17511]`
fn inodes(id: u32) -> BTreeSet<u64> {
    let files = fs::read_dir(of(id, "fd")).into_iter().flatten().flatten();
    let sockets = files.filter_map(|file| {
        let link = fs::read_link(file.path()).ok()?;
        let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        inode.parse::<u64>().ok()
    });
    sockets.gather()
}

/// A process, the one that started it, and so on.
fn ancestors(id: u32) -> Vec<u32> {
    let mut all = vec![id];
    while let Some(parent) = all.last().and_then(|id| parent(*id))
        && parent > 1
        && !all.contains(&parent)
    {
        all.push(parent);
    }
    all
}

/// A process, and all that it and those started, and that still belong to it.
fn descendants(id: u32) -> Vec<u32> {
    let processes = sysfs::names(Path::new("/proc"));
    let processes: Vec<u32> = processes
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    let is_below = |process: &u32| ancestors(*process).contains(&id);
    processes.into_iter().filter(is_below).collect()
}

fn parent(id: u32) -> Option<u32> {
    let status = fs::read_to_string(of(id, "status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

fn of(id: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{id}")).join(file)
}

/// An interface, the ports of a bridge or bond, the lower devices of a VLAN, and theirs.
#[must_use]
pub fn below(interface: &str) -> BTreeSet<String> {
    let links = nic::list().unwrap_or_default();
    let mut all: BTreeSet<String> = [interface.to_owned()].into_iter().gather();
    let mut new = vec![interface.to_owned()];
    while let Some(upper) = new.pop() {
        let index = links.iter().find(|link| link.name == upper);
        let index = index.map(|link| link.index);
        let ports = links
            .iter()
            .filter(|link| link.controller.is_some() && link.controller == index)
            .map(|link| link.name.clone());
        for lower in ports.chain(lower_devices(&upper)) {
            if all.insert(lower.clone()) {
                new.push(lower);
            }
        }
    }
    all
}

/// `lower_eth0` in sysfs, where it shows this namespace.
fn lower_devices(interface: &str) -> Vec<String> {
    let names = sysfs::interface(interface).map(|folder| sysfs::names(&folder));
    let names = names.unwrap_or_default().into_iter();
    names
        .filter_map(|name| name.strip_prefix("lower_").map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_client_of_a_session_is_found_in_the_environment() {
        let mut sleep = Command::new("sleep")
            .arg("1000")
            .env("SSH_CONNECTION", "127.0.0.7 50000 127.0.0.1 22")
            .spawn()
            .unwrap();
        // Until it runs, its environment is this one's; the kernel gives it its name before its environment.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(40);
        let is_named = || sysfs::line(&of(sleep.id(), "comm")).as_deref() == Some("sleep");
        while !is_named() || client(sleep.id()).is_none() {
            assert!(std::time::Instant::now() < deadline, "no environment");
            std::thread::yield_now();
        }
        let found = client(sleep.id());
        let starts = ancestors(sleep.id());
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        let (ip, how) = found.unwrap();
        assert_eq!(ip, IpAddr::from([127, 0, 0, 7]));
        assert!(starts.contains(&std::process::id()));
        let management = Management {
            ends: vec![(ip, how)],
        };
        assert_eq!(
            management.by("lo").as_deref(),
            Some("the route to 127.0.0.7, the client of SSH_CONNECTION")
        );
        assert_eq!(management.by("no-such-if"), None);
    }

    /// The connection is held by a process that this one has started, as one of ssh is.
    #[test]
    fn the_connections_of_a_process_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut cat = Command::new("cat")
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(stream)))
            .spawn()
            .unwrap();
        let found = Management::of_process(cat.id());
        drop(listener);
        cat.kill().unwrap();
        cat.wait().unwrap();
        let why = found.by("lo").unwrap();
        assert!(
            why.starts_with("the route to 127.0.0.1, a connection of "),
            "{why}"
        );
        assert_eq!(Management::default().by("lo"), None);
    }

    #[test]
    fn an_interface_without_ports_is_alone() {
        assert_eq!(below("lo").into_iter().collect::<Vec<_>>(), ["lo"]);
    }
}
