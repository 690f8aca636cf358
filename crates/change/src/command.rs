// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command that a person would type for a change.

use crate::entry::{Key, Undo};
use crate::open::Open;
use crate::parse::{EVERY_GOVERNOR, HELD_LATENCY};
use crate::{forwarding, link};

/// What sets a setting to `value`.
#[must_use]
pub fn command(key: &Key, value: &str) -> String {
    let interface = key.place.device().map_or("", |device| &device.name);
    match key.knob.split_once(' ') {
        Some(("sysctl", forwarding::ALL)) => forwarding_ipv6(value),
        Some(("sysctl", name)) => format!("sysctl -w {name}={}", quoted(value)),
        Some(("ethtool", words)) => ethtool(words, interface, value),
        Some(("ip", words)) => {
            let words = words.trim_start_matches("link ");
            link(words, interface, value)
        }
        Some(("tc", _)) => qdisc(interface, value),
        Some(("sysfs", file)) => {
            format!("echo {} > /sys/class/net/{interface}/{file}", quoted(value))
        }
        Some(("file", _)) if value.is_empty() => {
            let path = key.file();
            format!("rm {}", quoted(path.as_deref().unwrap_or_default()))
        }
        Some(("file", _)) => "linerate tune restore --kept".to_owned(),
        Some(("irq", number)) => {
            format!("echo {value} > /proc/irq/{number}/smp_affinity_list")
        }
        Some(("cpufreq", _)) => governor(value),
        Some(("pm-qos", _)) => held_latency(value),
        Some(("coupled", knob)) => format!("linerate tune restore   # what changed with {knob}"),
        _ => value.to_owned(),
    }
}

fn link(words: &str, interface: &str, value: &str) -> String {
    let set = format!("ip link set dev {interface}");
    match (words, words.strip_prefix("bridge ")) {
        (_, Some(name)) if value == link::ABSENT => format!("ip link del dev {name}"),
        (_, Some(name)) => format!("ip link add dev {name} up type bridge"),
        ("state", _) => format!("{set} {value}"),
        ("master", _) if value == link::NO_MASTER => format!("{set} {value}"),
        _ => format!("{set} {words} {value}"),
    }
}

/// First all, then those that differ: `0 eth0=1`.
fn forwarding_ipv6(value: &str) -> String {
    let each = value.split(' ').map(|word| {
        let (name, value) = word.split_once('=').unwrap_or(("all", word));
        format!(" {}={value}", forwarding::of(name))
    });
    format!("sysctl -w{}", each.collect::<String>())
}

/// `-A rx tx` with `on off`: each name before its value. An indirection table has no name there.
fn ethtool(words: &str, interface: &str, value: &str) -> String {
    match words.split_once(' ') {
        Some(("-X", "indirection")) => indirection(interface, value),
        Some(("-K", name)) => feature(interface, name, value),
        Some((option @ ("-A" | "-C" | "-G" | "-L"), names)) => {
            let pairs = names.split(' ').zip(value.split(' '));
            let pairs: Vec<String> = pairs
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            format!("ethtool {option} {interface} {}", pairs.join(" "))
        }
        Some((option, word)) => format!("ethtool {option} {interface} {word} {value}"),
        None => format!("ethtool {words} {interface} {value}"),
    }
}

/// ethtool(8) cannot set any table.
fn indirection(interface: &str, value: &str) -> String {
    match value.contains(',') {
        true => format!("linerate tune restore   # ethtool cannot set the table {value}"),
        false => format!("ethtool -X {interface} {value}"),
    }
}

/// `on without A B`: the group on, then these off.
fn feature(interface: &str, name: &str, value: &str) -> String {
    let (value, without) = value.split_once(" without ").unwrap_or((value, ""));
    let off = without.split(' ').filter(|name| !name.is_empty());
    let off: String = off.map(|name| format!(" {name} off")).collect();
    format!("ethtool -K {interface} {name} {value}{off}")
}

/// The default one is there again when none is set.
fn qdisc(interface: &str, value: &str) -> String {
    match value.split(' ').next() {
        Some("default") => format!("tc qdisc del dev {interface} root"),
        _ => format!("tc qdisc replace dev {interface} root {value}"),
    }
}

/// One for all, or `policy0=schedutil policy4=performance`.
fn governor(value: &str) -> String {
    if !value.contains('=') {
        return format!("{EVERY_GOVERNOR}{value} > $g; done");
    }
    let each = value.split(' ').filter_map(|one| one.split_once('='));
    let each = each.map(|(policy, value)| {
        format!("echo {value} > /sys/devices/system/cpu/cpufreq/{policy}/scaling_governor")
    });
    each.collect::<Vec<_>>().join("; ")
}

fn held_latency(value: &str) -> String {
    match value.parse::<u32>() {
        Ok(value) => format!("{HELD_LATENCY}{value:08x} >&9"),
        Err(_) => value.to_owned(),
    }
}

/// What undoes an open change.
#[must_use]
pub fn undo(open: &Open) -> String {
    match &open.undo {
        Undo::Write => command(&open.key, &open.old),
        Undo::Command { line, directory } => in_directory(line, directory.as_deref()),
    }
}

