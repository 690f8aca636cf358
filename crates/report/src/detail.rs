// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a result is printed on a terminal.

/// How much is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// One line a direction.
    Line,
    /// The answer, on one screen where it can be.
    Answer,
    /// Where packets were lost, and why: what `explain` adds to a run.
    Causes,
    /// Everything.
    #[default]
    Full,
}
