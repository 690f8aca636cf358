// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which settings are changed on which driver.

use super::Setting;

const fn setting(
    name: &'static str,
    nics: &'static [&'static str],
    lines: &'static [&'static str],
    shows: &'static [&'static str],
) -> Setting {
    Setting {
        name,
        nics,
        before: "",
        lines,
        shows,
    }
}

impl Setting {
    const fn after(self, before: &'static str) -> Self {
        Self { before, ..self }
    }
}

pub(super) static SETTINGS: [Setting; 25] = [
    setting(
        "rings",
        &["e1000e", "e1000", "vmxnet3", "pcnet"],
        &["ethtool -G eth0 rx 128 tx 128"],
        &["RX: 128", "TX: 128"],
    ),
    setting(
        "ring-twice",
        &["e1000e"],
        &["ethtool -G eth0 rx 1024", "ethtool -G eth0 rx 2048"],
        &["RX: 2048"],
    ),
    setting(
        "hash-of-one-queue",
        &["e1000e"],
        &["ethtool -X eth0 equal 2"],
        &[],
    ),
    setting(
        "ring-too-large",
        &["virtio-net-pci"],
        &["ethtool -G eth0 rx 9999"],
        &[],
    ),
    // With autonegotiation the driver ignores the rest: e1000_set_pauseparam.
    setting(
        "pause",
        &["e1000e"],
        &["ethtool -A eth0 autoneg off rx off tx off"],
        &["Autonegotiate: off", "RX: off", "TX: off"],
    ),
    setting(
        "pause-with-autonegotiation",
        &["e1000e"],
        &["ethtool -A eth0 rx off tx off"],
        &[],
    ),
    // Not `rx on tx on`: after a boot fec advertises pause frames and reports both off; once they were set, off is not advertised
    // (phy_set_sym_pause), so that what `-A` shows is as before and what is negotiated is not.
    // The MAC obeys no pause frames then: bit 5 of RCR.
    setting(
        "pause-without-autonegotiation",
        &["sabrelite"],
        &["ethtool -A eth0 autoneg off"],
        &["Autonegotiate: off", "5 FCE 0"],
    ),
    // Its MAC sends pause frames as it obeys them: fec_enet_set_pauseparam.
    setting("pause-of-one-direction", &["sabrelite"], &["ethtool -A eth0 rx on"], &[]),
    setting(
        "coalescing",
        &["e1000e"],
        &["ethtool -C eth0 rx-usecs 50"],
        &["rx-usecs: 50"],
    ),
    setting(
        "segmentation",
        &["e1000e", "virtio-net-pci", "sabrelite"],
        &["ethtool -K eth0 tso off gso off"],
        &["tcp-segmentation-offload: off", "generic-segmentation-offload: off"],
    ),
    // TSO and scatter-gather follow.
    setting(
        "checksums",
        &["e1000e", "virtio-net-pci", "sabrelite"],
        &["ethtool -K eth0 tx off"],
        &["tx-checksumming: off", "tcp-segmentation-offload: off"],
    ),
    setting(
        "receive-offload",
        &["e1000e", "virtio-net-pci", "sabrelite"],
        &["ethtool -K eth0 gro off"],
        &["generic-receive-offload: off"],
    ),
    setting(
        "mtu",
        &["e1000e", "virtio-net-pci"],
        &["ip link set dev eth0 mtu 1400", "ip link set dev eth0 txqueuelen 77"],
        &["mtu 1400", "qlen 77"],
    ),
    setting(
        "interrupt",
        &["e1000e", "virtio-net-pci", "sabrelite"],
        &["echo 1 > /proc/irq/$irq/smp_affinity_list"],
        &["affinity 1"],
    )
    .after("for n in $(grep -E 'eth0|virtio0-|ethernet' /proc/interrupts | cut -d: -f1); do echo 0 >/proc/irq/$n/smp_affinity_list || true; done;"),
    setting(
        "packet-steering",
        &["e1000e", "virtio-net-pci", "sabrelite"],
        &[
            "echo 2 > /sys/class/net/eth0/queues/rx-0/rps_cpus",
            "sysctl -w net.core.rps_sock_flow_entries=16384",
            "echo 2048 > /sys/class/net/eth0/queues/rx-0/rps_flow_cnt",
        ],
        &["rps 2 2048", "16384"],
    ),
    setting(
        "polling",
        &["e1000e", "virtio-net-pci", "sabrelite"],
        &[
            "echo 1 > /sys/class/net/eth0/threaded",
            "echo 2 > /sys/class/net/eth0/napi_defer_hard_irqs",
            "echo 20000 > /sys/class/net/eth0/gro_flush_timeout",
            "sysctl -w net.core.netdev_budget=600 net.core.netdev_max_backlog=5000",
        ],
        &["polling 1 2 20000", "600 5000"],
    ),
    // The driver binds its queues to processors again: what was set by hand before is lost with it.
    setting(
        "channels",
        &["virtio-net-pci"],
        &["ethtool -L eth0 combined 1"],
        &["Combined: 1"],
    )
    .after("echo 3 >/sys/class/net/eth0/queues/tx-1/xps_cpus; echo 3 >/sys/class/net/eth0/queues/rx-1/rps_cpus;"),
    setting("too-many-channels", &["virtio-net-pci"], &["ethtool -L eth0 combined 3"], &[]),
    setting("fq", QDISCS, &["tc qdisc replace dev eth0 root fq maxrate 100mbit"], &["maxrate 100Mbit"]),
    setting(
        "fq-of-a-person",
        QDISCS,
        &["tc qdisc replace dev eth0 root fq_codel target 7ms noecn"],
        &["qdisc fq_codel", "target 7ms"],
    )
    .after("/real/tc qdisc replace dev eth0 root handle 5: fq flow_limit 50 horizon_cap maxrate 90mbit;"),
    setting(
        "codel-of-a-person",
        QDISCS,
        &["tc qdisc replace dev eth0 root fq_codel limit 999"],
        &["limit 999p"],
    )
    .after("/real/tc qdisc replace dev eth0 root fq_codel target 3ms interval 77ms flows 512 noecn quantum 1000;"),
    setting(
        "bucket-of-a-person",
        QDISCS,
        &["tc qdisc replace dev eth0 root pfifo limit 16"],
        &["qdisc pfifo", "limit 16p"],
    )
    .after("/real/tc qdisc replace dev eth0 root tbf rate 70mbit burst 9000 limit 60000;"),
    setting("tree-of-a-person", QDISCS, &["tc qdisc replace dev eth0 root fq"], &[])
        .after("/real/tc qdisc replace dev eth0 root handle 1: htb; /real/tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit;"),
    setting("default", QDISCS, &["tc qdisc del dev eth0 root"], &["0: root"])
        .after("/real/tc qdisc del dev eth0 root; /real/tc qdisc replace dev eth0 root handle 7: fq quantum 5000;"),
    setting(
        "buffers",
        &["e1000e", "sabrelite"],
        &[
            "sysctl -w net.core.rmem_max=4194304 net.ipv4.tcp_rmem='4096 131072 9999999'",
            "sysctl -w vm.min_free_kbytes=9999",
            "sysctl -w net.ipv4.tcp_congestion_control=reno",
        ],
        &["4194304", "4096 131072 9999999", "9999", "reno"],
    ),
];

