// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where facts are looked for: both ends of each test, and every interface of every host outside of
//! any test.

mod meaning;
mod profile;
mod set_up;

use std::collections::BTreeSet;

use linerate_model::order::Gather as _;
use linerate_model::output::{Fact, Interface, Role, Test};

use crate::evidence::{Evidence, Extent, Moved, Place, Source, Window};
use crate::facts::{Facts, MaybeValue, fact};
use linerate_knowledge::{Driver, Group};
use linerate_model::record::{Record, Side};

pub(super) use meaning::Meaning;
pub(super) use profile::profiled;
use set_up::number;
pub(crate) use set_up::set_up;

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

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            since_boot: self.since_boot || other.since_boot,
            source: format!("{}, {}", self.source, other.source),
        }
    }
}

/// Every vantage of a record.
pub(super) fn vantages<'r>(evidence: &'r Evidence<'r>) -> Vec<Vantage<'r>> {
    let tests = evidence.record.tests();
    let ends = tests.flat_map(|test| {
        let sides = [Side::Sender, Side::Receiver];
        sides.map(|side| Vantage::end(evidence, test, side))
    });
    ends.chain(outside(evidence)).collect()
}

/// Interfaces of which something is known that belongs to no test; each host also as a whole.
fn outside<'r>(evidence: &'r Evidence<'r>) -> impl Iterator<Item = Vantage<'r>> {
    let run = &evidence.record.run;
    let set_up = run.settings.iter();
    let set_up = set_up.map(|setting| (setting.host, setting.interface.as_deref()));
    let described = run.hosts.iter().flat_map(|host| {
        let names = host.interfaces.iter();
        names.map(move |interface| (host.role, Some(interface.name.as_str())))
    });
    let known = evidence.outside().chain(set_up).chain(described);
    let all: BTreeSet<_> = known
        .flat_map(|(host, interface)| [(host, None), (host, interface)])
        .gather();
    all.into_iter()
        .map(|(host, interface)| Vantage::outside(evidence, host, interface))
}

impl<'r> Vantage<'r> {
    const fn outside(evidence: &'r Evidence<'r>, host: Role, interface: Option<&'r str>) -> Self {
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

    /// This host as a whole.
    pub(super) const fn as_host(self) -> Self {
        Self {
            interface: None,
            ..self
        }
    }

    /// Outside of any test.
    pub(super) const fn without_test(self) -> Self {
        Self { test: None, ..self }
    }

    /// A host as a whole, outside of any test.
    pub(super) const fn is_host_alone(&self) -> bool {
        self.test.is_none() && self.interface.is_none()
    }

    /// An interface, outside of any test.
    pub(super) const fn is_interface_alone(&self) -> bool {
        self.test.is_none() && self.interface.is_some()
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

    /// Growth of a field of this interface's link, unless its driver never fills that.
    pub(super) fn of_link(&self, field: &str) -> Option<Counted> {
        let mut table = self.table().into_iter();
        let blind = table.any(|table| table.is_blind(Group::Link, field));
        let counted = self.of_interface(Source::Link, field);
        counted.filter(|_| !blind)
    }

    /// Growth of a counter of the whole host.
    pub(super) fn of_host(&self, source: impl AsRef<str>, name: &str) -> Option<Counted> {
        counted(&self.host_counters(), source.as_ref(), name)
    }

    /// Growth of counters of the whole host together, as far as they were read.
    pub(super) fn sum_of_host<S: AsRef<str>>(
        &self,
        counters: impl IntoIterator<Item = (S, &'static str)>,
    ) -> Option<Counted> {
        let counters = counters.into_iter();
        let counted = counters.filter_map(|(source, name)| self.of_host(source, name));
        counted.reduce(Counted::plus)
    }

    /// What a setting of this interface is, as its tool prints it.
    pub(super) fn set_up(&self, source: &str, key: &str) -> Option<&'r str> {
        set_up(self.record, self.host, source, Some(self.interface?), key)
    }

    /// A setting of this interface, or without one of this host, that is a number.
    pub(super) fn number(&self, source: &str, key: &str) -> Option<u64> {
        number(set_up(self.record, self.host, source, self.interface, key)?)
    }

    /// What a setting of this host is, as its tool prints it.
    pub(super) fn host_set_up(&self, source: &str, key: &str) -> Option<&'r str> {
        set_up(self.record, self.host, source, None, key)
    }

    /// A setting of this host that is a number.
    pub(super) fn host_number(&self, source: &str, key: &str) -> Option<u64> {
        number(self.host_set_up(source, key)?)
    }

    /// Everything that a source says of this host and its interfaces.
    pub(super) fn values(&self, source: &str) -> impl Iterator<Item = (&'r str, &'r str)> {
        let settings = self.record.run.settings.iter();
        let of_source = settings.filter(move |one| one.host == self.host && one.source == source);
        of_source
            .flat_map(|setting| &setting.values)
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Everything that a source says of this interface.
    pub(super) fn own_values(&self, source: &str) -> impl Iterator<Item = (&'r str, &'r str)> {
        let settings = self.record.run.settings.iter();
        let own = settings.filter(move |one| {
            let is_own = one.interface.is_some() && one.interface.as_deref() == self.interface;
            is_own && one.host == self.host && one.source == source
        });
        own.flat_map(|setting| &setting.values)
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// How many lines of the kernel's log say something; `None` without a log.
    pub(super) fn logged(&self, says: impl Fn(&str) -> bool) -> Option<usize> {
        let mut lines = self.values("dmesg").peekable();
        lines.peek()?;
        Some(lines.filter(|(_, line)| says(line)).count())
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
            .described()
            .and_then(|known| known.link_bits_per_second);
        let printed = || {
            let megabits = self.set_up("ethtool", "Speed")?.strip_suffix("Mb/s")?;
            Some(megabits.parse::<u64>().ok()? * 1_000_000)
        };
        described.or_else(printed).map(|speed| speed as f64)
    }

    /// This interface as its host describes it.
    pub(super) fn described(&self) -> Option<&'r Interface> {
        self.counters().described()
    }

    /// Adds a fact of this vantage, if its value is known.
    pub(super) fn add(&self, facts: &mut Facts, name: &str, value: impl MaybeValue, source: &str) {
        if let Some(fact) = fact(name, value, source) {
            facts.add(Fact {
                test_id: self.test.map(|test| test.id.clone()),
                host: Some(self.host),
                interface: self.interface.map(str::to_owned),
                ..fact
            });
        }
    }

    /// Adds what was counted, if anything was.
    pub(super) fn add_counted(&self, facts: &mut Facts, name: &str, counted: Option<Counted>) {
        if let Some(counted) = counted {
            self.add(facts, name, counted.value as f64, &counted.source);
        }
    }

    /// Adds how often a second something was counted, if it was read twice.
    pub(super) fn add_rate(&self, facts: &mut Facts, name: &str, source: Source, counter: &str) {
        let counters = match source.extent() {
            Extent::Interface => self.counters(),
            Extent::Namespace | Extent::Machine => self.host_counters(),
        };
        let counted = counted(&counters, source.text(), counter);
        if let Some((counted, span)) = counted.zip(counters.span_s(source)) {
            self.add(facts, name, counted.value as f64 / span, &counted.source);
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
