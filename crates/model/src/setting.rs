// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of a host as the usual tools print them. What cannot be read is absent, never a default.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fields::Fields;

use crate::output::Role;

/// The values of one source, read once per run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Setting {
    /// The end where it was read.
    pub host: Role,
    /// Where a user would read them: `ethtool -g`, `sysctl`, `/proc/cmdline` …
    pub source: String,
    /// The interface; `null` for settings of the whole host.
    pub interface: Option<String>,
    /// Values as the source prints them, by the source's names.
    pub values: BTreeMap<String, String>,
}
