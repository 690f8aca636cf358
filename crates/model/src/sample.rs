// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line of `samples.jsonl`: the counters of one source as the kernel reports them, by the kernel's names.
//! A missing counter is absent, never 0.

mod values;

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

use crate::output::Role;
pub use values::Values;

/// One reading of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Sample {
    /// The end where it was read.
    pub host: Role,
    /// `CLOCK_MONOTONIC` of that end, nanoseconds; not comparable between hosts.
    pub t_ns: u64,
    /// Wall clock of that end, nanoseconds since 1970; `null` if not read.
    pub wall_ns: Option<i64>,
    /// Where it was read: `/proc/net/snmp`, `rtnl_link_stats64`, `ethtool -S` …
    pub source: String,
    /// The interface; `null` for counters of the whole host.
    pub interface: Option<String>,
    /// The `group` of its test; `null` if it belongs to none.
    pub group: Option<String>,
    /// Whether the test's load was on; `null` if it belongs to no test.
    pub phase: Option<Phase>,
    /// Values by the kernel's names.
    pub counters: Values,
}

/// The part of a test in which a sample was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the load: background activity of the host.
    Idle,
    /// From before the first packet to after the last.
    Load,
}

impl Sample {
    /// Whether both are of the same source, so that one can be subtracted from the other.
    #[must_use]
    pub fn same_source(&self, other: &Self) -> bool {
        (self.host, &self.source, &self.interface) == (other.host, &other.source, &other.interface)
    }

    /// Takes over the names of the last of `earlier` that is of the same source.
    pub fn share_names(&mut self, earlier: &[Self]) {
        let recent = earlier.iter().rev().take(RECENT);
        let mut same = recent.filter(|other| self.same_source(other));
        if let Some(other) = same.next() {
            self.counters.share_names(&other.counters);
        }
    }
}

/// More than two hosts have sources.
const RECENT: usize = 256;

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
