// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where facts are looked for: both ends of each test, and every interface of every host outside of
//! any test.

use std::collections::BTreeSet;

use linerate_model::output::{Fact, Role, Test, Value};

use super::{Counted, Meaning, delta};
use crate::facts::{Facts, fact};
use linerate_knowledge::Driver;
use linerate_model::record::{Record, Side};

/// One end of a test, or an interface that belongs to none.
#[derive(Debug, Clone, Copy)]
pub(in crate::facts) struct Place<'r> {
    pub(in crate::facts) record: &'r Record,
    pub(in crate::facts) test: Option<&'r Test>,
    pub(in crate::facts) side: Option<Side>,
    pub(in crate::facts) host: Role,
    pub(in crate::facts) interface: Option<&'r str>,
}

/// Every place of a record.
pub(in crate::facts) fn places(record: &Record) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = record
        .run
        .tests
        .iter()
        .flat_map(|test| ends(record, test))
        .collect();
    places.extend(outside(record));
    places
}

fn ends<'r>(record: &'r Record, test: &'r Test) -> impl Iterator<Item = Place<'r>> {
    [Side::Sender, Side::Receiver]
        .into_iter()
        .map(move |side| Place {
            record,
            test: Some(test),
            side: Some(side),
            host: side.role(test),
            interface: side.interface(test),
        })
}

/// Interfaces of which something is known that belongs to no test; each host also as a whole.
fn outside(record: &Record) -> impl Iterator<Item = Place<'_>> {
    let counted = record
        .samples
        .iter()
        .filter(|sample| sample.group.is_none());
    let counted = counted.map(|sample| (sample.host, sample.interface.as_deref()));
    let set_up = record
        .run
        .settings
        .iter()
        .map(|setting| (setting.host, setting.interface.as_deref()));
    let described = record.run.hosts.iter().flat_map(|host| {
        let names = host
            .interfaces
            .iter()
            .map(|interface| Some(interface.name.as_str()));
        names.map(move |name| (host.role, name))
    });
    let known: Vec<(Role, Option<&str>)> = counted.chain(set_up).chain(described).collect();
    let whole = known.iter().map(|(host, _)| (*host as u8, None));
    let named = known
        .iter()
        .map(|(host, interface)| (*host as u8, *interface));
    let all: BTreeSet<(u8, Option<&str>)> = whole.chain(named).collect();
    let roles = [Role::Local, Role::Remote, Role::Device];
    all.into_iter().filter_map(move |(number, interface)| {
        Some(Place {
            record,
            test: None,
            side: None,
            host: roles.into_iter().find(|role| *role as u8 == number)?,
            interface,
        })
    })
}

impl<'r> Place<'r> {
    /// Whether what holds for the whole host is looked for here: at the ends of tests, and once outside.
    pub(in crate::facts) const fn is_host(&self) -> bool {
        self.test.is_some() || self.interface.is_none()
    }

    /// Growth of a counter of this interface.
    pub(in crate::facts) fn of_interface(&self, source: &str, name: &str) -> Option<Counted> {
        let interface = Some(self.interface?);
        delta(self.record, self.host, source, interface, name, self.test)
    }

    /// Growth of a counter of the whole host.
    pub(in crate::facts) fn of_host(&self, source: &str, name: &str) -> Option<Counted> {
        delta(self.record, self.host, source, None, name, self.test)
    }

    /// What a setting of this interface is, as its tool prints it.
    pub(in crate::facts) fn set_up(&self, source: &str, key: &str) -> Option<&'r str> {
        super::set_up(self.record, self.host, source, Some(self.interface?), key)
    }

    /// What a setting of this host is, as its tool prints it.
    pub(in crate::facts) fn host_set_up(&self, source: &str, key: &str) -> Option<&'r str> {
        super::set_up(self.record, self.host, source, None, key)
    }

    /// Growth of everything that this interface's driver gives that meaning.
    pub(in crate::facts) fn meaning(&self, asked: Meaning) -> Option<Counted> {
        let interface = Some(self.interface?);
        super::meaning(self.record, self.host, interface, self.test, asked)
    }

    /// The table of this interface's driver, if there is one.
    pub(in crate::facts) fn table(&self) -> Option<&'static Driver> {
        super::table(self.record, self.host, Some(self.interface?))
    }

    /// The speed of this interface's link: as the host describes it, else as ethtool prints it.
    pub(in crate::facts) fn link_bits_per_second(&self) -> Option<f64> {
        let name = self.interface?;
        let described = self.record.host(self.host).and_then(|host| {
            let known = host.interfaces.iter().find(|known| known.name == name)?;
            known.link_bits_per_second
        });
        let printed = || {
            let megabits = self.set_up("ethtool", "Speed")?.strip_suffix("Mb/s")?;
            megabits
                .parse::<u64>()
                .ok()
                .map(|megabits| megabits * 1_000_000)
        };
        described.or_else(printed).map(|speed| speed as f64)
    }

    /// Adds a fact of this place.
    pub(in crate::facts) fn add(
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
    pub(in crate::facts) fn add_to_host(
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
    pub(in crate::facts) fn add_counted(
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
    pub(in crate::facts) fn add_counted_to_host(
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
