// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold of what a machine printed.

use linerate_knowledge as knowledge;
use serde_json::Value;

use super::nic::NICS;
use super::results::{Finding, Results};

/// No finding switches a feature of the guest's interface that cannot be switched.
pub(super) fn possible(found: &[Finding], features: Option<&Value>) -> Result<(), String> {
    let state = |name: &str| features.and_then(|all| all[name].as_str());
    for one in found {
        for command in one.said.split("ethtool -K eth0 ").skip(1) {
            let end = command.find(['"', '#', ';']).unwrap_or(command.len());
            let words: Vec<&str> = command[..end].split_whitespace().collect();
            let names = words.iter().step_by(2);
            let long = |name: &&&str| FEATURES.iter().find(|(short, _)| short == *name);
            let mut fixed = names
                .filter_map(|name| long(&name))
                .filter(|(_, long)| state(long).is_some_and(|state| state.contains(" [")));
            if let Some((name, _)) = fixed.next() {
                return Err(format!("{}: {name} cannot be switched", one.rule));
            }
        }
    }
    Ok(())
}

/// `ethtool -K`'s words, and what `ethtool -k` calls them.
const FEATURES: [(&str, &str); 6] = [
    ("rx", "rx-checksumming"),
    ("tx", "tx-checksumming"),
    ("sg", "scatter-gather"),
    ("tso", "tcp-segmentation-offload"),
    ("gso", "generic-segmentation-offload"),
    ("gro", "generic-receive-offload"),
];

/// Each ended as it should.
pub(super) fn steps(results: &Results) -> Result<String, String> {
    let steps = results.steps()?;
    let wrong = steps.iter().filter(|step| !step.is_right);
    let wrong: Vec<String> = wrong
        .map(|step| format!("{} {}", step.name, step.status))
        .collect();
    match wrong.is_empty() {
        true => Ok(format!("{} ended as they should", steps.len())),
        false => Err(format!("wrong exit status: {}", wrong.join(", "))),
    }
}

/// Each that a command printed can be read, and is of that command.
pub(super) fn documents(results: &Results) -> Result<String, String> {
    for (step, kind) in DOCUMENTS {
        let document = results.document(step)?;
        if document["kind"] != kind {
            return Err(format!("{step}: kind {}", document["kind"]));
        }
    }
    Ok(format!("{} read", DOCUMENTS.len()))
}

/// The guest's interface has the driver that it must have, wherever it is named.
pub(super) fn driver(results: &Results) -> Result<String, String> {
    let expected = results.nic.driver;
    for (step, host) in [
        ("inspect", 0),
        ("check-from-guest", 0),
        ("check-from-host", 1),
    ] {
        let document = results.document(step)?;
        let named = driver_of(&document["hosts"][host]);
        if named != Some(expected) {
            return Err(format!("{step}: {named:?} instead of {expected}"));
        }
    }
    Ok(expected.to_owned())
}

fn driver_of(host: &Value) -> Option<&str> {
    host["interfaces"].as_array()?.first()?["driver"].as_str()
}

/// At most three are above *possible*.
pub(super) fn few(found: &[Finding]) -> Result<String, String> {
    let rules = sure(found).map(|one| one.rule.as_str());
    let rules: Vec<&str> = rules.collect();
    match rules.len() <= MOST {
        true => Ok(format!("above possible: {rules:?}")),
        false => Err(format!(
            "{} above possible: {}",
            rules.len(),
            rules.join(", ")
        )),
    }
}

/// Above *possible*, none with a change names another chip.
pub(super) fn of_this_chip(found: &[Finding], driver: &str) -> Result<String, String> {
    for one in sure(found).filter(|one| one.changes) {
        if let Some(other) = other_chip(one, driver) {
            return Err(format!("{} is of {other}: {}", one.rule, one.title));
        }
    }
    Ok(format!("{} above possible", sure(found).count()))
}

/// Both.
pub(crate) fn few_and_of_this_chip(found: &[Finding], driver: &str) -> Result<String, String> {
    of_this_chip(found, driver)?;
    few(found)
}

fn sure(found: &[Finding]) -> impl Iterator<Item = &Finding> {
    found.iter().filter(|one| one.strength != "weak")
}

/// The driver of another chip that a finding names.
fn other_chip(finding: &Finding, driver: &str) -> Option<String> {
    let said = format!("{} {}", finding.title, finding.said);
    let inside = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    let words: Vec<&str> = said.split(|letter| !inside(letter)).collect();
    let tables = knowledge::drivers().iter().map(|table| table.name.as_str());
    let drivers = tables.chain(NICS.iter().map(|nic| nic.driver));
    let mut others = drivers.filter(|one| *one != driver && !WITHOUT_A_CHIP.contains(one));
    others
        .find(|other| words.contains(other))
        .map(str::to_owned)
}

/// Drivers of links that are no hardware, whose names are also words.
const WITHOUT_A_CHIP: [&str; 8] = [
    "bonding", "bridge", "dsa", "team", "tun", "veth", "vif", "vxlan",
];

const MOST: usize = 3;

/// Steps that print a document, and its kind.
const DOCUMENTS: [(&str, &str); 11] = [
    ("doctor", "doctor"),
    ("inspect", "inspect"),
    ("check-from-guest", "check"),
    ("check-from-host", "check"),
    ("udp-below-up", "udp"),
    ("udp-below-down", "udp"),
    ("udp-above-up", "udp"),
    ("udp-above-down", "udp"),
    ("stock-up", "tcp"),
    ("stock-down", "tcp"),
    ("stock-udp", "udp"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(strength: &str, title: &str) -> Finding {
        Finding {
            rule: "X".to_owned(),
            cause: "x".to_owned(),
            title: title.to_owned(),
            strength: strength.to_owned(),
            changes: true,
            said: String::new(),
        }
    }

    #[test]
    fn more_than_three_sure_findings_are_too_many() {
        let of = |sure: usize| {
            let sure = (0..sure).map(|_| finding("consistent", "the ring is short"));
            let all: Vec<Finding> = sure.chain([finding("weak", "perhaps")]).collect();
            few_and_of_this_chip(&all, "e1000e").is_ok()
        };
        assert_eq!([of(0), of(3), of(4)], [true, true, false]);
    }

    #[test]
    fn a_remedy_must_be_possible() {
        let of = |tso: &str| {
            let features = serde_json::json!({ "tcp-segmentation-offload": tso });
            let found = Finding {
                said: r#"why ["ethtool -K eth0 tx on tso on   # a note"]"#.to_owned(),
                ..finding("consistent", "segments in software")
            };
            possible(&[found], Some(&features)).is_ok()
        };
        assert_eq!(
            ["off", "off [fixed]", "off [requested on]"].map(of),
            [true, false, false]
        );
    }

    #[test]
    fn a_finding_may_name_its_own_chip_only() {
        let found = [finding("proven", "a newer fec driver does neither")];
        assert!(few_and_of_this_chip(&found, "fec").is_ok());
        assert!(few_and_of_this_chip(&found, "e1000e").is_err());
    }
}
