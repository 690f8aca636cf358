// SPDX-License-Identifier: MIT OR Apache-2.0
//! From where a rule looks: one test, one of its ends, one interface there. Without a test (a set-up
//! that was only read, a pasted `ifconfig`) an interface of a host.

use std::collections::BTreeSet;

use linerate_model::output::{Role, Test};

use crate::record::{Record, Side};
use crate::rules::Scope;

/// A point of view. `None` means: not bound to one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
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

/// The points of view from which a rule of this scope has to be asked.
#[must_use]
pub fn frames(record: &Record, scope: Scope) -> Vec<Frame> {
    let tests = &record.run.tests;
    match scope {
        Scope::Run => vec![Frame::default()],
        Scope::Test if tests.is_empty() => vec![Frame::default()],
        Scope::Test => tests
            .iter()
            .map(|test| Frame {
                side: None,
                host: None,
                interface: None,
                ..at(test, Side::Receiver)
            })
            .collect(),
        Scope::Receiver | Scope::Sender | Scope::Host if tests.is_empty() => places(record),
        Scope::Receiver => tests.iter().map(|test| at(test, Side::Receiver)).collect(),
        Scope::Sender => tests.iter().map(|test| at(test, Side::Sender)).collect(),
        Scope::Host => places(record),
    }
}

/// One end of a test.
fn at(test: &Test, side: Side) -> Frame {
    let interface = |side: Side| side.interface(test).map(str::to_owned);
    Frame {
        test_id: Some(test.id.clone()),
        side: Some(side),
        host: Some(side.role(test)),
        interface: interface(side),
        peer: Some((side.other().role(test), interface(side.other()))),
    }
}

/// Every interface of which anything is known; a host of which only host-wide things are known counts as one place.
fn places(record: &Record) -> Vec<Frame> {
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
    let all: BTreeSet<(u8, Option<String>)> = described
        .chain(counted)
        .chain(set)
        .map(|(role, name)| (role as u8, name))
        .collect();
    let with_name: BTreeSet<u8> = all
        .iter()
        .filter(|(_, name)| name.is_some())
        .map(|(role, _)| *role)
        .collect();
    all.into_iter()
        .filter(|(role, name)| name.is_some() || !with_name.contains(role))
        .map(|(role, interface)| Frame {
            host: role_of(role),
            interface,
            ..Frame::default()
        })
        .collect()
}

fn role_of(number: u8) -> Option<Role> {
    [Role::Local, Role::Remote, Role::Device]
        .into_iter()
        .find(|role| *role as u8 == number)
}
