// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a host and its interfaces are set up, on one page: what belongs together stands together. What
//! could not be read is said so, with the reason, where the page is what was asked for.

use linerate_model::output::Output;
use linerate_model::setting::Setting;

use super::{Block, Line};

/// A row of the page: what it is called, where its values are, and which of them (`*` for any beginning;
/// all if none is named); and why there may be none, if that is worth telling.
struct Row(
    &'static str,
    &'static str,
    &'static [&'static str],
    Option<&'static str>,
);

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
            page(output, Some(name), INTERFACE),
        )
    });
    let of_host = std::iter::once(("host".to_owned(), page(output, None, HOST)));
    let blocks = of_interfaces
        .chain(of_host)
        .filter(|(_, lines)| !lines.is_empty());
    blocks
        .map(|(heading, lines)| Block::Lines { heading, lines })
        .collect()
}

fn page(output: &Output, interface: Option<&str>, rows: &[Row]) -> Vec<Line> {
    let values = rows
        .iter()
        .map(|row| told(&output.settings, interface, row));
    let all: Vec<(&Row, Vec<Told>)> = rows.iter().zip(values).collect();
    let shown = all.iter().filter(|(_, told)| !told.is_empty());
    let mut lines: Vec<Line> = shown
        .map(|(row, told)| line(row.0, &joined(told)))
        .collect();
    let empty = all.iter().filter(|(_, told)| told.is_empty());
    let empty: Vec<&Row> = empty.map(|(row, _)| *row).collect();
    if output.kind == "inspect" && !(lines.is_empty() && interface.is_none()) {
        lines.extend(untold(&empty));
    }
    lines
}

/// A label, and what stands beside it under itself.
fn line(label: &str, text: &str) -> Line {
    let text = text.strip_prefix(&format!("{label} ")).unwrap_or(text);
    Line::new(2, format!("{label:<WIDTH$}{text}")).hang(WIDTH)
}

/// What could not be read, each reason once.
fn untold(empty: &[&Row]) -> Vec<Line> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for Row(label, source, _, reason) in empty {
        let Some(reason) = reason else { continue };
        let what = if source.starts_with("ethtool") {
            format!("{label} (`{source}`)")
        } else {
            (*label).to_owned()
        };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, labels)) => labels.push(what),
            None => reasons.push((reason, vec![what])),
        }
    }
    let text = |(reason, labels): (&str, Vec<String>)| {
        line("not told", &format!("{}: {reason}", labels.join(", ")))
    };
    reasons.into_iter().map(text).collect()
}

/// What one setting says: whose it is (a processor, an interrupt), and its values.
#[derive(PartialEq)]
struct Told {
    whose: String,
    values: String,
}

fn told(settings: &[Setting], interface: Option<&str>, row: &Row) -> Vec<Told> {
    let of = settings
        .iter()
        .filter(|setting| setting.interface.as_deref() == interface);
    let told = of.filter_map(|setting| {
        let whose = whose(row.1, &setting.source)?;
        let values = values(setting, row.2).join(", ");
        (!values.is_empty()).then_some(Told { whose, values })
    });
    told.collect()
}

/// A source with a `…` stands for all that begin and end so: one a processor, one an interrupt.
fn whose(wanted: &str, source: &str) -> Option<String> {
    let Some((start, end)) = wanted.split_once('…') else {
        return (wanted == source).then(String::new);
    };
    let rest = source.strip_prefix(start)?;
    let (number, rest) = rest.split_once('/').unwrap_or((rest, ""));
    rest.starts_with(end.trim_start_matches('/'))
        .then(|| number.to_owned())
}

fn values(setting: &Setting, keys: &[&str]) -> Vec<String> {
    let word = |(key, value): (&String, &String)| format!("{key} {value}");
    if keys.is_empty() {
        return setting.values.iter().map(word).collect();
    }
    let one = |wanted: &&str| {
        let values = setting.values.iter();
        let of = values.filter(move |(key, _)| match wanted.strip_prefix('*') {
            Some(end) => key.ends_with(end),
            None => key == wanted,
        });
        of.map(word).collect::<Vec<_>>()
    };
    keys.iter().flat_map(one).collect()
}

/// Alike on every processor is said once.
fn joined(told: &[Told]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for one in told {
        if !distinct.contains(&one.values.as_str()) {
            distinct.push(&one.values);
        }
    }
    let times = |values: &str| told.iter().filter(|one| one.values == values).count();
    let all = distinct.first().map_or(0, |values| times(values));
    if all > 1 && distinct.iter().all(|values| times(values) == all) {
        return format!("{} (all {all})", distinct.join("; "));
    }
    let text = |one: &Told| match one.whose.as_str() {
        "" => one.values.clone(),
        whose => format!("{whose}: {}", one.values),
    };
    told.iter().map(text).collect::<Vec<_>>().join("; ")
}

