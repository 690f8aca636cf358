// SPDX-License-Identifier: MIT OR Apache-2.0
//! The named faults of hosts and wire: `--fault NAME[=VALUE]`.
//!
//! A fault reproduces a cause. Its name exists only here and on the command line of the lab:
//! nothing that measures or explains ever sees it.

use std::str::FromStr;

use crate::fault_kind::{self, FaultKind, fault_kinds};

/// One fault with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Limits the receive buffer of datagram sockets in host B's commands.
    ReceiveBuffer { bytes: u32 },
    /// Limits the rate of both hosts' queueing discipline, with a queue of 16 packets.
    QdiscLimit { bits_per_second: u64 },
    /// Host B's packet filter drops every n-th datagram.
    NftDrop { every: u32 },
    /// Host B's commands share one CPU with this many busy threads.
    CpuContention { threads: u32 },
    /// Host B's interface hands its packets to one CPU, with this many busy threads, by RPS.
    Steering { threads: u32 },
    /// Host B's interface polls in a kernel thread, and host A sends packets of the MTU's size.
    ThreadedNapi,
    /// Host B's interface takes smaller packets than host A's.
    Mtu { bytes: u32 },
    /// The wire loses longer packets without a message.
    BlackHole { bytes: u32 },
    /// The wire clears the ECN field.
    EcnClear,
    /// The wire marks every n-th packet that is ECN-capable.
    EcnMark { every: u32 },
    /// The wire loses frames, independently.
    Loss { ratio: f64 },
    /// The wire loses this share of the frames, in bursts of this many on average.
    BurstLoss { ratio: f64, frames: u32 },
    /// The wire delays some frames so that later ones overtake them.
    Reorder { ratio: f64, by_ns: u64 },
    /// The wire delivers some frames twice.
    Duplicate { ratio: f64 },
    /// The wire flips a bit in some packets.
    Corrupt { ratio: f64 },
    /// The wire's one-way delay, and jitter up to this much more.
    Delay { ns: u64, jitter_ns: u64 },
    /// The wire's rate and queue limit.
    Rate {
        bits_per_second: u64,
        fifo_bytes: u32,
    },
    /// Both hosts run without segmentation, receive and checksum offload.
    OffloadOff,
    /// Both hosts use the Reno congestion control, over a wire with delay and a little loss.
    Reno { delay_ns: u64, loss_ratio: f64 },
    /// The largest TCP receive buffer of both hosts.
    TcpReceiveMemory { bytes: u32 },
    /// The largest TCP send buffer of both hosts.
    TcpSendMemory { bytes: u32 },
    /// The longest accept queue of host B's listening sockets.
    AcceptQueue { connections: u32 },
    /// Host B has a second link to the same network, whose interface answers for the address of the first.
    ArpFlux,
    /// Host B's commands pause this long in every second.
    PausedReader { ns: u64 },
    /// Host B's interface goes down after this time, for this long.
    LinkDown { after_ns: u64, for_ns: u64 },
    /// Host A's card does not complete the checksums of frames of fewer bytes, without FCS.
    NicShortChecksum { bytes: u32 },
    /// Host A's card sends no checksum where that of UDP folds to zero.
    NicUdpZero,
    /// Host A's card repeats PSH and CWR in every TCP segment that it cuts.
    NicTsoFlags,
    /// Host A's card counts every n-th received frame twice.
    NicMiscounts { every: u32 },
    /// Host A's card puts all flows into one receive queue.
    NicOneQueue,
    /// Host A's card puts the frames of each flow into several receive queues.
    NicUnstableRss,
    /// Host A's card merges received segments and datagrams that must stay apart.
    NicMerges,
    /// Host A's card takes received segments and datagrams with a wrong checksum for right.
    NicPassesWrong,
    /// Host A's card drops received IP frames of fewer bytes, without FCS.
    NicDropsShort { bytes: u32 },
    /// Host A's card inserts VLAN tags without their priority.
    NicVlanTag,
    /// Host A's card computes checksums of frames with a VLAN tag from the wrong place on.
    NicVlanChecksum,
}

