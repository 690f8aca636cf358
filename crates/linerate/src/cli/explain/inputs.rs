// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inputs of `explain`: stored runs, documents of `--json`, text.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use linerate_model::compat::{self, DocumentKind};
use linerate_model::credible;
use linerate_model::output::{Output, Passage, Trial};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_paste as paste;
use linerate_wire::json;
use serde_json::Value;

use super::pasted::Pasted;
use super::texts::Texts;
use crate::store;
use linerate_model::failure::Failure;

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub(super) records: Vec<Record>,
    /// Trials of DUTs, from the runs' directories.
    pub(super) trials: Vec<Trial>,
    pub(super) understood: Vec<Passage>,
    pub(super) ignored: Vec<Passage>,
    /// Ignored passages that exceed a limit: shown even without `--facts`.
    pub(super) left_out: Vec<Passage>,
    pub(super) pasted: Option<Pasted>,
}

impl Inputs {
    /// Reads what was named, each a run or a text.
    ///
    /// # Errors
    /// What cannot be read, or was written by a later version.
    pub(super) fn read(names: &[PathBuf]) -> Result<Self, Failure> {
        let mut inputs = Self::default();
        let mut texts = Vec::new();
        for name in names {
            match stored(name)? {
                Some((record, trials)) => {
                    inputs.records.push(record.with_trials(&trials));
                    inputs.trials.extend(trials);
                }
                None => texts.push((name.display().to_string(), text(name)?)),
            }
        }
        inputs.understand(texts)?;
        Ok(inputs)
    }

    /// Reads each text as a document of `--json`, else as pasted output.
    fn understand(&mut self, texts: Vec<(String, String)>) -> Result<(), Failure> {
        let mut pastes = Vec::new();
        for (name, text) in texts {
            match document(&name, &text)? {
                Some(mut record) => {
                    believe(&mut record);
                    self.records.push(record);
                }
                None => pastes.push((name, text)),
            }
        }
        let joined = Texts::join(&pastes);
        let cleaned = paste::clean(&joined.whole);
        let (mut pasted, _) = paste::read_lines(&cleaned);
        let left_out = pasted
            .left_out
            .iter()
            .take(MOST_LEFT_OUT)
            .cloned()
            .collect();
        self.left_out = joined.place(left_out);
        if pasted.records.is_empty() && !pastes.is_empty() {
            // Nothing was parsed: what to collect can still be suggested.
            pasted.records.push(Record {
                pasted: true,
                ..Record::default()
            });
        }
        pasted.records.iter_mut().for_each(believe);
        self.records.extend(pasted.records);
        self.understood = joined.place(pasted.understood.clone());
        self.ignored = joined.place(pasted.ignored.clone());
        self.pasted = (!pastes.is_empty()).then_some(Pasted {
            joined,
            lines: cleaned.lines,
            understood: pasted.understood,
            ignored: pasted.ignored,
        });
        Ok(())
    }
}

/// The run in a directory with its trials of a device; `None` for a file.
fn stored(name: &Path) -> Result<Option<(Record, Vec<Trial>)>, Failure> {
    if !name.is_dir() {
        return Ok(None);
    }
    let wrong = |error| {
        let hint = "the directory in the line `details` of a result, with run.json in it";
        Failure::usage(format!("read the run in {}", name.display()), error).hint(hint)
    };
    let (run, samples) = store::read(name).map_err(wrong)?;
    let trials = store::trials(name).map_err(wrong)?;
    Ok(Some((Record::of_run(run, samples), trials)))
}

/// Takes out what cannot be.
fn believe(record: &mut Record) {
    let run = &mut record.run;
    credible::moved(&mut run.moved);
    credible::settle(
        run.duration_s,
        &mut run.hosts,
        &mut run.tests,
        &mut record.samples,
    );
}

/// What `--json` printed, or a `run.json` alone: without samples.
fn document(name: &str, text: &str) -> Result<Option<Record>, Failure> {
    if !text.trim_start().starts_with('{') {
        return Ok(None);
    }
    let Ok(value) = json::text::<Value>(text) else {
        return Ok(None);
    };
    let wrong = |why: &dyn Display| Failure::usage(format!("read {name}"), why);
    match value["schema"].as_str().and_then(DocumentKind::of) {
        Some(DocumentKind::Output) => {
            let output: Output = json::text(text).map_err(|why| wrong(&why))?;
            let output = compat::output(output).map_err(|why| wrong(&why))?;
            let record = Record::of_run(Run::of_document(&output), Vec::new());
            Ok(Some(record.with_trials(&output.trials)))
        }
        Some(DocumentKind::Run) => {
            let run = json::text(text).map_err(|why| wrong(&why))?;
            let run = compat::run(run).map_err(|why| wrong(&why))?;
            Ok(Some(Record::of_run(run, Vec::new())))
        }
        None => Ok(None),
    }
}

/// The text of a file up to a limit; invalid UTF-8 is replaced.
fn text(name: &Path) -> Result<String, Failure> {
    let what = || format!("read {}", name.display());
    let read = |source: &mut dyn Read| {
        let mut bytes = Vec::new();
        source
            .take(MOST_BYTES)
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    };
    let bytes = if name == Path::new("-") {
        read(&mut io::stdin().lock())
    } else {
        File::open(name).and_then(|mut file| read(&mut file))
    };
    let bytes = bytes.map_err(|error| {
        Failure::usage(what(), error)
            .hint("the directory of a run, a file of text, or - for standard input")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number of ignored passages that are always listed.
const MOST_LEFT_OUT: usize = 8;
/// A longer text is cut, and reported as such.
const MOST_BYTES: u64 = 32 << 20;
