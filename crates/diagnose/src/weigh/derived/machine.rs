// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine and its system: temperature, AES, memory nodes, kernels that a text names, programs that manage the network.

use std::collections::BTreeSet;

use super::{Fact, number_after};
use crate::weigh::observed::{Field, Line, normal};

pub(super) fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    [
        temperature(lines),
        aes(lines),
        nodes(lines),
        kernels(lines),
        managers(lines),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether the busiest processor is not on the card's node.
pub(super) fn of_fields(fields: &[Field]) -> Option<Fact> {
    let value = |name: &str| {
        let name = normal(name);
        let field = fields.iter().find(|field| field.name == name)?;
        Some((field.value.parse::<f64>().ok()?, field.line))
    };
    let (card, line) = value("fact device_numa_node").filter(|(node, _)| *node >= 0.0)?;
    let (busiest, _) = value("fact busiest_cpu_node")?;
    Some(Fact {
        line,
        ..Fact::new("busiest_cpu_node_differs", card != busiest, 0)
    })
}

/// The hottest processor, °C: of sensors, thermal zones, `vcgencmd measure_temp`.
fn temperature(lines: &[Line<'_>]) -> Option<Fact> {
    let one = |(at, line): (usize, &Line<'_>)| -> Option<(f64, u64)> {
        let text = line.text.trim_start();
        if let Some(rest) = text.strip_prefix("temp=") {
            return Some((
                number_after(rest, "").filter(|_| rest.contains("'C"))?,
                line.number,
            ));
        }
        if text.contains("thermal_zone") {
            let (_, rest) = text.split_once("/temp")?;
            let own = rest.trim_start_matches([':', ' ', '=']).parse::<f64>().ok();
            let below = || lines.get(at + 1)?.text.trim().parse::<f64>().ok();
            let raw = own.or_else(below).filter(|raw| *raw >= 1000.0)?;
            return Some((raw / 1000.0, line.number));
        }
        let is_cpu = SENSORS.iter().any(|name| text.starts_with(name)) && text.contains('C');
        let degrees = is_cpu.then(|| number_after(text, "+"))??;
        text.contains(['°', '\u{c2}'])
            .then_some((degrees, line.number))
    };
    let all = lines
        .iter()
        .enumerate()
        .filter_map(one)
        .filter(|(degrees, _)| (10.0..130.0).contains(degrees));
    let (degrees, line) = all.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Fact::new("cpu_temperature", degrees, line))
}

/// Of the flags of x86 and ARM; a list that was cut proves no lack.
fn aes(lines: &[Line<'_>]) -> Option<Fact> {
    let flags = |line: &&Line<'_>| {
        let text = line.text.trim_start();
        ["flags", "Flags:", "Features", "Flags "]
            .iter()
            .any(|start| text.starts_with(start))
            && (text.contains("fpu") || text.contains("asimd") || text.contains("vfp"))
    };
    let line = lines.iter().find(flags)?;
    let has = |flag: &str| line.text.split_whitespace().any(|word| word == flag);
    // On x86 this flag follows that of AES.
    let is_whole = has("lahf_lm") || has("cpuid") || has("crc32") || has("vfpv4");
    (has("aes") || is_whole).then(|| Fact::new("cpu_has_aes", has("aes"), line.number))
}

/// `NUMA node(s):  2` of lscpu, `available: 2 nodes (0-1)` of numactl, rows of a grep.
fn nodes(lines: &[Line<'_>]) -> Option<Fact> {
    let one = |line: &Line<'_>| {
        let text = line.text.trim_start();
        let count = number_after(text.strip_prefix("NUMA node(s):").unwrap_or_default(), "");
        let numactl = text
            .strip_prefix("available: ")
            .filter(|rest| rest.contains(" node"));
        let row = text
            .strip_prefix("NUMA node")
            .filter(|rest| rest.contains("CPU(s):"));
        let row = row
            .and_then(|rest| number_after(rest, ""))
            .map(|node| node + 1.0);
        let count = count.or_else(|| number_after(numactl?, "")).or(row)?;
        Some((count, line.number))
    };
    let (count, line) = lines
        .iter()
        .filter_map(one)
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Fact::new("numa_nodes", count, line))
}

