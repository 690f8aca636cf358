// SPDX-License-Identifier: MIT OR Apache-2.0
//! One driver's table, as the ledger asks it.

use linerate_wire::netlink::link::STATS;

use super::{Counts, Group, Pattern, Reset, Source, Stage, Unit, Width};

/// What one network driver counts.
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
    /// Counters that exist and never count: a zero in one is no evidence of anything.
    pub blind: Vec<(Group, Pattern)>,
}

/// What one counter, or one per queue, counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The list that it stands in.
    pub group: Group,
    /// Its name there.
    pub name: Pattern,
    /// Where the packet is.
    pub stage: Stage,
    /// What one more says.
    pub counts: Counts,
    /// What it counts in.
    pub unit: Unit,
    /// Where it wraps.
    pub width: Width,
    /// What sets it back; none if the table does not say.
    pub reset: Option<Reset>,
    /// How old a value may be, in milliseconds; none if it is read when it is asked for.
    pub refresh_ms: Option<u32>,
    /// Whether other functions or ports of the device count into it too.
    pub shared: bool,
    /// The sets of counters that one packet shows in. The queues of one name are summed first;
    /// then two counters that share a set are never added. A counter in several contains them all.
    pub alias: Vec<String>,
    /// What it counts, in words.
    pub means: Option<String>,
    /// Who says so; at least one.
    pub sources: Vec<Source>,
}

/// What a driver makes of one field of `rtnl_link_stats64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'d> {
    /// It fills it.
    Filled(&'d Counter),
    /// It never does. `rx_dropped` and `tx_dropped` may still show the core's own drops.
    Blind,
    /// The table does not say.
    Unknown,
}

impl Driver {
    /// Whether this is the driver that the kernel calls `name`.
    #[must_use]
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.also.iter().any(|a| a == name)
    }

    /// What the counter `name` of a list counts; none where the table does not say.
    #[must_use]
    pub fn counter(&self, group: Group, name: &str) -> Option<&Counter> {
        self.counters
            .iter()
            .find(|c| c.group == group && c.name.matches(name))
    }

    /// Whether a zero in this counter says nothing, because the driver never fills it.
    #[must_use]
    pub fn is_blind(&self, group: Group, name: &str) -> bool {
        self.blind
            .iter()
            .any(|(g, p)| *g == group && p.matches(name))
    }

    /// What this driver makes of a field of `rtnl_link_stats64`.
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
