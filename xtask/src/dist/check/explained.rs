// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a foreign program explains, and what the native one does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use super::LIMIT;
use crate::process::{self, Finished};
use crate::tally::Tally;

/// The command of the native program, and that of the foreign one.
type Both<'a> = [&'a dyn Fn() -> Command; 2];

/// Both print the same explanation of pasted texts, of recorded runs of this repository, and of those in `runs`, which one
/// of them recorded: numbers, tables and what was learnt are read alike.
pub(super) fn check(triple: &str, both: Both<'_>, root: &Path, runs: &Path, tally: &mut Tally) {
    let texts = texts(root).and_then(|texts| explained(both, &texts));
    tally.check(&format!("{triple} explain of texts"), texts);
    let runs = recorded(root, runs).and_then(|runs| explained(both, &runs));
    tally.check(&format!("{triple} explain of runs"), runs);
}

fn explained([here, there]: Both<'_>, inputs: &[PathBuf]) -> Result<String, String> {
    for input in inputs {
        let print = |mut command: Command| {
            command.arg("explain").arg(input).arg("--json");
            command.env("XDG_STATE_HOME", "/dev/null");
            process::run(&mut command, LIMIT)
        };
        let (ours, theirs) = (print(here())?, print(there())?);
        alike(&ours, &theirs).map_err(|why| format!("{}: {why}", input.display()))?;
    }
    Ok(format!("{}, as the native one", inputs.len()))
}

/// All but the command and its time.
fn alike(ours: &Finished, theirs: &Finished) -> Result<(), String> {
    let said = || process::last_line(&theirs.stderr);
    let document = |finished: &Finished| -> Result<Map<String, Value>, String> {
        serde_json::from_str(&finished.stdout).map_err(|why| format!("--json: {why} ({})", said()))
    };
    let (ours, theirs) = (document(ours)?, document(theirs)?);
    if let Some(error) = theirs.get("error").filter(|error| !error.is_null()) {
        return Err(format!("nothing is explained: {error}"));
    }
    let mut names = ours
        .keys()
        .filter(|name| !["command", "started"].contains(&name.as_str()));
    match names.find(|name| theirs.get(*name) != ours.get(*name)) {
        None => Ok(()),
        Some(name) => Err(format!("{name} is not what the native one prints")),
    }
}

/// Outputs of tools that were made for fuzzing, and some real cases.
fn texts(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut texts = list(&root.join("fuzz/corpus/tool_text"))?;
    let real = list(&root.join("corpus/learn"))?;
    texts.extend(real.into_iter().step_by(EVERY));
    Ok(texts)
}

/// Of an endpoint and of a device; then those that were just recorded.
fn recorded(root: &Path, runs: &Path) -> Result<Vec<PathBuf>, String> {
    let mut recorded = list(&root.join("crates/linerate/tests/records/linerate.run-1"))?;
    recorded.extend(list(runs)?);
    Ok(recorded)
}

fn list(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |why| format!("{}: {why}", directory.display());
    let entries = fs::read_dir(directory).map_err(failed)?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    match files.is_empty() {
        false => Ok(files),
        true => Err(format!("{}: nothing in it", directory.display())),
    }
}

/// An emulator takes seconds for each.
const EVERY: usize = 800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_alike_but_for_command_and_time() {
        let document = |stdout: &str| Finished {
            status: std::process::ExitStatus::default(),
            stdout: stdout.to_owned(),
            stderr: "last words".to_owned(),
        };
        let ours = document(r#"{"command": ["a"], "started": 1, "findings": [{"weight": 0.5}]}"#);
        let theirs = document(r#"{"command": ["b"], "started": 2, "findings": [{"weight": 0.5}]}"#);
        assert_eq!(alike(&ours, &theirs), Ok(()));
        let other = document(r#"{"command": ["a"], "started": 1, "findings": [{"weight": 0.4}]}"#);
        assert!(alike(&ours, &other).is_err_and(|why| why.starts_with("findings")));
        let nothing = document(r#"{"error": {"what": "cannot explain"}}"#);
        assert!(alike(&nothing, &nothing).is_err_and(|why| why.starts_with("nothing")));
        let crashed = document("");
        assert!(alike(&ours, &crashed).is_err_and(|why| why.contains("last words")));
    }
}
