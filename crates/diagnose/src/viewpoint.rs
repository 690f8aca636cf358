// SPDX-License-Identifier: MIT OR Apache-2.0
//! From where a rule looks: one test, one of its ends, one interface there. Without a test (a set-up
//! that was only read, a pasted `ifconfig`) an interface of a host.

use std::collections::BTreeSet;

use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use linerate_model::output::{Role, Test, Trial};

use crate::dut::{Ports, name, reported};
use linerate_knowledge::words;
use linerate_model::record::{Record, Side};

/// A point of view. `None` means: not bound to one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Viewpoint {
    /// Of one test.
    pub test_id: Option<String>,
    /// At which of its ends.
    pub side: Option<Side>,
    /// On this host.
    pub host: Option<Role>,
    /// At this interface.
    pub interface: Option<String>,
    /// The other end of the same test: host and interface.
    pub peer: Option<(Role, Option<String>)>,
}

words! {
    /// From where a rule looks.
    Scope {
        /// The receiving end of each test (or, without tests, each interface of each host).
        Receiver = "receiver",
        /// The sending end of each test (likewise).
        Sender = "sender",
        /// Either end of each test (likewise).
        End = "end",
        /// Each interface of each host, whatever the tests did.
        Host = "host",
        /// Each test as a whole.
        Test = "test",
        /// Each trial that decided a rate of a device under test, and of which the device reported.
        Trial = "trial",
        /// All tests together.
        Run = "run",
    }
}

/// The points of view from which a rule of this scope has to be asked.
#[must_use]
pub fn viewpoints(record: &Record, scope: Scope) -> Vec<Viewpoint> {
    let tests = &record.run.tests;
    let only = only_interfaces(record);
    match scope {
        Scope::Run => vec![Viewpoint {
            // Of a device's rates the device is spoken of.
            host: (!record.run.results.is_empty()).then_some(Role::Device),
            ..Viewpoint::default()
        }],
        Scope::Test if tests.is_empty() => vec![Viewpoint::default()],
        Scope::Test => tests
            .iter()
            .map(|test| Viewpoint {
                side: None,
                host: None,
                interface: None,
                ..at(&only, test, Side::Receiver)
            })
            .collect(),
        Scope::Receiver | Scope::Sender | Scope::End | Scope::Host if tests.is_empty() => {
            places(record)
        }
        Scope::Receiver => ends(record, &only, &[Side::Receiver]),
        Scope::Sender => ends(record, &only, &[Side::Sender]),
        Scope::End => ends(record, &only, &[Side::Sender, Side::Receiver]),
        Scope::Host => places(record),
        Scope::Trial => reported(record).map(|one| of_trial(one.trial)).collect(),
    }
}

/// The device, at the port that took most of the trial's viewpoints.
fn of_trial(trial: &Trial) -> Viewpoint {
    let ports = trial.device.as_ref().map(Ports::of);
    Viewpoint {
        test_id: Some(name(trial)),
        host: Some(Role::Device),
        interface: ports.and_then(|ports| ports.ingress).map(str::to_owned),
        ..Viewpoint::default()
    }
}

/// These ends of each test. A pasted text tells more of a host than its tests say where: what no test
/// of it covers is asked by itself.
fn ends(record: &Record, only: &Only, sides: &[Side]) -> Vec<Viewpoint> {
    let of_test = |test: &Test| {
        let ends: Vec<Viewpoint> = sides.iter().map(|side| at(only, test, *side)).collect();
        ends
    };
    let mut ends: Vec<Viewpoint> = record.tests().flat_map(of_test).collect();
    if record.pasted {
        let place = |end: &Viewpoint| (end.host, end.interface.clone());
        let covered: BTreeSet<_> = ends.iter().map(place).gather();
        let others: Vec<Viewpoint> = places(record)
            .into_iter()
            .filter(|one| !covered.contains(&place(one)))
            .collect();
        ends.extend(others);
    }
    ends
}

/// One end of a test, at the interface that the test names; in a pasted text, which names none, at
/// the only one of which anything is said.
fn at(only: &Only, test: &Test, side: Side) -> Viewpoint {
    let interface = |side: Side| {
        let named = side.interface(test).map(str::to_owned);
        named.or_else(|| only.get(&side.role(test)).cloned().flatten())
    };
    Viewpoint {
        test_id: Some(test.id.clone()),
        side: Some(side),
        host: Some(side.role(test)),
        interface: interface(side),
        peer: Some((side.other().role(test), interface(side.other()))),
    }
}

/// Every interface of which anything is known; a host of which only host-wide things are known counts as one place.
fn places(record: &Record) -> Vec<Viewpoint> {
    let described = record.run.hosts.iter().flat_map(|host| {
        let names = host.interfaces.iter();
        names.map(move |interface| (host.role, Some(interface.name.clone())))
    });
    let counted = record
        .samples
        .iter()
        .map(|sample| (sample.host, sample.interface.clone()));
    let set = record
        .run
        .settings
        .iter()
        .map(|setting| (setting.host, setting.interface.clone()));
    let all: BTreeSet<(Role, Option<String>)> = described.chain(counted).chain(set).gather();
    let with_name: BTreeSet<Role> = all
        .iter()
        .filter(|(_, name)| name.is_some())
        .map(|(role, _)| *role)
        .gather();
    all.into_iter()
        .filter(|(role, name)| name.is_some() || !with_name.contains(role))
        .map(|(role, interface)| Viewpoint {
            host: Some(role),
            interface,
            ..Viewpoint::default()
        })
        .collect()
}

/// The interface of each host of which a pasted text shows no other; `None` where it shows several.
type Only = Map<Role, Option<String>>;

fn only_interfaces(record: &Record) -> Only {
    let mut only = Only::new();
    let places = record.pasted.then(|| places(record)).into_iter().flatten();
    for place in places {
        let Some(role) = place.host else { continue };
        let several = only.contains_key(&role);
        only.insert(role, place.interface.filter(|_| !several));
    }
    only
}
