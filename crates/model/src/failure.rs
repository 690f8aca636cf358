// SPDX-License-Identifier: MIT OR Apache-2.0
//! A failure as the user reads it: what failed, why, what to try. Exit codes are the program's.

use crate::printable::is_hidden;
use std::error::Error;
use std::fmt;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command line or a configuration is wrong.
    Usage,
    /// Nothing could be measured: no permission, no such host, no answer.
    CouldNotMeasure,
    /// Measured, but the numbers are not valid.
    Invalid,
    /// Stopped by the user.
    Interrupted,
}

/// Why a command could not do its work.
///
/// ```
/// use linerate_model::failure::Failure;
/// let failure = Failure::measuring("connect to 198.18.0.2:5201", "connection refused")
///     .hint("start `linerate serve` there");
/// assert_eq!(
///     failure.to_string(),
///     "error: cannot connect to 198.18.0.2:5201\n  why: connection refused\n  try: start `linerate serve` there"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What could not be done, to be read after "cannot".
    pub what: String,
    /// The reason, with the kernel's word for it where there is one.
    pub why: String,
    /// What helps, if something is known to.
    pub try_: Option<String>,
    /// What kind of failure it is.
    pub kind: Kind,
}

impl Failure {
    /// A failure with no remedy known yet.
    pub fn new(kind: Kind, what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self {
            what: what.into(),
            why: without_code(&why.to_string()),
            try_: None,
            kind,
        }
    }

    /// Nothing could be measured.
    pub fn measuring(what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::new(Kind::CouldNotMeasure, what, why)
    }

    /// A wrong command line or configuration.
    pub fn usage(what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, what, why)
    }

    /// Stopped by the user.
    pub fn interrupted(what: impl Into<String>) -> Self {
        Self::new(Kind::Interrupted, what, "interrupted")
    }

    /// Adds what to try.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.try_ = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: cannot {}\n  why: {}", self.what, self.why)?;
        match &self.try_ {
            Some(hint) => write!(f, "\n  try: {hint}"),
            None => Ok(()),
        }
    }
}

impl Error for Failure {}

/// The system's words for an error, without Rust's ` (os error 2)`.
#[must_use]
pub fn without_code(text: &str) -> String {
    let mut parts = text.split(CODE);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| match part.split_once(')') {
        Some((number, rest)) if number.parse::<i32>().is_ok() => shown + rest,
        _ => shown + CODE + part,
    })
}

const CODE: &str = " (os error ";

/// Cleans untrusted text for a message: strips control characters, truncates.
#[must_use]
pub fn printable(text: &str) -> String {
    let shown = text.chars().filter(|letter| !is_hidden(*letter));
    shown.take(SHOWN_CHARACTERS).collect()
}

const SHOWN_CHARACTERS: usize = 300;
