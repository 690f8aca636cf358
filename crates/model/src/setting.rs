// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a host is set up, as the tool that a user would ask prints it. Raw is raw: what cannot be
//! read is absent, never a default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::output::Role;

/// What one source said once a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// On which end it was read.
    pub host: Role,
    /// Where a user would read it: `ethtool -g`, `sysctl`, `/proc/cmdline` …
    pub source: String,
    /// Of which interface; `null` for settings of the whole host.
    pub interface: Option<String>,
    /// The source's name of each setting, and its value as the source prints it.
    pub values: BTreeMap<String, String>,
}