/// Whether the text has two kernel versions: after `kernel`, `Linux`, `to` or `and`.
fn kernels(lines: &[Line<'_>]) -> Option<Fact> {
    let mut known: BTreeSet<(u32, u32, u32)> = BTreeSet::new();
    for line in lines.iter().filter(|line| line.text.len() < PROSE_MOST) {
        let marks = ["ernel", "inux version ", "inux-image-"];
        let behind = marks.iter().filter_map(|mark| line.text.split_once(mark));
        known.extend(behind.flat_map(|(_, rest)| versions(rest)));
        known.extend(uname(line.text));
        if known.len() > 1 {
            return Some(Fact::new("two_kernels_named", true, line.number));
        }
    }
    None
}

/// `Linux box 5.15.0-91-generic #101-Ubuntu SMP …`.
fn uname(text: &str) -> Option<(u32, u32, u32)> {
    let rest = text
        .strip_prefix("Linux ")
        .filter(|rest| rest.contains(" #"))?;
    version(rest.split(' ').nth(1)?)
}

/// Versions at the beginning of a text, with few words between them.
fn versions(text: &str) -> Vec<(u32, u32, u32)> {
    let mut found = Vec::new();
    for word in text.split_whitespace().take(12) {
        let bare = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        if let Some(version) = version(bare) {
            found.push(version);
        } else if !BETWEEN.contains(&bare) && !word.ends_with(':') {
            break;
        }
    }
    found
}

/// `6.1.55`, `5.10.0-8-amd64`, `6.12`; no address.
fn version(word: &str) -> Option<(u32, u32, u32)> {
    let word = word.strip_prefix('v').unwrap_or(word);
    let numbers = word.split(['-', '+', '_', '~']).next()?;
    let mut parts = numbers.split('.');
    let major: u32 = parts.next()?.parse().ok()?;
    let minor: u32 = parts.next()?.parse().ok()?;
    let patch = parts.next().map_or(Some(0), |part| part.parse().ok())?;
    let is_address = parts.next().is_some() && major != 2;
    ((2..=7).contains(&major) && minor < 100 && !is_address).then_some((major, minor, patch))
}

/// Programs that are active and each believe that the interfaces are theirs.
fn managers(lines: &[Line<'_>]) -> Option<Fact> {
    let mut active: BTreeSet<&str> = BTreeSet::new();
    let mut last = None;
    let mut headed = None;
    for line in lines.iter().filter(|line| line.text.len() < LINE_MOST) {
        let text = line.text;
        if let (Some(name), Some(state)) = (headed, text.trim_start().strip_prefix("Active: ")) {
            headed = None;
            if state.starts_with("active") {
                active.insert(name);
                last = Some(line.number);
            }
        }
        let Some(name) = MANAGERS.iter().find(|name| text.contains(*name)) else {
            continue;
        };
        headed = text
            .contains(&format!("{name}.service - "))
            .then_some(*name)
            .or(headed);
        if is_active(text, name) {
            active.insert(name);
            last = Some(line.number);
        }
    }
    Some(Fact::new("network_managers_active", active.len(), last?))
}

/// A unit that runs, a process, a line of its log.
fn is_active(text: &str, name: &str) -> bool {
    let unit = text.contains(".service") && text.contains(" active running");
    let logged = text.contains(&format!("{name}["));
    let process = text.contains("/sbin/") || text.contains("/lib/systemd/systemd-");
    unit || logged
        || (process
            && text.contains(&format!("/{name}"))
            && !text.contains("ExecStart")
            && !text.contains("Main PID"))
}

const SENSORS: &[&str] = &[
    "Core ",
    "Package id",
    "Tctl:",
    "Tdie:",
    "CPU Temp",
    "CPU temp",
    "cpu_thermal",
    "Physical id",
    "CPU:",
];
const BETWEEN: &[&str] = &[
    "to", "and", "from", "version", "versions", "or", "the", "is", "release", "s", "", "Linux",
    "with", "old", "new", "vs", "than",
];
const MANAGERS: &[&str] = &[
    "NetworkManager",
    "systemd-networkd",
    "dhcpcd",
    "connmand",
    "wickedd",
];
const LINE_MOST: usize = 500;
const PROSE_MOST: usize = 2000;

#[cfg(test)]
mod tests {
    use super::super::assertions;
    use super::*;

    assertions!(is, facts);

    #[test]
    fn heat() {
        is(
            "Core 0:        +95.0°C  (high = +80.0°C, crit = +100.0°C)\nCore 1:        +60.0°C\n",
            "cpu_temperature",
            Some("95"),
        );
        is(
            "/sys/class/thermal/thermal_zone0/temp:82400\n",
            "cpu_temperature",
            Some("82.4"),
        );
        is(
            "cat /sys/class/thermal/thermal_zone0/temp\n50464\n",
            "cpu_temperature",
            Some("50.464"),
        );
        is("temp=61.2'C\n", "cpu_temperature", Some("61.2"));
        is(
            "Core 0 is at +3 Cores\nModule temperature : 45.00 degrees C\n",
            "cpu_temperature",
            None,
        );
    }

    #[test]
    fn aes_of_flags() {
        is(
            "flags\t\t: fpu vme sse2 aes avx lahf_lm\n",
            "cpu_has_aes",
            Some("true"),
        );
        is(
            "flags\t\t: fpu vme sse2 ssse3 lahf_lm\n",
            "cpu_has_aes",
            Some("false"),
        );
        is("flags\t\t: fpu vme sse2\n", "cpu_has_aes", None);
        is(
            "Features\t: fp asimd evtstrm crc32 cpuid\n",
            "cpu_has_aes",
            Some("false"),
        );
        is("Flags: bus master, fast devsel\n", "cpu_has_aes", None);
    }

    #[test]
    fn memory_nodes() {
        is(
            "NUMA node(s):                    2\nNUMA node0 CPU(s): 0-15\n",
            "numa_nodes",
            Some("2"),
        );
        is(
            "NUMA node0 CPU(s): 0-15\nNUMA node1 CPU(s): 16-31\n",
            "numa_nodes",
            Some("2"),
        );
        is("available: 1 nodes (0)\n", "numa_nodes", Some("1"));
        is("NUMA node: 1\nno update available: 2\n", "numa_nodes", None);
    }

    #[test]
    fn two_kernels() {
        is(
            "Since the update from kernel 6.12.34 to 6.12.36 Ethernet gets no address.\n",
            "two_kernels_named",
            Some("true"),
        );
        is(
            "Linux version 5.15.0-91-generic (gcc version 7.5.0)\nworks with kernel 5.4.0\n",
            "two_kernels_named",
            Some("true"),
        );
        is(
            "Linux version 5.15.0-91-generic (gcc version 7.5.0)\nkernel 5.15.0-91-generic, iperf 3.7, 10.0.0.1\n",
            "two_kernels_named",
            None,
        );
        is(
            "kernel: 192.168.1.1 to 2.4.3.2 in [ 12.5]\n",
            "two_kernels_named",
            None,
        );
    }

    #[test]
    fn two_managers() {
        is(
            "NetworkManager.service     loaded active running\nsystemd-networkd.service   loaded active running\n",
            "network_managers_active",
            Some("2"),
        );
        is(
            "dhcpcd[412]: eth0: leased\nNetworkManager[612]: <info> eth0\n",
            "network_managers_active",
            Some("2"),
        );
        is(
            "I use NetworkManager and not dhcpcd\n",
            "network_managers_active",
            None,
        );
        is(
            "NetworkManager.service - Network Manager\n   Active: active (running)\nsystemd-networkd.service - Network Configuration\n   Active: inactive (dead)\n",
            "network_managers_active",
            Some("1"),
        );
    }
}
