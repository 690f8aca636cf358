// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where facts are looked for: both ends of each test, and every interface of every host outside of
//! any test.

mod meaning;
mod profile;
mod set_up;

use std::collections::BTreeSet;

use linerate_model::output::{Fact, Role, Test, Value};

use crate::evidence::{Evidence, Moved, Place, Window};
use crate::facts::{Facts, fact};
use linerate_knowledge::Driver;
use linerate_model::record::{Record, Side};

pub(super) use meaning::Meaning;
pub(super) use profile::profiled;
pub(super) use set_up::{set_up, set_up_number};

/// One end of a test, or an interface outside of any test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vantage<'r> {
    pub(super) evidence: &'r Evidence<'r>,
    pub(super) record: &'r Record,
    pub(super) test: Option<&'r Test>,
    pub(super) side: Option<Side>,
    pub(super) host: Role,
    pub(super) interface: Option<&'r str>,
}

/// A growth and where it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counted {
    /// By how much it grew, at least.
    pub(super) value: u64,
    /// Whether it grew so since the machine started: there was only one reading.
    pub(super) since_boot: bool,
    /// The source and the counter's name, for a reader.
    pub(super) source: String,
}

impl Counted {
    /// A register of 16 bits that may have wrapped unseen is only a lower bound.
    fn of(moved: Moved, source: String) -> Self {
        let wraps = moved.grew.at_least > 0 && moved.grew.turn == Some(1 << 16);
        Self {
            value: moved.grew.at_least,
            since_boot: moved.since_boot,
            source: if wraps {
                format!("{source} (16 bits: at least)")
            } else {
                source
            },
        }
    }
}

/// Every vantage of a record.
pub(super) fn vantages<'r>(evidence: &'r Evidence<'r>) -> Vec<Vantage<'r>> {
    let tests = evidence.record.run.tests.iter();
    let ends = tests.flat_map(|test| {
        let sides = [Side::Sender, Side::Receiver];
        sides.map(|side| Vantage::end(evidence, test, side))
    });
    ends.chain(outside(evidence)).collect()
}

/// Interfaces of which something is known that belongs to no test; each host also as a whole.
fn outside<'r>(evidence: &'r Evidence<'r>) -> impl Iterator<Item = Vantage<'r>> {
    let run = &evidence.record.run;
    let set_up = run
        .settings
        .iter()
        .map(|setting| (setting.host, setting.interface.as_deref()));
    let described = run.hosts.iter().flat_map(|host| {
        let names = host.interfaces.iter();
        names.map(move |interface| (host.role, Some(interface.name.as_str())))
    });
    let known = evidence.outside().chain(set_up).chain(described);
    let all: BTreeSet<_> = known
        .flat_map(|(host, interface)| [(host, None), (host, interface)])
        .collect();
    all.into_iter()
        .map(|(host, interface)| Vantage::outside(evidence, host, interface))
}

impl<'r> Vantage<'r> {
    pub(super) const fn outside(
        evidence: &'r Evidence<'r>,
        host: Role,
        interface: Option<&'r str>,
    ) -> Self {
        Self {
            evidence,
            record: evidence.record,
            test: None,
            side: None,
            host,
            interface,
        }
    }

    /// One end of a test.
    pub(super) fn end(evidence: &'r Evidence<'r>, test: &'r Test, side: Side) -> Self {
        Self {
            test: Some(test),
            side: Some(side),
            ..Self::outside(evidence, side.role(test), side.interface(test))
        }
    }

    /// Whether what holds for the whole host is looked for here: at the ends of tests, and once outside.
    pub(super) const fn is_host(&self) -> bool {
        self.test.is_some() || self.interface.is_none()
    }

    /// The counters of this interface.
    pub(super) fn counters(&self) -> Place<'r, 'r> {
        let window = self
            .test
            .map_or(Window::Outside, |test| Window::Load(&test.group));
        self.evidence.at(self.host, self.interface, window)
    }

    /// The counters of the whole host.
    pub(super) fn host_counters(&self) -> Place<'r, 'r> {
        self.counters().whole_host()
    }

    /// Growth of a counter of this interface.
    pub(super) fn of_interface(&self, source: impl AsRef<str>, name: &str) -> Option<Counted> {
        self.interface?;
        counted(&self.counters(), source.as_ref(), name)
    }

    /// Growth of a counter of the whole host.
    pub(super) fn of_host(&self, source: impl AsRef<str>, name: &str) -> Option<Counted> {
        counted(&self.host_counters(), source.as_ref(), name)
    }

    /// What a setting of this interface is, as its tool prints it.
    pub(super) fn set_up(&self, source: &str, key: &str) -> Option<&'r str> {
        set_up(self.record, self.host, source, Some(self.interface?), key)
    }

    /// What a setting of this host is, as its tool prints it.
    pub(super) fn host_set_up(&self, source: &str, key: &str) -> Option<&'r str> {
        set_up(self.record, self.host, source, None, key)
    }

    /// The name of this interface's driver.
    pub(super) fn driver_name(&self) -> Option<&'r str> {
        self.evidence.driver_name(self.host, self.interface?)
    }

    /// The table of this interface's driver.
    pub(super) fn table(&self) -> Option<&'static Driver> {
        self.counters().driver()
    }

    /// The speed of this interface's link: as the host describes it, else as ethtool prints it.
    pub(super) fn link_bits_per_second(&self) -> Option<f64> {
        let described = self
            .counters()
            .described()
            .and_then(|known| known.link_bits_per_second);
        let printed = || {
            let megabits = self.set_up("ethtool", "Speed")?.strip_suffix("Mb/s")?;
            megabits
                .parse::<u64>()
                .ok()
                .map(|megabits| megabits * 1_000_000)
        };
        described.or_else(printed).map(|speed| speed as f64)
    }

    /// Adds a fact of this vantage.
    pub(super) fn add(
        &self,
        facts: &mut Facts,
        name: &str,
        value: impl Into<Value>,
        unit: &str,
        source: &str,
    ) {
        facts.add(self.bind(fact(name, value, unit, source)));
    }

    /// Adds a fact of this host, whatever the interface.
    pub(super) fn add_to_host(
        &self,
        facts: &mut Facts,
        name: &str,
        value: impl Into<Value>,
        unit: &str,
        source: &str,
    ) {
        let fact = self.bind(fact(name, value, unit, source));
        facts.add(Fact {
            interface: None,
            ..fact
        });
    }

    /// Adds what was counted at this interface, if anything was.
    pub(super) fn add_counted(
        &self,
        facts: &mut Facts,
        name: &str,
        unit: &str,
        counted: Option<Counted>,
    ) {
        if let Some(counted) = counted {
            self.add(facts, name, counted.value as f64, unit, &counted.source);
        }
    }

    /// Adds what was counted on this host, if anything was.
    pub(super) fn add_counted_to_host(
        &self,
        facts: &mut Facts,
        name: &str,
        unit: &str,
        counted: Option<Counted>,
    ) {
        if let Some(counted) = counted {
            self.add_to_host(facts, name, counted.value as f64, unit, &counted.source);
        }
    }

    fn bind(&self, fact: Fact) -> Fact {
        Fact {
            test_id: self.test.map(|test| test.id.clone()),
            host: Some(self.host),
            interface: self.interface.map(str::to_owned),
            ..fact
        }
    }
}

fn counted(place: &Place<'_, '_>, source: &str, name: &str) -> Option<Counted> {
    Some(Counted::of(
        place.moved(source, name)?,
        format!("{source} {name}"),
    ))
}

#[cfg(test)]
mod tests;
