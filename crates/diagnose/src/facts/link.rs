// SPDX-License-Identifier: MIT OR Apache-2.0
//! The link and the PHY: speed, duplex, what both ends advertise, errors on the wire, energy saving, MTU.

use super::{Facts, Known};
use crate::record::Record;

pub(super) const KNOWN: &[Known] = &[];

pub(super) fn collect(_record: &Record, _facts: &mut Facts) {}
