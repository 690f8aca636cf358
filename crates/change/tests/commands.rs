// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands of all rules: which of them set what can be changed and restored.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use linerate_change::parse;
use linerate_knowledge::RULES;

/// Commands that begin so set only what can be restored, if they have no placeholder: each is parsed.
const SETTERS: [&str; 15] = [
    "sysctl -w net.",
    "sysctl -w vm.min_free_kbytes",
    "ethtool -A ",
    "ethtool -C ",
    "ethtool -G ",
    "ethtool -K ",
    "ethtool -L ",
    "ethtool -X ",
    "ethtool -N {interface} rx-flow-hash ",
    "ethtool --set-eee ",
    "tc qdisc replace dev {interface} root ",
    "tc qdisc del dev {interface} root",
    "ip link set dev {interface} mtu ",
    "ip link set dev {interface} txqueuelen ",
    "for g in ",
];

/// Files of an interface that take what they show: `bonding/xmit_hash_policy` does not.
const FILES: [&str; 4] = [
    "{interface}/threaded",
    "{interface}/gro_flush_timeout",
    "{interface}/napi_defer_hard_irqs",
    "{interface}/queues/",
];

/// As a finding prints them; a number for each fact that is not a name.
fn filled(command: &str) -> String {
    let mut text = command
        .replace("{interface}", "eth0")
        .replace("{tcp_rmem_proposed}", "4096 131072 8388608")
        .replace("{tcp_wmem_proposed}", "4096 16384 8388608");
    while let Some((start, end)) = text.find('{').zip(text.find('}')) {
        text.replace_range(start..=end, "4");
    }
    text
}

fn commands() -> Vec<String> {
    let of_rule = |rule: &toml::Value| {
        let list = rule.get("change")?.get("commands")?.as_array()?;
        let each = list
            .iter()
            .filter_map(|command| command.as_str().map(str::to_owned));
        Some(each.collect::<Vec<_>>())
    };
    let of_file = |(_, text): (&str, String)| {
        let table: toml::Table = text.parse().unwrap();
        let rules = table["rule"].as_array().unwrap().clone();
        rules
            .iter()
            .filter_map(of_rule)
            .flatten()
            .collect::<Vec<_>>()
    };
    RULES.each().flat_map(of_file).collect()
}

#[test]
fn commands_that_set_what_can_be_restored_are_parsed() {
    let all = commands();
    let mut parsed = 0;
    for command in &all {
        let typed = command.split("   #").next().unwrap();
        let is_setter = SETTERS.iter().any(|setter| typed.starts_with(setter))
            || (typed.starts_with("echo ") && FILES.iter().any(|file| typed.contains(file)));
        let must = is_setter && !typed.contains('<');
        let found = parse(&filled(command));
        println!(
            "{} {command}",
            if found.is_some() { "parsed" } else { "      " }
        );
        assert!(found.is_some() || !must, "{command}");
        parsed += usize::from(found.is_some());
    }
    println!("{parsed} of {} commands are parsed", all.len());
    assert!(parsed > 50, "{parsed}");
}
