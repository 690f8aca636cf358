// SPDX-License-Identifier: MIT OR Apache-2.0
//! A driver's table.

use linerate_wire::netlink::link::STATS;

use super::{Counts, Group, Pattern, Reset, Source, Stage, Unit, Width};

/// The counters of a network driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// The table's name: that of its file.
    pub name: String,
    /// Further names under which `ethtool -i` or sysfs shows this driver.
    pub also: Vec<String>,
    /// The hardware, in a line.
    pub hardware: String,
    /// The kernel whose files the sources cite, such as `6.12.117`.
    pub kernel: String,
    /// Every counter that the table describes, in its order.
    pub counters: Vec<Counter>,
    /// Counters that never increase: a zero in one is not evidence.
    pub blind: Vec<(Group, Pattern)>,
}

/// A counter, or one per queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The list that has it.
    pub group: Group,
    /// Its name there.
    pub name: Pattern,
    /// The stage.
    pub stage: Stage,
    /// What an increment means.
    pub counts: Counts,
    /// The unit.
    pub unit: Unit,
    /// The width.
    pub width: Width,
    /// What resets it, if known.
    pub reset: Option<Reset>,
    /// Maximum age of a value, milliseconds; none if it is always current.
    pub refresh_ms: Option<u32>,
    /// Whether it also counts other functions or ports of the device.
    pub shared: bool,
    /// The sets of counters that one packet shows in. The queues of one name are summed first;
    /// then two counters that share a set are never added. A counter in several contains them all.
    pub alias: Vec<String>,
    /// A description.
    pub means: Option<String>,
    /// The sources; at least one.
    pub sources: Vec<Source>,
}

/// How a driver treats a field of `rtnl_link_stats64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'d> {
    /// Filled.
    Filled(&'d Counter),
    /// Never filled. `rx_dropped` and `tx_dropped` may still show drops of the core.
    Blind,
    /// Not in the table.
    Unknown,
}

impl Driver {
    /// Whether the kernel calls this driver `name`.
    #[must_use]
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.also.iter().any(|a| a == name)
    }

    /// Returns the counter `name` of a list, if the table has it.
    #[must_use]
    pub fn counter(&self, group: Group, name: &str) -> Option<&Counter> {
        self.counters
            .iter()
            .find(|c| c.group == group && c.name.matches(name))
    }

    /// Whether the driver never fills this counter, so that a zero is not evidence.
    #[must_use]
    pub fn is_blind(&self, group: Group, name: &str) -> bool {
        self.blind
            .iter()
            .any(|(g, p)| *g == group && p.matches(name))
    }

    /// Returns how this driver treats a field of `rtnl_link_stats64`.
    #[must_use]
    pub fn link_field(&self, field: &str) -> Field<'_> {
        match self.counter(Group::Link, field) {
            Some(counter) => Field::Filled(counter),
            None if self.is_blind(Group::Link, field) => Field::Blind,
            None => Field::Unknown,
        }
    }
}

/// The fields of `rtnl_link_stats64` that a driver may fill, as the kernel names them
/// (include/uapi/linux/if_link.h). Left out: `rx_nohandler` and `rx_otherhost_dropped`, which
/// the core alone counts, the last two.
pub(super) const LINK_FIELDS: &[&str] = STATS.split_at(STATS.len() - 2).0;
