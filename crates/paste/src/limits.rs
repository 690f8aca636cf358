// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits on a text: far above what people paste, low enough that no text exhausts time or memory.

/// Bytes of text.
pub const TEXT_BYTES_MAX: usize = 4 << 20;
/// Lines.
pub const LINES_MAX: usize = 200_000;
/// Bytes of one line.
pub const LINE_BYTES_MAX: usize = 4096;
/// Levels of nested markup.
pub(super) const PASSES_MAX: usize = 8;
/// States, each of which becomes a record.
pub(super) const STATES_MAX: usize = 32;
/// Tests: conclusions compare each with the others.
pub(super) const TESTS_MAX: usize = 500;
/// Passages of one kind.
pub(super) const PASSAGES_MAX: usize = 5000;
