// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the measurement itself can be trusted: the sender's schedule, run lengths, other traffic, captures, what differs between the ends.

use super::{Facts, Known};
use crate::record::Record;

pub(super) const KNOWN: &[Known] = &[];

pub(super) fn collect(_record: &Record, _facts: &mut Facts) {}
