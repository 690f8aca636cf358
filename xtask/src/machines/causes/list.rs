// SPDX-License-Identifier: MIT OR Apache-2.0
//! The causes: how each is set up and undone, where it cannot be, how it is measured, and what must be said of it.

use super::Cause;

/// A cause in the guest.
const fn cause(name: &'static str, set: &'static str, undo: &'static str) -> Cause {
    Cause {
        name,
        set,
        set_on_host: "",
        undo,
        undo_on_host: "",
        measure: "linerate check HOST --quick",
        processors: 1,
        queues: 1,
        not_on: &[],
        only_on: &[],
        first: &[],
        or_nothing: false,
        or_harmless: false,
        dies_at: &[],
        moved: &[],
        seen: &[],
    }
}

impl Cause {
    /// Measured by this instead of a check.
    const fn by(self, measure: &'static str) -> Self {
        Self { measure, ..self }
    }

    const fn first(self, first: &'static [&'static str]) -> Self {
        Self { first, ..self }
    }

    const fn two_processors(self) -> Self {
        Self {
            processors: 2,
            ..self
        }
    }

    /// With two queues, of NICs that QEMU gives several.
    const fn two_queues(self, only_on: &'static [&'static str]) -> Self {
        Self {
            queues: 2,
            only_on,
            ..self
        }
    }

    const fn or_nothing(self) -> Self {
        Self {
            or_nothing: true,
            ..self
        }
    }

    /// Of a run that must lose packets or miss the requested rate before there is anything to name.
    const fn or_harmless(self) -> Self {
        Self {
            or_harmless: true,
            ..self
        }
    }

    const fn dies_at(self, dies_at: &'static [&'static str]) -> Self {
        Self { dies_at, ..self }
    }

    const fn moved(self, moved: &'static [&'static str]) -> Self {
        Self { moved, ..self }
    }

    const fn seen(self, seen: &'static [(&'static str, &'static str, &'static str)]) -> Self {
        Self { seen, ..self }
    }

    const fn not_on(self, not_on: &'static [(&'static str, &'static str)]) -> Self {
        Self { not_on, ..self }
    }

    /// Also at the host's end.
    const fn on_host(self, set: &'static str, undo: &'static str) -> Self {
        Self {
            set_on_host: set,
            undo_on_host: undo,
            ..self
        }
    }
}

