// SPDX-License-Identifier: MIT OR Apache-2.0
//! A change of a setting, and whether it is undone.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::comparison::Comparison;
use super::host::Role;

/// One change: `changes[]` of the document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct SettingChange {
    /// The host whose setting it is.
    pub host: Role,
    /// Its number in the journal.
    pub id: u64,
    /// When it was made: RFC 3339, UTC.
    pub started: String,
    /// The setting, as its command calls it: `ethtool -G rx`, `sysctl net.ipv4.tcp_rmem`; `ab` for commands of the user.
    pub knob: String,
    /// The interface, if it is a setting of one.
    pub interface: Option<String>,
    /// The value before; `null` where a command of the user undoes it.
    pub before: Option<String>,
    /// What was written.
    pub after: String,
    /// What was read back; `null` where the process ended before.
    pub effective: Option<String>,
    /// What wanted it: a rule, or a command.
    pub because: String,
    /// The process that made it.
    pub pid: u32,
    /// How it stands.
    pub state: ChangeState,
    /// Why it stands so, where that is not clear.
    pub reason: Option<String>,
    /// The commands that make it; empty where a command of the user did.
    pub commands: Vec<String>,
    /// The commands that undo it.
    pub undo: Vec<String>,
    /// Whether it is meant to stay.
    pub kept: bool,
    /// What proves it, of a campaign of `tune`.
    pub comparison: Option<Comparison>,
    /// The file that makes it permanent.
    pub persisted_file: Option<String>,
}

/// How a change stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeState {
    /// It may be in force, and its process has ended.
    #[default]
    Open,
    /// Its process still runs.
    UnderWay,
    /// It is in force, and meant to stay.
    Kept,
    /// It is undone.
    Restored,
    /// The machine was booted since, which undid it.
    Vanished,
    /// The user took it off the list: nothing was undone.
    Forgotten,
    /// Another program has changed the setting since: nothing was written.
    Foreign,
    /// It was made elsewhere: in another network namespace, on another device.
    Elsewhere,
    /// It could not be undone.
    Failed,
}

impl ChangeState {
    /// Whether nothing of it is left.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Restored | Self::Vanished | Self::Forgotten)
    }

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Open => "not restored",
            Self::UnderWay => "in progress",
            Self::Kept => "kept",
            Self::Restored => "restored",
            Self::Vanished => "undone by a reboot",
            Self::Forgotten => "forgotten: nothing was undone",
            Self::Foreign => "changed by another program since: left as it is",
            Self::Elsewhere => "made elsewhere: left as it is",
            Self::Failed => "could not be restored",
        }
    }
}
