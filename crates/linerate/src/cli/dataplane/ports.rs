// SPDX-License-Identifier: MIT OR Apache-2.0
//! What passes the two interfaces, by their own counters.

use linerate_linux::nic::Counters;
use linerate_model::output::DataplanePort;

/// The counters of both at the start.
#[derive(Debug)]
pub(super) struct Ports([(String, Vec<(&'static str, u64)>); 2]);

impl Ports {
    pub(super) fn read(names: [&str; 2]) -> Self {
        Self(names.map(|name| (name.to_owned(), counters(name))))
    }

    /// By how much each has grown.
    pub(super) fn growth(&self) -> Vec<DataplanePort> {
        self.0.iter().map(growth).collect()
    }
}

fn growth((name, before): &(String, Vec<(&'static str, u64)>)) -> DataplanePort {
    let now = counters(name);
    let by = |counter: &str| {
        let of = |all: &[(&str, u64)]| all.iter().find(|one| one.0 == counter).map(|one| one.1);
        // An interface that came back counts from 0.
        of(&now)?.checked_sub(of(before)?)
    };
    DataplanePort {
        interface: name.clone(),
        rx_packets: by("rx_packets"),
        tx_packets: by("tx_packets"),
        rx_dropped: by("rx_dropped"),
        tx_dropped: by("tx_dropped"),
    }
}

fn counters(name: &str) -> Vec<(&'static str, u64)> {
    Counters::open(name).map_or_else(|_| Vec::new(), |mut counters| counters.link())
}
