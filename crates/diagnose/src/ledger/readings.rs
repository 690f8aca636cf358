// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each counter did while a test's load was on, and what it does by itself.

use std::collections::BTreeMap;

use linerate_model::counters::{Growth, Width, growth};
use linerate_model::output::{Role, Test};
use linerate_model::sample::{Phase, Sample};

use super::span::Span;
use linerate_model::record::Record;

/// The samples of one test's group, by source.
#[derive(Debug, Default)]
pub(super) struct Readings<'r> {
    series: BTreeMap<(u8, &'r str, Option<&'r str>), Series<'r>>,
    /// A pasted text often shows a counter once: all that it counted since the host started.
    since_start: bool,
}

#[derive(Debug, Default)]
struct Series<'r> {
    idle: Vec<&'r Sample>,
    /// Of another group: some commands are idle once for all of their tests.
    idle_elsewhere: Vec<&'r Sample>,
    load: Vec<&'r Sample>,
}

/// One list of counters of one host, and how its counters behave.
#[derive(Debug, Clone, Copy)]
pub(super) struct List<'a> {
    pub(super) role: Role,
    pub(super) source: &'a str,
    pub(super) interface: Option<&'a str>,
    pub(super) width: Width,
    pub(super) most_per_second: f64,
}

/// What a counter did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    /// During the load.
    pub(super) grew: Growth,
    /// Of that, what it would have done without the test. `None`: there was no idle interval.
    pub(super) background: Option<u64>,
}

impl Series<'_> {
    /// The test's own idle interval lasts until its load begins.
    fn idle(&self, name: &str) -> Vec<(u64, u64)> {
        if self.idle.is_empty() {
            values(self.idle_elsewhere.iter(), name)
        } else {
            values(self.idle.iter().chain(self.load.first()), name)
        }
    }
}

impl Moved {
    /// How many of `lost` packets it stands for.
    pub(super) fn seen(self, lost: u64) -> Span {
        let Growth { at_least, turn } = self.grew;
        let lo = self
            .background
            .map_or(0, |background| at_least.saturating_sub(background));
        let reach = lost.saturating_add(self.background.unwrap_or(lost));
        let unseen = turn.is_some_and(|turn| at_least.saturating_add(turn) <= reach);
        let hi = if unseen { at_least.max(lost) } else { at_least };
        Span::new(lo, hi)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            grew: Growth {
                at_least: self.grew.at_least.saturating_add(other.grew.at_least),
                turn: self.grew.turn.or(other.grew.turn),
            },
            background: self
                .background
                .zip(other.background)
                .map(|(one, other)| one.saturating_add(other)),
        }
    }

    /// What is left of a counter that contains `part`.
    pub(super) fn without(self, part: Self) -> Self {
        Self {
            grew: Growth {
                at_least: self.grew.at_least.saturating_sub(part.grew.at_least),
                turn: self.grew.turn.or(part.grew.turn),
            },
            background: self
                .background
                .zip(part.background)
                .map(|(all, part)| all.saturating_sub(part)),
        }
    }

    /// A counter that stood still, and always would have.
    pub(super) fn nothing() -> Self {
        Self {
            background: Some(0),
            ..Self::default()
        }
    }

    /// Others may have moved it as well, by any number.
    pub(super) const fn of_others_too(mut self) -> Self {
        self.background = None;
        self
    }

    /// At most so many of it.
    pub(super) fn capped(mut self, most: u64) -> Self {
        self.grew.at_least = self.grew.at_least.min(most);
        self.background = self.background.map(|own| own.min(most));
        self
    }

    /// Without so many that are no loss.
    pub(super) fn less(self, known: u64) -> Self {
        let part = Self {
            grew: Growth {
                at_least: known,
                turn: None,
            },
            background: Some(0),
        };
        self.without(part)
    }

    /// With so many that are known to be something else, perhaps.
    pub(super) fn perhaps_without(mut self, other: u64) -> Self {
        self.background = self.background.map(|own| own.saturating_add(other));
        self
    }
}

