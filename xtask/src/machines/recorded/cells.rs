// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judges what was concluded from recorded runs, by the criteria of the live runs.

use std::path::Path;

use serde_json::Value;

use super::unit::CHECKS;
use crate::machines::causes::{self, Judged, adds_up};
use crate::machines::expected::{few, of_this_chip, possible};
use crate::machines::middle::{self, MODES, Measured};
use crate::machines::nic::Nic;
use crate::machines::offloads;
use crate::machines::results::{Results, findings, setting};
use crate::machines::short::first_of_an_untouched_machine;

/// What was concluded from one run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// As `Unit::name`.
    pub(super) name: String,
    /// The rule of the first finding above *possible*; of a check the rules of all.
    pub(super) first: String,
    /// Whether that is right.
    pub(super) is_named: bool,
    /// What else is wrong.
    pub(super) wrong: Vec<String>,
}

impl Cell {
    pub(super) fn is_right(&self) -> bool {
        self.is_named && self.wrong.is_empty()
    }

    /// As a table has it: in bold if it is wrong, with what else is wrong.
    pub(super) fn text(&self) -> String {
        let first = if self.is_named {
            self.first.clone()
        } else {
            format!("**{}**", self.first)
        };
        match self.wrong.is_empty() {
            true => first,
            false => format!("{first} ({})", self.wrong.join("; ")),
        }
    }
}

/// All of one NIC.
pub(super) struct OfNic {
    pub(super) nic: &'static Nic,
    pub(super) cells: Vec<Cell>,
    pub(super) causes: Vec<Judged>,
    pub(super) modes: Vec<Measured>,
    /// What must hold of any run, and does not.
    pub(super) never: Vec<String>,
    /// How many runs were examined for that.
    pub(super) runs: usize,
}

impl OfNic {
    /// Judges what is in `directory`.
    pub(super) fn of(nic: &'static Nic, directory: &Path) -> Self {
        let mut all = Self {
            nic,
            cells: Vec::new(),
            causes: causes::judged(nic, &directory.join("causes")),
            modes: Vec::new(),
            never: Vec::new(),
            runs: 0,
        };
        // A NIC on which none was provoked is in no table of causes.
        if !all.causes.iter().any(Judged::is_here) {
            all.causes.clear();
        }
        all.of_causes(&directory.join("causes"));
        all.of_checks(directory);
        all.of_modes(&directory.join("middle"));
        all.of_offloads(&directory.join(offloads::PLACE));
        all
    }

    fn of_causes(&mut self, directory: &Path) {
        let results = Results::of(self.nic, directory);
        let here = self.causes.iter().filter(|one| one.is_here());
        let cells: Vec<Cell> = here.map(of_cause).collect();
        for cell in cells {
            let name = cell.name.trim_start_matches("causes/");
            let document = causes::document(&results, name).unwrap_or_default();
            let inspect = results
                .document(&format!("{name}.inspect"))
                .unwrap_or_default();
            self.examine(&cell.name, &document, &inspect);
            self.cells.push(cell);
        }
    }

    fn of_checks(&mut self, directory: &Path) {
        let results = Results::of(self.nic, directory);
        let inspect = results.document("inspect").unwrap_or_default();
        for name in CHECKS {
            if let Ok(document) = results.document(name) {
                self.examine(name, &document, &inspect);
                self.cells.push(of_check(name, &document));
            }
        }
    }

    fn of_modes(&mut self, directory: &Path) {
        let nic = self.nic;
        let modes = MODES
            .iter()
            .map(|mode| Measured::of(nic, mode, &directory.join(mode.name)));
        for one in modes.filter(Measured::is_there) {
            let name = format!("middle/{}", one.mode.name);
            self.examine(&name, &one.document(), &Value::Null);
            self.cells.push(of_mode(name, &one));
            self.modes.push(one);
        }
    }

    /// Each check that is wrong, and whether all are known of the emulator's model or of the driver.
    fn of_offloads(&mut self, directory: &Path) {
        let document = Results::of(self.nic, directory).document(offloads::STEP);
        if let Ok(document) = document {
            let verdict = offloads::verdict(self.nic, &document);
            self.cells.push(Cell {
                name: offloads::PLACE.to_owned(),
                first: format!(
                    "{}; findings: {}",
                    offloads::said(&document),
                    rules(&document).join(", ")
                ),
                is_named: verdict.is_ok(),
                wrong: Vec::new(),
            });
        }
    }

