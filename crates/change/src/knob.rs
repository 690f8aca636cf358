// SPDX-License-Identifier: MIT OR Apache-2.0
//! A setting's name, and how it is read and written: `sysctl NAME`, `ethtool -A|-C|-G|-L WORD…`, `ethtool -K FEATURE`,
//! `ip link txqueuelen|mtu`, `sysfs FILE` (below `/sys/class/net/INTERFACE`), `irq NUMBER`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use linerate_linux::nic::{self, Parameters, feature};
use linerate_linux::rtnl::Rtnl;
use linerate_linux::{sysctl, sysfs};

use crate::{files, parameters};

/// A setting of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knob<'a> {
    /// A network sysctl.
    Sysctl(&'a str),
    /// Words of one of `ethtool`'s structures, which are written together.
    Parameters(Parameters, &'a str),
    /// A feature (`ethtool -K`).
    Feature(&'a str),
    /// How many packets the interface's queue holds (`txqueuelen` of ip-link(8)).
    QueueLength,
    /// Bytes of the longest IP packet (`mtu` of ip-link(8)).
    Mtu,
    /// A file of the interface in sysfs: `threaded`, `queues/rx-0/rps_cpus`.
    File(&'a str),
    /// The processors of an interrupt: `/proc/irq/N/smp_affinity_list`.
    Interrupt(u32),
}

impl<'a> Knob<'a> {
    /// Nothing for a name that is none.
    pub(crate) fn of(name: &'a str) -> Option<Self> {
        let (first, rest) = name.split_once(' ')?;
        match first {
            "sysctl" => sysctl::is_known(rest).then_some(Self::Sysctl(rest)),
            "ip" => match rest {
                "link txqueuelen" => Some(Self::QueueLength),
                "link mtu" => Some(Self::Mtu),
                _ => None,
            },
            "sysfs" => files::is_known(rest).then_some(Self::File(rest)),
            "irq" => rest.parse().ok().map(Self::Interrupt),
            "ethtool" => Self::of_ethtool(rest),
            _ => None,
        }
    }

    fn of_ethtool(words: &'a str) -> Option<Self> {
        let (option, names) = words.split_once(' ')?;
        let of = match option {
            "-A" => Parameters::Pause,
            "-C" => Parameters::Coalescing,
            "-G" => Parameters::Rings,
            "-L" => Parameters::Channels,
            "-K" => return Some(Self::Feature(names)),
            _ => return None,
        };
        let are_known = names.split(' ').all(|name| of.has(name));
        are_known.then_some(Self::Parameters(of, names))
    }

    /// The value in force; `interface` where it is one's.
    pub(crate) fn read(self, interface: &str) -> io::Result<String> {
        match self {
            Self::Sysctl(name) => sysctl::read(name),
            Self::Parameters(of, names) => parameters::read(of, names, interface),
            Self::Feature(name) => feature::read(interface, name).map(|on| on_off(on).to_owned()),
            Self::QueueLength => {
                let length = nic::link(interface)?.tx_queue_length;
                length
                    .map(|packets| packets.to_string())
                    .ok_or_else(|| invalid("not reported"))
            }
            Self::Mtu => Ok(nic::link(interface)?.mtu_bytes.to_string()),
            Self::File(name) => trimmed(&file(interface, name)?),
            Self::Interrupt(number) => trimmed(&affinity(number)),
        }
    }

    /// Writes a value.
    pub(crate) fn write(self, interface: &str, value: &str) -> io::Result<()> {
        match self {
            Self::Sysctl(name) => sysctl::write(name, value),
            Self::Parameters(of, names) => parameters::write(of, names, interface, value),
            Self::Feature(name) => feature::switch(interface, name, switched(value)?),
            Self::QueueLength => {
                let packets = value.parse().map_err(invalid)?;
                let mut rtnl = Rtnl::open().map_err(io::Error::other)?;
                rtnl.set_tx_queue_length(interface, packets)
                    .map_err(io::Error::other)
            }
            Self::Mtu => {
                let bytes = value.parse().map_err(invalid)?;
                let mut rtnl = Rtnl::open().map_err(io::Error::other)?;
                rtnl.set_mtu(interface, bytes).map_err(io::Error::other)
            }
            Self::File(name) => fs::write(file(interface, name)?, value),
            Self::Interrupt(number) => fs::write(affinity(number), value),
        }
    }
}

fn file(interface: &str, name: &str) -> io::Result<PathBuf> {
    let folder = sysfs::interface(interface).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "/sys/class/net does not show the interfaces of this network namespace",
        )
    })?;
    Ok(folder.join(name))
}

fn affinity(number: u32) -> PathBuf {
    PathBuf::from(format!("/proc/irq/{number}/smp_affinity_list"))
}

fn trimmed(path: &Path) -> io::Result<String> {
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

/// Whether a setting of this name can be read, written and restored.
pub(crate) fn is_knob(name: &str) -> bool {
    Knob::of(name).is_some() || SOON.iter().any(|soon| name.starts_with(soon))
}

pub(crate) fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

pub(crate) fn switched(value: &str) -> io::Result<bool> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(invalid("neither on nor off")),
    }
}

pub(crate) fn invalid(why: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why.to_string())
}

/// Named by commands; read and written in a further change.
const SOON: [&str; 6] = [
    "ethtool -X ",
    "ethtool -N rx-flow-hash ",
    "ethtool --set-eee eee",
    "tc qdisc root",
    "cpufreq scaling_governor",
    "pm-qos cpu_dma_latency",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_commands() {
        for (name, knob) in [
            (
                "sysctl net.ipv4.tcp_rmem",
                Knob::Sysctl("net.ipv4.tcp_rmem"),
            ),
            (
                "ethtool -G rx tx",
                Knob::Parameters(Parameters::Rings, "rx tx"),
            ),
            ("ethtool -K rx-gro-list", Knob::Feature("rx-gro-list")),
            (
                "sysfs queues/rx-0/rps_cpus",
                Knob::File("queues/rx-0/rps_cpus"),
            ),
            ("ip link txqueuelen", Knob::QueueLength),
            ("irq 31", Knob::Interrupt(31)),
        ] {
            assert_eq!(Knob::of(name), Some(knob));
        }
        for none in [
            "ab",
            "sysfs ../../../etc",
            "sysfs /etc",
            "irq x",
            "ethtool -s speed",
            "ethtool -G rx many",
            "sysctl kernel.core_pattern",
            "sysctl net/ipv4",
        ] {
            assert_eq!(Knob::of(none), None, "{none}");
        }
    }
}
