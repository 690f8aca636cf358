// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words that a table may use, which error messages list as allowed.

/// An enum whose variants are the words of a table.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every one, in its order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];
            /// Every word of this list, as a table writes it.
            pub const WORDS: &[&str] = &[$($word),+];

            /// The word that a table writes.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Parses a word; none if it is not one of [`Self::WORDS`].
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

words! {
    /// The stage of a packet's path through two hosts.
    Stage {
        /// The sending program.
        TxApp = "tx-app",
        /// The sending socket's buffer.
        TxSocket = "tx-socket",
        /// Routing, filters, neighbours on the way out.
        TxIp = "tx-ip",
        /// Traffic control.
        TxQdisc = "tx-qdisc",
        /// The driver and its descriptors, outwards.
        TxRing = "tx-ring",
        /// The sending MAC and its FIFO.
        TxMac = "tx-mac",
        /// PHY, cable, switch.
        Wire = "wire",
        /// The receiving MAC and its FIFO.
        RxMac = "rx-mac",
        /// Descriptors, buffers, DMA, inwards.
        RxRing = "rx-ring",
        /// XDP programs and packet sockets.
        RxXdp = "rx-xdp",
        /// NAPI, GRO, the CPU backlog.
        RxSoftnet = "rx-softnet",
        /// Routing, filters, reassembly on the way in.
        RxIp = "rx-ip",
        /// The receiving socket's buffer.
        RxSocket = "rx-socket",
        /// The receiving program.
        RxApp = "rx-app",
    }
}

words! {
    /// What an increment of a counter means.
    Counts {
        /// A packet was dropped.
        Drop = "drop",
        /// A packet passed.
        Pass = "pass",
        /// A packet was bad; another counter has it if it was dropped.
        Error = "error",
        /// An event other than a packet.
        Event = "event",
        /// Something had to wait; nothing was lost.
        Delay = "delay",
    }
}

words! {
    /// The unit of a counter.
    Unit {
        /// Frames as on the wire.
        Frames = "frames",
        /// Packets as the stack has them: before segmentation, after merging.
        Segments = "segments",
        /// Bytes.
        Bytes = "bytes",
        /// Occurrences other than packets.
        Events = "events",
        /// Ring entries.
        Descriptors = "descriptors",
        /// A share of the last second, of which differences are meaningless.
        Percent = "percent",
        /// Microseconds.
        Microseconds = "microseconds",
    }
}

words! {
    /// The width of a counter.
    Width {
        /// After 2^64.
        U64 = "u64",
        /// After 2^32.
        U32 = "u32",
        /// After 2^16.
        U16 = "u16",
        /// The kernel's `unsigned long`: after 2^32 on a 32-bit kernel, 2^64 on a 64-bit one.
        Long = "long",
    }
}

words! {
    /// What resets a counter while the driver stays loaded.
    Reset {
        /// Nothing.
        Never = "never",
        /// Reading it.
        Read = "read",
        /// Taking the interface down, or up again.
        Down = "down",
        /// Changing the number of queues or rings.
        Reconfigure = "reconfigure",
    }
}

words! {
    /// The kernel's list that has a counter. Names are unique only within a list.
    Group {
        /// `rtnl_link_stats64`: `ip -s -s link`.
        Link = "link",
        /// `ethtool -S`.
        Ethtool = "ethtool",
        /// Queue statistics of netdev generic netlink.
        Qstats = "qstats",
        /// `ethtool -S --groups eth-phy`.
        EthPhy = "eth-phy",
        /// `ethtool -S --groups eth-mac`.
        EthMac = "eth-mac",
        /// `ethtool -S --groups eth-ctrl`.
        EthCtrl = "eth-ctrl",
        /// `ethtool -S --groups rmon`.
        Rmon = "rmon",
        /// `ethtool -I -a`.
        Pause = "pause",
        /// `ethtool -I --show-fec`.
        Fec = "fec",
    }
}
