// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where each test's packets were lost, stage by stage.

use linerate_model::output::LedgerEntry;

use crate::record::Record;

/// One entry a test that lost anything countable.
#[must_use]
pub fn of(_record: &Record) -> Vec<LedgerEntry> {
    Vec::new()
}
