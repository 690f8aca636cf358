// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a lab could not be built: what, why, and what to try.

use std::error::Error;
use std::fmt;

/// A refusal that a user can act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabError {
    /// What could not be done.
    pub what: String,
    /// The kernel's word for it, or the rule that it breaks.
    pub why: String,
    /// What to do; empty if nothing is known to help.
    pub hint: String,
}

impl LabError {
    pub(crate) fn new(what: impl Into<String>, why: impl fmt::Display) -> Self {
        Self {
            what: what.into(),
            why: why.to_string(),
            hint: String::new(),
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// For `map_err`: names what was attempted.
    pub(crate) fn at<E: fmt::Display>(what: &'static str) -> impl Fn(E) -> Self {
        move |why| Self::new(what, why)
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)?;
        if self.hint.is_empty() {
            Ok(())
        } else {
            write!(f, " (try: {})", self.hint)
        }
    }
}

impl Error for LabError {}
