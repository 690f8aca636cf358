// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was said, in order → states → records.

use std::collections::{BTreeMap, BTreeSet};

use linerate_model::output::{Cpu, Host, Interface, Passage, Role, Test, Warning};
use linerate_model::run::{Run, SCHEMA};
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use linerate_wire::text::{Content, IperfEvent, Transfer, bits_per_second};

use super::context::Place;
use super::limits::{PASSAGES_MAX, STATES_MAX, TESTS_MAX};
use super::segment::{Item, Said, Segments};
use super::state::{At, Key, State};
use super::{Pasted, flows};
use crate::record::Record;

/// The records of a text, with what was understood.
pub(super) fn records(segments: &Segments) -> Pasted {
    let mut assembly = Assembly {
        peers: &segments.peers,
        states: Vec::new(),
        current: 0,
        understood: Vec::new(),
        ignored: Vec::new(),
        figures: BTreeSet::new(),
    };
    for item in &segments.items {
        assembly.take(item);
    }
    let mut records: Vec<Record> = assembly.states.into_iter().filter_map(record).collect();
    if number(&mut records) >= TESTS_MAX {
        let last = segments.items.last().map_or(1, |item| item.lines.1);
        let what = format!("tests behind the first {TESTS_MAX}, if there are more");
        assembly.ignored.push(Passage {
            first_line: last,
            last_line: last,
            what,
        });
    }
    Pasted {
        records,
        understood: assembly.understood,
        ignored: assembly.ignored,
    }
}

/// Numbers the tests of all records, at most so many; how many.
fn number(records: &mut [Record]) -> usize {
    let mut count = 0;
    for record in records {
        record.run.tests.truncate(TESTS_MAX - count);
        for test in &mut record.run.tests {
            count += 1;
            test.id = format!("t{count}");
            test.group.clone_from(&test.id);
        }
    }
    count
}

struct Assembly<'a> {
    peers: &'a [(String, String)],
    states: Vec<State>,
    current: usize,
    understood: Vec<Passage>,
    ignored: Vec<Passage>,
    figures: BTreeSet<String>,
}