/// One queue and no class, and several.
const QDISCS: &[&str] = &["e1000e", "virtio-net-pci"];

/// What the guest's own tools show. No counters, no times.
pub(super) const STATE: &str = "for t in $(seq 100); do [ $(cat /sys/class/net/eth0/carrier) = 1 ] && break; sleep 0.1; done; for of in g k a c l; do ethtool -$of eth0; done 2>/dev/null; \
     /real/ip link show dev eth0 | sed 's/state [A-Z]*//'; /real/tc -d qdisc show dev eth0 | sed -E 's/ 8[0-9a-f]{3}:/ 8:/; s/refcnt [0-9]*//; s/direct_packets_stat [0-9]*//'; \
     cd /sys/class/net/eth0; echo polling $(cat threaded napi_defer_hard_irqs gro_flush_timeout); \
     for q in queues/rx-*; do echo rps $(cat $q/rps_cpus $q/rps_flow_cnt); done; for q in queues/tx-*; do echo xps $(cat $q/xps_cpus); done; \
     for n in $(grep -E 'eth0|virtio0-|ethernet' /proc/interrupts | cut -d: -f1); do echo affinity $(cat /proc/irq/$n/smp_affinity_list); done; \
     cd /proc/sys; echo $(cat net/core/netdev_budget net/core/netdev_max_backlog); \
     cat net/core/rps_sock_flow_entries net/core/rmem_max net/ipv4/tcp_rmem net/ipv4/tcp_congestion_control vm/min_free_kbytes; \
     linerate regs eth0 RCR 2>/dev/null; true";