/// Every fault, in the order of the help.
pub const FAULTS: &[FaultKind<Fault>] = fault_kinds! { Fault:
    "rcvbuf" "16K" ReceiveBuffer { bytes: bytes } "receive buffer of the peer's datagram sockets" &[];
    "qdisc-limit" "50M" QdiscLimit { bits_per_second: bits_per_second } "rate limit by both hosts' qdisc, with a queue of 16 packets" &[];
    "nft-drop" "100" NftDrop { every: count } "the peer's packet filter drops every n-th datagram" &[];
    "cpu-contention" "2" CpuContention { threads: count } "the peer shares one CPU with this many busy threads" &[];
    "rps" "2" Steering { threads: count } "RPS steers the peer's packets to a CPU with this many busy threads (root)" &[];
    "threaded-napi" "" ThreadedNapi {} "threaded NAPI at the peer's interface, no segmentation offload at this host" &[];
    "mtu" "1400" Mtu { bytes: count } "MTU of the peer's interface" &[];
    "black-hole" "1400" BlackHole { bytes: count } "the wire drops IP packets longer than this, without a message" &[];
    "ecn-clear" "" EcnClear {} "the wire clears the ECN field of all packets" &[];
    "ecn-mark" "100" EcnMark { every: count } "the wire marks every n-th ECN-capable packet (CE)" &[];
    "loss" "1%" Loss { ratio: ratio } "the wire drops this share of the frames" &[];
    "burst-loss" "1%:10" BurstLoss { ratio: ratio, frames: count } "the wire drops this share, in bursts of this many frames" &[];
    "reorder" "1%:2ms" Reorder { ratio: ratio, by_ns: nanoseconds } "the wire delays this share by this much" &[];
    "duplicate" "1%" Duplicate { ratio: ratio } "the wire delivers this share twice" &[];
    "corrupt" "1%" Corrupt { ratio: ratio } "the wire flips a bit in this share" &[];
    "delay" "10ms:0ms" Delay { ns: nanoseconds, jitter_ns: nanoseconds } "one-way delay of the wire, and jitter up to this much more" &[];
    "rate" "100M:32K" Rate { bits_per_second: bits_per_second, fifo_bytes: bytes } "rate and queue limit of the wire" &[];
    "offload-off" "" OffloadOff {} "both hosts segment and compute checksums in software" &[];
    "reno" "10ms:0.1%" Reno { delay_ns: nanoseconds, loss_ratio: ratio } "Reno congestion control with this one-way delay and loss" &[];
    "tcp-rmem" "16K" TcpReceiveMemory { bytes: bytes } "the largest TCP receive buffer of both hosts" &[];
    "tcp-wmem" "16K" TcpSendMemory { bytes: bytes } "the largest TCP send buffer of both hosts" &[];
    "somaxconn" "1" AcceptQueue { connections: count } "the longest accept queue of the peer" &[];
    "arp-flux" "" ArpFlux {} "the peer's second interface answers for the address of the first" &[];
    "paused-reader" "200ms" PausedReader { ns: nanoseconds } "the peer pauses this long in every second" &[];
    "link-down" "2s:1s" LinkDown { after_ns: nanoseconds, for_ns: nanoseconds } "the peer's link goes down after this time, for this long" &[];
    "nic-short-checksum" "64" NicShortChecksum { bytes: count } "this host's NIC sends shorter frames with wrong checksums" &[];
    "nic-udp-zero" "" NicUdpZero {} "this host's NIC sends 0 where a UDP checksum folds to zero" &[];
    "nic-tso-flags" "" NicTsoFlags {} "this host's NIC repeats PSH and CWR in each segment that it cuts" &[];
    "nic-miscounts" "4" NicMiscounts { every: count } "this host's NIC counts every n-th received frame twice" &[];
    "nic-one-queue" "" NicOneQueue {} "this host's NIC puts all flows into one receive queue" &[];
    "nic-unstable-rss" "" NicUnstableRss {} "this host's NIC puts a flow's frames into several receive queues" &[];
    "nic-merges" "" NicMerges {} "this host's NIC merges what it must not" &[];
    "nic-passes-wrong" "" NicPassesWrong {} "this host's NIC calls wrong checksums right" &[];
    "nic-drops-short" "64" NicDropsShort { bytes: count } "this host's NIC drops shorter IP frames that arrive" &[];
    "nic-vlan-tag" "" NicVlanTag {} "this host's NIC inserts VLAN tags without their priority" &[];
    "nic-vlan-checksum" "" NicVlanChecksum {} "this host's NIC sends wrong checksums under a VLAN tag" &[];
};