impl Assembly<'_> {
    fn take(&mut self, item: &Item) {
        match &item.said {
            Said::Content(Content::Transfer(transfer))
                if self.said_before(transfer, &item.place) => {}
            Said::Prose | Said::Heading => {
                if let Some(state) = self.states.get_mut(self.current) {
                    state.between();
                }
            }
            said if self.enter(&item.place, said) => {
                self.put(&item.place, said);
                self.tell(item);
            }
            _ => self.too_many(item),
        }
    }

    /// Whether these very figures stood in the text already: people quote themselves.
    fn said_before(&mut self, transfer: &Transfer, place: &Place) -> bool {
        let figures = format!("{transfer:?} {:?} {:?}", place.title, place.label);
        self.figures.len() < FIGURES_MAX && !self.figures.insert(figures)
    }

    fn too_many(&mut self, item: &Item) {
        let (first_line, last_line) = item.lines;
        match self.ignored.last_mut() {
            Some(passage) => passage.last_line = last_line,
            None => self.ignored.push(Passage {
                first_line,
                last_line,
                what: format!("more than {STATES_MAX} states in one text"),
            }),
        }
    }

    /// Makes the state current to which this belongs; false if there are too many.
    fn enter(&mut self, place: &Place, said: &Said) -> bool {
        let host = place.host.as_deref().unwrap_or_default();
        let fits = |state: &State| {
            state.label.as_deref() == place.label.as_deref() && self.role_in(state, host).is_some()
        };
        let found = self
            .states
            .get(self.current)
            .filter(|state| fits(state))
            .map(|_| self.current)
            .or_else(|| self.states.iter().rposition(fits));
        // Counters marked after belong to those marked before, if they can.
        let at = found.or_else(|| self.counterpart(place, said));
        let pair = self
            .counterpart(place, said)
            .filter(|_| matches!(said, Said::Content(Content::Counters(_))));
        let state = match pair.or(at) {
            Some(at) if !self.opposed(at, place, said) => {
                self.current = at;
                return true;
            }
            Some(at) => self.states[at].later(place.label.as_deref()),
            None => self.fresh(place),
        };
        self.open(state)
    }

    /// A state that does not descend from one of the same host, but may from the unmarked one.
    fn fresh(&self, place: &Place) -> State {
        let host = place.host.as_deref().unwrap_or_default();
        let before = self
            .states
            .iter()
            .rev()
            .find(|state| state.label.is_none() && self.role_in(state, host).is_some());
        before.map_or_else(
            || State::default().later(place.label.as_deref()),
            |state| state.later(place.label.as_deref()),
        )
    }

    fn open(&mut self, state: State) -> bool {
        let room = self.states.len() < STATES_MAX;
        if room {
            self.current = self.states.len();
            self.states.push(state);
        }
        room
    }

    /// The state `before` of what is marked `after`, and the other way round, if counters of both can be one series.
    fn counterpart(&self, place: &Place, said: &Said) -> Option<usize> {
        let Said::Content(Content::Counters(counters)) = said else {
            return None;
        };
        let other = match place.label.as_deref()? {
            "before" => "after",
            "after" => "before",
            _ => return None,
        };
        let host = place.host.as_deref().unwrap_or_default();
        self.states.iter().rposition(|state| {
            let role = self
                .role_in(state, host)
                .filter(|_| state.label.as_deref() == Some(other));
            role.is_some_and(|role| {
                let at = at(role, place);
                state.counters.keys().any(|(host, source, interface)| {
                    (*host, source, interface)
                        == (role as u8, &counters.source, &counters.interface)
                }) && !state.refutes(at, counters)
            })
        })
    }

    fn opposed(&self, state: usize, place: &Place, said: &Said) -> bool {
        let state = &self.states[state];
        let role = self
            .role_in(state, place.host.as_deref().unwrap_or_default())
            .unwrap_or_default();
        let at = at(role, place);
        match said {
            Said::Content(Content::Settings(settings)) => state.contradicts(at, settings),
            Said::Content(Content::Counters(counters)) => state.refutes(at, counters),
            Said::Content(Content::Transfer(transfer)) => state.measured(transfer),
            Said::Requested(rate) => state.swept(*rate),
            _ => false,
        }
    }

    /// The role that a host has in a state: the one that spoke first is this side, its peer the other; `None` if it can be
    /// neither.
    fn role_in(&self, state: &State, host: &str) -> Option<Role> {
        match state.hosts.iter().position(|known| known == host) {
            Some(0) => Some(Role::Local),
            Some(_) => Some(Role::Remote),
            None if host.is_empty() || state.hosts.is_empty() => Some(Role::Local),
            None => (state.hosts.len() == 1 && self.peers(&state.hosts[0], host))
                .then_some(Role::Remote),
        }
    }

    /// Whether two hosts were the two ends of a test.
    fn peers(&self, one: &str, other: &str) -> bool {
        let pair = |(first, second): &(String, String)| {
            (first == one && second == other) || (first == other && second == one)
        };
        self.peers.iter().any(pair)
    }

    fn put(&mut self, place: &Place, said: &Said) {
        let host = place.host.clone().unwrap_or_default();
        let state = &self.states[self.current];
        let role = self.role_in(state, &host).unwrap_or_default();
        let at = at(role, place);
        let state = &mut self.states[self.current];
        state.title = state.title.take().or_else(|| place.title.clone());
        if !host.is_empty() && !state.hosts.contains(&host) && state.hosts.len() < 2 {
            state.hosts.push(host);
        }
        match said {
            Said::Content(Content::Settings(settings)) => state.set(at, settings),
            Said::Content(Content::Counters(counters)) => state.count(at, counters),
            Said::Content(Content::Iperf(event)) => state
                .flows
                .entry(role as u8)
                .or_default()
                .take(event.clone()),
            Said::Content(Content::Transfer(transfer)) => state.transfer(at, transfer),
            Said::Content(Content::Ping(ping)) => state.ping(ping),
            Said::Content(Content::Cpu(share)) => state.share(role, share.clone()),
            Said::Command(command) => state.typed(role, command),
            Said::Requested(rate) => state.requested(role, *rate),
            Said::Heading | Said::Prose => {}
        }
    }

    /// Notes what was understood; lines of one kind that follow each other are one passage.
    fn tell(&mut self, item: &Item) {
        if matches!(item.said, Said::Content(Content::Iperf(IperfEvent::Frame))) {
            return;
        }
        let mut what = item.format.to_owned();
        if let Said::Content(
            Content::Counters(linerate_wire::text::Counters {
                interface: Some(name),
                ..
            })
            | Content::Settings(linerate_wire::text::Settings {
                interface: Some(name),
                ..
            }),
        ) = &item.said
        {
            what.push_str(&format!(" of {name}"));
        }
        for part in [&item.place.host, &item.place.label].into_iter().flatten() {
            what.push_str(&format!(", {part}"));
        }
        let (first_line, last_line) = item.lines;
        let room = self.understood.len() < PASSAGES_MAX;
        match self.understood.last_mut() {
            Some(passage)
                if passage.last_line == last_line
                    && (passage.what.starts_with(item.format) || item.format == "ifconfig") => {}
            Some(passage) if passage.what == what && passage.last_line + 2 >= first_line => {
                passage.last_line = last_line
            }
            _ if room => self.understood.push(Passage {
                first_line,
                last_line,
                what,
            }),
            _ => {}
        }
    }
}

