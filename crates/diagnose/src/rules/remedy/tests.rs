// SPDX-License-Identifier: MIT OR Apache-2.0

use linerate_model::map::Map;
use linerate_model::output::Value;
use proptest::prelude::*;

use super::*;
use crate::facts::known;
use crate::rules::embedded;

/// Anything that depends on the seed and the name alone.
fn any(seed: u64, name: &str) -> u64 {
    name.bytes().fold(seed | 1, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }) >> 7
}

/// A fact is unknown, or some number.
fn fact(seed: u64, name: &str) -> Option<String> {
    match (name, any(seed, name) % 4) {
        ("interface", _) => Some("eth0".to_owned()),
        (_, 0) => None,
        (_, other) => Some((other * 1000).to_string()),
    }
}

/// A setting was not read, is what the rule proposes, or is anything else.
fn state(seed: u64, reading: &Reading, proposals: &Map<String, String>) -> Option<String> {
    let key = format!("{} {}", reading.source, reading.key);
    Some(match any(seed, &key) % 11 {
        0 => return None,
        1 => proposals
            .get(&key)
            .filter(|value| !value.is_empty() && !value.contains('<'))?
            .clone(),
        2 => "off".to_owned(),
        3 => "on".to_owned(),
        4 => "on [fixed]".to_owned(),
        9 => "off [requested on]".to_owned(),
        5 => "7".to_owned(),
        6 => "mq".to_owned(),
        7 => "noqueue".to_owned(),
        8 => "pfifo_fast".to_owned(),
        _ => "99999999".to_owned(),
    })
}

fn commands(rule: &Rule, seed: u64) -> Vec<Command> {
    let texts = rule.commands.iter();
    let whole = texts.filter_map(|text| template::whole(text, |name| fact(seed, name)));
    whole.filter_map(|text| Command::parse(&text)).collect()
}

fn proposals(rule: &Rule, seed: u64) -> Map<String, String> {
    let mut all = Map::new();
    for command in commands(rule, seed) {
        for set in &command.sets {
            if let Some(reading) = command.reading(set) {
                let key = format!("{} {}", reading.source, reading.key);
                all.insert(key, set.value.clone());
            }
        }
    }
    all
}

/// What a command sets: of what, to which value, and what is in force there.
fn sets(text: &str, seed: u64, all: &Map<String, String>) -> Vec<(String, String, Option<String>)> {
    let Some(command) = Command::parse(text) else {
        return Vec::new();
    };
    let now = |set: &Assignment| state(seed, &command.reading(set)?, all);
    let one = |set: &Assignment| (command.id(set), set.value.clone(), now(set));
    command.sets.iter().map(one).collect()
}

/// Without a value: what the kernel puts there itself, which comes back when another qdisc is deleted.
fn is_in_force(value: &str, now: &str) -> bool {
    match value {
        "" => ["mq", "noqueue", "pfifo_fast"].contains(&now),
        value => switch(now) == value,
    }
}

proptest! {
    /// Over all rules and whatever is set: what is offered differs from what is in force, and its undo is that.
    #[test]
    fn every_change_changes_and_every_undo_restores(seed: u64) {
        for rule in embedded() {
            let all = proposals(rule, seed);
            let change = change(rule, |name| fact(seed, name), |reading| state(seed, reading, &all));
            let Some(change) = change else { continue };
            let mut changed: Map<String, Option<String>> = Map::new();
            for (of, value, now) in change.commands.iter().flat_map(|text| sets(text, seed, &all)) {
                let same = now.as_deref().is_some_and(|now| is_in_force(&value, now));
                prop_assert!(!same, "{}: {} {} is in force", rule.id, of, value);
                let fixed = now.as_deref().is_some_and(|now| now.contains("[fixed]"));
                prop_assert!(!fixed, "{}: {} is fixed", rule.id, of);
                let in_vain = now.as_deref() == Some("off [requested on]") && value == "on";
                prop_assert!(!in_vain, "{}: {} was requested in vain", rule.id, of);
                changed.insert(of, now);
            }
            for (of, value, _) in change.undo.iter().flat_map(|text| sets(text, seed, &all)) {
                match changed.remove(&of) {
                    Some(Some(was)) => prop_assert!(is_in_force(&value, &was), "{}: {} {}", rule.id, of, was),
                    Some(None) => prop_assert_eq!(value, BEFORE, "{}: {}", rule.id, of),
                    None => prop_assert!(value.contains('<'), "{}: {} was not changed", rule.id, of),
                }
            }
            prop_assert!(changed.is_empty(), "{}: no undo of {:?}", rule.id, changed);
            for text in change.commands.iter().chain(&change.undo) {
                let marked = text.split('<').skip(1).filter_map(|rest| rest.split_once('>'));
                for (name, _) in marked {
                    prop_assert!(known(name).is_none(), "{}: {}", rule.id, text);
                }
            }
        }
    }
}

