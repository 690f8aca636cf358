// SPDX-License-Identifier: MIT OR Apache-2.0
//! By how much every counter of a record grew. Nothing else in this crate reads a sample.
//!
//! ```text
//! record ──► Evidence ──► Place (host, interface, window) ──► Moved (growth, background)
//!                                       └──► Count (what a driver's table or a field's name makes of it)
//! ```
//!
//! A counter that was not read, or was reset in between, is `None` and never 0.

mod alias;
mod count;
mod driver;
mod field;
mod moved;
mod packets;
mod place;
mod queue;
mod source;
mod window;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;

use linerate_model::output::{MovedCounter, Role, Test, TrialDevice};

use linerate_knowledge::Driver;
use linerate_model::record::Record;

pub use count::Count;
pub use moved::Moved;
pub use packets::moved_counters;
pub use place::Place;
pub(crate) use place::grown;
pub(crate) use queue::{queue_of, receive_queue};
pub use source::{Extent, Source};
pub use window::Window;

/// The samples of a record, indexed, and what is known of how to read them.
#[derive(Debug)]
pub struct Evidence<'r> {
    /// The record.
    pub record: &'r Record,
    index: window::Index<'r>,
    drivers: Map<(Role, &'r str), Option<&'static Driver>>,
    /// The tests that ran at the same time.
    groups: Map<&'r str, Vec<&'r Test>>,
    /// Whether no sample names a test, of which there is one group: all samples are of its window.
    nameless: bool,
    /// Whether any register was read.
    registers: bool,
    /// What a document without samples lists, by group.
    documents: Map<&'r str, Vec<&'r MovedCounter>>,
    /// What the device counted in trials that lost nothing.
    quiet: Vec<&'r TrialDevice>,
}

impl<'r> Evidence<'r> {
    /// Indexes a record.
    #[must_use]
    pub fn of(record: &'r Record) -> Self {
        let index = window::Index::of(record);
        let counted = index
            .keys()
            .filter_map(|((host, _, interface), _)| Some((*host, (*interface)?)));
        let hosts = record.run.hosts.iter();
        let described = hosts.flat_map(|host| {
            host.interfaces
                .iter()
                .map(|one| (host.role, one.name.as_str()))
        });
        let set = record.run.settings.iter();
        let set = set.filter_map(|one| Some((one.host, one.interface.as_deref()?)));
        let all = counted
            .chain(described)
            .chain(set)
            .gather::<std::collections::BTreeSet<_>>();
        let drivers = all
            .into_iter()
            .map(|(host, name)| ((host, name), driver::table(record, host, name)));
        let drivers = drivers.gather();
        let lossless = record
            .trials
            .iter()
            .filter(|trial| trial.valid && trial.directions.iter().all(|way| way.lost_frames == 0));
        let groups = groups(record);
        let named = || record.samples.iter().any(|sample| sample.group.is_some());
        Self {
            record,
            nameless: groups.len() < 2 && !record.samples.is_empty() && !named(),
            groups,
            registers: has_registers(record),
            documents: documents(record),
            drivers,
            quiet: lossless.filter_map(|trial| trial.device.as_ref()).collect(),
            index,
        }
    }

    /// The window of a test.
    #[must_use]
    pub fn window(&self, test: &'r Test) -> Window<'r> {
        match self.nameless {
            true => Window::Outside,
            false => Window::Load(&test.group),
        }
    }

    /// Whether any register was read: few records have one, and its names are many.
    #[must_use]
    pub const fn has_registers(&self) -> bool {
        self.registers
    }

    /// The tests of a group, in their order.
    #[must_use]
    pub fn group(&self, group: &str) -> &[&'r Test] {
        self.groups.get(group).map_or(&[], Vec::as_slice)
    }

    /// A place to read counters at: an interface, or with `None` a whole host.
    #[must_use]
    pub const fn at<'e>(
        &'e self,
        host: Role,
        interface: Option<&'r str>,
        window: Window<'r>,
    ) -> Place<'e, 'r> {
        Place {
            evidence: self,
            host,
            interface,
            window,
        }
    }

    /// The table of an interface's driver, named or recognised.
    #[must_use]
    pub fn driver(&self, host: Role, interface: &str) -> Option<&'static Driver> {
        *self.drivers.get(&(host, interface))?
    }

    /// The name of an interface's driver, as `ethtool -i` or the host's description gives it.
    #[must_use]
    pub fn driver_name(&self, host: Role, interface: &str) -> Option<&'r str> {
        driver::name(self.record, host, interface)
    }

    /// Every host and interface that was read outside of any test.
    pub(crate) fn outside(&self) -> impl Iterator<Item = (Role, Option<&'r str>)> {
        let outside = self.index.keys().filter(|(_, outside)| *outside);
        outside.map(|((host, _, interface), _)| (*host, *interface))
    }
}

fn has_registers(record: &Record) -> bool {
    let samples = record.samples.iter().map(|sample| &sample.source);
    let settings = record.run.settings.iter().map(|setting| &setting.source);
    let counters = record.tests().flat_map(|test| &test.counters);
    let counters = counters.map(|counter| &counter.source);
    let mut all = samples.chain(settings).chain(counters);
    all.any(|source| source == "registers")
}

fn groups(record: &Record) -> Map<&str, Vec<&Test>> {
    let mut groups: Map<&str, Vec<&Test>> = Map::new();
    for test in record.tests() {
        groups.entry(&test.group).or_default().push(test);
    }
    groups
}

fn documents(record: &Record) -> Map<&str, Vec<&MovedCounter>> {
    let mut documents: Map<&str, Vec<&MovedCounter>> = Map::new();
    for test in record.tests().filter(|_| record.samples.is_empty()) {
        documents
            .entry(&test.group)
            .or_default()
            .extend(&test.counters);
    }
    documents
}

#[cfg(test)]
mod tests;