    /// What must hold of any run: few findings, of this chip, with possible changes, and a ledger that adds up.
    fn examine(&mut self, name: &str, document: &Value, inspect: &Value) {
        let found = findings(document);
        let features = setting(inspect, "ethtool -k");
        let checks = [
            few(&found).map(drop),
            of_this_chip(&found, self.nic.driver).map(drop),
            possible(&found, features),
            adds_up(document),
        ];
        let wrong = checks.into_iter().filter_map(Result::err);
        self.never.extend(wrong.map(|why| format!("{name}: {why}")));
        self.runs += 1;
    }
}

fn of_cause(judged: &Judged) -> Cell {
    Cell {
        name: format!("causes/{}", judged.name()),
        first: judged.first.as_deref().unwrap_or(NOTHING).to_owned(),
        is_named: judged.is_named,
        wrong: judged.wrong.clone(),
    }
}

/// A processor or a receiver that limits an emulated machine comes first.
fn of_check(name: &str, document: &Value) -> Cell {
    let found = findings(document);
    Cell {
        name: name.to_owned(),
        first: rules(document).join(", "),
        is_named: first_of_an_untouched_machine(&found).is_ok(),
        wrong: Vec::new(),
    }
}

fn of_mode(name: String, one: &Measured) -> Cell {
    let checks = middle::checks(one).into_iter();
    let wrong = checks.filter(|(_, result)| result.is_err());
    let mut rules = rules(&one.document());
    rules.truncate(1);
    Cell {
        name,
        first: rules.join(""),
        is_named: true,
        wrong: wrong.map(|(what, _)| what.to_owned()).collect(),
    }
}

/// Of the findings above *possible*.
fn rules(document: &Value) -> Vec<String> {
    let mut found = findings(document);
    found.retain(|one| one.strength != "weak");
    let rules: Vec<String> = found.into_iter().map(|one| one.rule).collect();
    match rules.is_empty() {
        true => vec![NOTHING.to_owned()],
        false => rules,
    }
}

const NOTHING: &str = "nothing";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_reads_as_in_the_table() {
        let cell = |is_named: bool, wrong: &[&str]| Cell {
            name: "causes/tbf".to_owned(),
            first: "P09".to_owned(),
            is_named,
            wrong: wrong.iter().map(|one| (*one).to_owned()).collect(),
        };
        let texts = [
            cell(true, &[]),
            cell(false, &[]),
            cell(true, &["set", "seen"]),
        ]
        .map(|cell| cell.text());
        assert_eq!(texts, ["P09", "**P09**", "P09 (set; seen)"]);
    }

    #[test]
    fn what_no_run_may_have_is_found() {
        let mut all = OfNic {
            nic: Nic::named("e1000e").unwrap(),
            cells: Vec::new(),
            causes: Vec::new(),
            modes: Vec::new(),
            never: Vec::new(),
            runs: 0,
        };
        let finding = |title: &str, command: &str| json!({ "rule": "X", "title": title, "strength": "proven", "change": { "commands": [command] } });
        let inspect = json!({ "settings": [{ "source": "ethtool -k", "interface": "eth0",
                                             "values": { "tcp-segmentation-offload": "off [fixed]" } }] });
        all.examine(
            "right",
            &json!({ "findings": [finding("short ring", "")] }),
            &inspect,
        );
        assert_eq!(all.never, [""; 0]);
        all.examine(
            "four",
            &json!({ "findings": vec![finding("short ring", ""); 4] }),
            &inspect,
        );
        all.examine(
            "chip",
            &json!({ "findings": [finding("a newer fec", "")] }),
            &inspect,
        );
        all.examine(
            "fixed",
            &json!({ "findings": [finding("tso", "ethtool -K eth0 tso on")] }),
            &inspect,
        );
        let ledger =
            json!({ "ledger": [{ "lost_packets": 3, "unattributed_hi": 2, "stages": [] }] });
        all.examine("ledger", &ledger, &inspect);
        let names: Vec<&str> = all
            .never
            .iter()
            .filter_map(|why| Some(why.split_once(':')?.0))
            .collect();
        assert_eq!(names, ["four", "chip", "fixed", "ledger"]);
        assert_eq!(all.runs, 5);
    }
}
