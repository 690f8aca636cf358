// SPDX-License-Identifier: MIT OR Apache-2.0
//! A result to be published: host names, boot ids, UUIDs, serial numbers, MAC and IP addresses become
//! `host-1`, `mac-1`, `address-1` …, the same word for the same thing everywhere, also in commands and texts.
//! The run directory is left out. Loopback and unspecified addresses and netmasks stay.

mod free;
mod words;

use linerate_model::order::Gather as _;
use linerate_model::output::Output;
use linerate_model::setting::Setting;
use serde::Serialize;
use serde_json::Value;

use crate::subject::Subject;
use words::Words;

/// Parses JSON text.
pub type Reader<T> = fn(&str) -> serde_json::Result<T>;

/// How the texts become the record again. They come from the caller, as a second reader of each type would enlarge
/// the program.
#[derive(Debug, Clone, Copy)]
pub struct Readers {
    /// For a document.
    pub output: Reader<Output>,
    /// For the settings of hosts.
    pub settings: Reader<Vec<Setting>>,
}

/// Replaces everything that identifies a site. `peers` are names that the runs were started with.
///
/// # Errors
/// A host name equals a word of the document (`up`, `tcp` …), so that the redacted document cannot be read.
pub fn redacted(
    mut subjects: Vec<Subject>,
    peers: &[String],
    read: Readers,
) -> serde_json::Result<Vec<Subject>> {
    let mut words = Words::default();
    for subject in &subjects {
        for host in &subject.output.hosts {
            host.hostname.iter().for_each(|name| words.host(name));
            host.boot_id.iter().for_each(|id| words.boot(id));
        }
        for (typed, before) in subject.output.command.iter().zip(0..) {
            let option = before == 0 || typed.starts_with('-');
            if !option && peers.contains(typed) {
                words.host(typed);
            }
        }
    }
    peers.iter().for_each(|peer| words.host(peer));
    for subject in &subjects {
        learn(&mut words, &subject.output)?;
        learn(&mut words, &subject.settings)?;
    }
    for (number, subject) in subjects.iter_mut().enumerate() {
        subject.label = format!("run-{}", number + 1);
        words.directories(&mut subject.output, &subject.label);
        subject.output.run_dir = None;
        if let Some(program) = subject.output.command.first_mut() {
            "linerate".clone_into(program);
        }
        subject.output = through(&mut words, &subject.output, read.output)?;
        subject.settings = through(&mut words, &subject.settings, read.settings)?;
        let rows = subject.processors.iter_mut().chain(&mut subject.interrupts);
        rows.for_each(|row| row.name = words.replaced(&row.name));
    }
    Ok(subjects)
}

/// A name found by its key (`hostname=`) in one text may occur without it in another.
fn learn<T: Serialize>(words: &mut Words, whole: &T) -> serde_json::Result<()> {
    let text = serde_json::to_string(whole)?;
    for part in text.split('"') {
        words.replaced(part);
    }
    Ok(())
}

/// Redacts every text, and the names of fields (settings have names from their source).
fn through<T: Serialize>(words: &mut Words, whole: &T, read: Reader<T>) -> serde_json::Result<T> {
    let mut value: Value = serde_json::from_str(&serde_json::to_string(whole)?)?;
    walk(words, &mut value, "");
    read(&value.to_string())
}

fn walk(words: &mut Words, value: &mut Value, name: &str) {
    match value {
        Value::String(_) if WORDS_OF_THE_DOCUMENT.contains(&name) => {}
        Value::String(text) if name == SERIAL => *text = words.serial(text),
        Value::String(text) => *text = words.replaced(text),
        Value::Array(entries) => entries
            .iter_mut()
            .for_each(|entry| walk(words, entry, name)),
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                walk(words, field, name);
            }
            if name == "values" {
                let settings = std::mem::take(fields).into_iter();
                *fields = settings
                    .map(|(key, value)| (words.replaced(&key), value))
                    .gather();
            }
        }
        Value::Bool(_) | Value::Null | Value::Number(_) => {}
    }
}

/// Of a pluggable module, as `ethtool -m` prints it.
const SERIAL: &str = "Vendor SN";
/// Fields with values that the document defines.
const WORDS_OF_THE_DOCUMENT: &[&str] = &[
    "schema",
    "kind",
    "role",
    "host",
    "protocol",
    "direction",
    "phase",
    "limit",
    "link_kind",
    "verdict",
    "stage",
    "strength",
    "unit",
    "metric",
    "started",
    "arch",
    "rule",
];

#[cfg(test)]
mod tests;
