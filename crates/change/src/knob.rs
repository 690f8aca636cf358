// SPDX-License-Identifier: MIT OR Apache-2.0
//! A setting's name, and how it is read and written: `sysctl NAME`, `ethtool -A|-C|-G|-L WORD…`, `ethtool -K FEATURE`,
//! `ip link txqueuelen|mtu|state|master`, `ip link bridge NAME`, `sysfs FILE` (below `/sys/class/net/INTERFACE`), `irq NUMBER`.

use std::fs;
use std::io;
use std::path::Path;

use linerate_linux::nic::{self, Parameters, energy, feature, flow_hash, receive_hash};
use linerate_linux::rtnl::{Rtnl, RtnlError};
use linerate_linux::{proc, qdisc, sysctl};

use crate::kernel::Kernel;
use crate::{bounds, files, forwarding, governor, latency, link, parameters};

/// A setting of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knob<'a> {
    /// A network sysctl.
    Sysctl(&'a str),
    /// Words of one of `ethtool`'s structures, which are written together.
    Parameters(Parameters, &'a str),
    /// A feature (`ethtool -K`).
    Feature(&'a str),
    /// Energy-efficient Ethernet (`ethtool --set-eee … eee`).
    EnergyEfficient,
    /// The fields of a flow that are hashed (`ethtool -N … rx-flow-hash`).
    FlowHash(&'a str),
    /// The queue of each hash (`ethtool -X`).
    Indirection,
    /// The key of the hash (`ethtool -X … hkey`).
    HashKey,
    /// The root queueing discipline.
    Qdisc,
    /// How many packets the interface's queue holds (`txqueuelen` of ip-link(8)).
    QueueLength,
    /// Bytes of the longest IP packet (`mtu` of ip-link(8)).
    Mtu,
    /// `up` or `down`.
    LinkState,
    /// The bridge or bond that the interface belongs to, or `nomaster`.
    Master,
    /// Whether there is a bridge of this name: `present` or `absent`.
    Bridge(&'a str),
    /// Whether IPv6 is forwarded: of all interfaces, and of each that has another value.
    ForwardingIpv6,
    /// A file of the interface in sysfs: `threaded`, `queues/rx-0/rps_cpus`.
    File(&'a str),
    /// The processors of an interrupt: `/proc/irq/N/smp_affinity_list`.
    Interrupt(u32),
    /// How the frequency of the processors is chosen.
    Governor,
    /// How long a processor may need to wake up: `/dev/cpu_dma_latency`.
    WakeUpTime,
}

impl<'a> Knob<'a> {
    /// Nothing for a name that is none.
    pub(crate) fn of(name: &'a str) -> Option<Self> {
        let (first, rest) = name.split_once(' ')?;
        match first {
            "sysctl" if rest == forwarding::ALL => Some(Self::ForwardingIpv6),
            "sysctl" => sysctl::is_known(rest).then_some(Self::Sysctl(rest)),
            "ip" => Self::of_link(rest.strip_prefix("link ")?),
            "sysfs" => files::is_known(rest).then_some(Self::File(rest)),
            "irq" => rest.parse().ok().map(Self::Interrupt),
            "ethtool" => Self::of_ethtool(rest),
            "tc" => (rest == "qdisc root").then_some(Self::Qdisc),
            "cpufreq" => (rest == "scaling_governor").then_some(Self::Governor),
            "pm-qos" => (rest == "cpu_dma_latency").then_some(Self::WakeUpTime),
            _ => None,
        }
    }

    fn of_link(words: &'a str) -> Option<Self> {
        match words {
            "txqueuelen" => Some(Self::QueueLength),
            "mtu" => Some(Self::Mtu),
            "state" => Some(Self::LinkState),
            "master" => Some(Self::Master),
            _ => {
                let name = words.strip_prefix("bridge ")?;
                link::is_name(name).then_some(Self::Bridge(name))
            }
        }
    }

    fn of_ethtool(words: &'a str) -> Option<Self> {
        let (option, names) = words.split_once(' ')?;
        let of = match option {
            "-A" => Parameters::Pause,
            "-C" => Parameters::Coalescing,
            "-G" => Parameters::Rings,
            "-L" => Parameters::Channels,
            "-K" => return feature::is_name(names).then_some(Self::Feature(names)),
            "-N" => {
                let flow = names.strip_prefix("rx-flow-hash ")?;
                return flow_hash::is_flow(flow).then_some(Self::FlowHash(flow));
            }
            "-X" if names == "indirection" => return Some(Self::Indirection),
            "-X" if names == "hkey" => return Some(Self::HashKey),
            "--set-eee" if names == "eee" => return Some(Self::EnergyEfficient),
            _ => return None,
        };
        let are_known = names.split(' ').all(|name| of.has(name));
        are_known.then_some(Self::Parameters(of, names))
    }

    /// Whether it is the machine's, whatever the namespace.
    pub(crate) fn is_of_the_machine(self) -> bool {
        match self {
            Self::Sysctl(name) => sysctl::OF_THE_MACHINE.contains(&name),
            Self::Interrupt(_) | Self::Governor | Self::WakeUpTime => true,
            _ => false,
        }
    }

    /// The value in force; `interface` where it is one's.
    pub(crate) fn read(self, kernel: &dyn Kernel, interface: &str) -> io::Result<String> {
        let card = || kernel.card(interface);
        match self {
            Self::Sysctl(name) => sysctl::of_file(&kernel.sysctl(name)?),
            Self::Parameters(of, names) => parameters::read(of, names, &*card()?),
            Self::Feature(name) => feature::read(&*card()?, name),
            Self::EnergyEfficient => energy::read(&*card()?).map(|on| on_off(on).to_owned()),
            Self::FlowHash(flow) => flow_hash::read(&*card()?, flow),
            Self::Indirection => receive_hash::table(&*card()?),
            Self::HashKey => receive_hash::key(&*card()?),
            Self::Qdisc => qdisc::read(interface),
            Self::QueueLength => {
                let length = nic::link(interface)?.tx_queue_length;
                length
                    .map(|packets| packets.to_string())
                    .ok_or_else(|| invalid("not reported"))
            }
            Self::Mtu => {
                let bytes = nic::link(interface)?.mtu_bytes;
                mtu(interface, bytes).map(|bytes| bytes.to_string())
            }
            Self::LinkState => link::state(interface),
            Self::Master => link::master(interface),
            Self::Bridge(name) => link::bridge(name),
            Self::ForwardingIpv6 => forwarding::read(kernel),
            Self::File(name) => trimmed(&kernel.interface(interface)?.join(name)),
            Self::Interrupt(number) => trimmed(&kernel.file(&affinity(number))),
            Self::Governor => governor::read(kernel),
            Self::WakeUpTime => latency::read(&kernel.file(WAKE_UP_TIME)),
        }
    }

    /// Writes a value.
    pub(crate) fn write(self, kernel: &dyn Kernel, interface: &str, value: &str) -> io::Result<()> {
        let card = || kernel.card(interface);
        match self {
            Self::Sysctl(name) => fs::write(kernel.sysctl(name)?, value),
            Self::Parameters(of, names) => parameters::write(of, names, &*card()?, value),
            Self::Feature(name) => feature::write(&*card()?, name, value),
            Self::EnergyEfficient => energy::write(&*card()?, switched(value)?),
            Self::FlowHash(flow) => flow_hash::write(&*card()?, flow, value),
            Self::Indirection => receive_hash::set_table(&*card()?, value),
            Self::HashKey => receive_hash::set_key(&*card()?, value),
            Self::Qdisc => qdisc::write(interface, value),
            Self::QueueLength => linked(value, |rtnl, packets| {
                rtnl.set_tx_queue_length(interface, packets)
            }),
            Self::Mtu => {
                mtu(interface, value.parse().map_err(invalid)?)?;
                linked(value, |rtnl, bytes| rtnl.set_mtu(interface, bytes))
            }
            Self::LinkState => link::set_state(interface, value),
            Self::Master => link::set_master(interface, value),
            Self::Bridge(name) => link::set_bridge(name, value),
            Self::ForwardingIpv6 => forwarding::write(kernel, value),
            Self::File(name) => fs::write(kernel.interface(interface)?.join(name), value),
            Self::Interrupt(number) => fs::write(kernel.file(&affinity(number)), value),
            Self::Governor => governor::write(kernel, value),
            Self::WakeUpTime => latency::write(&kernel.file(WAKE_UP_TIME), value),
        }
    }

    /// The largest value that is worth trying, where the driver, the memory or the processors say one; of a feature that cannot
    /// be switched, its value.
    pub(crate) fn most(self, kernel: &dyn Kernel, interface: &str) -> io::Result<Option<String>> {
        match self {
            Self::Parameters(of, names) => {
                let most = parameters::most(of, names, &*kernel.card(interface)?)?;
                let is_channels = of == Parameters::Channels;
                let processors = is_channels.then(|| bounds::processors(kernel));
                let least = |most: &str| processors_at_most(most, processors.and_then(Result::ok));
                Ok(most.as_deref().map(least))
            }
            Self::Feature(name) => feature::fixed(&*kernel.card(interface)?, name),
            Self::Sysctl(name) => bounds::of_sysctl(kernel, name),
            Self::File(name) if name.ends_with("_cpus") => bounds::all_processors(kernel).map(Some),
            Self::Interrupt(_) => {
                let last = bounds::last_processor(kernel)?;
                Ok(last.map(|number| number.to_string()))
            }
            _ => Ok(None),
        }
    }
}

/// A queue without a processor of its own is of no use.
fn processors_at_most(most: &str, processors: Option<usize>) -> String {
    let number = most.parse::<usize>().ok().zip(processors);
    number.map_or_else(
        || most.to_owned(),
        |(most, processors)| most.min(processors).to_string(),
    )
}

fn linked(
    value: &str,
    set: impl FnOnce(&mut Rtnl, u32) -> Result<(), RtnlError>,
) -> io::Result<()> {
    let number = value.parse().map_err(invalid)?;
    let mut rtnl = Rtnl::open().map_err(io::Error::other)?;
    set(&mut rtnl, number).map_err(io::Error::other)
}

/// Below the least MTU of IPv6 an interface loses its addresses (RFC 8200 §5), and nothing puts them back.
fn mtu(interface: &str, bytes: u32) -> io::Result<u32> {
    match bytes >= 1280 || !has_ipv6(interface) {
        true => Ok(bytes),
        false => Err(invalid("an MTU below 1280 removes the addresses of IPv6")),
    }
}

/// Whether it has an address of IPv6: the last word of a line of `/proc/net/if_inet6`.
fn has_ipv6(interface: &str) -> bool {
    let addresses = proc::net("if_inet6").unwrap_or_default();
    let mut names = addresses
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    names.any(|name| name == interface)
}

fn affinity(number: u32) -> String {
    format!("/proc/irq/{number}/smp_affinity_list")
}

pub(crate) fn trimmed(path: &Path) -> io::Result<String> {
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

/// Whether a setting of this name can be read, written and restored.
pub(crate) fn is_knob(name: &str) -> bool {
    Knob::of(name).is_some()
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

const WAKE_UP_TIME: &str = "/dev/cpu_dma_latency";

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
            ("ip link bridge lr-br0", Knob::Bridge("lr-br0")),
            ("sysctl net.ipv6.conf.*.forwarding", Knob::ForwardingIpv6),
            ("irq 31", Knob::Interrupt(31)),
        ] {
            assert_eq!(Knob::of(name), Some(knob));
        }
        for none in [
            "ab",
            "sysfs ../../../etc",
            "sysfs /etc",
            "irq x",
            "ip link bridge",
            "ip link bridge a/b",
            "sysctl net.ipv4.conf.*.forwarding",
            "ethtool -s speed",
            "ethtool -G rx many",
            "sysctl kernel.core_pattern",
            "sysctl net/ipv4",
        ] {
            assert_eq!(Knob::of(none), None, "{none}");
        }
    }
}
