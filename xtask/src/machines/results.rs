// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the steps of a machine left, read again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use linerate_knowledge as knowledge;
use serde_json::Value;

use super::nic::Nic;

/// Files of one machine.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) nic: &'static Nic,
    directory: PathBuf,
}

/// A step as it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) name: String,
    pub(crate) status: i64,
    pub(crate) is_right: bool,
}

/// One conclusion of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) rule: String,
    pub(crate) cause: String,
    pub(crate) title: String,
    /// `proven`, `consistent` or `weak`.
    pub(crate) strength: String,
    pub(crate) changes: bool,
    /// Why it is so, and the commands of its change.
    pub(crate) said: String,
}

impl Results {
    pub(crate) fn of(nic: &'static Nic, directory: &Path) -> Self {
        let directory = directory.to_owned();
        Self { nic, directory }
    }

    /// The steps, in their order.
    pub(crate) fn steps(&self) -> Result<Vec<Ended>, String> {
        let document = self.json("steps.json")?;
        let steps = document["steps"].as_array().ok_or("steps.json: no steps")?;
        Ok(steps.iter().map(ended).collect())
    }

    /// The document that a step printed.
    pub(crate) fn document(&self, step: &str) -> Result<Value, String> {
        self.json(&format!("{step}.stdout"))
    }

    /// What a step printed; empty if it did not run.
    pub(crate) fn text(&self, step: &str) -> String {
        self.file(&format!("{step}.stdout"))
    }

    /// A file; empty if it is not there.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.directory.join(name)).unwrap_or_default()
    }

    pub(crate) fn json(&self, file: &str) -> Result<Value, String> {
        let path = self.directory.join(file);
        let text = fs::read_to_string(&path).map_err(|why| format!("{file}: {why}"))?;
        serde_json::from_str(&text).map_err(|why| format!("{file}: {why}"))
    }

    /// Names that `ethtool -S` shows.
    pub(crate) fn counters(&self) -> Vec<String> {
        let text = self.text("ethtool-S");
        let lines = text.lines().skip(1);
        let names = lines.filter_map(|line| Some(line.rsplit_once(':')?.0.trim().to_owned()));
        names.collect()
    }

    /// Those of them that the driver's table does not have.
    pub(crate) fn unknown_counters(&self) -> Vec<String> {
        let table = knowledge::driver(self.nic.driver);
        let ethtool = knowledge::Group::Ethtool;
        let has = |table: &knowledge::Driver, name: &str| {
            knowledge::counter(table, name).is_some() || table.is_blind(ethtool, name)
        };
        let is_known = |name: &String| table.is_some_and(|table| has(table, name));
        let mut names = self.counters();
        names.retain(|name| !is_known(name));
        names
    }
}

fn ended(step: &Value) -> Ended {
    let status = step["status"].as_i64().unwrap_or(-1);
    let right = step["right"].as_array();
    Ended {
        name: step["name"].as_str().unwrap_or_default().to_owned(),
        status,
        is_right: right.is_some_and(|right| {
            right.is_empty() || right.iter().any(|one| one.as_i64() == Some(status))
        }),
    }
}

/// What is wrong by a document, in its order: without what is only worth knowing.
pub(crate) fn findings(document: &Value) -> Vec<Finding> {
    let all = document["findings"].as_array().into_iter().flatten();
    let wrong = all.filter(|one| one["informational"] != true);
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    wrong
        .map(|one| Finding {
            rule: text(one, "rule"),
            cause: text(one, "cause"),
            title: text(one, "title"),
            strength: text(one, "strength"),
            changes: !one["change"].is_null(),
            said: format!("{} {}", text(one, "why"), one["change"]["commands"]),
        })
        .collect()
}

/// What a document's ledger has lost at each stage, at least.
pub(crate) fn lost_by_stage(document: &Value) -> BTreeMap<String, u64> {
    let mut lost = BTreeMap::new();
    for entry in document["ledger"].as_array().into_iter().flatten() {
        for stage in entry["stages"].as_array().into_iter().flatten() {
            let name = stage["stage"].as_str().unwrap_or_default();
            *lost.entry(name.to_owned()).or_default() += stage["lo"].as_u64().unwrap_or(0);
        }
        let rest = entry["unattributed_lo"].as_u64().unwrap_or(0);
        *lost.entry("unattributed".to_owned()).or_default() += rest;
    }
    lost.retain(|_, lost| *lost > 0);
    lost
}

/// A setting of eth0 that the guest's `inspect` read.
pub(crate) fn setting<'d>(inspect: &'d Value, source: &str) -> Option<&'d Value> {
    let all = inspect["settings"].as_array()?.iter();
    let mut of_it = all.filter(|one| one["source"] == source && one["interface"] == "eth0");
    of_it.next().map(|one| &one["values"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_only_worth_knowing_is_no_finding() {
        let document = json!({ "findings": [
            { "rule": "F11", "strength": "consistent", "informational": true, "change": null },
            { "rule": "S15", "strength": "weak", "host": "local", "change": { "commands": [] } },
        ]});
        let [found] = &findings(&document)[..] else {
            panic!("one")
        };
        assert_eq!((found.rule.as_str(), found.changes), ("S15", true));
    }

    #[test]
    fn losses_of_all_tests_add_up_by_stage() {
        let entry = |lo: u64| {
            json!({ "stages": [{ "stage": "rx-socket", "lo": lo, "hi": 9 }, { "stage": "wire", "lo": 0, "hi": 2 }],
                    "unattributed_lo": 1 })
        };
        let lost = lost_by_stage(&json!({ "ledger": [entry(3), entry(4)] }));
        let expected = [("rx-socket", 7), ("unattributed", 2)];
        let expected = expected.map(|(stage, lost)| (stage.to_owned(), lost));
        assert_eq!(lost, expected.into());
    }

    #[test]
    fn a_step_ends_right_with_a_status_of_its_list() {
        let step = |status| json!({ "name": "regs", "status": status, "right": [0, 3] });
        let right = [0, 3, 1].map(|status| ended(&step(status)).is_right);
        assert_eq!(right, [true, true, false]);
        let any = json!({ "name": "ethtool-l", "status": 74, "right": [] });
        assert!(ended(&any).is_right);
    }
}
