// SPDX-License-Identifier: MIT OR Apache-2.0
//! Items in the order of the text → states → records.

use std::collections::BTreeSet;

use crate::text::{Content, IperfEvent, Transfer};
use linerate_model::order::Gather as _;
use linerate_model::output::{Passage, Role};

use super::Pasted;
use super::context::Place;
use super::limits::{PASSAGES_MAX, STATES_MAX, TESTS_MAX};
use super::recorded::record;
use super::segment::{Item, Said, Segments};
use super::state::{At, State};
use linerate_model::record::Record;

/// Returns the records of a text, with what was understood.
pub(super) fn records(segments: &Segments) -> Pasted {
    let mut assembly = Assembly {
        peers: &segments.peers,
        states: Vec::new(),
        current: 0,
        understood: Vec::new(),
        left_out: Vec::new(),
        figures: BTreeSet::new(),
    };
    for item in &segments.items {
        assembly.take(item);
    }
    compare_environments(&mut assembly.states);
    if let Some(machine) = &segments.machine {
        let states = assembly.states.iter_mut();
        states.for_each(|state| state.is_machine(machine));
    }
    let last = segments.items.last().map_or(1, |item| item.lines.1);
    let too_many = assembly.states.iter().flat_map(|state| &state.too_many);
    let too_many: BTreeSet<&str> = too_many.copied().gather();
    assembly
        .left_out
        .extend(too_many.into_iter().map(|what| Passage {
            first_line: last,
            last_line: last,
            what: what.to_owned(),
        }));
    let mut records: Vec<Record> = assembly.states.into_iter().filter_map(record).collect();
    if number(&mut records) >= TESTS_MAX {
        let what = format!("any tests after the first {TESTS_MAX}");
        assembly.left_out.push(Passage {
            first_line: last,
            last_line: last,
            what,
        });
    }
    Pasted {
        records,
        understood: assembly.understood,
        left_out: assembly.left_out,
        ..Pasted::default()
    }
}

/// Gives each measured state whose kernel or command line differs from the one before it that earlier environment.
fn compare_environments(states: &mut [State]) {
    let mut before = None;
    for state in states.iter_mut().filter(|state| state.has_measured()) {
        let now = state.environment();
        if now.is_empty() {
            continue;
        }
        if let Some(before) = before.replace(now.clone()).filter(|before| *before != now) {
            state.before = before;
        }
    }
}

/// Numbers the tests of all records, drops those beyond the limit, and returns their number.
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
    left_out: Vec<Passage>,
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
                self.note(item);
            }
            _ => self.too_many(item),
        }
    }

    /// Whether the text had these very figures before: people quote themselves.
    fn said_before(&mut self, transfer: &Transfer, place: &Place) -> bool {
        let figures = format!("{transfer:?} {:?} {:?}", place.title, place.label);
        self.figures.len() < FIGURES_MAX && !self.figures.insert(figures)
    }

    fn too_many(&mut self, item: &Item) {
        let (first_line, last_line) = item.lines;
        match self.left_out.last_mut() {
            Some(passage) => passage.last_line = last_line,
            None => self.left_out.push(Passage {
                first_line,
                last_line,
                what: format!("more than {STATES_MAX} states in one text"),
            }),
        }
    }

    /// Makes the state to which this belongs the current one; false if there are too many states.
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

    /// Returns a new state, which inherits from the unmarked one of the same host.
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
                    (*host, source, interface) == (role, &counters.source, &counters.interface)
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
            Said::Content(Content::Transfer(transfer)) => state.measured(at, transfer),
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
            Said::Content(Content::Iperf(event)) => {
                state.flows.entry(role).or_default().take(event.clone())
            }
            Said::Content(Content::Transfer(transfer)) => state.transfer(at, transfer),
            Said::Content(Content::Ping(ping)) => state.ping(ping),
            Said::Content(Content::Cpu(share)) => state.share(role, share.clone()),
            Said::Command(command) => state.typed(role, command),
            Said::Requested(rate) => state.requested(role, *rate),
            Said::Heading | Said::Prose => {}
        }
    }

    /// Lists what was understood; consecutive lines of one kind are one passage.
    fn note(&mut self, item: &Item) {
        if matches!(item.said, Said::Content(Content::Iperf(IperfEvent::Frame))) {
            return;
        }
        let mut what = item.format.to_owned();
        if let Said::Content(
            Content::Counters(crate::text::Counters {
                interface: Some(name),
                ..
            })
            | Content::Settings(crate::text::Settings {
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

/// Figures that are remembered.
const FIGURES_MAX: usize = 10_000;
