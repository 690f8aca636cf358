// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every setting, changed and restored: on a scripted card and in a tree of files. What a veth has is changed in the lab as well
//! (`crates/linerate/tests/lab/settings.rs`).
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::expect_used, reason = "a panic is how a test fails")]

#[path = "settings/card.rs"]
mod card;
#[path = "settings/machine.rs"]
mod machine;

use std::collections::BTreeMap;
use std::sync::Arc;

use linerate_change::{Change, End, Hand, Key, Local, Memory, Outcome, Undo, command, parse};
use linerate_knowledge::{Knobs, Scope, tunable_of, tunables};

use machine::Machine;

/// On the scripted card and in the tree: a value, and what the driver makes of it.
const SETTINGS: [(&str, &str, &str); 38] = [
    ("ethtool -A rx tx", "off off", "off off"),
    ("ethtool -A autoneg", "off", "off"),
    ("ethtool -G rx", "1001", "1008"),
    ("ethtool -G rx tx", "4096 4096", "4096 4096"),
    ("ethtool -G tx", "512", "512"),
    ("ethtool -C rx-usecs", "50", "52"),
    ("ethtool -C adaptive-rx", "on", "on"),
    ("ethtool -C adaptive-tx", "on", "on"),
    ("ethtool -C rx-frames", "32", "32"),
    ("ethtool -C tx-usecs tx-frames", "50 64", "50 64"),
    (
        "ethtool -C rx-usecs-irq rx-frames-irq tx-usecs-irq tx-frames-irq",
        "1 2 3 4",
        "1 2 3 4",
    ),
    ("ethtool -L combined", "2", "2"),
    ("ethtool -K tcp-segmentation-offload", "on", "on"),
    ("ethtool -K tcp-segmentation-offload", "off", "off"),
    ("ethtool -K tx-tcp6-segmentation", "off", "off"),
    ("ethtool -K generic-receive-offload", "off", "off"),
    ("ethtool -K tx-checksumming", "off", "off"),
    ("ethtool -K generic-segmentation-offload", "off", "off"),
    ("ethtool -K rx-checksumming", "off", "off"),
    ("ethtool -K scatter-gather", "off", "off"),
    ("ethtool -K large-receive-offload", "on", "on"),
    ("ethtool -K rx-gro-hw", "on", "on"),
    ("ethtool -K receive-hashing", "off", "off"),
    ("ethtool -K rx-all", "on", "on"),
    ("ethtool --set-eee eee", "off", "off"),
    ("ethtool -N rx-flow-hash udp4", "sdfn", "sdfn"),
    ("ethtool -X indirection", "equal 2", "equal 2"),
    ("ethtool -X indirection", "weight 1 3", "weight 4 12"),
    ("ethtool -X hkey", KEY, KEY),
    ("sysfs threaded", "1", "1"),
    ("sysfs gro_flush_timeout", "20000", "20000"),
    ("sysfs napi_defer_hard_irqs", "2", "2"),
    ("sysfs queues/rx-1/rps_cpus", "f", "f"),
    ("sysfs queues/rx-0/rps_flow_cnt", "4096", "4096"),
    ("sysfs queues/tx-0/xps_cpus", "8", "8"),
    (
        "sysfs queues/tx-0/byte_queue_limits/limit_max",
        "3028",
        "3028",
    ),
    ("irq 32", "1", "1"),
    ("cpufreq scaling_governor", "performance", "performance"),
];

/// Each byte of another one.
const KEY: &str = "6d:5a:56:da:25:5b:0e:c2:41:67:25:3d:43:a3:8f:b0:d0:ca:2b:cb:ae:7b:30:b4:77:cb:2d:a3:80:30:f2:0c:6a:42:b7:3b:\
                   be:ac:01:fa";

fn key(hand: &mut Local<Memory>, knob: &str) -> Key {
    let is_of_interface = tunable_of(knob).is_some_and(|one| one.scope == Scope::Interface);
    hand.key(knob, is_of_interface.then_some("lo")).unwrap()
}

fn changed(hand: &mut Local<Memory>, knob: &str, new: &str) -> Outcome {
    let change = Change {
        key: key(hand, knob),
        new: new.to_owned(),
        undo: Undo::Write,
        because: "a test".to_owned(),
    };
    hand.apply(change).unwrap()
}

