// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command line sets: the inverse of [`crate::command()`], for command lines as findings print them.

use linerate_linux::nic::Parameters;

use crate::knob::is_knob;
use crate::words::words;

/// A setting, and the value that a command line gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The setting, as in [`crate::Key::knob`].
    pub knob: String,
    /// Of this interface; nothing where it is of the namespace or the machine.
    pub interface: Option<String>,
    /// The value, as [`crate::World::write`] takes it.
    pub value: String,
}

/// What a command line sets; more than one setting where it does. A shell comment at its end is ignored.
///
/// Nothing where it sets nothing, has a placeholder (`<mask>`), is more than one command, or sets something that cannot be
/// restored. Words of one structure (`ethtool -A eth0 rx on tx on`) are one setting: `ethtool -A rx tx` with the value `on on`.
/// Some drivers refuse one of them alone.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<Wanted>> {
    if let Some(known) = known_script(text) {
        return Some(vec![known]);
    }
    let typed = words(text)?;
    let words: Vec<&str> = typed.iter().map(String::as_str).collect();
    let all = match words.as_slice() {
        ["sysctl", "-w", rest @ ..] | ["sysctl", rest @ ..] => sysctls(rest),
        ["ethtool", option, interface, rest @ ..] => ethtool(option, interface, rest),
        ["ip", "link", "set", "dev", interface, rest @ ..] => link(interface, rest),
        ["ip", "link", "set", interface, rest @ ..] => link(interface, rest),
        ["tc", "qdisc", verb, "dev", interface, "root", rest @ ..] => qdisc(verb, interface, rest),
        ["tc", "qdisc", "del", "root", "dev", interface] => qdisc("del", interface, &[]),
        ["echo", value, ">", path] => file(path, value),
        _ => None,
    }?;
    let is_setting = |one: &Wanted| is_knob(&one.knob);
    all.iter().all(is_setting).then_some(all)
}

fn wanted(knob: impl Into<String>, interface: Option<&str>, value: impl Into<String>) -> Wanted {
    Wanted {
        knob: knob.into(),
        interface: interface.map(str::to_owned),
        value: value.into(),
    }
}

fn sysctls(words: &[&str]) -> Option<Vec<Wanted>> {
    let each = words.iter().map(|word| {
        let (name, value) = word.split_once('=')?;
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let is_name = !name.is_empty() && name.chars().all(is_letter);
        let value: Vec<&str> = value.split_ascii_whitespace().collect();
        let value = value.join(" ");
        (is_name && !value.is_empty()).then(|| wanted(format!("sysctl {name}"), None, value))
    });
    whole(each)
}

/// One at least.
fn whole(each: impl Iterator<Item = Option<Wanted>>) -> Option<Vec<Wanted>> {
    let all: Vec<Wanted> = each.collect::<Option<_>>()?;
    (!all.is_empty()).then_some(all)
}

fn ethtool(option: &str, interface: &str, words: &[&str]) -> Option<Vec<Wanted>> {
    let of = |knob: String, value: &str| Some(vec![wanted(knob, Some(interface), value)]);
    match (option, words) {
        ("-A" | "--pause", _) => structure("-A", Parameters::Pause, interface, words),
        ("-C" | "--coalesce", _) => structure("-C", Parameters::Coalescing, interface, words),
        ("-G" | "--set-ring", _) => structure("-G", Parameters::Rings, interface, words),
        ("-L" | "--set-channels", _) => structure("-L", Parameters::Channels, interface, words),
        ("-K" | "--features" | "--offload", _) => features(interface, words),
        ("-X" | "--rxfh" | "--set-rxfh-indir", _) => receive_hash(interface, words),
        ("-N" | "-U" | "--config-nfc" | "--config-ntuple", ["rx-flow-hash", flow, fields]) => {
            of(format!("ethtool -N rx-flow-hash {flow}"), fields)
        }
        ("--set-eee", ["eee", value @ ("on" | "off")]) => {
            of("ethtool --set-eee eee".to_owned(), value)
        }
        _ => None,
    }
}

/// Each word once, with a value.
fn structure(option: &str, of: Parameters, interface: &str, words: &[&str]) -> Option<Vec<Wanted>> {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (name, value) in pairs(words)? {
        let is_value = matches!(value, "on" | "off") || value.parse::<u32>().is_ok();
        if !of.has(name) || !is_value || names.contains(&name) {
            return None;
        }
        names.push(name);
        values.push(value);
    }
    let knob = format!("ethtool {option} {}", names.join(" "));
    Some(vec![wanted(knob, Some(interface), values.join(" "))])
}

