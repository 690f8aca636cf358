// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a test ends.

use std::error::Error;

/// Why a test has not passed.
#[derive(Debug)]
pub(crate) enum Verdict {
    Failed(String),
    /// The machine cannot do it.
    Skipped(String),
}

pub(crate) type Outcome<T = ()> = Result<T, Verdict>;

impl<E: Error> From<E> for Verdict {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Fails the test with what was seen unless `holds`.
pub(crate) fn ensure(holds: bool, seen: impl FnOnce() -> String) -> Outcome {
    if holds {
        Ok(())
    } else {
        Err(Verdict::Failed(seen()))
    }
}
