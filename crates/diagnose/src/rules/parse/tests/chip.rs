// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known of one chip is said of no other.

use linerate_knowledge as knowledge;

use crate::rules::{Condition, Rule, embedded};

/// A rule that cites a chip's driver, manual or erratum, or names the chip or its driver, first asks which chip it is.
#[test]
fn a_rule_of_one_chip_asks_which_chip_it_is() {
    let chips = chips();
    for rule in embedded() {
        if let Some(why) = is_of_one_chip(rule, &chips) {
            assert!(asks_which_chip(rule), "{} is of one chip: {why}", rule.id);
        }
    }
}

#[test]
fn a_rule_that_cites_or_names_a_chip_is_seen() {
    let chips = chips();
    let general = embedded().iter().find(|rule| rule.id == "F01").unwrap();
    assert_eq!(is_of_one_chip(general, &chips), None);
    let cites = Rule {
        sources: vec!["drivers/net/ethernet/freescale/fec_main.c fec_restart".to_owned()],
        ..general.clone()
    };
    let names = Rule {
        commands: vec!["uname -r   # whose fec driver is newer".to_owned()],
        ..general.clone()
    };
    for rule in [cites, names] {
        assert!(is_of_one_chip(&rule, &chips).is_some());
        assert!(!asks_which_chip(&rule));
    }
}

/// What of the rule is of one chip only.
fn is_of_one_chip(rule: &Rule, chips: &[String]) -> Option<String> {
    let cites = |source: &&String| CHIP_SOURCES.iter().any(|word| source.contains(word));
    let texts = [&rule.title, &rule.why, &rule.verify, &rule.side_effects];
    let said = texts.into_iter().chain(&rule.commands).chain(&rule.undo);
    let mut named = said.flat_map(|text| words(text));
    let cited = rule.sources.iter().find(cites).cloned();
    cited.or_else(|| named.find(|word| chips.contains(word)))
}

/// `--set-fec` is one word.
fn words(text: &str) -> impl Iterator<Item = String> {
    let inside = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let split = text.split(move |letter| !inside(letter));
    split.map(|word| word.trim_matches(['.', '-']).to_lowercase())
}

/// In `applies`, or in each alternative of `any`.
fn asks_which_chip(rule: &Rule) -> bool {
    let asks = |condition: &Condition| condition.facts().any(|fact| CHIP_FACTS.contains(&fact));
    rule.applies.iter().any(asks) || (!rule.any.is_empty() && rule.any.iter().all(asks))
}

/// Names of chips, and of drivers of one maker's.
fn chips() -> Vec<String> {
    let of_a_chip = |driver: &&knowledge::Driver| !WITHOUT_A_CHIP.contains(&driver.name.as_str());
    let drivers = knowledge::drivers().iter().filter(of_a_chip);
    let names = drivers.flat_map(|driver| driver.also.iter().chain([&driver.name]));
    let more = [
        "i.mx", "i.mx6", "imx6", "dpaa2", "enet", "erratum", "eepro100",
    ];
    let more = more.into_iter().map(str::to_owned);
    names.map(|name| name.to_lowercase()).chain(more).collect()
}

/// Drivers of links that are no hardware, whose names are also words.
const WITHOUT_A_CHIP: [&str; 10] = [
    "bonding",
    "bridge",
    "dsa",
    "team",
    "tun",
    "veth",
    "vif",
    "virtio_net",
    "vxlan",
    "wireguard",
];

const CHIP_SOURCES: [&str; 6] = [
    "drivers/net/ethernet/",
    "drivers/net/usb/",
    "drivers/cpuidle/cpuidle-",
    "erratum",
    "manual",
    "silicon",
];

/// Facts that are of certain drivers or chips, or that are known of them alone.
const CHIP_FACTS: [&str; 8] = [
    "driver",
    "enet_mac",
    "enet_padding_removed",
    "irq_portals",
    "legacy_driver_replacement",
    "rx_mac_blind",
    "soc_family",
    "wait_mode",
];
