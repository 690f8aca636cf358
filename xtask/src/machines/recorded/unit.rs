// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is recorded and judged as one: a cause on a NIC, a check of it untouched, a way in which it forwards.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::anonymous::{anonymous, named};
use super::archive::Archive;
use super::lean;
use crate::machines::causes;
use crate::machines::middle::{MODES, Mode};
use crate::machines::nic::Nic;
use crate::machines::offloads;

/// One of them. Of its files only those are recorded that `explain`, `report` or a judge reads.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    /// Paths in the archive, and where a place of results has them.
    files: Vec<(String, PathBuf)>,
    /// What is written last: where it is, the others are.
    last: PathBuf,
}

impl Unit {
    /// Every one that a NIC can have, in the order of the tables.
    pub(super) fn all(nic: &Nic, place: &Path) -> Vec<Self> {
        let machine = place.join(nic.directory());
        let causes = causes::names().map(|name| Self::cause(name, &machine));
        let checks = CHECKS.iter().map(|name| Self::check(name, &machine));
        let modes = MODES.iter().map(|mode| Self::middle(nic, mode, place));
        let offloads = [Self::offloads(&machine)];
        causes.chain(checks).chain(modes).chain(offloads).collect()
    }

    fn cause(name: &str, machine: &Path) -> Self {
        let directory = machine.join("causes");
        let file = |kind: &&str| {
            let file = format!("{name}.{kind}");
            (format!("causes/{file}"), directory.join(file))
        };
        Self {
            name: format!("causes/{name}"),
            files: OF_A_CAUSE.iter().map(file).collect(),
            last: directory.join(format!("{name}.steps")),
        }
    }

    fn check(name: &str, machine: &Path) -> Self {
        let file = |file: String| (file.clone(), machine.join(file));
        let run = ["run.json", "samples.jsonl"].map(|kind| file(format!("{name}.run/{kind}")));
        let inspect = file("inspect.stdout".to_owned());
        Self {
            name: name.to_owned(),
            files: run.into_iter().chain([inspect]).collect(),
            last: machine.join("steps.json"),
        }
    }

    fn offloads(machine: &Path) -> Self {
        let file = format!("{}/{}.run/run.json", offloads::PLACE, offloads::STEP);
        let run = machine.join(&file);
        Self {
            name: offloads::PLACE.to_owned(),
            files: [(file, run.clone())].into(),
            last: run,
        }
    }

    fn middle(nic: &Nic, mode: &Mode, place: &Path) -> Self {
        let directory = place.join(crate::machines::middle::name(nic, mode));
        let name = format!("middle/{}", mode.name);
        let file = |file: &&str| (format!("{name}/{file}"), directory.join(file));
        Self {
            files: OF_A_MODE.iter().map(file).collect(),
            last: directory.join("page.status"),
            name,
        }
    }

    /// Whether a place of results has it.
    pub(super) fn is_stored(&self) -> bool {
        self.last.is_file()
    }

    /// Puts it into an archive, instead of what that has of it. No file may contain one of `names`.
    pub(super) fn record(&self, archive: &mut Archive, names: &[String]) -> Result<(), String> {
        let has_a_run = self
            .files
            .iter()
            .any(|(path, stored)| path.ends_with(RUN) && stored.is_file());
        for (path, stored) in &self.files {
            archive.remove(path);
            let is_instead_of_a_run = path.ends_with(".measure.stdout");
            if !stored.is_file() || has_a_run && is_instead_of_a_run {
                continue;
            }
            let of = |why: String| format!("{}: {path}: {why}", self.name);
            let text = fs::read_to_string(stored).map_err(|why| of(why.to_string()))?;
            let text = recorded(path, text).map_err(of)?;
            if let Some(name) = named(&text, names) {
                return Err(of(format!("contains {name:?}, a word of this machine")));
            }
            archive.insert(path.clone(), text.into_bytes());
        }
        Ok(())
    }
}

/// A file as it is recorded.
fn recorded(path: &str, text: String) -> Result<String, String> {
    let document = |text: &str| serde_json::from_str::<Value>(text).map(anonymous);
    if path.ends_with(RUN) {
        let run = document(&text).map_err(|why| why.to_string())?;
        return Ok(format!("{}\n", lean::run(run)));
    }
    if path.ends_with(".jsonl") {
        return Ok(lean::samples(&text));
    }
    // What is printed as text holds no host.
    Ok(document(&text).map_or(text, |printed| format!("{printed}\n")))
}

/// The checks of an untouched machine.
pub(super) const CHECKS: [&str; 2] = ["check-from-guest", "check-from-host"];

const RUN: &str = ".run/run.json";

/// What was measured is printed instead of stored if it could not begin.
const OF_A_CAUSE: [&str; 7] = [
    "steps",
    "before.stdout",
    "after.stdout",
    "inspect.stdout",
    "run/run.json",
    "run/samples.jsonl",
    "measure.stdout",
];

const OF_A_MODE: [&str; 6] = [
    "forward.status",
    "before.stdout",
    "after.stdout",
    "forward.run/run.json",
    "forward.run/samples.jsonl",
    "forward.run/trials.ndjson",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let place =
            std::env::temp_dir().join(format!("linerate-unit-{}-{name}", std::process::id()));
        let _old = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("e1000e/causes/tbf.run")).unwrap();
        place
    }

    fn tbf(place: &Path) -> Unit {
        let mut all = Unit::all(Nic::named("e1000e").unwrap(), place);
        all.retain(|unit| unit.name == "causes/tbf");
        all.remove(0)
    }

    #[test]
    fn a_cause_is_recorded_with_its_run_and_without_what_no_judge_reads() {
        let place = place("run");
        let write = |file: &str, text: &str| {
            fs::write(place.join("e1000e/causes").join(file), text).unwrap()
        };
        write("tbf.run/run.json", r#"{"command": ["/home/me/linerate"]}"#);
        write("tbf.measure.stdout", "{}");
        write("tbf-tcp.steps", "of another");
        let unit = tbf(&place);
        assert!(!unit.is_stored());
        write("tbf.steps", "{}");
        assert!(unit.is_stored());
        let mut archive = Archive::default();
        unit.record(&mut archive, &["/home/".to_owned()]).unwrap();
        archive.unpack(&place.join("unpacked")).unwrap();
        let is_there = |file: &str| place.join("unpacked/causes").join(file).is_file();
        assert!(is_there("tbf.steps") && is_there("tbf.run/run.json"));
        assert!(!is_there("tbf.measure.stdout") && !is_there("tbf-tcp.steps"));
        let refused = unit.record(&mut archive, &["linerate".to_owned()]);
        assert!(refused.unwrap_err().contains("a word of this machine"));
        let _done = fs::remove_dir_all(&place);
    }
}
