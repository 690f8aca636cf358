// SPDX-License-Identifier: MIT OR Apache-2.0
//! How often a test of a record was looked at. Debug builds count, so that a test can hold the work of a diagnosis to
//! the length of its record: a scan of all tests for each test shows as a square.

use std::cell::Cell;

/// Counts one look, in debug builds.
pub fn look() {
    if cfg!(debug_assertions) {
        LOOKS.with(|looks| looks.set(looks.get() + 1));
    }
}

/// Returns the looks of this thread so far; 0 in release builds.
#[must_use]
pub fn looks() -> u64 {
    LOOKS.with(Cell::get)
}

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}
