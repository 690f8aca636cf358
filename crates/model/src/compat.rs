// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records that earlier versions wrote. A schema's number grows only where adding names is not enough;
//! each number has a line here for ever, with what turns its records into those of the next, and a
//! record of its own among the tests.

use std::error;
use std::fmt;

use crate::output::{self, Output};
use crate::run::{self, Run};

/// One number of a schema.
#[derive(Debug, Clone, Copy)]
pub struct Edition<T> {
    /// As records have it.
    pub schema: &'static str,
    /// Makes a record of the next edition of it; nothing for the newest one.
    pub advance: fn(&mut T),
}

/// `run.json`, the oldest first.
pub const RUNS: &[Edition<Run>] = &[Edition {
    schema: run::SCHEMA,
    advance: as_it_is,
}];

/// Documents of `--json`, the oldest first.
pub const OUTPUTS: &[Edition<Output>] = &[Edition {
    schema: output::SCHEMA,
    advance: as_it_is,
}];

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// A `run.json`.
    Run,
    /// A document of `--json`.
    Output,
}

impl Family {
    /// By the name before the number; `None` for what linerate never wrote.
    #[must_use]
    pub fn of(schema: &str) -> Option<Self> {
        match schema.split_once('/')?.0 {
            "linerate.run" => Some(Self::Run),
            "linerate.output" => Some(Self::Output),
            _ => None,
        }
    }
}

/// A record that no version up to this one wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    found: String,
    newest: &'static str,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let newest = self.newest;
        match self.found.as_str() {
            "" => write!(f, "it names no schema; this version reads up to `{newest}`"),
            found => write!(
                f,
                "its schema is `{found}`, this version reads up to `{newest}`"
            ),
        }
    }
}

impl error::Error for Foreign {}

/// The run as this version would have written it.
///
/// # Errors
/// A later version wrote it, or something else.
pub fn run(mut run: Run) -> Result<Run, Foreign> {
    advance(RUNS, &run.schema.clone(), &mut run)?;
    run.schema = run::SCHEMA.to_owned();
    Ok(run)
}

/// The document as this version would have written it.
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
        assert_eq!(Family::of(run::SCHEMA), Some(Family::Run));
        assert_eq!(Family::of(output::SCHEMA), Some(Family::Output));
        assert_eq!(Family::of("linerate.other/1"), None);
    }
}