/// The whole state: every setting that can be read.
fn state(hand: &mut Local<Memory>) -> BTreeMap<String, String> {
    let of_model = SETTINGS.iter().map(|(knob, ..)| (*knob).to_owned());
    let all = of_model.chain(
        tunables()
            .iter()
            .flat_map(|one| one.knobs.iter().map(Knobs::example)),
    );
    let mut state = BTreeMap::new();
    for knob in all {
        let key = key(hand, &knob);
        if let Ok(value) = hand.read(&key) {
            state.insert(knob, value);
        }
    }
    state
}

#[test]
fn each_setting_of_a_card_is_changed_and_restored() {
    let machine = Machine::new("each");
    for (knob, new, expected) in SETTINGS {
        let mut hand = machine.hand();
        let before = state(&mut hand);
        let made = changed(&mut hand, knob, new);
        let Outcome::Applied {
            change, effective, ..
        } = made
        else {
            panic!("{knob}: {made:?}");
        };
        assert_eq!(effective, expected, "{knob}");
        let ended = hand.undo(change).unwrap();
        assert!(matches!(ended, End::Undone), "{knob}: {ended:?}");
        assert_eq!(state(&mut hand), before, "{knob}");
    }
}

/// All sysctls that have an entry.
#[test]
fn each_sysctl_is_changed_and_restored() {
    let machine = Machine::new("sysctl");
    let mut count = 0;
    for name in tunables()
        .iter()
        .flat_map(|one| one.knobs.iter().map(Knobs::example))
    {
        let Some(path) = name.strip_prefix("sysctl ") else {
            continue;
        };
        machine.create(
            &format!("/proc/sys/{}", path.replace('.', "/")),
            "4096\t131072 6291456",
        );
        let mut hand = machine.hand();
        let made = changed(&mut hand, &name, "4096 131072 8388608");
        let Outcome::Applied { change, old, .. } = made else {
            panic!("{name}: {made:?}");
        };
        assert_eq!(old, "4096 131072 6291456", "{name}");
        assert!(matches!(hand.undo(change).unwrap(), End::Undone), "{name}");
        let key = key(&mut hand, &name);
        assert_eq!(hand.read(&key).unwrap(), old);
        count += 1;
    }
    assert!(count > 40, "{count}");
}

/// What a reset of the queues changes is recorded, reported and restored, also where it was set by hand.
#[test]
fn what_a_card_resets_is_restored() {
    let machine = Machine::new("resets");
    let mut hand = machine.hand();
    machine.card.lock().unwrap().table = vec![3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0];
    let before = state(&mut hand);
    assert_eq!(
        before["ethtool -X indirection"],
        "3,1,2,0,3,1,2,0,3,1,2,0,3,1,2,0"
    );
    let made = changed(&mut hand, "ethtool -L combined", "2");
    let Outcome::Applied { change, .. } = made else {
        panic!("{made:?}");
    };
    let effects = hand.side_effects(change).unwrap();
    assert_eq!(effects.len(), 1, "{effects:?}");
    assert_eq!(
        (effects[0].knob.as_str(), effects[0].now.as_deref()),
        ("ethtool -X indirection", Some("equal 2"))
    );
    assert!(hand.undo(change).unwrap().is_closed());
    assert_eq!(state(&mut hand), before);
    // The delay of received frames, with the rings.
    changed(&mut hand, "ethtool -C rx-usecs", "8");
    let before = state(&mut hand);
    let Outcome::Applied { change, .. } = changed(&mut hand, "ethtool -G rx", "1024") else {
        panic!("not applied");
    };
    assert_ne!(
        state(&mut hand)["ethtool -C rx-usecs"],
        before["ethtool -C rx-usecs"]
    );
    assert!(hand.undo(change).unwrap().is_closed());
    assert_eq!(state(&mut hand), before);
}