/// Every cause; the first is none.
pub(super) const CAUSES: [Cause; 21] = [
    cause("untouched", "", "").or_nothing(),
    cause(
        "smallest-ring",
        "ethtool -g eth0 | grep '^RX:' | tail -n 1 | tr -dc 0-9 >/run/ring; ethtool -G eth0 rx 64; sleep 3",
        "ethtool -G eth0 rx $(cat /run/ring); sleep 3",
    )
    // Bursts that the ring cannot hold, at a rate that leaves the processors idle: at a high one an emulator that waits for
    // its own processor is late as well, and then a short ring is not what loses.
    .by("linerate udp HOST -R -b 4M/1000 -l 64 -t 3")
    .first(&["receive-ring-too-small"])
    .dies_at(&["rx-ring"])
    .seen(&[("ethtool -g", "RX.current", "64")])
    .not_on(&[
        ("e1000e", NO_OVERFLOW),
        ("i82559er", NO_OVERFLOW),
        ("rtl8139", "8139cp has a fixed ring"),
        ("virtio-net-pci", "QEMU's queues have a fixed size"),
        ("sabrelite", "fec has a fixed ring"),
    ]),
    cause("mtu-mismatch", "", "")
        .on_host("ip link set dev tap0 mtu 9000", "ip link set dev tap0 mtu 1500")
        .by("linerate udp HOST -R -b 5M -l 4000 -t 3")
        .first(&["mtu-mismatch"])
        .not_on(&[
            ("virtio-net-pci", TAKES_LONG_FRAMES),
            ("vmxnet3", TAKES_LONG_FRAMES),
        ]),
    cause(
        "vlan-offload-off",
        "ethtool -K eth0 rxvlan off; sleep 4",
        "ethtool -K eth0 rxvlan on; sleep 4",
    )
    .by("linerate udp HOST -R -b 5M -t 3")
    .or_nothing()
    .seen(&[("ethtool -k", "rx-vlan-offload", "off")])
    .not_on(NO_OFFLOADS),
    cause(
        "checksum-offload-off",
        "ethtool -K eth0 tx off; sleep 4",
        "ethtool -K eth0 tx on; sleep 4",
    )
    .by("linerate tcp HOST -t 3")
    .first(&["segmentation-offload-off"])
    .or_nothing()
    .seen(&[("ethtool -k", "tx-checksumming", "off")])
    .not_on(&[("i82559er", "e100 computes no checksums")]),
    cause(
        "pause-off",
        "ethtool -a eth0 >/run/pause; ethtool -A eth0 autoneg off rx off tx off; sleep 4",
        "ethtool -A eth0 $(awk '/^A/ {print \"autoneg\", $2} /^RX:/ {print \"rx\", $2} /^TX:/ {print \"tx\", $2}' /run/pause); sleep 4",
    )
    .by("linerate udp HOST -R -b 5M -t 3")
    .or_nothing()
    .seen(&[("ethtool -a", "TX", "off")])
    .not_on(&[
        ("i82559er", "e100 sets no pause"),
        ("rtl8139", "8139cp sets no pause"),
        ("vmxnet3", "has no pause"),
        ("virtio-net-pci", "has no pause"),
    ]),
    cause(
        "small-rmem-max",
        "sysctl net.core.rmem_max >/run/rmem; sysctl -w net.core.rmem_max=4608",
        "sysctl -w $(tr -d ' ' </run/rmem)",
    )
    // A program of an ordinary user, or of a container: root's has SO_RCVBUFFORCE.
    .by("unshare -U linerate udp HOST -R -b 20M -t 3")
    .first(&["udp-receive-buffer-too-small"])
    .moved(&["UdpRcvbufErrors"])
    .dies_at(&["rx-socket"])
    .seen(&[("sysctl", "net.core.rmem_max", "4608")]),
    cause(
        "small-tcp-rmem",
        "cat /proc/sys/net/ipv4/tcp_rmem >/run/tcp_rmem; echo 4096 8192 8192 >/proc/sys/net/ipv4/tcp_rmem",
        "cat /run/tcp_rmem >/proc/sys/net/ipv4/tcp_rmem",
    )
    .by("linerate tcp HOST -R -t 3")
    .first(&["tcp-receive-window-too-small", "tcp-receiver-limited"])
    .seen(&[("sysctl", "net.ipv4.tcp_rmem", "4096")]),
    // The table fills when the test runs: its own connection has a place.
    cause(
        "conntrack-64",
        "modprobe crc32c_generic; modprobe nf_conntrack; \
         nft 'add table inet lr; add chain inet lr in { type filter hook input priority 0; }; add rule inet lr in ct state new counter accept'; \
         sysctl -w net.netfilter.nf_conntrack_max=64; \
         sh -c 'until netstat -un | grep -q :5201; do sleep 0.2; done; while :; do for n in $(seq 20 220); do ping -c 1 -W 1 198.18.77.$n & done; sleep 1; done' >/dev/null 2>&1 & \
         echo $! >/run/pinging",
        "kill $(cat /run/pinging); sleep 2; nft flush ruleset; sysctl -w net.netfilter.nf_conntrack_max=65536",
    )
    .by("linerate udp HOST -R -b 1M -t 5")
    .first(&["connection-table-full"]),
    // As with connections: the server's address is known before the table is full.
    cause(
        "neighbour-table-8",
        "cd /proc/sys/net/ipv4/neigh/default; cat gc_thresh1 gc_thresh2 gc_thresh3 >/run/thresholds; \
         echo 1 >gc_thresh1; echo 4 >gc_thresh2; echo 8 >gc_thresh3; \
         sh -c 'until netstat -un | grep -q :5201; do sleep 0.2; done; while :; do for n in $(seq 20 90); do ping -c 1 -W 1 198.18.77.$n & done; sleep 1; done' >/dev/null 2>&1 & \
         echo $! >/run/pinging",
        "kill $(cat /run/pinging); cd /proc/sys/net/ipv4/neigh/default; sleep 2; set -- $(cat /run/thresholds); \
         echo $3 >gc_thresh3; echo $2 >gc_thresh2; echo $1 >gc_thresh1",
    )
    .by("linerate udp HOST -R -b 2M -t 4")
    .first(&["neighbour-table-full"]),
    cause(
        "tbf",
        "/real/tc qdisc replace dev eth0 root tbf rate 5mbit burst 16kb latency 50ms",
        "/real/tc qdisc del dev eth0 root",
    )
    .by("linerate udp HOST -b 10M -t 3")
    // The send call is refused: nothing that was sent is lost.
    .first(&["own-queue-drops"])
    .moved(&["drops", "overlimits"])
    .seen(&[("tc qdisc", "root", "tbf")]),
    cause(
        "tbf-tcp",
        "/real/tc qdisc replace dev eth0 root tbf rate 5mbit burst 16kb latency 200ms",
        "/real/tc qdisc del dev eth0 root",
    )
    .by("linerate tcp HOST -t 4")
    .first(&["own-queue-drops", "shaper-limits"])
    .moved(&["overlimits"])
    .seen(&[("tc qdisc", "root", "tbf")]),
    cause(
        "htb",
        "/real/tc qdisc replace dev eth0 root handle 1: htb default 1; \
         /real/tc class add dev eth0 parent 1: classid 1:1 htb rate 5mbit; \
         /real/tc qdisc add dev eth0 parent 1:1 pfifo limit 20",
        "/real/tc qdisc del dev eth0 root",
    )
    .by("linerate udp HOST -b 10M -t 3")
    .first(&["own-queue-drops"])
    .moved(&["drops", "overlimits"])
    .seen(&[("tc qdisc", "root", "htb")]),
    cause(
        "police",
        "/real/tc qdisc add dev eth0 ingress; \
         /real/tc filter add dev eth0 parent ffff: matchall action police rate 5mbit burst 20k conform-exceed drop",
        "/real/tc qdisc del dev eth0 ingress",
    )
    .by("linerate udp HOST -R -b 10M -t 3")
    .first(&["ingress-filter-drops"])
    .moved(&["ingress ffff:.drops"])
    .dies_at(&["rx-softnet"])
    .seen(&[("tc qdisc", "ingress ffff:", "present")]),
    cause(
        "netem-loss",
        "/real/tc qdisc replace dev eth0 root netem loss 2%",
        "/real/tc qdisc del dev eth0 root",
    )
    .by("linerate udp HOST -b 5M -t 3")
    .first(&["own-queue-drops", "own-queue-impairs"])
    .moved(&["drops"])
    .dies_at(&["tx-qdisc"])
    .seen(&[("tc qdisc", "root", "netem")]),
    cause(
        "netem-delay",
        "/real/tc qdisc replace dev eth0 root netem delay 40ms limit 5000",
        "/real/tc qdisc del dev eth0 root",
    )
    .by("linerate tcp HOST -t 4")
    .first(&["own-queue-impairs"])
    .seen(&[("tc qdisc", "root", "netem")]),
    cause(
        "netem-reorder",
        "/real/tc qdisc replace dev eth0 root netem delay 5ms reorder 5% limit 5000",
        "/real/tc qdisc del dev eth0 root",
    )
    .by("linerate udp HOST -b 5M -t 3")
    .first(&["own-queue-impairs", "reordering-on-the-path"])
    .seen(&[("tc qdisc", "root", "netem")]),
    cause(
        "bond-dead-leg",
        "modprobe bonding max_bonds=0; modprobe dummy numdummies=0; /real/ip link add bond0 type bond mode active-backup miimon 100; /real/ip link add dummy9 type dummy; \
         /real/ip link set dev eth0 down; /real/ip link set dev eth0 master bond0; /real/ip link set dev dummy9 master bond0; \
         /real/ip link set dev bond0 up; /real/ip addr flush dev eth0; /real/ip addr add GUEST/24 dev bond0; /real/ip link set dev dummy9 carrier off; sleep 5",
        "/real/ip link del dev bond0; /real/ip link del dev dummy9; /real/ip addr flush dev eth0; /real/ip link set dev eth0 up; \
         /real/ip addr add GUEST/24 dev eth0; sleep 5",
    )
    .by("linerate udp HOST -b 5M -t 3")
    .or_nothing(),
    cause(
        "cpu-burnt",
        "sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $! >/run/burner; sleep 1",
        "kill $(cat /run/burner); sleep 1",
    )
    .by("linerate udp HOST -b 200M -t 3")
    .first(&[
        "sender-had-no-processor",
        "receiver-had-no-processor",
        "receiver-waited-for-cpu",
        // An emulator that is short of time loses the guest's ticks: what kept the processor busy before the test is not seen.
        "processor-full",
    ]),
    // Rules that every packet passes make each costly: so the one processor that receives is the limit, at a rate that leaves
    // this host time for the rest.
    cause(
        "one-queue-of-two",
        "ethtool -L eth0 combined 1; modprobe crc32c_generic; \
         { echo 'add table inet costly; add chain inet costly in { type filter hook prerouting priority 0; }'; \
         for n in $(seq 1 1500); do echo \"add rule inet costly in udp dport $n counter\"; done; } | nft -f -; sleep 2",
        "nft flush ruleset; ethtool -L eth0 combined 2; sleep 2",
    )
    .two_processors()
    .two_queues(&["virtio-net-pci"])
    .by("linerate udp HOST -R -P 4 -b 4M -l 200 -t 8")
    // One queue has one interrupt for what arrives: that all go to one processor is the same thing.
    .first(&["fewer-queues-than-possible", "all-interrupts-on-one-cpu"])
    .or_harmless()
    .seen(&[("ethtool -l", "Combined.current", "1")]),
    // Processor 1 takes the card's interrupts and runs another program, which leaves ksoftirqd little of it: while that waits,
    // no interrupt processes packets there (kernel/softirq.c invoke_softirq). Processor 0 is idle.
    cause(
        "irq-on-busy-cpu",
        "for n in $(grep -E 'eth0|virtio0-' /proc/interrupts | cut -d: -f1); do \
         cat /proc/irq/$n/smp_affinity >/run/irq-$n; echo 2 >/proc/irq/$n/smp_affinity || true; done; \
         taskset 2 sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $! >/run/burner; renice -n -10 -p $! >/dev/null; sleep 2",
        "kill $(cat /run/burner); for n in $(cd /run; ls -d irq-* | cut -d- -f2); do \
         cat /run/irq-$n >/proc/irq/$n/smp_affinity || true; done; sleep 1",
    )
    .two_processors()
    // A rate that the sender reaches next to an emulator with two processors.
    .by("linerate udp HOST -R -b 20M -t 3")
    .first(&["interrupts-on-a-busy-processor"])
    .or_harmless(),
];

const NO_OVERFLOW: &str = "QEMU's model takes no frame for which there is no descriptor";
const TAKES_LONG_FRAMES: &str = "QEMU's model takes frames above the MTU, and nothing is lost";

const NO_OFFLOADS: &[(&str, &str)] = &[
    ("i82559er", "e100 has no VLAN offload"),
    ("virtio-net-pci", "virtio has no VLAN offload"),
];
