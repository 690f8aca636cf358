// SPDX-License-Identifier: MIT OR Apache-2.0
//! A setting, a clock or a temperature that was not the same before and after a test.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use super::host::Role;

/// One value that changed: `moved[]` of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Moved {
    /// The end where it was read.
    pub host: Role,
    /// Where a user would read it: `sysctl`, `ethtool -k`, `/proc/irq/24` …
    pub source: String,
    /// The interface; `null` for what belongs to the whole host.
    pub interface: Option<String>,
    /// The source's name of the value.
    pub name: String,
    /// The value before.
    pub before: String,
    /// The value after.
    pub after: String,
    /// The running program that is known to write it; `null` if none is, and in a record, which has no conclusions.
    pub owner: Option<String>,
    /// What it is.
    pub kind: MovedKind,
}

/// What changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MovedKind {
    /// A setting: a program or a person has written it. A comparison repeats the block.
    #[default]
    Setting,
    /// The clock of a processor: its limit, or throttling.
    Clock,
    /// A temperature that crossed a trip point.
    Temperature,
}

impl Moved {
    /// As a person would name it: `net.ipv4.tcp_rmem`, `eth0 ethtool -k rx-gro`, `/proc/irq/24/smp_affinity_list`; at the
    /// other end with `remote` before it.
    #[must_use]
    pub fn title(&self) -> String {
        let what = match self.source.as_str() {
            "sysctl" => self.name.clone(),
            source if source.starts_with('/') => format!("{source}/{}", self.name),
            source => format!("{source} {}", self.name),
        };
        let interface = self.interface.iter();
        let interface: String = interface.map(|name| format!("{name} ")).collect();
        let host = match self.host {
            Role::Local => "",
            Role::Remote => "remote ",
            Role::Device => "device ",
        };
        format!("{host}{interface}{what}")
    }

    /// `net.ipv4.tcp_rmem changed from 4096 to 8192; likely tuned`
    #[must_use]
    pub fn sentence(&self) -> String {
        let owner = match (&self.owner, self.kind) {
            (Some(owner), _) => format!("; likely {owner}"),
            (None, MovedKind::Setting) => "; by an unknown program".to_owned(),
            (None, _) => String::new(),
        };
        let (before, after) = (shown(&self.before), shown(&self.after));
        format!("{} changed from {before} to {after}{owner}", self.title())
    }

    /// As a record has it, without the conclusion.
    #[must_use]
    pub fn as_measured(&self) -> Self {
        Self {
            owner: None,
            ..self.clone()
        }
    }

    /// Whether it is the same value of the same end.
    #[must_use]
    pub fn is_of(&self, host: Role, source: &str, interface: Option<&str>, name: &str) -> bool {
        let own = (self.host, self.source.as_str(), self.interface.as_deref());
        own == (host, source, interface) && self.name == name
    }
}

/// Link modes and tables are long.
fn shown(value: &str) -> String {
    let mut letters = value.chars();
    let start: String = letters.by_ref().take(MOST_LETTERS).collect();
    match letters.next() {
        None => start,
        Some(_) => format!("{start}…"),
    }
}

const MOST_LETTERS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_named_as_its_source_names_it() {
        let of = |source: &str, interface: Option<&str>, name: &str, host| Moved {
            host,
            source: source.to_owned(),
            interface: interface.map(str::to_owned),
            name: name.to_owned(),
            ..Moved::default()
        };
        for (moved, title) in [
            (
                of("sysctl", None, "net.ipv4.tcp_rmem", Role::Remote),
                "remote net.ipv4.tcp_rmem",
            ),
            (
                of("ethtool -k", Some("eth0"), "rx-gro", Role::Local),
                "eth0 ethtool -k rx-gro",
            ),
            (
                of("/proc/irq/24", None, "smp_affinity_list", Role::Local),
                "/proc/irq/24/smp_affinity_list",
            ),
        ] {
            assert_eq!(moved.title(), title);
        }
    }

    #[test]
    fn a_sentence_has_both_values_and_the_owner() {
        let mut moved = Moved {
            source: "sysctl".to_owned(),
            name: "vm.swappiness".to_owned(),
            before: "60".to_owned(),
            after: "1".repeat(200),
            ..Moved::default()
        };
        assert!(moved.sentence().ends_with("; by an unknown program"));
        moved.owner = Some("tuned".to_owned());
        let sentence = moved.sentence();
        assert!(sentence.starts_with("vm.swappiness changed from 60 to 111"));
        assert!(sentence.ends_with("1…; likely tuned") && sentence.len() < 150);
    }
}
