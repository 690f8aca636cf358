// SPDX-License-Identifier: MIT OR Apache-2.0
//! A failure as the user reads it: what, why, what to try.

use std::error::Error;
use std::fmt;

use crate::exit::Exit;

/// Why a command could not do its work.
///
/// ```
/// use linerate::error::Failure;
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
    /// The exit code that it leads to.
    pub exit: Exit,
}

impl Failure {
    /// A failure with no remedy known yet.
    pub fn new(exit: Exit, what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self {
            what: what.into(),
            why: why.to_string(),
            try_: None,
            exit,
        }
    }

    /// Could not measure (exit 3).
    pub fn measuring(what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::new(Exit::CouldNotMeasure, what, why)
    }

    /// A wrong command line (exit 2).
    pub fn usage(what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, what, why)
    }

    /// Stopped by the user (exit 130).
    pub fn interrupted(what: impl Into<String>) -> Self {
        Self::new(Exit::Interrupted, what, "interrupted")
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
