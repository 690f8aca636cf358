// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command lost, by the unit in which each protocol loses it.

use linerate_model::output::{Output, Protocol};

/// What a command lost.
#[derive(Default)]
pub(super) struct Lost {
    pub(super) segments: u64,
    pub(super) datagrams: u64,
    /// Of a device.
    frames: u64,
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
        all
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
}
