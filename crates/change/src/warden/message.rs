// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a process and its warden say to each other.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::owner::Owner;

/// The first line: whose changes, and where they are recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Charge {
    /// The process.
    pub(crate) owner: Owner,
    /// Its journal.
    pub(crate) journal: PathBuf,
}

/// The further lines. Each has one reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// A change follows that is undone after this time.
    Arm {
        /// The arm's number.
        arm: u64,
        /// The time, in milliseconds.
        within_ms: u64,
    },
    /// It is this change. Without it, it is each that was not open at the time of the arm.
    Bind {
        /// The arm.
        arm: u64,
        /// The change.
        change: u64,
    },
    /// The change works.
    Confirm {
        /// The arm.
        arm: u64,
    },
    /// There was no change, or it is undone.
    Disarm {
        /// The arm.
        arm: u64,
    },
}

/// To the charge, and to each order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    /// It is so.
    Done,
    /// The time is over, and the change is undone.
    RolledBack,
    /// Why it cannot watch.
    Failed(String),
}
