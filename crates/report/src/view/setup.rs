// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a host and its interfaces are set up, on one page: what belongs together stands together, and
//! what could not be read is not shown.

use linerate_model::output::Output;
use linerate_model::setting::Setting;

use super::{Block, Line};

/// A row of the page: what it is called, where its values are, and which of them; all if none is named.
struct Row(&'static str, &'static str, &'static [&'static str]);

/// A block an interface, and one for the host.
pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let mut interfaces: Vec<&str> = output
        .settings
        .iter()
        .filter_map(|setting| setting.interface.as_deref())
        .collect();
    interfaces.sort_unstable();
    interfaces.dedup();
    let of_interfaces = interfaces.into_iter().map(|name| {
        (
            format!("interface {name}"),
            rows(&output.settings, Some(name), INTERFACE),
        )
    });
    let of_host = std::iter::once(("host".to_owned(), rows(&output.settings, None, HOST)));
    let blocks = of_interfaces
        .chain(of_host)
        .filter(|(_, lines)| !lines.is_empty());
    blocks
        .map(|(heading, lines)| Block::Lines { heading, lines })
        .collect()
}

fn rows(settings: &[Setting], interface: Option<&str>, rows: &[Row]) -> Vec<Line> {
    let row = |Row(label, source, keys): &Row| {
        let told = settings.iter().filter(|setting| {
            setting.interface.as_deref() == interface && is(source, &setting.source)
        });
        let values: Vec<String> = told
            .flat_map(|setting| values(setting, source, keys))
            .collect();
        (!values.is_empty()).then(|| {
            let values = joined(&values);
            let values = values.strip_prefix(&format!("{label} ")).unwrap_or(&values);
            Line::new(2, format!("{label:<WIDTH$}{values}"))
        })
    };
    rows.iter().filter_map(row).collect()
}

/// A source that ends in `…` stands for all that begin so: one a processor, one an interrupt.
fn is(wanted: &str, source: &str) -> bool {
    wanted
        .strip_suffix('…')
        .map_or(wanted == source, |start| source.starts_with(start))
}

fn values(setting: &Setting, wanted: &str, keys: &[&str]) -> Vec<String> {
    let prefix = wanted
        .strip_suffix('…')
        .and_then(|start| setting.source.strip_prefix(start));
    let whose = prefix.map_or_else(String::new, |rest| {
        format!("{}: ", rest.split('/').next().unwrap_or(rest))
    });
    let word = |key: &str, value: &str| format!("{whose}{key} {value}");
    let all = setting
        .values
        .iter()
        .filter(|_| keys.is_empty())
        .map(|(key, value)| word(key, value));
    let named = keys
        .iter()
        .filter_map(|key| Some(word(key, setting.values.get(*key)?)));
    all.chain(named).collect()
}

/// Alike on every processor is said once.
fn joined(values: &[String]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for value in values {
        let same = value
            .split_once(": ")
            .map_or(value.as_str(), |(_, rest)| rest);
        if !distinct.contains(&same) {
            distinct.push(same);
        }
    }
    if distinct.len() == 1 && values.len() > 1 {
        return format!("{} (all {})", distinct[0], values.len());
    }
    values.join(", ")
}

const INTERFACE: &[Row] = &[
    Row(
        "driver",
        "ethtool -i",
        &["driver", "version", "firmware-version", "bus-info"],
    ),
    Row(
        "link",
        "ethtool",
        &[
            "Link detected",
            "Speed",
            "Duplex",
            "Auto-negotiation",
            "Port",
        ],
    ),
    Row(
        "advertised",
        "ethtool",
        &["Advertised link modes", "Advertised pause frame use"],
    ),
    Row(
        "partner",
        "ethtool",
        &[
            "Link partner advertised link modes",
            "Link partner advertised pause frame use",
        ],
    ),
    Row(
        "pause",
        "ethtool -a",
        &[
            "Autonegotiate",
            "RX",
            "TX",
            "RX negotiated",
            "TX negotiated",
        ],
    ),
    Row("EEE", "ethtool --show-eee", &["EEE status", "Tx LPI"]),
    Row(
        "device",
        "ip link",
        &["mtu", "qdisc", "txqueuelen", "state", "flags"],
    ),
    Row(
        "rings",
        "ethtool -g",
        &["RX.current", "RX.max", "TX.current", "TX.max"],
    ),
    Row(
        "coalescing",
        "ethtool -c",
        &[
            "Adaptive RX",
            "Adaptive TX",
            "rx-usecs",
            "rx-frames",
            "tx-usecs",
            "tx-frames",
        ],
    ),
    Row(
        "channels",
        "ethtool -l",
        &[
            "Combined.current",
            "Combined.max",
            "RX.current",
            "RX.max",
            "TX.current",
            "TX.max",
        ],
    ),
    Row(
        "offloads",
        "ethtool -k",
        &[
            "tcp-segmentation-offload",
            "generic-segmentation-offload",
            "generic-receive-offload",
            "large-receive-offload",
            "rx-gro-hw",
            "rx-checksumming",
            "tx-checksumming",
        ],
    ),
    Row("flow hash", "ethtool -x", &[]),
    Row("queues", "/sys/class/net/queues", &[]),
    Row("interrupts", "/proc/irq/…", &["name", "smp_affinity_list"]),
    Row("qdisc", "tc qdisc", &[]),
    Row("bus", "/sys/class/net/device", &[]),
    Row("captures", "/proc/net/packet", &["sockets"]),
    Row("registers", "registers", &[]),
];

const HOST: &[Row] = &[
    Row("machine", "machine", &[]),
    Row("kernel", "/proc/version", &["version"]),
    Row("cmdline", "/proc/cmdline", &["cmdline"]),
    Row(
        "options",
        "/proc/config.gz",
        &[
            "CONFIG_HZ",
            "CONFIG_PREEMPT",
            "CONFIG_PREEMPT_RT",
            "CONFIG_FAIR_GROUP_SCHED",
            "CONFIG_RT_GROUP_SCHED",
            "CONFIG_FEC_NAPI",
            "CONFIG_IOMMU_DEFAULT_PASSTHROUGH",
            "CONFIG_KASAN",
            "CONFIG_PROVE_LOCKING",
            "CONFIG_DEBUG_PAGEALLOC",
            "CONFIG_SLUB_DEBUG_ON",
        ],
    ),
    Row(
        "frequency",
        "/sys/devices/system/cpu/cpu…",
        &["scaling_governor", "scaling_cur_freq", "cpuinfo_max_freq"],
    ),
    Row("interrupts", "/proc/irq/…", &["name", "smp_affinity_list"]),
    Row(
        "memory",
        "/proc/meminfo",
        &["MemTotal", "MemFree", "MemAvailable"],
    ),
    Row(
        "sockets",
        "sysctl",
        &[
            "net.core.rmem_default",
            "net.core.rmem_max",
            "net.core.wmem_default",
            "net.core.wmem_max",
            "net.core.netdev_max_backlog",
            "net.core.netdev_budget",
        ],
    ),
    Row(
        "TCP",
        "sysctl",
        &[
            "net.ipv4.tcp_congestion_control",
            "net.ipv4.tcp_rmem",
            "net.ipv4.tcp_wmem",
            "net.ipv4.tcp_mem",
        ],
    ),
    Row(
        "UDP",
        "sysctl",
        &["net.ipv4.udp_mem", "net.ipv4.udp_rmem_min"],
    ),
    Row(
        "routing",
        "sysctl",
        &["net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter"],
    ),
    Row("kernel log", "dmesg", &[]),
];

const WIDTH: usize = 13;
