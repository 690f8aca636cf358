// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated records: an interface of some driver whose counters do what is asked of them.

use std::collections::BTreeMap;

use linerate_knowledge::{self as knowledge, Counter, Counts, Driver, Group, Pattern, Width};
use linerate_model::output::{Host, Interface, LinkKind, Protocol, Role, Test};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;
use proptest::prelude::*;

/// More than any counter shows: the settlement of the ledger takes nothing away.
pub(crate) const LOST: u64 = 1 << 40;
const SECOND: u64 = 1_000_000_000;
const LOAD_S: u64 = 4;

/// How the driver of the interface is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// By the host's own description, or by `ethtool -i` in a text.
    Named,
    /// By the names that `ethtool -S` shows.
    Recognised,
}

/// How the counters were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every second of the load of this many tests of one group.
    Measured { tests: usize },
    /// As measured, after an idle second of the same group.
    MeasuredAfterIdle { tests: usize },
    /// As measured, after an idle second of another group.
    MeasuredAfterIdleElsewhere { tests: usize },
    /// Once, in a text.
    PastedOnce,
    /// Before and after the test, in a text.
    PastedTwice,
}

/// What one counter does: it begins at `start` and grows each second.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    source: &'static str,
    name: String,
    width: Width,
    start: u64,
    per_second: u64,
    /// Whether it starts again from 0 in the middle of the load.
    reset: bool,
}

/// One record.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) driver: &'static Driver,
    pub(crate) identity: Identity,
    pub(crate) reading: Reading,
    pub(crate) courses: Vec<Course>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moving = self
            .courses
            .iter()
            .filter(|one| one.per_second > 0 || one.reset);
        f.debug_struct(&self.driver.name)
            .field("identity", &self.identity)
            .field("reading", &self.reading)
            .field("moving", &moving.collect::<Vec<_>>())
            .finish()
    }
}

impl Course {
    fn of(counter: &Counter, name: String) -> Self {
        Self {
            source: source(counter.group),
            name,
            width: counter.width,
            start: 0,
            per_second: 0,
            reset: false,
        }
    }

    fn at(&self, second: u64) -> u64 {
        let value = if self.reset && second > 2 {
            self.per_second * (second - 2)
        } else {
            self.start + self.per_second * second
        };
        let bits = bits(self.width);
        if bits < 64 {
            value % (1 << bits)
        } else {
            value
        }
    }
}

impl Case {
    /// A driver of which only these counters move: name, start and growth in a second.
    pub(crate) fn of(driver: &str, moving: &[(&str, u64, u64)]) -> Self {
        let driver = knowledge::driver(driver).unwrap_or_else(|| panic!("a table of {driver}"));
        let mut courses = courses(driver);
        for course in &mut courses {
            let asked = moving.iter().find(|(name, ..)| *name == course.name);
            if let Some((_, start, per_second)) = asked {
                (course.start, course.per_second) = (*start, *per_second);
            }
        }
        Self {
            driver,
            identity: Identity::Named,
            reading: Reading::Measured { tests: 1 },
            courses,
        }
    }

    /// Whether a counter is one of those that an evidence adds up.
    pub(crate) fn is_of(&self, pattern: &str, name: &str) -> bool {
        Pattern::new(pattern).matches(name)
    }

    pub(crate) fn record(&self) -> Record {
        let tests = match self.reading {
            Reading::Measured { tests }
            | Reading::MeasuredAfterIdle { tests }
            | Reading::MeasuredAfterIdleElsewhere { tests } => tests,
            Reading::PastedOnce | Reading::PastedTwice => 1,
        };
        let run = Run {
            tests: (1..=tests).map(test).collect(),
            hosts: vec![self.host(Role::Local), self.host(Role::Remote)],
            ..Run::default()
        };
        let mut record = Record::of_run(run, self.samples());
        record.pasted = matches!(self.reading, Reading::PastedOnce | Reading::PastedTwice);
        if record.pasted && self.identity == Identity::Named {
            record.run.settings.push(Setting {
                host: Role::Remote,
                source: "ethtool -i".to_owned(),
                interface: Some("eth0".to_owned()),
                values: BTreeMap::from([("driver".to_owned(), self.driver.name.clone())]),
            });
        }
        record
    }

    fn host(&self, role: Role) -> Host {
        let pasted = matches!(self.reading, Reading::PastedOnce | Reading::PastedTwice);
        let named = self.identity == Identity::Named && !pasted;
        Host {
            role,
            agent: !pasted,
            boot_id: Some(format!("{role:?}")),
            arch: Some("x86_64".to_owned()),
            interfaces: vec![Interface {
                name: "eth0".to_owned(),
                driver: named.then(|| self.driver.name.clone()),
                link_bits_per_second: Some(1_000_000_000),
                mtu: Some(1500),
                link_kind: Some(LinkKind::Wire),
            }],
            ..Host::default()
        }
    }

    fn samples(&self) -> Vec<Sample> {
        let load =
            |group: &'static str| (1..=LOAD_S + 1).map(move |s| (s, Some((group, Phase::Load))));
        let idle = |group: &'static str| (0..=1).map(move |s| (s, Some((group, Phase::Idle))));
        let moments: Vec<(u64, Option<(&str, Phase)>)> = match self.reading {
            Reading::Measured { .. } => load("g").collect(),
            Reading::MeasuredAfterIdle { .. } => idle("g").chain(load("g")).collect(),
            Reading::MeasuredAfterIdleElsewhere { .. } => idle("before").chain(load("g")).collect(),
            Reading::PastedOnce => vec![(LOAD_S + 1, None)],
            Reading::PastedTwice => vec![(1, None), (LOAD_S + 1, None)],
        };
        let of_moment = |(second, moment): (u64, Option<(&str, Phase)>)| self.read(second, moment);
        moments.into_iter().flat_map(of_moment).collect()
    }

