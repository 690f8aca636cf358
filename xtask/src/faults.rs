// SPDX-License-Identifier: MIT OR Apache-2.0
//! `faults [--binary PATH] [FAULT...]`: `check` over each fault of the lab and over pairs of them, as a table: the fault
//! that was set, the cause that was named first, and what is wrong with the conclusions: a cause that was not set, an
//! explanation of more than was lost, findings that exclude each other, advice next to "nothing to fix".
//!
//! What other work on this machine causes is printed, and is no mistake. Not a test: it takes some ten minutes.

mod campaigns;
mod cases;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;
use crate::bench::{Options, binary};
use crate::process;
use cases::{ALONE, Case, OF_THIS_MACHINE, PAIRS, of_faults};

/// Runs every case whose faults are asked for, and prints its row. Whether all were right.
pub(crate) fn run(words: &[&str]) -> Outcome {
    if let Some((&"--tune", rest)) = words.split_first() {
        return campaigns::run(rest);
    }
    let options = Options::parse(words)?;
    let program = binary(&options)?;
    let cases: Vec<Case> = ALONE
        .iter()
        .map(|fault| of_faults(&[fault]))
        .chain(PAIRS.iter().map(|pair| of_faults(pair)))
        .filter(|case| case.faults.iter().any(|fault| options.wants(fault)))
        .collect();
    println!("{:<42} {:<44} correct", "fault", "named first");
    let mut wrong = 0;
    for case in &cases {
        let mistakes = row(&program, case)?;
        wrong += usize::from(!mistakes.is_empty());
    }
    println!("{} of {} correct", cases.len() - wrong, cases.len());
    Ok(wrong == 0)
}

/// One check; prints its row and returns its mistakes.
fn row(program: &PathBuf, case: &Case) -> Result<Vec<String>, String> {
    let state = std::env::temp_dir().join(format!("linerate-faults-{}", std::process::id()));
    let document = check(program, &state, case)?;
    let text = explained(program, &document)?;
    let _gone = fs::remove_dir_all(&state);
    let causes = causes(&document);
    let first = causes.iter().find(|cause| !is_of_this_machine(cause));
    let mistakes = mistakes(case, &document, &text);
    let verdict = match mistakes.as_slice() {
        [] => "yes".to_owned(),
        some => format!("NO: {}", some.join("; ")),
    };
    let first = first.map_or("nothing", String::as_str);
    println!("{:<42} {first:<44} {verdict}", case.faults.join(" "));
    let here: Vec<&String> = causes
        .iter()
        .filter(|cause| is_of_this_machine(cause))
        .collect();
    if !here.is_empty() {
        println!("{:<42} also, of this machine: {here:?}", "");
    }
    Ok(mistakes)
}

fn check(program: &PathBuf, state: &Path, case: &Case) -> Result<Value, String> {
    let mut command = Command::new(program);
    command
        .args(["check", "--quick", "--lab", "--json", "-q"])
        .args(case.faults.iter().flat_map(|fault| ["--fault", fault]))
        .env("XDG_STATE_HOME", state);
    let ended = process::run(&mut command, LIMIT)?;
    serde_json::from_str(&ended.stdout).map_err(|why| {
        let said = process::last_line(&ended.stderr);
        format!("{}: {why}: {said}", case.faults.join(" "))
    })
}

/// The conclusions as a person reads them.
fn explained(program: &PathBuf, document: &Value) -> Result<String, String> {
    let run = document["run_dir"].as_str().unwrap_or_default();
    let mut command = Command::new(program);
    Ok(process::run(command.args(["explain", run]), LIMIT)?.stdout)
}

fn mistakes(case: &Case, document: &Value, text: &str) -> Vec<String> {
    let named = causes(document);
    let own: Vec<&str> = named
        .iter()
        .map(String::as_str)
        .filter(|cause| case.causes().contains(cause) || !OF_THIS_MACHINE.contains(cause))
        .collect();
    let mut wrong = Vec::new();
    match own.first() {
        None => wrong.push("nothing is named".to_owned()),
        Some(first) if !case.first.contains(first) => wrong.push(format!("{first} comes first")),
        Some(_) => {}
    }
    let false_causes = own
        .iter()
        .skip(1)
        .filter(|cause| !case.causes().contains(cause));
    wrong.extend(false_causes.map(|cause| format!("{cause} was not set")));
    wrong.extend(claims_too_much(document));
    wrong.extend(excludes_another(document));
    if !own.is_empty() && text.contains("nothing to fix") {
        wrong.push("nothing to fix, next to findings".to_owned());
    }
    wrong
}

/// Over all findings never more than were lost.
fn claims_too_much(document: &Value) -> Option<String> {
    let sum = |list: &str, of: fn(&Value) -> &Value| -> u64 {
        let all = document[list].as_array().into_iter().flatten();
        all.filter_map(|one| of(one).as_u64()).sum()
    };
    let explained = sum("findings", |one| &one["explains"]["lost_packets"]);
    let lost = sum("ledger", |one| &one["lost_packets"]);
    (explained > lost).then(|| format!("{explained} explained of {lost} lost"))
}

/// Two findings of which one excludes the other, each said to be proven.
fn excludes_another(document: &Value) -> Option<String> {
    let findings = document["findings"].as_array()?;
    let proven = |one: &&Value| one["strength"] == "proven";
    let excluded = findings.iter().filter(proven).find(|one| {
        let conflicts = one["conflicts"].as_array();
        conflicts.is_some_and(|conflicts| !conflicts.is_empty())
    })?;
    Some(format!(
        "{} and {} exclude each other",
        excluded["rule"], excluded["conflicts"]
    ))
}

/// What is named as wrong, in its order, each cause once.
fn causes(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().into_iter().flatten();
    let wrong = findings.filter(|one| one["informational"] != true);
    let mut causes: Vec<String> = Vec::new();
    for cause in wrong.filter_map(|one| one["cause"].as_str()) {
        if !causes.iter().any(|known| known == cause) {
            causes.push(cause.to_owned());
        }
    }
    causes
}

fn is_of_this_machine(cause: &str) -> bool {
    OF_THIS_MACHINE.contains(&cause)
}

/// Much longer than the longest takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(300);
