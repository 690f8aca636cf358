// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done with each machine: the same steps, in this order.

use std::time::Duration;

use super::network::{GUEST, HOST};

/// Where a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    Guest,
    Host,
}

impl At {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Host => "host",
        }
    }
}

/// One thing to do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    /// A command that ends.
    Run(Step),
    /// A server that runs until the next.
    Serve(At, &'static str),
}

/// One command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Its outputs are `NAME.stdout` and `NAME.stderr`, its run is `NAME.run`.
    pub(crate) name: &'static str,
    pub(crate) at: At,
    command: &'static str,
    /// Exit statuses that are right; any if there are none.
    pub(crate) right: &'static [i32],
}

impl Step {
    pub(super) const fn new(name: &'static str, at: At, command: &'static str) -> Self {
        let right = &[0];
        Self {
            name,
            at,
            command,
            right,
        }
    }

    pub(super) const fn or(self, right: &'static [i32]) -> Self {
        Self { right, ..self }
    }

    /// The command line, with the addresses.
    pub(crate) fn command(&self) -> String {
        addressed(self.command).replace("NAME", self.name)
    }
}

/// A command line with the addresses in it.
pub(crate) fn addressed(command: &str) -> String {
    command.replace("HOST", HOST).replace("GUEST", GUEST)
}

use Action::{Run, Serve};
use At::{Guest, Host};

const fn guest(name: &'static str, command: &'static str) -> Action {
    Run(Step::new(name, Guest, command))
}

const fn host(name: &'static str, command: &'static str) -> Action {
    Run(Step::new(name, Host, command))
}

/// A rate that few senders here can offer: then the test is not valid, which is right.
const fn above(name: &'static str, command: &'static str) -> Action {
    Run(Step::new(name, Guest, command).or(&[0, 4]))
}

/// What ethtool shows, which ours is compared with. A driver may have none of it.
const fn shown(name: &'static str, command: &'static str) -> Action {
    Run(Step::new(name, Guest, command).or(&[]))
}

/// All that is done, in this order.
pub(crate) const ACTIONS: [Action; 30] = [
    shown("ethtool-i", "ethtool -i eth0"),
    shown("ethtool", "ethtool eth0"),
    shown("ethtool-g", "ethtool -g eth0"),
    shown("ethtool-c", "ethtool -c eth0"),
    shown("ethtool-a", "ethtool -a eth0"),
    shown("ethtool-l", "ethtool -l eth0"),
    shown("ethtool-k", "ethtool -k eth0"),
    shown("ethtool-eee", "ethtool --show-eee eth0"),
    shown("ethtool-d", "ethtool -d eth0"),
    guest("doctor", "linerate doctor --json"),
    guest("doctor-text", "linerate doctor"),
    guest("inspect", "linerate inspect eth0 --facts --json"),
    guest("inspect-text", "linerate inspect eth0 -v"),
    Run(Step::new("regs", Guest, "linerate regs eth0 --json").or(&[0, 3])),
    Serve(Host, "linerate serve --bind HOST"),
    guest(
        "check-from-guest",
        "linerate check HOST --quick --json -o NAME.run",
    ),
    guest(
        "udp-below-up",
        "linerate udp HOST -b 5M -t 2 --json -o NAME.run",
    ),
    guest(
        "udp-below-down",
        "linerate udp HOST -b 5M -t 2 -R --json -o NAME.run",
    ),
    guest("iperf3-up", "iperf3 -c HOST -t 2 -J"),
    guest("iperf3-down", "iperf3 -c HOST -t 2 -R -J"),
    guest("iperf3-udp", "iperf3 -c HOST -u -b 5M -t 2 -J"),
    Serve(Guest, "linerate serve"),
    host(
        "check-from-host",
        "linerate check GUEST --quick --json -o NAME.run",
    ),
    Serve(Guest, "iperf3 -s"),
    host("stock-up", "linerate tcp GUEST -t 2 --json -o NAME.run"),
    host(
        "stock-down",
        "linerate tcp GUEST -t 2 -R --json -o NAME.run",
    ),
    host(
        "stock-udp",
        "linerate udp GUEST -b 5M -t 2 --json -o NAME.run",
    ),
    // Last: a flood can leave an emulated card that receives nothing more (ne2k_pci).
    above(
        "udp-above-up",
        "linerate udp HOST -b 2G -t 2 --json -o NAME.run",
    ),
    above(
        "udp-above-down",
        "linerate udp HOST -b 2G -t 2 -R --json -o NAME.run",
    ),
    shown("ethtool-S", "ethtool -S eth0"),
];

/// No step takes an eighth of it, on an idle machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);
