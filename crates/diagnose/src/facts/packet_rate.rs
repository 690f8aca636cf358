// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets a second: offloads, firewalls, queueing disciplines, forwarding.

use super::{Facts, Known};
use crate::record::Record;

pub(super) const KNOWN: &[Known] = &[];

pub(super) fn collect(_record: &Record, _facts: &mut Facts) {}