/// A driver that refuses a part of what is wanted, one that has none of it, and one that rounds it away.
#[test]
fn what_a_driver_refuses_changes_nothing() {
    let machine = Machine::new("refused");
    let mut hand = machine.hand();
    let before = state(&mut hand);
    let refused = |made: &Outcome| matches!(made, Outcome::Refused(_));
    for (knob, new) in [
        ("ethtool -A rx", "off"),
        ("ethtool -G rx", "5000"),
        ("ethtool -L combined", "9"),
        ("ethtool -X indirection", "equal 5"),
        ("ethtool -X indirection", "most"),
        ("ethtool -X hkey", "00:01"),
        ("ethtool -K rx-vlan-offload", "off"),
        ("ethtool -N rx-flow-hash udp4", "sdfx"),
        ("ethtool -G rx tx", "64"),
    ] {
        let made = changed(&mut hand, knob, new);
        assert!(refused(&made), "{knob}: {made:?}");
        assert_eq!(state(&mut hand), before, "{knob}");
    }
    for knob in [
        "ethtool -N rx-flow-hash tcp4",
        "ethtool -K no-such-feature",
        "sysfs queues/rx-9/rps_cpus",
    ] {
        let made = changed(&mut hand, knob, "on");
        assert!(matches!(made, Outcome::Unreadable(_)), "{knob}: {made:?}");
    }
    changed(&mut hand, "ethtool -C rx-usecs", "40");
    let made = changed(&mut hand, "ethtool -C rx-usecs", "39");
    assert!(matches!(made, Outcome::Ineffective), "{made:?}");
}

#[test]
fn a_group_of_features_is_restored_as_it_was() {
    let machine = Machine::new("group");
    let mut hand = machine.hand();
    let key = key(&mut hand, "ethtool -K tcp-segmentation-offload");
    let before = hand.read(&key).unwrap();
    assert_eq!(before, "on without tx-tcp-mangleid-segmentation");
    let typed = "ethtool -K lo tcp-segmentation-offload on tx-tcp-mangleid-segmentation off";
    assert_eq!(command(&key, &before), typed);
    assert_eq!(parse(typed).unwrap().len(), 2);
}

#[test]
fn each_policy_has_its_governor_again() {
    let machine = Machine::new("governor");
    let mut hand = machine.hand();
    let key = key(&mut hand, "cpufreq scaling_governor");
    let before = hand.read(&key).unwrap();
    assert_eq!(before, "policy0=schedutil policy2=powersave");
    let restores = command(&key, &before);
    assert!(
        restores.contains("echo powersave > /sys/devices/system/cpu/cpufreq/policy2/"),
        "{restores}"
    );
}

/// The bytes of a request, as the kernel's structures want them: a table of 16 queues, no key, the hash function in force.
#[test]
fn a_request_has_the_layout_of_the_kernel() {
    let machine = Machine::new("layout");
    let mut hand = machine.hand();
    changed(&mut hand, "ethtool -X indirection", "equal 2");
    let sent = machine.card.lock().unwrap().sent.last().cloned().unwrap();
    let mut expected: Vec<u8> = [0x47_u32, 0, 16, 0].map(u32::to_ne_bytes).concat();
    expected.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend(
        [0_u32, 1]
            .repeat(8)
            .iter()
            .flat_map(|queue| queue.to_ne_bytes()),
    );
    assert_eq!(sent, expected);
    changed(&mut hand, "ethtool --set-eee eee", "off");
    let sent = machine.card.lock().unwrap().sent.last().cloned().unwrap();
    let expected = [0x45_u32, 0x28, 0x28, 0x28, 1, 0, 1, 17, 0, 0]
        .map(u32::to_ne_bytes)
        .concat();
    assert_eq!(sent, expected);
    changed(&mut hand, "ethtool -A rx tx", "off off");
    let sent = machine.card.lock().unwrap().sent.last().cloned().unwrap();
    assert_eq!(sent, [0x13_u32, 1, 0, 0].map(u32::to_ne_bytes).concat());
}

/// Every setting has an entry, and every entry is of settings. What no test changes on hardware is listed.
#[test]
fn every_setting_has_a_tunable_and_the_reverse() {
    let machine = Machine::new("all");
    let mut hand = machine.hand();
    let mut not_on_hardware = Vec::new();
    for tunable in tunables() {
        for knobs in &tunable.knobs {
            let example = knobs.example();
            let key = key(&mut hand, &example);
            let why = hand.read(&key).err().map(|why| why.to_string());
            let is_setting = !why.is_some_and(|why| why.starts_with("no setting"));
            assert!(is_setting, "{}", knobs.text());
            assert_eq!(
                tunable_of(&example).map(|one| &one.means),
                Some(&tunable.means),
                "{example}"
            );
            let is_on_a_veth = IN_THE_LAB.iter().any(|name| tunable.is_of(name));
            if !is_on_a_veth {
                not_on_hardware.push(knobs.text());
            }
            let is_modelled = SETTINGS.iter().any(|(knob, ..)| tunable.is_of(knob))
                || example.starts_with("sysctl ")
                || HELD.contains(&knobs.text());
            assert!(is_on_a_veth || is_modelled, "no test changes {example}");
        }
    }
    for (knob, ..) in SETTINGS {
        assert!(tunable_of(knob).is_some(), "{knob}");
    }
    println!(
        "not changed on a device by a test of this repository: {}",
        not_on_hardware.join(", ")
    );
}

