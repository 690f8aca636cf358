// SPDX-License-Identifier: MIT OR Apache-2.0
//! The intervals in which counters are read, and the samples of one list in each of them.

use std::collections::BTreeMap;

use linerate_model::map::Map;
use linerate_model::output::{Role, TrialDevice};
use linerate_model::sample::{Phase, Sample};

use linerate_model::record::Record;

/// An interval.
#[derive(Debug, Clone, Copy)]
pub enum Window<'r> {
    /// The load of the tests of this group.
    Load(&'r str),
    /// Outside of any test: from the first to the last reading of a text. One reading counts since the host started.
    Outside,
    /// From before to after the traffic of a trial, of which only the growth is kept.
    Trial(&'r TrialDevice),
}

/// Host, source, interface.
type Key<'r> = (Role, &'r str, Option<&'r str>);

/// All samples of a record, by what they are of.
#[derive(Debug, Default)]
pub(super) struct Index<'r> {
    lists: Map<Key<'r>, List<'r>>,
}

/// The samples of one source at one place.
#[derive(Debug, Default)]
pub(super) struct List<'r> {
    groups: Map<Option<&'r str>, Group<'r>>,
    /// The groups with an idle interval, by where they begin.
    idle: BTreeMap<usize, &'r str>,
}

/// Those of one group, in the order of reading.
#[derive(Debug, Default)]
struct Group<'r> {
    /// Where its first one stands in the record.
    begins: usize,
    idle: Vec<&'r Sample>,
    load: Vec<&'r Sample>,
}

impl<'r> Index<'r> {
    pub(super) fn of(record: &'r Record) -> Self {
        let mut index = Self::default();
        for (at, sample) in record.samples.iter().enumerate() {
            let key = (
                sample.host,
                sample.source.as_str(),
                sample.interface.as_deref(),
            );
            let list = index.lists.entry(key).or_default();
            let group = list
                .groups
                .entry(sample.group.as_deref())
                .or_insert_with(|| Group {
                    begins: at,
                    ..Group::default()
                });
            match (sample.phase, sample.group.as_deref()) {
                (Some(Phase::Idle), Some(name)) => {
                    group.idle.push(sample);
                    list.idle.insert(group.begins, name);
                }
                _ => group.load.push(sample),
            }
        }
        index
    }

    pub(super) fn list<'k>(&'k self, key: Key<'k>) -> Option<&'k List<'r>> {
        self.lists.get(&key)
    }

    /// Every place and source that was read outside of any test, or at all.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&Key<'r>, bool)> {
        let outside = |list: &List<'_>| list.groups.contains_key(&None);
        self.lists
            .iter()
            .map(move |(key, list)| (key, outside(list)))
    }
}

impl<'r> List<'r> {
    /// The samples of a window's load.
    pub(super) fn load<'k>(&'k self, window: Window<'k>) -> &'k [&'r Sample] {
        self.group(window).map_or(&[], |group| &group.load)
    }

    /// The samples of the idle interval before a load: the test's own, which lasts until the load begins, else the last
    /// one that was recorded before (some commands are idle once for all of their tests).
    pub(super) fn idle(&self, window: Window<'_>) -> Vec<&'r Sample> {
        let own = self.group(window);
        match own {
            Some(own) if !own.idle.is_empty() => {
                own.idle.iter().chain(own.load.first()).copied().collect()
            }
            _ => self.idle_before(own.map_or(usize::MAX, |own| own.begins)),
        }
    }

    fn idle_before(&self, begins: usize) -> Vec<&'r Sample> {
        let last = self.idle.range(..begins).next_back();
        let group = last.and_then(|(_, name)| self.groups.get(&Some(*name)));
        group.map(|group| group.idle.clone()).unwrap_or_default()
    }

    fn group<'k>(&'k self, window: Window<'k>) -> Option<&'k Group<'r>> {
        match window {
            Window::Load(group) => self.groups.get(&Some(group)),
            Window::Outside => self.groups.get(&None),
            Window::Trial(_) => None,
        }
    }
}
