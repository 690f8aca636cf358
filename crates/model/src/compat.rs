// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads documents that earlier versions wrote. A schema's number increases only where adding names is not
//! enough. Each number keeps an entry here, with the function that converts its documents to the next number,
//! and a test document.

use std::error;
use std::fmt;

use crate::output::{self, Output};
use crate::run::{self, Run};

/// One version of a schema.
#[derive(Debug, Clone, Copy)]
pub struct Edition<T> {
    /// The name in the document.
    pub schema: &'static str,
    /// Converts a document to the next edition; does nothing in the newest one.
    pub advance: fn(&mut T),
}

/// The editions of `run.json`, oldest first.
pub const RUNS: &[Edition<Run>] = &[Edition {
    schema: run::SCHEMA,
    advance: as_it_is,
}];

/// The editions of the `--json` document, oldest first.
pub const OUTPUTS: &[Edition<Output>] = &[Edition {
    schema: output::SCHEMA,
    advance: as_it_is,
}];

/// The kind of a stored document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// A `run.json`.
    Run,
    /// A document of `--json`.
    Output,
}

impl DocumentKind {
    /// Returns the kind by the schema's name before the number; `None` if linerate never wrote it.
    #[must_use]
    pub fn of(schema: &str) -> Option<Self> {
        match schema.split_once('/')?.0 {
            "linerate.run" => Some(Self::Run),
            "linerate.output" => Some(Self::Output),
            _ => None,
        }
    }
}

/// A document that no version up to this one wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    found: String,
    newest: &'static str,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let newest = self.newest;
        match self.found.as_str() {
            "" => write!(f, "it has no schema; this version reads up to `{newest}`"),
            found => write!(
                f,
                "its schema is `{found}`, this version reads up to `{newest}`"
            ),
        }
    }
}

impl error::Error for Foreign {}

/// Converts a run to what this version would have written.
///
/// # Errors
/// A later version wrote it, or another program.
pub fn run(mut run: Run) -> Result<Run, Foreign> {
    advance(RUNS, &run.schema.clone(), &mut run)?;
    run.schema = run::SCHEMA.to_owned();
    Ok(run)
}

/// Converts a `--json` document to what this version would have written.
///
/// # Errors
/// As [`run()`].
pub fn output(mut output: Output) -> Result<Output, Foreign> {
    advance(OUTPUTS, &output.schema.clone(), &mut output)?;
    output.schema = output::SCHEMA.to_owned();
    Ok(output)
}

fn advance<T>(editions: &[Edition<T>], found: &str, record: &mut T) -> Result<(), Foreign> {
    let at = editions.iter().position(|edition| edition.schema == found);
    let newest = editions.last().map_or("", |edition| edition.schema);
    let at = at.ok_or_else(|| Foreign {
        found: found.to_owned(),
        newest,
    })?;
    for edition in &editions[at..] {
        (edition.advance)(record);
    }
    Ok(())
}

fn as_it_is<T>(_: &mut T) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_record_goes_through_every_edition_after_its_own() {
        let editions: &[Edition<Vec<u8>>] = &[
            Edition {
                schema: "x/1",
                advance: |record| record.push(1),
            },
            Edition {
                schema: "x/2",
                advance: |record| record.push(2),
            },
            Edition {
                schema: "x/3",
                advance: as_it_is,
            },
        ];
        let advanced = |found: &str| {
            let mut record = Vec::new();
            advance(editions, found, &mut record).map(|()| record)
        };
        assert_eq!(advanced("x/1"), Ok(vec![1, 2]));
        assert_eq!(advanced("x/3"), Ok(vec![]));
        let foreign = advanced("x/4").unwrap_err().to_string();
        assert_eq!(
            foreign,
            "its schema is `x/4`, this version reads up to `x/3`"
        );
        assert!(advanced("").unwrap_err().to_string().contains("no schema"));
    }

    #[test]
    fn the_newest_edition_is_the_one_that_is_written() {
        assert_eq!(RUNS.last().map(|edition| edition.schema), Some(run::SCHEMA));
        assert_eq!(
            OUTPUTS.last().map(|edition| edition.schema),
            Some(output::SCHEMA)
        );
        assert!(run(Run::begin("udp", "0.1.0", &[])).is_ok());
        assert!(output(Output::new("udp", "0.1.0")).is_ok());
        assert!(run(Run::default()).is_err());
        assert_eq!(DocumentKind::of(run::SCHEMA), Some(DocumentKind::Run));
        assert_eq!(DocumentKind::of(output::SCHEMA), Some(DocumentKind::Output));
        assert_eq!(DocumentKind::of("linerate.other/1"), None);
    }
}
