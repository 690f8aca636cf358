// SPDX-License-Identifier: MIT OR Apache-2.0
//! A snapshot of a host without a test: its settings, and its counters since boot.

use super::{Audience, Reader, UdpSockets, settings};
use linerate_linux::host;
use linerate_model::output::Host;
use linerate_model::sample::{Phase, Sample};
use linerate_model::setting::Setting;

/// Describes this host with these interfaces.
pub fn this_host(interfaces: &[String]) -> Host {
    host::describe(interfaces.iter().map(String::as_str))
}

/// Reads the settings of the host and the interfaces.
pub fn setup(interfaces: &[String]) -> Vec<Setting> {
    settings_of(interfaces, Audience::User)
}

/// Reads the part of the settings that must be the same before and after a test (the state vector): milliseconds.
pub fn state(interfaces: &[String]) -> Vec<Setting> {
    settings::state(interfaces.iter().map(String::as_str), Audience::User)
}

/// Reads the settings that the audience may know.
pub(crate) fn settings_of(interfaces: &[String], audience: Audience) -> Vec<Setting> {
    settings::read(interfaces.iter().map(String::as_str), audience)
}

/// Reads totals since the counters began; they belong to no test.
pub fn totals(interfaces: &[String]) -> Vec<Sample> {
    let mut all: Vec<Sample> = Vec::new();
    for name in interfaces {
        // No test, so no port of one.
        let sockets = UdpSockets::ServedFrom(0);
        let mut reader = Reader::open(Some(name.clone()), Audience::User, sockets);
        for mut sample in reader.read(Phase::Idle) {
            sample.phase = None;
            if !all.iter().any(|known| known.same_source(&sample)) {
                all.push(sample);
            }
        }
    }
    all
}