impl Fault {
    /// Whether the wire makes it, so that there must be one.
    pub fn needs_wire(&self) -> bool {
        matches!(
            self,
            Self::BlackHole { .. }
                | Self::EcnClear
                | Self::EcnMark { .. }
                | Self::Loss { .. }
                | Self::BurstLoss { .. }
                | Self::Reorder { .. }
                | Self::Duplicate { .. }
                | Self::Corrupt { .. }
                | Self::Delay { .. }
                | Self::Rate { .. }
                | Self::Reno { .. }
        ) || self.is_of_nic()
    }

    /// Whether it is one of the card at host A's end of the wire.
    pub(crate) const fn is_of_nic(&self) -> bool {
        matches!(
            self,
            Self::NicShortChecksum { .. }
                | Self::NicUdpZero
                | Self::NicTsoFlags
                | Self::NicMiscounts { .. }
                | Self::NicOneQueue
                | Self::NicUnstableRss
                | Self::NicMerges
                | Self::NicPassesWrong
                | Self::NicDropsShort { .. }
                | Self::NicVlanTag
                | Self::NicVlanChecksum
        )
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fault_kind::parse(FAULTS, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_defaults() {
        let table = [
            ("loss", Fault::Loss { ratio: 0.01 }),
            ("loss=5%", Fault::Loss { ratio: 0.05 }),
            ("rcvbuf=8K", Fault::ReceiveBuffer { bytes: 8192 }),
            (
                "burst-loss=2%",
                Fault::BurstLoss {
                    ratio: 0.02,
                    frames: 10,
                },
            ),
            (
                "burst-loss=2%:3",
                Fault::BurstLoss {
                    ratio: 0.02,
                    frames: 3,
                },
            ),
            (
                "delay=5ms:1ms",
                Fault::Delay {
                    ns: 5_000_000,
                    jitter_ns: 1_000_000,
                },
            ),
            (
                "rate=10M",
                Fault::Rate {
                    bits_per_second: 10_000_000,
                    fifo_bytes: 32_768,
                },
            ),
            ("offload-off", Fault::OffloadOff),
            (
                "link-down=1s",
                Fault::LinkDown {
                    after_ns: 1_000_000_000,
                    for_ns: 1_000_000_000,
                },
            ),
        ];
        for (text, fault) in table {
            assert_eq!(text.parse(), Ok(fault), "{text}");
        }
    }

    #[test]
    fn messages() {
        let table = [
            (
                "loss=200%",
                "fault loss: '200%' is not a share such as 1%, above 0 and at most 100%",
            ),
            (
                "loss=",
                "fault loss: '' is not a share such as 1%, above 0 and at most 100%",
            ),
            ("loss=1%:2", "fault loss: at most 1 parts, as in 1%"),
            ("offload-off=1", "fault offload-off takes no value"),
            ("rate=slow", "fault rate: 'slow' is not a rate such as 100M"),
            (
                "nft-drop=0",
                "fault nft-drop: '0' is not a number, 1 or more",
            ),
        ];
        for (text, message) in table {
            assert_eq!(text.parse::<Fault>(), Err(message.to_owned()));
        }
        let unknown = "lossy".parse::<Fault>();
        assert!(unknown.is_err_and(|message| message.starts_with("unknown fault 'lossy'; known: rcvbuf, ")));
    }

    #[test]
    fn every_default_can_be_read() {
        for kind in FAULTS {
            assert!(kind.name.parse::<Fault>().is_ok(), "{}", kind.name);
        }
    }
}
