// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a setting is to the programs that apply it at boot.

/// By the first words of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// `sysctl NAME`.
    Sysctl(&'a str),
    /// `ethtool OPTION WORD…`.
    Ethtool {
        /// `-G`.
        option: &'a str,
        /// `rx`.
        words: &'a str,
    },
    /// `ip link txqueuelen`.
    QueueLength,
    /// `ip link mtu`.
    Mtu,
    /// `tc …`: the root queueing discipline.
    Discipline,
    /// `sysfs FILE`, below `/sys/class/net/INTERFACE`.
    File(&'a str),
    /// `irq NUMBER`.
    Interrupt(u32),
    /// The governor of the processors' frequency.
    Governor,
    /// The longest time to leave an idle state.
    Latency,
}

impl<'a> Kind<'a> {
    /// Nothing for what is not a setting, as a command or a file.
    pub(super) fn of(knob: &'a str) -> Option<Self> {
        let (first, rest) = knob.split_once(' ').unwrap_or((knob, ""));
        Some(match (first, rest) {
            ("sysctl", name) => Self::Sysctl(name),
            ("ethtool", words) => {
                let (option, words) = words.split_once(' ').unwrap_or((words, ""));
                Self::Ethtool { option, words }
            }
            ("ip", "link txqueuelen") => Self::QueueLength,
            ("ip", "link mtu") => Self::Mtu,
            ("tc", _) => Self::Discipline,
            ("sysfs", file) => Self::File(file),
            ("irq", number) => Self::Interrupt(number.parse().ok()?),
            ("cpufreq", _) => Self::Governor,
            ("pm-qos", _) => Self::Latency,
            _ => return None,
        })
    }

    /// Drivers with a PHY have none while the interface is down (`fec`, `stmmac`), and some forget their RSS table then.
    pub(super) fn needs_link_up(self) -> bool {
        let up = ["-A", "-X", "-N", "--set-eee"];
        matches!(self, Self::Ethtool { option, .. } if up.contains(&option))
    }

    /// When a link comes up, e1000e sets pause frames as negotiated, whatever was set before.
    pub(super) fn needs_carrier(self) -> bool {
        matches!(self, Self::Ethtool { option: "-A", .. })
    }

    pub(super) fn is_of_the_host(self) -> bool {
        matches!(self, Self::Interrupt(_) | Self::Governor)
    }
}
