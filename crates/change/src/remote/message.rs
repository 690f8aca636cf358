// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an agent and the program that steers it say to each other.

use std::io;

use linerate_model::fields::Fields;
use linerate_model::setting::Setting;
use serde::{Deserialize, Serialize};

use crate::apply::Outcome;
use crate::entry::{Change, Key};
use crate::restore::End;

/// Version of these messages.
pub const PROTOCOL: u32 = 1;

/// In [`Hello::capabilities`] of an agent that watches its host while a change is open, and answers [`Ask::Watch`] and
/// [`Ask::Alarm`].
pub(crate) const GUARDS: &str = "guards";

/// A capability: [`Ask::Most`] is answered. An agent that does not announce it would end at that request.
pub(crate) const MOST: &str = "most";

/// The agent's first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// Who it is.
    pub hello: Hello,
}

/// Who an agent is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Hello {
    /// [`PROTOCOL`] of the agent.
    pub protocol: u32,
    /// The program's version.
    pub version: String,
    /// Its host's name.
    pub hostname: String,
    /// The random number of its host's last boot.
    pub boot_id: String,
    /// Its user: `0` is root.
    pub uid: u32,
    /// The interfaces that carry the session in which it was started, each with the reason.
    pub management: Vec<(String, String)>,
    /// How many changes in its journal were left by a process that has ended.
    pub left: usize,
    /// What it can do beyond the requests of the first version.
    pub capabilities: Vec<String>,
}

/// A request with its number.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) id: u64,
    pub(crate) ask: Ask,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// The agent ends when nothing comes for this time.
    Begin {
        /// The time, in milliseconds.
        silence_ms: u64,
    },
    /// Nothing; it has no answer.
    Beat,
    /// The name of a setting.
    Key {
        /// Its knob.
        knob: String,
        /// The interface that it is one of.
        interface: Option<String>,
    },
    /// The value in force.
    Read {
        /// The setting.
        key: Key,
    },
    /// The largest value that is worth trying. Only of an agent with the capability `most`.
    Most {
        /// The setting.
        key: Key,
    },
    /// A change.
    Apply {
        /// The setting, its value, and why.
        change: Change,
        /// It is undone unless it is confirmed within this time, in milliseconds.
        confirm_within_ms: Option<u64>,
    },
    /// A change works.
    Confirm {
        /// Its number.
        change: u64,
    },
    /// A change is to be undone.
    Undo {
        /// Its number.
        change: u64,
    },
    /// A change is to stay.
    Keep {
        /// Its number.
        change: u64,
    },
    /// These interfaces are watched, too, while a change is open.
    Watch {
        /// Their names.
        interfaces: Vec<String>,
    },
    /// Why the agent has undone what was open.
    Alarm,
    /// All settings that can be read.
    Settings,
    /// Whether an interface carries this connection.
    Management {
        /// The interface.
        interface: String,
    },
}

/// An answer with the number of its request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub(crate) id: u64,
    pub(crate) answer: Answer,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// It is so; or the end of several answers.
    Done,
    /// Why not.
    Failed(Refusal),
    Key(Key),
    Value(String),
    /// Nothing where no driver, memory or processor bounds it.
    Most(Option<String>),
    Applied {
        change: u64,
        old: String,
        effective: String,
    },
    InForce,
    Ineffective,
    Unreadable(Refusal),
    Refused(Refusal),
    Half {
        change: u64,
        why: Refusal,
    },
    Undone,
    WasUndone,
    Vanished,
    UnderWay,
    Foreign {
        value: String,
    },
    AfterAnother,
    Elsewhere(String),
    NotUndone(Refusal),
    Differs {
        value: String,
    },
    Setting(Setting),
    /// Why the interface carries the connection; nothing if it does not.
    Management(Option<String>),
    /// Why what was open is undone; nothing if it is not.
    Alarm(Option<String>),
}

/// An error of the far host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// Its kind, where it is one that matters.
    pub(crate) kind: String,
    pub(crate) why: String,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        let known = KINDS.iter().find(|(_, kind)| *kind == error.kind());
        Self {
            kind: known.map_or("", |(name, _)| name).to_owned(),
            why: error.to_string(),
        }
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        let known = KINDS.iter().find(|(name, _)| *name == refusal.kind);
        let kind = known.map_or(io::ErrorKind::Other, |(_, kind)| *kind);
        Self::new(kind, refusal.why)
    }
}

const KINDS: [(&str, io::ErrorKind); 6] = [
    ("permission-denied", io::ErrorKind::PermissionDenied),
    ("not-found", io::ErrorKind::NotFound),
    ("invalid-input", io::ErrorKind::InvalidInput),
    ("unsupported", io::ErrorKind::Unsupported),
    ("read-only-filesystem", io::ErrorKind::ReadOnlyFilesystem),
    ("timed-out", io::ErrorKind::TimedOut),
];

impl Answer {
    pub(crate) fn of_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Applied {
                change,
                old,
                effective,
            } => Self::Applied {
                change,
                old,
                effective,
            },
            Outcome::InForce => Self::InForce,
            Outcome::Ineffective => Self::Ineffective,
            Outcome::Unreadable(why) => Self::Unreadable(why.into()),
            Outcome::Refused(why) => Self::Refused(why.into()),
            Outcome::Half { change, why } => Self::Half {
                change,
                why: why.into(),
            },
        }
    }

    pub(crate) fn outcome(self) -> io::Result<Outcome> {
        Ok(match self {
            Self::Applied {
                change,
                old,
                effective,
            } => Outcome::Applied {
                change,
                old,
                effective,
            },
            Self::InForce => Outcome::InForce,
            Self::Ineffective => Outcome::Ineffective,
            Self::Unreadable(why) => Outcome::Unreadable(why.into()),
            Self::Refused(why) => Outcome::Refused(why.into()),
            Self::Half { change, why } => Outcome::Half {
                change,
                why: why.into(),
            },
            other => return Err(other.unexpected()),
        })
    }

    pub(crate) fn of_end(end: End) -> Self {
        match end {
            End::Undone => Self::Undone,
            End::WasUndone => Self::WasUndone,
            End::Vanished => Self::Vanished,
            End::UnderWay => Self::UnderWay,
            End::Foreign { value } => Self::Foreign { value },
            End::AfterAnother => Self::AfterAnother,
            End::Elsewhere(why) => Self::Elsewhere(why),
            End::Failed(why) => Self::NotUndone(why.into()),
            End::Differs { value } => Self::Differs { value },
        }
    }

    pub(crate) fn end(self) -> io::Result<End> {
        Ok(match self {
            Self::Undone => End::Undone,
            Self::WasUndone => End::WasUndone,
            Self::Vanished => End::Vanished,
            Self::UnderWay => End::UnderWay,
            Self::Foreign { value } => End::Foreign { value },
            Self::AfterAnother => End::AfterAnother,
            Self::Elsewhere(why) => End::Elsewhere(why),
            Self::NotUndone(why) => End::Failed(why.into()),
            Self::Differs { value } => End::Differs { value },
            other => return Err(other.unexpected()),
        })
    }

    /// The error of an answer that is not of the expected kind.
    pub(crate) fn unexpected(self) -> io::Error {
        match self {
            Self::Failed(why) => why.into(),
            _ => io::Error::new(io::ErrorKind::InvalidData, "unexpected answer"),
        }
    }
}
