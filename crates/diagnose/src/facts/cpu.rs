// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processors and interrupts: load, spread, coalescing, NAPI, frequencies, idle states, scheduling.

use super::{Facts, Known};
use crate::record::Record;

pub(super) const KNOWN: &[Known] = &[];

pub(super) fn collect(_record: &Record, _facts: &mut Facts) {}