fn at(role: Role, place: &Place) -> At<'_> {
    At {
        role,
        label: place.label.as_deref(),
        section: place.section,
        title: place.title.as_deref(),
    }
}

/// The record of a state; `None` if it holds nothing.
fn record(mut state: State) -> Option<Record> {
    let (mut tests, errors) = measured(&mut state);
    tests.append(&mut state.transfers);
    if tests.is_empty() {
        tests.extend(refused(errors));
    }
    if tests.is_empty() && state.is_empty() {
        return None;
    }
    let only = only_interfaces(&state);
    let settings = settings(&state, &only);
    let samples = samples(&state, &only);
    let hosts = hosts(&state, &settings, &samples);
    finish(&mut tests, &state, &only);
    let run = Run {
        schema: SCHEMA.to_owned(),
        kind: "explain".to_owned(),
        command: state
            .commands
            .last()
            .map(|command| command.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        plan: state
            .label
            .iter()
            .chain(state.title.iter())
            .take(1)
            .map(|label| ("state".to_owned(), label.clone()))
            .collect(),
        hosts,
        tests,
        latency: state.latency,
        settings,
        ..Run::default()
    };
    Some(Record {
        run,
        samples,
        pasted: true,
    })
}

/// The tests of both ends' logs, each once, and what the tools complained of.
fn measured(state: &mut State) -> (Vec<Test>, Vec<String>) {
    let (mut tests, mut errors): (Vec<Test>, Vec<String>) = (Vec::new(), Vec::new());
    for (role, flows) in std::mem::take(&mut state.flows) {
        let (told, complaints) = flows.finish();
        errors.extend(complaints);
        if role == Role::Local as u8 {
            tests = told;
            continue;
        }
        for test in told.into_iter().map(flows::seen_from_here) {
            if !tests.iter().any(|known| flows::same(known, &test)) {
                tests.push(test);
            }
        }
    }
    (tests, errors)
}

/// A test of which nothing is known but what the tool complained of.
fn refused(errors: Vec<String>) -> Option<Test> {
    let why = errors.first()?.clone();
    let warning = |text| Warning {
        id: "tool-error".to_owned(),
        text,
        try_: String::new(),
    };
    Some(Test {
        name: "refused".to_owned(),
        invalid_reason: Some(why),
        warnings: errors.into_iter().map(warning).collect(),
        ..Test::default()
    })
}

/// The only interface of each host, where there is only one.
fn only_interfaces(state: &State) -> BTreeMap<u8, String> {
    let keys = state
        .settings
        .keys()
        .chain(state.counters.keys())
        .chain(state.inherited.keys());
    let mut names: BTreeMap<u8, Vec<&str>> = BTreeMap::new();
    for (role, _, interface) in keys {
        if let Some(name) = interface.as_deref().filter(|name| *name != "lo") {
            let known = names.entry(*role).or_default();
            if !known.contains(&name) && known.len() < 3 {
                known.push(name);
            }
        }
    }
    names
        .into_iter()
        .filter(|(_, names)| names.len() == 1)
        .map(|(role, names)| (role, names[0].to_owned()))
        .collect()
}

/// The interface of a source that has one, where the text does not say which.
fn interface(key: &Key, only: &BTreeMap<u8, String>) -> Option<String> {
    let (role, source, interface) = key;
    let of_interface = source.starts_with("ethtool")
        || source.starts_with("/sys/class/net")
        || [
            "/proc/net/dev",
            "rtnl_link_stats64",
            "ip link",
            "tc -s qdisc",
            "tc qdisc",
            "registers",
        ]
        .contains(&source.as_str());
    interface
        .clone()
        .or_else(|| only.get(role).filter(|_| of_interface).cloned())
}

fn settings(state: &State, only: &BTreeMap<u8, String>) -> Vec<Setting> {
    let mut all: BTreeMap<Key, BTreeMap<String, String>> = BTreeMap::new();
    // What this state says overrides what it inherited.
    for (key, values) in state.inherited.iter().chain(&state.settings) {
        let (role, source, _) = key;
        all.entry((*role, source.clone(), interface(key, only)))
            .or_default()
            .extend(values.clone());
    }
    let setting = |((role, source, interface), values)| Setting {
        host: role_of(role),
        source,
        interface,
        values,
    };
    all.into_iter()
        .filter(|(_, values)| !values.is_empty())
        .map(setting)
        .collect()
}

fn samples(state: &State, only: &BTreeMap<u8, String>) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (key, snapshots) in &state.counters {
        for snapshot in snapshots {
            if !snapshot.values.is_empty() {
                let counters = snapshot.values.clone();
                samples.push(Sample {
                    host: role_of(key.0),
                    source: key.1.clone(),
                    interface: interface(key, only),
                    counters,
                    ..Sample::default()
                });
            }
        }
    }
    samples.extend(ticks(state));
    samples
}