/// `sh -c` keeps a line of several commands in one piece: without the directory, none of them runs.
fn in_directory(line: &str, directory: Option<&str>) -> String {
    match directory {
        Some(directory) => format!("cd {} && sh -c {}", quoted(directory), quoted(line)),
        None => line.to_owned(),
    }
}

/// A word as the shell needs it.
#[must_use]
pub fn quoted(value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,:/".contains(letter);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Device, Place};
    use crate::parse::{Wanted, parse};

    fn key(knob: &str) -> Key {
        let device = Device {
            name: "eth0".to_owned(),
            index: 2,
            permanent_address: None,
            bus: None,
        };
        let is_of_interface = ["ethtool", "ip ", "tc ", "sysfs"];
        let place = match is_of_interface.iter().any(|tool| knob.starts_with(tool)) {
            true => Place::Interface { netns: 1, device },
            false => Place::Host,
        };
        let knob = knob.to_owned();
        Key { knob, place }
    }

    /// What a person types, and each read back as the setting and value that it is of.
    #[test]
    fn commands_are_those_that_a_person_types() {
        for (knob, value, expected) in EACH {
            let key = key(knob);
            assert_eq!(command(&key, value), expected);
            let is_of_interface = matches!(key.place, Place::Interface { .. });
            let wanted = Wanted {
                knob: key.knob,
                interface: is_of_interface.then(|| "eth0".to_owned()),
                value: value.to_owned(),
            };
            assert_eq!(parse(expected), Some(vec![wanted]), "{expected}");
        }
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    /// What `parse` does not read: a person does not ask for it.
    #[test]
    fn commands_of_a_data_plane() {
        for (knob, value, expected) in [
            ("ip link state", "up", "ip link set dev eth0 up"),
            ("ip link master", "br0", "ip link set dev eth0 master br0"),
            (
                "ip link master",
                "nomaster",
                "ip link set dev eth0 nomaster",
            ),
            (
                "ip link bridge br0",
                "present",
                "ip link add dev br0 up type bridge",
            ),
            ("ip link bridge br0", "absent", "ip link del dev br0"),
            (
                "sysctl net.ipv6.conf.*.forwarding",
                "0 eth1/7=1",
                "sysctl -w net.ipv6.conf.all.forwarding=0 net.ipv6.conf.eth1/7.forwarding=1",
            ),
        ] {
            assert_eq!(command(&key(knob), value), expected);
        }
    }

    const EACH: [(&str, &str, &str); 22] = [
        (
            "sysctl net.ipv4.tcp_rmem",
            "4096 131072 6291456",
            "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'",
        ),
        (
            "sysctl vm.min_free_kbytes",
            "65536",
            "sysctl -w vm.min_free_kbytes=65536",
        ),
        ("ethtool -G rx", "4096", "ethtool -G eth0 rx 4096"),
        ("ethtool -A rx tx", "on off", "ethtool -A eth0 rx on tx off"),
        (
            "ethtool -C adaptive-rx",
            "on",
            "ethtool -C eth0 adaptive-rx on",
        ),
        ("ethtool -L combined", "4", "ethtool -L eth0 combined 4"),
        (
            "ethtool -K rx-gro-list",
            "off",
            "ethtool -K eth0 rx-gro-list off",
        ),
        (
            "ethtool -K tcp-segmentation-offload",
            "on",
            "ethtool -K eth0 tcp-segmentation-offload on",
        ),
        (
            "ethtool --set-eee eee",
            "off",
            "ethtool --set-eee eth0 eee off",
        ),
        (
            "ethtool -X indirection",
            "equal 4",
            "ethtool -X eth0 equal 4",
        ),
        (
            "ethtool -X indirection",
            "default",
            "ethtool -X eth0 default",
        ),
        (
            "ethtool -X hkey",
            "6d:5a:56",
            "ethtool -X eth0 hkey 6d:5a:56",
        ),
        (
            "ethtool -N rx-flow-hash udp4",
            "sdfn",
            "ethtool -N eth0 rx-flow-hash udp4 sdfn",
        ),
        (
            "sysfs threaded",
            "1",
            "echo 1 > /sys/class/net/eth0/threaded",
        ),
        (
            "sysfs queues/rx-0/rps_cpus",
            "00000000,0000000f",
            "echo 00000000,0000000f > /sys/class/net/eth0/queues/rx-0/rps_cpus",
        ),
        (
            "ip link txqueuelen",
            "500",
            "ip link set dev eth0 txqueuelen 500",
        ),
        ("ip link mtu", "9000", "ip link set dev eth0 mtu 9000"),
        (
            "tc qdisc root",
            "fq flow_limit 1000",
            "tc qdisc replace dev eth0 root fq flow_limit 1000",
        ),
        ("tc qdisc root", "default", "tc qdisc del dev eth0 root"),
        ("irq 31", "0-1", "echo 0-1 > /proc/irq/31/smp_affinity_list"),
        (
            "cpufreq scaling_governor",
            "performance",
            "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $g; done",
        ),
        (
            "pm-qos cpu_dma_latency",
            "50",
            "exec 9> /dev/cpu_dma_latency; echo 0x00000032 >&9",
        ),
    ];
}
