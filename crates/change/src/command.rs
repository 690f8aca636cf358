// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command that a person would type for a change.

use crate::entry::{Key, Place, Undo};
use crate::open::Open;

/// What sets a setting to `value`.
#[must_use]
pub fn command(key: &Key, value: &str) -> String {
    let interface = match &key.place {
        Place::Host | Place::Namespace { .. } => "",
        Place::Interface { device, .. } => &device.name,
    };
    match key.knob.split_once(' ') {
        Some(("sysctl", name)) => format!("sysctl -w {name}={}", quoted(value)),
        Some(("ethtool", words)) => match words.split_once(' ') {
            Some((option, word)) => format!("ethtool {option} {interface} {word} {value}"),
            None => format!("ethtool {words} {interface} {value}"),
        },
        Some(("ip", _)) => format!("ip link set dev {interface} txqueuelen {value}"),
        Some(("sysfs", file)) => {
            format!("echo {} > /sys/class/net/{interface}/{file}", quoted(value))
        }
        Some(("irq", number)) => {
            format!("echo {value} > /proc/irq/{number}/smp_affinity_list")
        }
        _ => value.to_owned(),
    }
}

/// What undoes an open change.
#[must_use]
pub fn undo(open: &Open) -> String {
    match &open.undo {
        Undo::Write => command(&open.key, &open.old),
        Undo::Command { line } => line.clone(),
    }
}

/// As the shell needs it.
fn quoted(value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,:/".contains(letter);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Device;

    #[test]
    fn commands_are_those_that_a_person_types() {
        let of = |knob: &str, value: &str| {
            let device = Device {
                name: "eth0".to_owned(),
                index: 2,
                permanent_address: None,
                bus: None,
            };
            let key = Key {
                knob: knob.to_owned(),
                place: Place::Interface { netns: 1, device },
            };
            command(&key, value)
        };
        for (knob, value, expected) in [
            (
                "sysctl net.ipv4.tcp_rmem",
                "4096 131072 6291456",
                "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'",
            ),
            ("ethtool -G rx", "4096", "ethtool -G eth0 rx 4096"),
            (
                "ethtool -K rx-gro-list",
                "off",
                "ethtool -K eth0 rx-gro-list off",
            ),
            (
                "sysfs threaded",
                "1",
                "echo 1 > /sys/class/net/eth0/threaded",
            ),
            (
                "ip link txqueuelen",
                "500",
                "ip link set dev eth0 txqueuelen 500",
            ),
            ("irq 31", "0-1", "echo 0-1 > /proc/irq/31/smp_affinity_list"),
        ] {
            assert_eq!(of(knob, value), expected);
        }
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