/// Shares of processor time as two readings of `/proc/stat`, ten thousand ticks apart: a difference of shares is exact.
fn ticks(state: &State) -> Vec<Sample> {
    let mut hosts: BTreeMap<u8, BTreeMap<String, u64>> = BTreeMap::new();
    for (role, share) in &state.shares {
        let cpu = share
            .cpu
            .map_or_else(|| "cpu".to_owned(), |cpu| format!("cpu{cpu}"));
        let ticks = share.shares.iter().map(|(name, percent)| {
            (
                format!("{cpu}.{name}"),
                (percent.clamp(0.0, 100.0) * 100.0).round() as u64,
            )
        });
        hosts.entry(*role).or_default().extend(ticks);
    }
    let both = |(role, ticks): (u8, BTreeMap<String, u64>)| {
        let zero = ticks.keys().map(|name| (name.clone(), 0)).collect();
        [zero, ticks].map(|counters| Sample {
            host: role_of(role),
            source: "/proc/stat".to_owned(),
            counters,
            ..Sample::default()
        })
    };
    hosts.into_iter().flat_map(both).collect()
}

fn hosts(state: &State, settings: &[Setting], samples: &[Sample]) -> Vec<Host> {
    let count = state.hosts.len().max(1);
    let host = |(at, role): (usize, Role)| {
        let of = |source: &'static str| {
            settings
                .iter()
                .filter(move |setting| setting.host == role && setting.source == source)
        };
        let version = of("/proc/version").find_map(|setting| setting.values.get("version"));
        Host {
            role,
            hostname: state.hosts.get(at).cloned(),
            kernel: version
                .and_then(|version| version.split_whitespace().nth(2))
                .map(str::to_owned),
            cpus: cpus(role, samples),
            interfaces: interfaces(role, settings, samples),
            ..Host::default()
        }
    };
    [Role::Local, Role::Remote]
        .into_iter()
        .enumerate()
        .take(count)
        .map(host)
        .collect()
}