fn features(interface: &str, words: &[&str]) -> Option<Vec<Wanted>> {
    let each = pairs(words)?.into_iter().map(|(name, value)| {
        let short = SHORT.iter().find(|(short, _)| *short == name);
        let long = short.map_or(name, |(_, long)| long);
        let is_switch = matches!(value, "on" | "off");
        is_switch.then(|| wanted(format!("ethtool -K {long}"), Some(interface), value))
    });
    whole(each)
}

fn receive_hash(interface: &str, words: &[&str]) -> Option<Vec<Wanted>> {
    let at = words.iter().position(|word| *word == "hkey");
    let (table, key) = words.split_at(at.unwrap_or(words.len()));
    let is_table = match table {
        ["default"] => true,
        ["equal", count] => count.parse::<u32>().is_ok_and(|count| count > 0),
        ["weight", weights @ ..] if !weights.is_empty() => {
            weights.iter().all(|weight| weight.parse::<u32>().is_ok())
        }
        _ => false,
    };
    let table = is_table.then(|| table.join(" "));
    let table = table.map(|value| wanted("ethtool -X indirection", Some(interface), value));
    match (table, key) {
        (table, ["hkey", key]) if is_table || words.len() == 2 => {
            let key = wanted("ethtool -X hkey", Some(interface), *key);
            Some(table.into_iter().chain([key]).collect())
        }
        (Some(table), []) => Some(vec![table]),
        _ => None,
    }
}

fn link(interface: &str, words: &[&str]) -> Option<Vec<Wanted>> {
    let each = pairs(words)?.into_iter().map(|(name, value)| {
        let is_knob = matches!(name, "txqueuelen" | "mtu") && value.parse::<u32>().is_ok();
        is_knob.then(|| wanted(format!("ip link {name}"), Some(interface), value))
    });
    whole(each)
}

/// `change` differs from `replace` only where another kind is in force: it is refused.
fn qdisc(verb: &str, interface: &str, words: &[&str]) -> Option<Vec<Wanted>> {
    let value = match (verb, words) {
        ("del" | "delete", []) => "default".to_owned(),
        ("replace" | "add" | "change", [_, ..]) => words.join(" "),
        _ => return None,
    };
    Some(vec![wanted("tc qdisc root", Some(interface), value)])
}

fn file(path: &str, value: &str) -> Option<Vec<Wanted>> {
    let one = |knob: String, interface| Some(vec![wanted(knob, interface, value)]);
    if let Some(rest) = path.strip_prefix("/sys/class/net/") {
        let (interface, name) = rest.split_once('/')?;
        return one(format!("sysfs {name}"), Some(interface));
    }
    if let Some(rest) = path.strip_prefix("/proc/irq/") {
        let number: u32 = rest.strip_suffix("/smp_affinity_list")?.parse().ok()?;
        return one(format!("irq {number}"), None);
    }
    if let Some(rest) = path.strip_prefix("/proc/sys/") {
        return one(format!("sysctl {}", rest.replace('/', ".")), None);
    }
    None
}

/// More than one command, with a known meaning.
fn known_script(text: &str) -> Option<Wanted> {
    let text = text.split("   #").next()?.trim();
    if let Some(rest) = text.strip_prefix(EVERY_GOVERNOR) {
        let value = rest.strip_suffix(" > $g; done")?;
        let is_word = !value.is_empty() && value.chars().all(|c| c.is_ascii_lowercase());
        return is_word.then(|| wanted("cpufreq scaling_governor", None, value));
    }
    let hexadecimal = text.strip_prefix(HELD_LATENCY)?.strip_suffix(" >&9")?;
    let value = u32::from_str_radix(hexadecimal, 16).ok()?;
    Some(wanted("pm-qos cpu_dma_latency", None, value.to_string()))
}

fn pairs<'a>(words: &[&'a str]) -> Option<Vec<(&'a str, &'a str)>> {
    let pairs = words.chunks(2).map(|pair| match pair {
        [name, value] => Some((*name, *value)),
        _ => None,
    });
    let pairs: Vec<_> = pairs.collect::<Option<_>>()?;
    (!pairs.is_empty()).then_some(pairs)
}

