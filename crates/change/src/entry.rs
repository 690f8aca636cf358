// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is in the journal.

mod raw_entry;

use std::fmt;

use raw_entry::RawEntry;
use serde::{Deserialize, Serialize};

use crate::owner::Owner;

/// A setting: what `ethtool`, `sysctl` or a file calls it, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// `net.ipv4.tcp_rmem`, `ethtool -G rx`, `ab`.
    pub knob: String,
    /// Where it is.
    pub place: Place,
}

impl Key {
    /// Whether a boot resets it. A file stays.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        !self.knob.starts_with("file ")
    }

    /// The path of a file on this host; nothing for a setting.
    #[must_use]
    pub fn file(&self) -> Option<String> {
        let path = self.knob.strip_prefix("file ")?;
        Some(match &self.place {
            Place::Image { root } => format!("{root}{path}"),
            _ => path.to_owned(),
        })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.device() {
            None => f.write_str(&self.knob),
            Some(device) => write!(f, "{} of {}", self.knob, device.name),
        }
    }
}

/// Where a setting is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// One for the whole machine.
    Host,
    /// One for each network namespace; its inode (`stat -L /proc/self/ns/net`).
    Namespace {
        /// The inode.
        netns: u64,
    },
    /// One for each interface of a namespace.
    Interface {
        /// The namespace's inode.
        netns: u64,
        /// The interface.
        device: Device,
    },
    /// A file of the system below a directory: an image, which is not the system that runs here.
    Image {
        /// The directory: absolute, with no link in it, not `/`.
        root: String,
    },
}

impl Place {
    /// The interface, if it is a setting of one.
    #[must_use]
    pub const fn device(&self) -> Option<&Device> {
        match self {
            Self::Interface { device, .. } => Some(device),
            Self::Host | Self::Namespace { .. } | Self::Image { .. } => None,
        }
    }
}

/// An interface, so that another with the same name is not taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Device {
    /// Its name now.
    pub name: String,
    /// Its index: unique in its namespace until reboot.
    pub index: u32,
    /// The address in its memory (`ethtool -P`), where it has one.
    pub permanent_address: Option<String>,
    /// Its place on the bus (`ethtool -i`), where it is on one.
    pub bus: Option<String>,
}

impl Device {
    /// Whether `other` is the same interface. A renamed one is; one with the same name and another index, address or place is not.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let same = |one: &Option<String>, other: &Option<String>| one == other;
        self.index == other.index
            && same(&self.permanent_address, &other.permanent_address)
            && same(&self.bus, &other.bus)
    }
}

/// How a change is undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undo {
    /// The old value is written.
    Write,
    /// A command of the user is run by `/bin/sh -c`.
    Command {
        /// The command.
        line: String,
        /// The working directory: absolute. `None` in a journal of an earlier version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directory: Option<String>,
    },
}

/// A setting, the value that it gets, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The setting.
    pub key: Key,
    /// The value, as it is written.
    pub new: String,
    /// How it is undone.
    pub undo: Undo,
    /// The rule or command that wants it.
    pub because: String,
}

/// One record: a step of one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawEntry")]
pub struct Entry {
    /// The change's number: all its steps have it.
    pub change: u64,
    /// Nanoseconds since 1970, by a clock that may never have been set.
    pub wall_ns: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: String,
    /// The step.
    #[serde(flatten)]
    pub phase: Phase,
}

/// The steps of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "phase", rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a journal has few entries, and a third of them is this variant"
)]
pub enum Phase {
    /// About to be made.
    Intended {
        /// The setting.
        key: Key,
        /// What was read before, byte for byte.
        old: String,
        /// What is written.
        new: String,
        /// How it is undone.
        undo: Undo,
        /// The rule or command that wants it.
        because: String,
        /// The process that makes it.
        owner: Owner,
    },
    /// Made, and read back.
    Applied {
        /// What was read: a driver rounds, clamps or ignores.
        effective: String,
    },
    /// Undone.
    Restored,
    /// The user wants it to stay.
    Kept,
    /// The machine was booted since, and the setting is one that a boot resets.
    Vanished,
    /// The user wants it off the list: nothing was undone.
    Forgotten,
}