/// Processors, where a table names them all.
fn cpus(role: Role, samples: &[Sample]) -> Option<u32> {
    let tables = samples.iter().filter(|sample| {
        sample.host == role
            && ["/proc/interrupts", "/proc/softirqs"].contains(&sample.source.as_str())
    });
    let cpu = |name: &String| name.rsplit_once("/cpu")?.1.parse::<u32>().ok();
    tables
        .flat_map(|sample| sample.counters.keys().filter_map(cpu))
        .max()?
        .checked_add(1)
}

fn interfaces(role: Role, settings: &[Setting], samples: &[Sample]) -> Vec<Interface> {
    let mine = settings
        .iter()
        .filter(|setting| setting.host == role)
        .filter_map(|setting| setting.interface.clone());
    let counted = samples
        .iter()
        .filter(|sample| sample.host == role)
        .filter_map(|sample| sample.interface.clone());
    let mut names: Vec<String> = mine.chain(counted).collect();
    names.sort();
    names.dedup();
    let value = |name: &str, source: &str, key: &str| {
        settings
            .iter()
            .find(|setting| {
                setting.host == role
                    && setting.source == source
                    && setting.interface.as_deref() == Some(name)
            })?
            .values
            .get(key)
            .cloned()
    };
    let interface = |name: String| Interface {
        driver: value(&name, "ethtool -i", "driver"),
        link_bits_per_second: value(&name, "ethtool", "Speed").and_then(|speed| speed_of(&speed)),
        mtu: value(&name, "ip link", "mtu").and_then(|mtu| mtu.parse().ok()),
        link_kind: None,
        name,
    };
    names.into_iter().take(64).map(interface).collect()
}

/// `1000Mb/s`.
fn speed_of(word: &str) -> Option<u64> {
    let end = word.find(|letter: char| !letter.is_ascii_digit())?;
    let bits = bits_per_second(word[..end].parse().ok()?, &word[end..])?;
    Some(bits as u64)
}

/// Names, interfaces and processor load of the tests.
fn finish(tests: &mut [Test], state: &State, only: &BTreeMap<u8, String>) {
    let load = cpu(state, Role::Local);
    let label = state.label.as_deref().unwrap_or_default();
    for test in tests {
        if test.name == "up" || test.name == "down" || test.name.contains("bit/s ") {
            test.name = format!("{label} {}", test.name).trim().to_owned();
        }
        test.local_interface = only.get(&(Role::Local as u8)).cloned();
        test.remote_interface = only.get(&(Role::Remote as u8)).cloned();
        test.cpu.local = test.cpu.local.or(load);
    }
}

/// The load of a host's processors, where the text tells it.
fn cpu(state: &State, role: Role) -> Option<Cpu> {
    let mine = || {
        state
            .shares
            .iter()
            .filter(|(host, _)| *host == role as u8)
            .map(|(_, share)| share)
    };
    let all = mine().find(|share| share.cpu.is_none());
    let value = |name: &str| {
        all.and_then(|all| all.shares.iter().find(|(key, _)| *key == name))
            .map_or(0.0, |(_, percent)| percent / 100.0)
    };
    let busy = |share: &linerate_wire::text::CpuShare| {
        share
            .shares
            .iter()
            .find(|(key, _)| *key == "idle")
            .map(|(_, percent)| 1.0 - percent / 100.0)
    };
    let busiest = mine().filter_map(busy).fold(0.0, f64::max);
    all?;
    Some(Cpu {
        user: value("user") + value("nice"),
        system: value("system"),
        softirq: value("softirq"),
        irq: value("irq"),
        steal: value("steal"),
        busiest_cpu: busiest,
    })
}

/// Figures that are remembered.
const FIGURES_MAX: usize = 10_000;

fn role_of(number: u8) -> Role {
    [Role::Local, Role::Remote, Role::Device]
        .into_iter()
        .find(|role| *role as u8 == number)
        .unwrap_or_default()
}
