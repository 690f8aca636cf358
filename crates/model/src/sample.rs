// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of `samples.jsonl`: counters of one source as the kernel gave them. Raw is raw: a
//! missing counter is absent, never 0; names are the kernel's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::output::Role;

/// What one source said at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// On which end it was read.
    pub host: Role,
    /// That end's `CLOCK_MONOTONIC`, nanoseconds. Not comparable between hosts.
    pub t_ns: u64,
    /// That end's wall clock, nanoseconds since 1970; `null` when not read.
    pub wall_ns: Option<i64>,
    /// Where it was read: `/proc/net/snmp`, `rtnl_link_stats64`, `ethtool -S` …
    pub source: String,
    /// Of which interface; `null` for counters of the whole host.
    pub interface: Option<String>,
    /// The `group` of the test that it belongs to; `null` when it belongs to none.
    pub group: Option<String>,
    /// Whether the test's load was on; `null` when it belongs to no test.
    pub phase: Option<Phase>,
    /// The kernel's name of each counter, and its value.
    pub counters: BTreeMap<String, u64>,
}

/// In which part of a test a sample was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the load: what the host does by itself.
    Idle,
    /// From before the first packet to after the last.
    Load,
}

impl Sample {
    /// Whether both are of the same source, so that one may be subtracted from the other.
    #[must_use]
    pub fn same_source(&self, other: &Self) -> bool {
        (self.host, &self.source, &self.interface) == (other.host, &other.source, &other.interface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_a_word_and_an_older_line_has_none() {
        let sample = Sample {
            group: Some("t1".to_owned()),
            phase: Some(Phase::Idle),
            ..Sample::default()
        };
        let line = serde_json::to_value(&sample).unwrap();
        assert_eq!(
            (&line["group"], &line["phase"]),
            (&"t1".into(), &"idle".into())
        );
        let older: Sample = serde_json::from_str(r#"{"source":"/proc/net/snmp"}"#).unwrap();
        assert_eq!((older.group, older.phase), (None, None));
    }
}