    fn read(&self, second: u64, moment: Option<(&str, Phase)>) -> Vec<Sample> {
        let mut lists: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
        for course in &self.courses {
            let list = lists.entry(course.source).or_default();
            list.insert(course.name.clone(), course.at(second));
        }
        let sample = |(source, counters): (&str, BTreeMap<String, u64>)| Sample {
            host: Role::Remote,
            t_ns: moment.map_or(0, |_| second * SECOND),
            source: source.to_owned(),
            interface: Some("eth0".to_owned()),
            group: moment.map(|(group, _)| group.to_owned()),
            phase: moment.map(|(_, phase)| phase),
            counters: counters.into(),
            ..Sample::default()
        };
        lists.into_iter().map(sample).collect()
    }
}

fn test(number: usize) -> Test {
    Test {
        id: format!("t{number}"),
        group: "g".to_owned(),
        protocol: Protocol::Udp,
        payload_bytes: 1400,
        duration_s: LOAD_S as f64,
        sent_packets: Some(LOST + 1000),
        received_packets: Some(1000),
        lost_packets: Some(LOST),
        local_interface: Some("eth0".to_owned()),
        remote_interface: Some("eth0".to_owned()),
        link_kind: Some(LinkKind::Wire),
        valid: true,
        ..Test::default()
    }
}

/// Every counter of a table, of two queues where it leaves the number open.
fn courses(driver: &Driver) -> Vec<Course> {
    let counters = driver.counters.iter();
    let all = counters
        .flat_map(|counter| names(&counter.name).map(move |name| Course::of(counter, name)));
    let mut known = Vec::new();
    all.filter(|one| {
        let new = !known.contains(&(one.source, one.name.clone()));
        known.push((one.source, one.name.clone()));
        new
    })
    .collect()
}

fn names(pattern: &Pattern) -> impl Iterator<Item = String> + use<> {
    let text = pattern.text().to_owned();
    let two = ["0", "1"].map(|queue| text.replace('N', queue));
    let exact = pattern.matches(&text);
    let named: Vec<String> = if exact { vec![text] } else { two.to_vec() };
    let matching: Vec<String> = named
        .into_iter()
        .filter(|name| pattern.matches(name))
        .collect();
    matching.into_iter()
}

const fn bits(width: Width) -> u32 {
    match width {
        Width::U16 => 16,
        Width::U32 => 32,
        Width::U64 | Width::Long => 64,
    }
}

const fn source(group: Group) -> &'static str {
    match group {
        Group::Link => "rtnl_link_stats64",
        Group::Ethtool => "ethtool -S",
        Group::Qstats => "qstats",
        Group::EthPhy => "eth-phy",
        Group::EthMac => "eth-mac",
        Group::EthCtrl => "eth-ctrl",
        Group::Rmon => "rmon",
        Group::Pause => "ethtool -I -a",
        Group::Fec => "ethtool -I --show-fec",
    }
}

/// Where a counter begins (below the end of its range, or small), its growth, and whether it is reset.
fn course() -> impl Strategy<Value = (Option<u64>, u64, bool)> {
    let near_the_end = prop_oneof![1 => Just(None), 1 => (1_u64..1 << 14).prop_map(Some)];
    let growth = prop_oneof![2 => Just(0), 1 => 1_u64..6000];
    let reset = prop_oneof![30 => Just(false), 1 => Just(true)];
    (near_the_end, growth, reset)
}

fn reading() -> impl Strategy<Value = Reading> {
    let tests = || 1_usize..4;
    prop_oneof![
        tests().prop_map(|tests| Reading::Measured { tests }),
        tests().prop_map(|tests| Reading::MeasuredAfterIdle { tests }),
        tests().prop_map(|tests| Reading::MeasuredAfterIdleElsewhere { tests }),
        Just(Reading::PastedOnce),
        Just(Reading::PastedTwice),
    ]
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let driver = (0..knowledge::drivers().len()).prop_map(|at| &knowledge::drivers()[at]);
    let identity = prop_oneof![Just(Identity::Named), Just(Identity::Recognised)];
    (
        driver,
        identity,
        reading(),
        proptest::collection::vec(course(), 40),
    )
        .prop_map(|(driver, identity, reading, asked)| {
            let mut courses = courses(driver);
            let drops = |course: &&mut Course| {
                let group = driver
                    .counters
                    .iter()
                    .filter(|one| source(one.group) == course.source);
                let mut of_name = group.filter(|one| one.name.matches(&course.name));
                of_name.any(|one| one.counts == Counts::Drop)
            };
            let moving = courses.iter_mut().filter(drops);
            for (course, (below_the_end, per_second, reset)) in moving.zip(asked.iter().cycle()) {
                let end = 1_u64 << bits(course.width).min(32);
                course.start = below_the_end.map_or(100, |below| end - below);
                course.per_second = *per_second;
                course.reset = *reset;
            }
            Case {
                driver,
                identity,
                reading,
                courses,
            }
        })
}
