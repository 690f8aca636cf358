// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the machine in the middle forwards.

/// One way to forward.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    /// What the guest does before, in one line.
    pub(crate) setup: &'static str,
    /// Options of `forward`, with the frame sizes.
    pub(crate) options: &'static [&'static str],
    pub(crate) line: Line,
}

/// The line to the agent.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Line {
    Ssh,
    /// A shell at a serial port: one NIC is enough to show it.
    Serial,
}

impl Mode {
    /// The mode that is called `name`.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        MODES.iter().find(|mode| mode.name == name)
    }

    /// Whether the frames carry a tag.
    pub(crate) fn is_tagged(&self) -> bool {
        self.options.contains(&"--vlan")
    }

    pub(crate) fn is_bridge(&self) -> bool {
        self.setup.starts_with("ip link add br0")
    }
}

const BRIDGE: &str = "ip link add br0 type bridge && ip link set eth0 master br0 up && ip link set eth1 master br0 up && \
                      ip link set br0 up";

/// All of them, as the table has them.
pub(crate) const MODES: [Mode; 6] = [
    Mode {
        name: "bridge",
        setup: BRIDGE,
        options: &["--sizes", "64,1518"],
        line: Line::Ssh,
    },
    Mode {
        name: "serial-bridge",
        setup: BRIDGE,
        options: &["--sizes", "64,1518"],
        line: Line::Serial,
    },
    Mode {
        name: "route",
        setup: "sysctl -w net.ipv4.ip_forward=1 && ip addr add 198.18.1.1/24 dev eth0 && ip addr add 198.19.1.1/24 dev eth1 && \
                ip link set eth0 up && ip link set eth1 up",
        options: &["--sizes", "64,1518"],
        line: Line::Ssh,
    },
    Mode {
        name: "flowtable",
        setup: "sysctl -w net.ipv4.ip_forward=1 && ip addr add 198.18.1.1/24 dev eth0 && ip addr add 198.19.1.1/24 dev eth1 && \
                ip link set eth0 up && ip link set eth1 up && modprobe crc32c_generic && nft 'add table inet fast; \
                add flowtable inet fast f { hook ingress priority 0; devices = { eth0, eth1 }; }; \
                add chain inet fast forward { type filter hook forward priority 0; }; \
                add rule inet fast forward meta l4proto udp flow add @f'",
        options: &["--sizes", "64,1518"],
        line: Line::Ssh,
    },
    Mode {
        name: "vlan",
        setup: "sysctl -w net.ipv4.ip_forward=1 && ip link set eth0 up && ip link set eth1 up && \
                ip link add link eth0 name eth0.7 type vlan id 7 && ip link add link eth1 name eth1.7 type vlan id 7 && \
                ip addr add 198.18.1.1/24 dev eth0.7 && ip addr add 198.19.1.1/24 dev eth1.7 && \
                ip link set eth0.7 up && ip link set eth1.7 up",
        options: &["--sizes", "68,1518", "--vlan", "7"],
        line: Line::Ssh,
    },
    Mode {
        name: "vlan-bridge",
        setup: "ip link add br0 type bridge vlan_filtering 1 vlan_default_pvid 0 && \
                ip link set eth0 master br0 up && ip link set eth1 master br0 up && ip link set br0 up && \
                bridge vlan add vid 7 dev eth0 && bridge vlan add vid 7 dev eth1",
        options: &["--sizes", "68,1518", "--vlan", "7"],
        line: Line::Ssh,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_up_is_one_line_and_every_mode_has_a_name_of_its_own() {
        for mode in &MODES {
            assert!(!mode.setup.contains('\n'), "{}", mode.name);
            assert_eq!(Mode::named(mode.name), Some(mode));
        }
        assert!(Mode::named("vlan").is_some_and(Mode::is_tagged));
        assert!(!Mode::named("bridge").is_some_and(Mode::is_tagged));
        let bridges = MODES.iter().filter(|mode| mode.is_bridge());
        assert!(
            bridges
                .map(|mode| mode.name)
                .eq(["bridge", "serial-bridge", "vlan-bridge"])
        );
    }
}
