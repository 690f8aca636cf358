// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a host and its interfaces, grouped by topic. `inspect` also shows what could not be read, and why.

use linerate_model::order;
use linerate_model::output::Output;
use linerate_model::setting::Setting;

use super::{Block, Line};

/// A row: its label, the source of its values, their keys (`*` for any prefix; all if there are none); and why it may
/// be missing.
struct Row(
    &'static str,
    &'static str,
    &'static [&'static str],
    Option<&'static str>,
);

/// A table of rows: `"label" "source" ["key", …] reason;`, the reason only if a missing row is worth a line.
macro_rules! rows {
    ($($label:literal $source:literal [$($key:literal),*] $($reason:expr)?;)*) => {
        &[$(Row($label, $source, &[$($key),*], [$(Some($reason),)? None][0])),*]
    };
}

/// One block per interface, and one for the host.
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
        .map(|row| read(&output.settings, interface, row));
    let all: Vec<(&Row, Vec<Values>)> = rows.iter().zip(values).collect();
    let shown = all.iter().filter(|(_, values)| !values.is_empty());
    let lines = shown.flat_map(|(row, values)| match row.1 {
        LOG => log(&output.settings),
        _ => vec![line(row.0, &joined(values))],
    });
    let mut lines: Vec<Line> = lines.collect();
    let empty = all.iter().filter(|(_, values)| values.is_empty());
    let empty: Vec<&Row> = empty.map(|(row, _)| *row).collect();
    if output.kind == "inspect" && !(lines.is_empty() && interface.is_none()) {
        lines.extend(missing(&empty));
    }
    lines
}

/// The kernel's log, line by line.
fn log(settings: &[Setting]) -> Vec<Line> {
    let logs = settings.iter().filter(|setting| setting.source == LOG);
    let values = logs.flat_map(|setting| &setting.values);
    let mut lines: Vec<(usize, &str)> = values
        .map(|(name, text)| (number(name), text.as_str()))
        .collect();
    order::by(&mut lines, Ord::cmp);
    let labels = std::iter::once("kernel log").chain(std::iter::repeat(""));
    labels
        .zip(lines)
        .map(|(label, (_, text))| line(label, text.trim_end()))
        .collect()
}

/// `line12`.
fn number(name: &str) -> usize {
    name.trim_start_matches("line")
        .parse()
        .unwrap_or(usize::MAX)
}

/// A label, and its text in a hanging indent.
fn line(label: &str, text: &str) -> Line {
    let text = text.strip_prefix(&format!("{label} ")).unwrap_or(text);
    Line::new(2, format!("{label:<WIDTH$}{text}")).hang(WIDTH)
}

/// What could not be read, each reason once.
fn missing(empty: &[&Row]) -> Vec<Line> {
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
        line("unknown", &format!("{}: {reason}", labels.join(", ")))
    };
    reasons.into_iter().map(text).collect()
}

/// The values of one setting, and whose they are (a processor, an interrupt).
#[derive(PartialEq)]
struct Values {
    whose: String,
    values: String,
}

fn read(settings: &[Setting], interface: Option<&str>, row: &Row) -> Vec<Values> {
    let of = settings
        .iter()
        .filter(|setting| setting.interface.as_deref() == interface);
    let found = of.filter_map(|setting| {
        let whose = whose(row.1, &setting.source)?;
        let values = values(setting, row.2).join(", ");
        (!values.is_empty()).then_some(Values { whose, values })
    });
    found.collect()
}

/// A source with a `…` matches several: one per processor or interrupt.
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
    // The kernel's unit, which a pasted text may lack.
    let kib = setting.source == "/proc/meminfo";
    let word = |(key, value): (&String, &String)| match kib && is_number(value) {
        true => format!("{key} {value} kB"),
        false => format!("{key} {value}"),
    };
    if keys.is_empty() {
        return setting.values.iter().map(word).collect();
    }
    let one = |wanted: &&str| {
        let known = setting
            .values
            .iter()
            .filter(|(key, value)| !is_unknown(key, value));
        let of = known.filter(move |(key, _)| match wanted.strip_prefix('*') {
            Some(end) => key.ends_with(end),
            None => key == wanted,
        });
        of.map(word).collect::<Vec<_>>()
    };
    keys.iter().flat_map(one).collect()
}

