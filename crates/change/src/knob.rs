// SPDX-License-Identifier: MIT OR Apache-2.0
//! A setting's name, and how it is read and written: `sysctl NAME`, `ethtool -A|-C|-G|-L WORD`, `ethtool -K FEATURE`,
//! `ip link txqueuelen`, `sysfs FILE` (below `/sys/class/net/INTERFACE`), `irq NUMBER`.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use linerate_linux::nic::{self, Parameters, feature};
use linerate_linux::rtnl::Rtnl;
use linerate_linux::{sysctl, sysfs};

/// A setting of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knob<'a> {
    /// A network sysctl.
    Sysctl(&'a str),
    /// A word of one of `ethtool`'s structures.
    Parameter(Parameters, &'a str),
    /// A feature (`ethtool -K`).
    Feature(&'a str),
    /// How many packets the interface's queue holds (`txqueuelen` of ip-link(8)).
    QueueLength,
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
            "sysctl" => Some(Self::Sysctl(rest)),
            "ip" => (rest == "link txqueuelen").then_some(Self::QueueLength),
            "sysfs" => stays_below(rest).then_some(Self::File(rest)),
            "irq" => rest.parse().ok().map(Self::Interrupt),
            "ethtool" => Self::of_ethtool(rest),
            _ => None,
        }
    }

    fn of_ethtool(words: &'a str) -> Option<Self> {
        let (option, word) = words.split_once(' ')?;
        Some(match option {
            "-A" => Self::Parameter(Parameters::Pause, word),
            "-C" => Self::Parameter(Parameters::Coalescing, word),
            "-G" => Self::Parameter(Parameters::Rings, word),
            "-L" => Self::Parameter(Parameters::Channels, word),
            "-K" => Self::Feature(word),
            _ => return None,
        })
    }

    /// The value in force; `interface` where it is one's.
    pub(crate) fn read(self, interface: &str) -> io::Result<String> {
        match self {
            Self::Sysctl(name) => sysctl::read(name),
            Self::Parameter(of, word) => {
                let value = of.read(interface, word)?;
                Ok(match is_switch(of, word) {
                    true => on_off(value != 0).to_owned(),
                    false => value.to_string(),
                })
            }
            Self::Feature(name) => feature::read(interface, name).map(|on| on_off(on).to_owned()),
            Self::QueueLength => {
                let length = nic::link(interface)?.tx_queue_length;
                length
                    .map(|packets| packets.to_string())
                    .ok_or_else(|| invalid("not reported"))
            }
            Self::File(name) => trimmed(&file(interface, name)?),
            Self::Interrupt(number) => trimmed(&affinity(number)),
        }
    }

    /// Writes a value.
    pub(crate) fn write(self, interface: &str, value: &str) -> io::Result<()> {
        match self {
            Self::Sysctl(name) => sysctl::write(name, value),
            Self::Parameter(of, word) => {
                let number = match is_switch(of, word) {
                    true => u32::from(switched(value)?),
                    false => value.parse().map_err(invalid)?,
                };
                of.write(interface, word, number)
            }
            Self::Feature(name) => feature::switch(interface, name, switched(value)?),
            Self::QueueLength => {
                let packets = value.parse().map_err(invalid)?;
                let mut rtnl = Rtnl::open().map_err(io::Error::other)?;
                rtnl.set_tx_queue_length(interface, packets)
                    .map_err(io::Error::other)
            }
            Self::File(name) => fs::write(file(interface, name)?, value),
            Self::Interrupt(number) => fs::write(affinity(number), value),
        }
    }
}

/// Neither up nor absolute.
fn stays_below(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    parts.all(|part| matches!(part, Component::Normal(_)))
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

/// `ethtool` shows these as on and off.
fn is_switch(of: Parameters, word: &str) -> bool {
    of == Parameters::Pause || word.starts_with("adaptive")
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn switched(value: &str) -> io::Result<bool> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(invalid("neither on nor off")),
    }
}

fn invalid(why: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why.to_string())
}

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
            ("ethtool -G rx", Knob::Parameter(Parameters::Rings, "rx")),
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
        ] {
            assert_eq!(Knob::of(none), None, "{none}");
        }
    }
}