impl<'r> Readings<'r> {
    /// Of the group of `test`. A record whose samples name no test belongs to its only one.
    pub(super) fn of(record: &'r Record, test: &Test) -> Self {
        let named = record.samples.iter().any(|sample| sample.group.is_some());
        let mut readings = Self {
            since_start: record.pasted,
            ..Self::default()
        };
        for sample in &record.samples {
            let own = !named || sample.group.as_deref() == Some(&test.group);
            let key = (
                sample.host as u8,
                sample.source.as_str(),
                sample.interface.as_deref(),
            );
            let series = readings.series.entry(key).or_default();
            match sample.phase {
                Some(Phase::Idle) if own => series.idle.push(sample),
                Some(Phase::Idle) => series.idle_elsewhere.push(sample),
                Some(Phase::Load) | None if own => series.load.push(sample),
                Some(Phase::Load) | None => {}
            }
        }
        if !named && one_group(record) != Some(&test.group) {
            readings.series.clear();
        }
        readings
    }

    /// The names that a list had when it was read last.
    pub(super) fn names(&self, list: List<'_>) -> impl Iterator<Item = &'r str> + use<'r> {
        let last = self.series(list).and_then(|series| series.load.last());
        let names = last.map(|sample| sample.counters.keys().map(String::as_str));
        names.into_iter().flatten()
    }

    /// What the counter `name` did; `None` if it cannot be read or was reset.
    pub(super) fn moved(&self, list: List<'_>, name: &str) -> Option<Moved> {
        let series = self.series(list)?;
        let load = values(series.load.iter(), name);
        if self.since_start && load.len() == 1 {
            return Some(Moved {
                grew: Growth {
                    at_least: load[0].1,
                    turn: list.width.turn().filter(|turn| *turn <= 1 << 16),
                },
                background: None,
            });
        }
        if load.len() < 2 {
            return None;
        }
        let grew = growth(&load, list.width, list.most_per_second)?;
        Some(Moved {
            grew,
            background: background(&series.idle(name), &load, list),
        })
    }

    /// What the counter `name` grew by in the idle interval, as it was counted.
    pub(super) fn idle(&self, list: List<'_>, name: &str) -> Option<u64> {
        let idle = self.series(list)?.idle(name);
        let grew = growth(&idle, list.width, list.most_per_second)?;
        (idle.len() > 1).then_some(grew.at_least)
    }

    fn series(&self, list: List<'_>) -> Option<&Series<'r>> {
        let wanted = (list.role as u8, list.source, list.interface);
        let mut all = self.series.iter();
        all.find(|(key, _)| **key == wanted)
            .map(|(_, series)| series)
    }
}

fn one_group(record: &Record) -> Option<&str> {
    let first = record.run.tests.first()?;
    let same = |test: &Test| test.group == first.group;
    record
        .run
        .tests
        .iter()
        .all(same)
        .then_some(first.group.as_str())
}

fn values<'s, 'r: 's>(
    samples: impl Iterator<Item = &'s &'r Sample>,
    name: &str,
) -> Vec<(u64, u64)> {
    samples
        .filter_map(|sample| Some((sample.t_ns, *sample.counters.get(name)?)))
        .collect()
}

/// What the idle interval counted, in proportion to the length of the load.
fn background(idle: &[(u64, u64)], load: &[(u64, u64)], list: List<'_>) -> Option<u64> {
    let length = |readings: &[(u64, u64)]| {
        let (first, last) = (readings.first()?, readings.last()?);
        last.0.checked_sub(first.0).filter(|length| *length > 0)
    };
    let (idle_ns, load_ns) = (length(idle)?, length(load)?);
    let grew = growth(idle, list.width, list.most_per_second)?;
    let scaled = u128::from(grew.at_least) * u128::from(load_ns);
    u64::try_from(scaled.div_ceil(u128::from(idle_ns))).ok()
}