/// What sysfs shows of a PCI Express link that it cannot read: `Unknown`, 0 and 255 lanes (drivers/pci/pci-sysfs.c).
fn is_unknown(key: &str, value: &str) -> bool {
    match key {
        "current_link_speed" | "max_link_speed" => value == "Unknown",
        "current_link_width" | "max_link_width" => matches!(value, "0" | "255"),
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Joins values; those that are equal everywhere appear once.
fn joined(all: &[Values]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for one in all {
        if !distinct.contains(&one.values.as_str()) {
            distinct.push(&one.values);
        }
    }
    let times = |values: &str| all.iter().filter(|one| one.values == values).count();
    let count = distinct.first().map_or(0, |values| times(values));
    if count > 1 && distinct.iter().all(|values| times(values) == count) {
        return format!("{} (all {count})", distinct.join("; "));
    }
    let text = |one: &Values| match one.whose.as_str() {
        "" => one.values.clone(),
        whose => format!("{whose}: {}", one.values),
    };
    all.iter().map(text).collect::<Vec<_>>().join("; ")
}

const INTERFACE: &[Row] = rows! {
    "driver" "ethtool -i" ["driver", "version", "firmware-version", "bus-info"] DRIVER;
    "link" "ethtool" ["Link detected", "Speed", "Duplex", "Auto-negotiation", "Port"] DRIVER;
    "advertised" "ethtool" ["Advertised link modes", "Advertised pause frame use"];
    "partner" "ethtool" ["Link partner advertised link modes", "Link partner advertised pause frame use"];
    "pause" "ethtool -a" ["Autonegotiate", "RX", "TX", "RX negotiated", "TX negotiated"] DRIVER;
    "EEE" "ethtool --show-eee" ["EEE status", "Tx LPI"] DRIVER;
    "addresses" "ip address" ["link/ether", "inet", "inet6"];
    "device" "ip link" ["mtu", "qdisc", "txqueuelen", "state", "flags"];
    "rings" "ethtool -g" ["RX.current", "RX.max", "TX.current", "TX.max"] DRIVER;
    "coalescing" "ethtool -c" ["Adaptive RX", "Adaptive TX", "rx-usecs", "rx-frames", "tx-usecs", "tx-frames"] DRIVER;
    "channels" "ethtool -l" ["Combined.current", "Combined.max", "RX.current", "RX.max", "TX.current", "TX.max"] DRIVER;
    "offloads" "ethtool -k" ["tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload", "large-receive-offload", "rx-gro-hw", "rx-checksumming", "tx-checksumming"] DRIVER;
    "RSS" "ethtool -x" [] DRIVER;
    "RPS" "/sys/class/net/queues" ["*.rps_cpus", "*.rps_flow_cnt"] "no receive queue in sysfs (a kernel without CONFIG_RPS)";
    "XPS" "/sys/class/net/queues" ["*.xps_cpus"] "one transmit queue: nothing to select (or a kernel without CONFIG_XPS)";
    "interrupts" "/proc/irq/…" ["name", "smp_affinity_list"] "none in /proc/interrupts is named by the device";
    "qdisc" "tc qdisc" [] "the kernel names no queueing discipline";
    "bus" "/sys/class/net/device" ["vendor", "device", "numa_node"];
    "PCI link" "/sys/class/net/device" ["current_link_speed", "max_link_speed", "current_link_width", "max_link_width"] "sysfs shows no rate of a PCI Express link";
    "IOMMU" "/sys/class/net/device" ["iommu_group_type"] "no IOMMU according to sysfs";
    "captures" "/proc/net/packet" ["sockets"];
    "registers" "registers" [];
};

const HOST: &[Row] = rows! {
    "machine" "machine" [];
    "kernel" "/proc/version" ["version"];
    "cmdline" "/proc/cmdline" ["cmdline"] "/proc/cmdline cannot be read";
    "options" "/proc/config.gz" ["CONFIG_HZ", "CONFIG_PREEMPT", "CONFIG_PREEMPT_RT", "CONFIG_FAIR_GROUP_SCHED", "CONFIG_RT_GROUP_SCHED", "CONFIG_FEC_NAPI", "CONFIG_IOMMU_DEFAULT_PASSTHROUGH", "CONFIG_KASAN", "CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_PAGEALLOC", "CONFIG_SLUB_DEBUG_ON"] "the kernel shows no /proc/config.gz; /boot may have its configuration";
    "governor" "/sys/devices/system/cpu/cpu…/cpufreq" ["scaling_governor", "scaling_cur_freq", "cpuinfo_max_freq"] "no cpufreq: no driver is loaded, or the firmware or the hypervisor sets the clock";
    "idle states" "/sys/devices/system/cpu/cpu…/cpuidle" ["name", "latency", "disable"] "no cpuidle: no driver is loaded, or the firmware or the hypervisor controls idle states";
    "interrupts" "/proc/irq/…" ["name", "smp_affinity_list"];
    "memory" "/proc/meminfo" ["MemTotal", "MemFree", "MemAvailable"];
    "sockets" "sysctl" ["net.core.rmem_default", "net.core.rmem_max", "net.core.wmem_default", "net.core.wmem_max", "net.core.netdev_max_backlog", "net.core.netdev_budget"];
    "TCP" "sysctl" ["net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem"];
    "tcp_mem" "tcp_mem" [] "the value is not the kernel's default, or the default is unknown";
    "UDP" "sysctl" ["net.ipv4.udp_mem", "net.ipv4.udp_rmem_min"];
    "routing" "sysctl" ["net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter"];
    "kernel log" "dmesg" [] "no line of a network driver, or `dmesg` is restricted to root";
};

const DRIVER: &str = "not supported or not reported by the driver";
/// The source of [`log`].
const LOG: &str = "dmesg";
const WIDTH: usize = 13;

#[cfg(test)]
mod tests;
