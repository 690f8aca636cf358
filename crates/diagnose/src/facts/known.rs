// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names that rules may use: what each means, its unit, and what to run to know it.

use std::sync::LazyLock;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

/// A name of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// As rules write it.
    pub name: &'static str,
    /// Its unit; empty for words and for yes or no.
    pub unit: &'static str,
    /// What it is, in a sentence: for readers of the source, not in the program.
    #[cfg(test)]
    pub means: &'static str,
    /// The command that tells it, `{interface}` being the interface; empty if only a measurement does.
    pub tells: &'static str,
}

/// A list of names, each with its unit, its meaning and the command that tells it.
macro_rules! names {
    ($($name:literal $unit:literal $means:literal $tells:literal)+) => {
        &[$($crate::facts::Known { name: $name, unit: $unit, #[cfg(test)] means: $means, tells: $tells }),+]
    };
}

/// A stage's two names, each with its unit, where it is and the command that tells it.
macro_rules! lost_at {
    ($($stage:literal $unit:literal $place:literal $tells:literal)+) => {
        &[$(
            $crate::facts::Known { name: concat!("lost_at_", $stage), unit: $unit, #[cfg(test)] means: concat!($place, ", at most"), tells: $tells },
            $crate::facts::Known { name: concat!("least_lost_at_", $stage), unit: $unit, #[cfg(test)] means: concat!($place, ", at least"), tells: $tells },
        )+]
    };
}

pub(super) use {lost_at, names};

/// Every name that there is, family after family.
pub fn catalogue() -> impl Iterator<Item = &'static Known> {
    FAMILIES.iter().copied().flatten()
}

static BY_NAME: LazyLock<Map<&str, &Known>> =
    LazyLock::new(|| catalogue().map(|known| (known.name, known)).gather());

/// The entry of a name, `peer.` or not.
#[must_use]
pub fn known(name: &str) -> Option<&'static Known> {
    let name = name.strip_prefix(super::PEER).unwrap_or(name);
    BY_NAME.get(name).copied()
}

const FAMILIES: &[&[Known]] = &[
    super::attributed::KNOWN,
    super::attributed::STAGES,
    super::measurement::KNOWN,
    super::link::KNOWN,
    super::flow_control::KNOWN,
    super::cpu::KNOWN,
    super::parallel::KNOWN,
    super::socket::KNOWN,
    super::tcp::KNOWN,
    super::packet_rate::KNOWN,
    super::bus::KNOWN,
    super::device::KNOWN,
    super::device::STAGES,
];
