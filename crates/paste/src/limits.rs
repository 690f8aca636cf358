// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a text is read. Nobody pastes more than this, and a program must not be stopped by who does.

/// Bytes of text.
pub const TEXT_BYTES_MAX: usize = 4 << 20;
/// Lines.
pub const LINES_MAX: usize = 200_000;
/// Bytes of one line.
pub const LINE_BYTES_MAX: usize = 4096;
/// Markup within markup.
pub(super) const PASSES_MAX: usize = 8;
/// Records: more states than these in one text are no states.
pub(super) const STATES_MAX: usize = 32;
/// Tests of one text: what is concluded looks at each beside the others.
pub(super) const TESTS_MAX: usize = 500;
/// Passages of one kind.
pub(super) const PASSAGES_MAX: usize = 5000;