const INTERFACE: &[Row] = &[
    Row(
        "driver",
        "ethtool -i",
        &["driver", "version", "firmware-version", "bus-info"],
        Some(DRIVER),
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
        Some(DRIVER),
    ),
    Row(
        "advertised",
        "ethtool",
        &["Advertised link modes", "Advertised pause frame use"],
        None,
    ),
    Row(
        "partner",
        "ethtool",
        &[
            "Link partner advertised link modes",
            "Link partner advertised pause frame use",
        ],
        None,
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
        Some(DRIVER),
    ),
    Row(
        "EEE",
        "ethtool --show-eee",
        &["EEE status", "Tx LPI"],
        Some(DRIVER),
    ),
    Row(
        "device",
        "ip link",
        &["mtu", "qdisc", "txqueuelen", "state", "flags"],
        None,
    ),
    Row(
        "rings",
        "ethtool -g",
        &["RX.current", "RX.max", "TX.current", "TX.max"],
        Some(DRIVER),
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
        Some(DRIVER),
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
        Some(DRIVER),
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
        Some(DRIVER),
    ),
    Row("RSS", "ethtool -x", &[], Some(DRIVER)),
    Row(
        "RPS",
        "/sys/class/net/queues",
        &["*.rps_cpus", "*.rps_flow_cnt"],
        Some("no receive queue in sysfs (a kernel without CONFIG_RPS)"),
    ),
    Row(
        "XPS",
        "/sys/class/net/queues",
        &["*.xps_cpus"],
        Some("a single transmit queue has nothing to choose (or a kernel without CONFIG_XPS)"),
    ),
    Row(
        "interrupts",
        "/proc/irq/…",
        &["name", "smp_affinity_list"],
        Some("the device has none of its own"),
    ),
    Row(
        "qdisc",
        "tc qdisc",
        &[],
        Some("the kernel names no queueing discipline"),
    ),
    Row(
        "bus",
        "/sys/class/net/device",
        &["vendor", "device", "numa_node"],
        None,
    ),
    Row(
        "PCI link",
        "/sys/class/net/device",
        &[
            "current_link_speed",
            "max_link_speed",
            "current_link_width",
            "max_link_width",
        ],
        Some("sysfs shows no PCI Express link"),
    ),
    Row(
        "IOMMU",
        "/sys/class/net/device",
        &["iommu_group_type"],
        Some("no IOMMU stands between the device and memory, as far as sysfs shows"),
    ),
    Row("captures", "/proc/net/packet", &["sockets"], None),
    Row("registers", "registers", &[], None),
];

const HOST: &[Row] = &[
    Row("machine", "machine", &[], None),
    Row("kernel", "/proc/version", &["version"], None),
    Row(
        "cmdline",
        "/proc/cmdline",
        &["cmdline"],
        Some("/proc/cmdline cannot be read"),
    ),
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
        Some("the kernel shows no /proc/config.gz; /boot may have its configuration"),
    ),
    Row(
        "governor",
        "/sys/devices/system/cpu/cpu…/cpufreq",
        &["scaling_governor", "scaling_cur_freq", "cpuinfo_max_freq"],
        Some("no cpufreq: the firmware or the hypervisor sets the clock"),
    ),
    Row(
        "idle states",
        "/sys/devices/system/cpu/cpu…/cpuidle",
        &["name", "latency", "disable"],
        Some("no cpuidle: the firmware or the hypervisor lets the processors sleep"),
    ),
    Row(
        "interrupts",
        "/proc/irq/…",
        &["name", "smp_affinity_list"],
        None,
    ),
    Row(
        "memory",
        "/proc/meminfo",
        &["MemTotal", "MemFree", "MemAvailable"],
        None,
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
        None,
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
        None,
    ),
    Row(
        "tcp_mem",
        "tcp_mem",
        &[],
        Some("the kernel's own formula does not give the value that is set, or it is not known"),
    ),
    Row(
        "UDP",
        "sysctl",
        &["net.ipv4.udp_mem", "net.ipv4.udp_rmem_min"],
        None,
    ),
    Row(
        "routing",
        "sysctl",
        &["net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter"],
        None,
    ),
    Row(
        "kernel log",
        "dmesg",
        &[],
        Some("no line of a network driver (where `dmesg` is only for root, none can be read)"),
    ),
];

const DRIVER: &str = "the driver has no such settings, or does not tell them";
const WIDTH: usize = 13;
