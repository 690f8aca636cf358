// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sources of counters that are known: what each is called in a sample, which list of a driver's table it is,
//! how wide its counters are, and what they count for.

use linerate_knowledge::Group;

/// Which packets a counter sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Those of one interface.
    Interface,
    /// Those of one network namespace.
    Namespace,
    /// Those of the whole machine.
    Machine,
}

/// Where a counter wraps if no driver's table says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bits {
    /// After 2^64.
    All,
    /// After 2^32.
    Half,
    /// The kernel's `unsigned long`.
    Long,
    /// Not known.
    Unknown,
}

macro_rules! sources {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $extent:ident, $bits:ident, $group:expr;)+) => {
        /// A list of counters that the kernel or a tool shows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Source { $($(#[$doc])* $name,)+ }

        impl Source {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// What a sample calls it.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Which packets its counters see.
            #[must_use]
            pub const fn extent(self) -> Extent {
                match self { $(Self::$name => Extent::$extent,)+ }
            }

            /// The list of drivers' tables that it is.
            #[must_use]
            pub const fn group(self) -> Option<Group> {
                match self { $(Self::$name => $group,)+ }
            }

            pub(super) const fn bits(self) -> Bits {
                match self { $(Self::$name => Bits::$bits,)+ }
            }
        }
    };
}

sources! {
    /// `ip -s -s link`.
    Link = "rtnl_link_stats64", Interface, Unknown, Some(Group::Link);
    /// The driver's own names.
    Ethtool = "ethtool -S", Interface, Unknown, Some(Group::Ethtool);
    /// Queue statistics of netdev generic netlink.
    Qstats = "qstats", Interface, All, Some(Group::Qstats);
    /// `ethtool -S --groups eth-phy`.
    EthPhy = "eth-phy", Interface, Unknown, Some(Group::EthPhy);
    /// `ethtool -S --groups eth-mac`.
    EthMac = "eth-mac", Interface, Unknown, Some(Group::EthMac);
    /// `ethtool -S --groups eth-ctrl`.
    EthCtrl = "eth-ctrl", Interface, Unknown, Some(Group::EthCtrl);
    /// `ethtool -S --groups rmon`.
    Rmon = "rmon", Interface, Unknown, Some(Group::Rmon);
    /// `ethtool -S --groups phydev`.
    Phydev = "phydev", Interface, Unknown, None;
    /// Statistics of pause frames.
    Pause = "ethtool -I -a", Interface, Unknown, Some(Group::Pause);
    /// Statistics of forward error correction.
    Fec = "ethtool -I --show-fec", Interface, Unknown, Some(Group::Fec);
    /// Sums of the link's counters, as ifconfig shows them (net/core/net-procfs.c).
    ProcDev = "/proc/net/dev", Interface, Unknown, None;
    /// 32 bits: `gnet_stats_queue`.
    Qdisc = "tc -s qdisc", Interface, Half, None;
    /// IPv4, ICMP, TCP and UDP.
    Snmp = "/proc/net/snmp", Namespace, Long, None;
    /// The same of IPv6.
    Snmp6 = "/proc/net/snmp6", Namespace, Long, None;
    /// Linux's own extensions of them.
    Netstat = "/proc/net/netstat", Namespace, Long, None;
    /// 32 bits: `struct ip_conntrack_stat`.
    Conntrack = "/proc/net/stat/nf_conntrack", Namespace, Half, None;
    /// 32 bits: `struct softnet_data`.
    Softnet = "/proc/net/softnet_stat", Machine, Half, None;
    /// `struct neigh_statistics`.
    ArpCache = "/proc/net/stat/arp_cache", Machine, Long, None;
    /// The same of IPv6.
    NdiscCache = "/proc/net/stat/ndisc_cache", Machine, Long, None;
    /// Reasons for which the kernel freed packets of the test.
    Drops = "skb:kfree_skb flow", Namespace, All, None;
    /// The same, of those that went out.
    DropsSent = "skb:kfree_skb flow sent", Namespace, All, None;
    /// The same, of those that came in.
    DropsReceived = "skb:kfree_skb flow received", Namespace, All, None;
    /// Ticks of each processor.
    Stat = "/proc/stat", Machine, Unknown, None;
    /// Ticks of the program that read them.
    OwnStat = "/proc/self/stat", Machine, Unknown, None;
    /// CPU time of that program and of its sampler, nanoseconds.
    OwnUsage = "getrusage", Machine, All, None;
    /// Interrupts of each line and processor.
    Interrupts = "/proc/interrupts", Machine, Unknown, None;
    /// What the lab's user-space wire carried and lost, by direction.
    LabWire = "lab wire", Machine, All, None;
}

impl Source {
    /// The source that a sample calls so.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|source| source.text() == text)
    }

    /// The source that a list of drivers' tables is.
    #[must_use]
    pub fn of_group(group: Group) -> Self {
        let mut all = Self::ALL.iter().copied();
        all.find(|source| source.group() == Some(group))
            .unwrap_or(Self::Link)
    }
}

impl AsRef<str> for Source {
    fn as_ref(&self) -> &str {
        self.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_found_by_its_text_and_every_list_has_its_source() {
        for source in Source::ALL {
            assert_eq!(Source::of_text(source.text()), Some(*source));
        }
        for word in Group::WORDS {
            let group = Group::of_word(word).unwrap();
            assert_eq!(Source::of_group(group).group(), Some(group), "{word}");
        }
    }
}