/// `src/latency.rs` tests it on the machine's own file: no other file has its behaviour.
const HELD: [&str; 1] = ["pm-qos cpu_dma_latency"];

/// What `crates/linerate/tests/lab/settings.rs` changes on a veth.
const IN_THE_LAB: [&str; 9] = [
    "sysctl net.ipv4.tcp_rmem",
    "sysctl net.ipv4.tcp_congestion_control",
    "ethtool -K tcp-segmentation-offload",
    "ethtool -K generic-receive-offload",
    "ip link txqueuelen",
    "ip link mtu",
    "sysfs threaded",
    "sysfs queues/rx-0/rps_cpus",
    "tc qdisc root",
];

/// Every command of a rule that is tried has bounds and a risk.
#[test]
fn every_setting_of_a_rule_has_a_tunable() {
    let mut missing = Vec::new();
    for (_, text) in linerate_knowledge::RULES.each() {
        let commands = text
            .split('"')
            .filter(|text| text.contains("{interface}") || text.starts_with("sysctl"));
        for command in commands {
            let typed = command
                .replace("{interface}", "lo")
                .replace("{queues}", "2");
            let wanted = parse(&typed).unwrap_or_default();
            missing.extend(
                wanted
                    .into_iter()
                    .filter(|one| tunable_of(&one.knob).is_none()),
            );
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// By the driver, the memory of 1 GiB and the four processors.
#[test]
fn what_is_tried_is_bounded_by_the_machine() {
    let machine = Machine::new("bounds");
    let mut hand = machine.hand();
    let mut tried = |knob: &str, now: &str| {
        let key = key(&mut hand, knob);
        let most = hand.most(&key).unwrap();
        tunable_of(knob).unwrap().values(now, most.as_deref())
    };
    assert_eq!(tried("ethtool -G rx", "256"), ["4096", "512"]);
    assert_eq!(tried("ethtool -G rx tx", "256 256")[0], "4096 4096");
    assert_eq!(tried("ethtool -L combined", "1"), ["4"], "not 8");
    assert_eq!(tried("sysfs queues/rx-0/rps_cpus", "0"), ["f"]);
    assert_eq!(tried("irq 31", "0-3"), ["0", "1", "2", "3"]);
    let sixty_fourth = "4096 131072 16777216";
    assert_eq!(
        tried("sysctl net.ipv4.tcp_rmem", "4096 131072 6291456"),
        [sixty_fourth, "4096 131072 8388608", "4096 131072 12582912"]
    );
    assert_eq!(
        tried("sysctl net.core.rmem_max", "212992"),
        ["16777216", "4194304"]
    );
    assert_eq!(tried("sysctl vm.min_free_kbytes", "30000"), ["52428"]);
    machine.create("/proc/sys/net/ipv4/tcp_mem", "100 200 4000");
    let page = linerate_linux::host::page_bytes().unwrap();
    assert_eq!(
        tried("sysctl net.core.rmem_max", "212992"),
        [(1000 * page).to_string()]
    );
}

/// Two hands of one machine see each other's changes.
#[test]
fn a_setting_that_another_hand_changed_is_left() {
    let machine: Arc<Machine> = Machine::new("foreign");
    let (mut hand, mut other) = (machine.hand(), machine.hand());
    let Outcome::Applied { change, .. } = changed(&mut hand, "irq 31", "1") else {
        panic!("not applied");
    };
    changed(&mut other, "irq 31", "2");
    let ended = hand.undo(change).unwrap();
    assert!(
        matches!(&ended, End::Foreign { value } if value == "2"),
        "{ended:?}"
    );
}
