// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which settings are made permanent, and how the guest's own tools show each.

/// One setting of one card.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    /// `A` (matched by its place), `C` (has a `.link` file), `V` (virtio), or `host`.
    pub(super) card: &'static str,
    /// What sets it; the shell has the names of the cards.
    pub(super) line: &'static str,
    /// What shows it; `$1` is the interface.
    pub(super) shows: &'static str,
}

const fn setting(
    name: &'static str,
    card: &'static str,
    line: &'static str,
    shows: &'static str,
) -> Setting {
    Setting {
        name,
        card,
        line,
        shows,
    }
}

pub(super) static SETTINGS: [Setting; 21] = [
    setting(
        "buffers",
        "host",
        "sysctl -w net.ipv4.tcp_rmem='4096 131072 9999999'",
        "sysctl -n net.ipv4.tcp_rmem",
    ),
    setting(
        "largest-buffer",
        "host",
        "sysctl -w net.core.rmem_max=4194304",
        "sysctl -n net.core.rmem_max",
    ),
    setting("rings", "A", "ethtool -G $A rx 512 tx 1024", RINGS),
    setting("segmentation", "A", "ethtool -K $A tso off", SEGMENTATION),
    setting("coalescing", "A", "ethtool -C $A rx-usecs 50", COALESCING),
    setting(
        "pause",
        "A",
        "ethtool -A $A autoneg off rx off tx off",
        "ethtool -a $1 | grep -E '^(Auto|[RT]X:)'",
    ),
    setting(
        "queue-length",
        "A",
        "ip link set dev $A txqueuelen 77",
        QUEUE_LENGTH,
    ),
    setting(
        "qdisc",
        "A",
        "tc qdisc replace dev $A root fq maxrate 100mbit",
        "tc qdisc show dev $1 root | sed 's/ [0-9a-f]*: root/ root/; s/refcnt [0-9]*//'",
    ),
    setting("interrupt", "A", AFFINITY_OF_A, AFFINITY),
    setting(
        "packet-steering",
        "A",
        "echo 2 > /sys/class/net/$A/queues/rx-0/rps_cpus",
        STEERING,
    ),
    setting(
        "polling",
        "A",
        "echo 1 > /sys/class/net/$A/threaded",
        "cat /sys/class/net/$1/threaded",
    ),
    setting(
        "deferral",
        "A",
        "echo 20000 > /sys/class/net/$A/gro_flush_timeout",
        "cat /sys/class/net/$1/gro_flush_timeout",
    ),
    setting("link-rings", "C", "ethtool -G $C rx 512", RINGS),
    setting(
        "link-segmentation",
        "C",
        "ethtool -K $C tso off",
        SEGMENTATION,
    ),
    setting(
        "link-coalescing",
        "C",
        "ethtool -C $C rx-usecs 50",
        COALESCING,
    ),
    setting(
        "link-queue-length",
        "C",
        "ip link set dev $C txqueuelen 77",
        QUEUE_LENGTH,
    ),
    setting(
        "channels",
        "V",
        "ethtool -L $V combined 1",
        "ethtool -l $1 | sed -n '/Current/,$p' | grep Combined",
    ),
    setting(
        "virtio-receive-offload",
        "V",
        "ethtool -K $V gro off",
        "ethtool -k $1 | grep -E '^generic-receive-offload'",
    ),
    setting("virtio-interrupt", "V", AFFINITY_OF_V, AFFINITY),
    setting(
        "virtio-steering",
        "V",
        "echo 2 > /sys/class/net/$V/queues/rx-0/rps_cpus",
        STEERING,
    ),
    setting(
        "virtio-queue-length",
        "V",
        "ip link set dev $V txqueuelen 77",
        QUEUE_LENGTH,
    ),
];

const RINGS: &str = "ethtool -g $1 | sed -n '/Current/,$p' | grep -E '^[RT]X:'";
const SEGMENTATION: &str = "ethtool -k $1 | grep -E '^tcp-segmentation-offload'";
const COALESCING: &str = "ethtool -c $1 | grep -E '^rx-usecs:'";
const QUEUE_LENGTH: &str = "cat /sys/class/net/$1/tx_queue_len";
const STEERING: &str = "cat /sys/class/net/$1/queues/rx-0/rps_cpus";
const AFFINITY: &str = "cat /proc/irq/$(irq $1)/smp_affinity_list";
const AFFINITY_OF_A: &str = "echo 1 > /proc/irq/$(irq $A)/smp_affinity_list";
const AFFINITY_OF_V: &str = "echo 1 > /proc/irq/$(irq $V)/smp_affinity_list";