/// No rule has advice for a driver, a queue or a bond of the loopback.
#[test]
fn the_loopback_has_no_hardware() {
    let ask = |name: &str| Some(if name == "interface" { "lo" } else { "4096" }.to_owned());
    for rule in embedded() {
        let change = change(rule, ask, |_| None).unwrap_or_default();
        for text in change.commands {
            let tools = ["ethtool ", "tc ", "ip link "];
            let tool = tools.iter().any(|tool| text.starts_with(tool));
            let named = tool && text.split_whitespace().any(|word| word == "lo");
            assert!(!named && !text.contains("bonding"), "{}: {text}", rule.id);
        }
    }
}

/// Every rule whose command sets something is understood, so that it is checked.
#[test]
fn what_sets_something_is_understood() {
    let begins = [
        "sysctl -w",
        "ethtool -K",
        "ethtool -A",
        "ethtool -C",
        "ethtool -G",
        "ethtool -L",
    ];
    for rule in embedded() {
        for text in &rule.commands {
            if begins.iter().any(|word| text.starts_with(word)) {
                let command = Command::parse(text);
                assert!(
                    command.is_some_and(|command| !command.sets.is_empty()),
                    "{}: {text}",
                    rule.id
                );
            }
        }
    }
}

/// Where no feature can be switched, no rule proposes to switch one. Of another interface than the finding's the state is not
/// read: there the rule itself asks whether the feature can be switched.
#[test]
fn no_remedy_switches_what_is_fixed() {
    let switches = |text: &&String| text.starts_with("ethtool -K");
    let ask = |name: &str| Some(if name == "interface" { "eth0" } else { "1" }.to_owned());
    for rule in embedded() {
        for text in rule.commands.iter().filter(switches) {
            let command = Command::parse(text).unwrap();
            let is_read = |set: &Assignment| command.reading(set).is_some();
            assert!(command.sets.iter().all(is_read), "{}: {text}", rule.id);
            let own = text.starts_with("ethtool -K {interface} ");
            assert!(own || asks_for_a_feature(rule), "{}: {text}", rule.id);
        }
        for state in ["on [fixed]", "off [fixed]"] {
            let offered = change(rule, ask, |reading| {
                (reading.source == "ethtool -k").then(|| state.to_owned())
            });
            let commands = offered.unwrap_or_default().commands;
            let own = |text: &&String| switches(text) && text.contains(" eth0 ");
            assert_eq!(commands.iter().find(own), None, "{}: {state}", rule.id);
        }
    }
}

/// A condition that holds of a feature only where it can be switched.
fn asks_for_a_feature(rule: &Rule) -> bool {
    let mut all = rule.applies.iter().chain(&rule.when);
    all.any(|condition| {
        let holds = |state: &str| {
            let value = Value::Text(state.to_owned());
            condition.holds(|_| Some(&value))
        };
        let states = ["on", "off", "on [fixed]", "off [fixed]"].map(holds);
        let fixed = states[2..] == [Some(false), Some(false)];
        fixed && states[..2].contains(&Some(true))
    })
}

#[test]
fn a_command_is_written_as_it_was_read() {
    for text in [
        "sysctl -w net.core.rmem_max=4194304 net.core.rmem_default=212992",
        "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'",
        "ethtool -K eth0 tso on gso on   # a note",
        "ip link set dev eth0 mtu 9000",
        "tc qdisc replace dev eth0 root fq maxrate 90000000bit",
        "echo 1 > /sys/class/net/eth0/threaded",
        "ethtool -A <the tester's port> rx off tx off",
        "echo <a mask of idle processors> > /sys/class/net/eth0/queues/rx-0/rps_cpus",
    ] {
        let command = Command::parse(text).map(|command| command.to_string());
        assert_eq!(command.as_deref(), Some(text));
    }
    for text in [
        "sysctl net.core.rmem_max",
        "tc -s qdisc show dev eth0",
        "modprobe tcp_bbr",
    ] {
        assert_eq!(Command::parse(text), None, "{text}");
    }
}

fn rule(id: &str) -> &'static Rule {
    let found = embedded().iter().find(|rule| rule.id == id);
    found.unwrap_or_else(|| panic!("{id}"))
}

/// The undo of a buffer that was raised before is that value, not the kernel's default.
#[test]
fn an_undo_is_what_was_read() {
    let read = |reading: &Reading| match reading.key.as_str() {
        "net.core.rmem_max" => Some("4194304".to_owned()),
        "net.core.rmem_default" => Some("212992".to_owned()),
        _ => None,
    };
    let change = change(rule("S16"), |_| None, read).unwrap();
    assert_eq!(
        change.undo,
        ["sysctl -w net.core.rmem_max=4194304 net.core.rmem_default=212992"]
    );
    let larger = |_: &Reading| Some("67108864".to_owned());
    assert_eq!(
        super::change(rule("S16"), |_| None, larger),
        None,
        "a smaller limit is no remedy"
    );
}

/// What was not read is not guessed: a command before it shows it.
#[test]
fn an_unknown_value_is_shown_first() {
    let change = change(rule("S16"), |_| None, |_| None).unwrap();
    assert!(
        change.commands[0].starts_with("sysctl net.core.rmem_max net.core.rmem_default   # note")
    );
    assert!(
        change.undo[0].contains("net.core.rmem_max='<the value before>'"),
        "{:?}",
        change.undo
    );
}