/// The short names of ethtool(8), and what it calls the same features when it shows them.
pub(crate) const SHORT: [(&str, &str); 12] = [
    ("rx", "rx-checksumming"),
    ("tx", "tx-checksumming"),
    ("sg", "scatter-gather"),
    ("tso", "tcp-segmentation-offload"),
    ("ufo", "udp-fragmentation-offload"),
    ("gso", "generic-segmentation-offload"),
    ("gro", "generic-receive-offload"),
    ("lro", "large-receive-offload"),
    ("rxvlan", "rx-vlan-offload"),
    ("txvlan", "tx-vlan-offload"),
    ("ntuple", "ntuple-filters"),
    ("rxhash", "receive-hashing"),
];

/// The features of `ethtool -K` by their short names.
pub fn offloads() -> impl Iterator<Item = &'static str> {
    SHORT.iter().map(|(short, _)| *short)
}

/// The governor of every processor.
pub(crate) const EVERY_GOVERNOR: &str =
    "for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo ";

/// A request that lasts as long as the shell: Documentation/power/pm_qos_interface.rst. The kernel reads hexadecimal text.
pub(crate) const HELD_LATENCY: &str = "exec 9> /dev/cpu_dma_latency; echo 0x";

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Option<Vec<String>> {
        let all = parse(text)?.into_iter();
        let shown = |one: Wanted| {
            let of = one
                .interface
                .map_or(String::new(), |name| format!(" of {name}"));
            format!("{}{of} = {}", one.knob, one.value)
        };
        Some(all.map(shown).collect())
    }

    #[test]
    fn a_line_may_set_more_than_one_setting() {
        for (text, expected) in [
            (
                "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=16000",
                vec![
                    "sysctl net.core.netdev_budget = 600",
                    "sysctl net.core.netdev_budget_usecs = 16000",
                ],
            ),
            (
                "ethtool -K eth0 tx on tso off   # short names",
                vec![
                    "ethtool -K tx-checksumming of eth0 = on",
                    "ethtool -K tcp-segmentation-offload of eth0 = off",
                ],
            ),
            (
                "ethtool -A eth0 autoneg off rx on tx on",
                vec!["ethtool -A autoneg rx tx of eth0 = off on on"],
            ),
            (
                "ethtool -X eth0 equal 2 hkey 6d:5a",
                vec![
                    "ethtool -X indirection of eth0 = equal 2",
                    "ethtool -X hkey of eth0 = 6d:5a",
                ],
            ),
            (
                "ip link set eth0 mtu 9000 txqueuelen 100",
                vec![
                    "ip link mtu of eth0 = 9000",
                    "ip link txqueuelen of eth0 = 100",
                ],
            ),
            (
                "tc qdisc replace dev eth0 root handle 100: mq",
                vec!["tc qdisc root of eth0 = handle 100: mq"],
            ),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(settings(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_sets_nothing_that_can_be_restored_is_none() {
        for text in [
            "",
            "# another cable, another port",
            "sysctl net.core.rmem_max",
            "sysctl -w net.core.rmem_max",
            "sysctl -w kernel.core_pattern=|x",
            "sysctl -w vm.min_free_kbytes=<twice>",
            "ethtool -G eth0 rx <the maximum>",
            "ethtool -G eth0 rx",
            "ethtool -G eth0 rx 1 rx 2",
            "ethtool -G eth0 rx many",
            "ethtool -K eth0 tso maybe",
            "ethtool -X eth0 equal 0",
            "ethtool -X eth0 hfunc xor",
            "ethtool -N eth0 flow-type udp4 dst-port 7 action 1",
            "ethtool -s eth0 autoneg on",
            "ethtool -a eth0",
            "ip link set dev eth0 up",
            "tc qdisc del dev eth0 ingress",
            "tc qdisc replace dev eth0 root",
            "echo 65536 > /sys/module/nf_conntrack/parameters/hashsize",
            "echo 1 > /proc/irq/x/smp_affinity_list",
            "echo f > /proc/irq/9/smp_affinity",
            "echo layer3+4 > /sys/class/net/bond0/bonding/xmit_hash_policy",
            "echo 1 > /sys/class/net/eth0/../../../kernel/x",
            "cat /proc/net/softnet_stat; echo 1 > /sys/class/net/eth0/threaded",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
