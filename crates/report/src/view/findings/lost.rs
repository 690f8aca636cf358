// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command lost, by the unit in which each protocol loses it; and what TCP retransmitted without a loss.

use linerate_model::output::{Output, Protocol, Test};

/// What a command lost.
#[derive(Default)]
pub(super) struct Lost {
    pub(super) segments: u64,
    pub(super) datagrams: u64,
    /// Of a device.
    frames: u64,
    /// Segments that TCP retransmitted although they had arrived.
    arrived: u64,
    /// Segments that TCP retransmitted, of a sender whose kernel does not report whether they had arrived.
    unknown: u64,
}

impl Lost {
    pub(super) fn of(output: &Output) -> Self {
        let mut all = Self::default();
        for entry in &output.ledger {
            let test = output.test(&entry.test_id);
            match test.map(|test| test.protocol) {
                Some(Protocol::Tcp) => all.segments += entry.lost_packets,
                Some(Protocol::Udp) => all.datagrams += entry.lost_packets,
                None => all.frames += entry.lost_packets,
            }
        }
        let tests = output.tests.iter();
        let of_tcp = tests.filter(|test| test.protocol == Protocol::Tcp);
        of_tcp.for_each(|test| all.retransmitted(output, test));
        all
    }

    fn retransmitted(&mut self, output: &Output, test: &Test) {
        let again = test.retransmits.unwrap_or(0);
        let entry = output.ledger.iter().find(|entry| entry.test_id == test.id);
        match entry {
            Some(entry) => self.arrived += again.saturating_sub(entry.lost_packets),
            None => self.unknown += again,
        }
    }

    pub(super) fn text(&self) -> String {
        let parts = [
            (self.segments, "segments of TCP"),
            (self.datagrams, "datagrams of UDP"),
            (self.frames, "frames"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        parts.join(" and ")
    }

    /// The segments that TCP retransmitted and that are not among the lost ones.
    pub(super) fn also(&self) -> String {
        let parts = [
            (self.arrived, "that had arrived"),
            (self.unknown, "that may have arrived"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, which)| format!("{count} segments {which}"))
            .collect();
        match parts.is_empty() {
            true => String::new(),
            false => format!("; TCP also retransmitted {}", parts.join(" and ")),
        }
    }
}
