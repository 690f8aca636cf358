// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked of every contender, and what each must answer: the same words for all.

use super::meter::Metered;

/// What is to be sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Load {
    /// TCP streams, or a UDP payload.
    pub(crate) kind: Kind,
    /// Length of the test, seconds.
    pub(crate) seconds: u32,
}

/// Which transport.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// As fast as it goes.
    Tcp {
        /// Parallel streams.
        streams: u32,
    },
    /// One stream of datagrams.
    Udp {
        /// Payload of each.
        payload_bytes: u32,
        /// Payload rate; `None` = as fast as it goes.
        bits_per_second: Option<u64>,
    },
}

/// The receiver's account of one test.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Account {
    /// Payload that arrived, bits a second.
    pub(crate) delivered_bits_per_second: f64,
    /// Datagrams sent (UDP).
    pub(crate) sent_packets: u64,
    /// Datagrams lost (UDP).
    pub(crate) lost_packets: u64,
    /// Length that the receiver divides by, seconds.
    pub(crate) seconds: f64,
}

impl Account {
    /// A UDP account from the receiver's counts.
    pub(crate) fn of_datagrams(sent: u64, lost: u64, payload_bytes: u32, seconds: f64) -> Self {
        let bits = sent.saturating_sub(lost) as f64 * f64::from(payload_bytes) * 8.0;
        Self {
            delivered_bits_per_second: bits / seconds,
            sent_packets: sent,
            lost_packets: lost,
            seconds,
        }
    }

    /// Rate at which the datagrams were sent, payload bits a second.
    pub(crate) fn offered_bits_per_second(&self, payload_bytes: u32) -> f64 {
        self.sent_packets as f64 * f64::from(payload_bytes) * 8.0 / self.seconds
    }
}

/// An account with what it cost.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The receiver's.
    pub(crate) account: Account,
    /// Processor time and output.
    pub(crate) metered: Metered,
}

impl Measured {
    /// Processor seconds for 10⁹ payload bytes delivered: of client, server, whole machine.
    pub(crate) fn cpu_s_per_gb(&self) -> [f64; 3] {
        let bytes = self.account.delivered_bits_per_second * self.account.seconds / 8.0;
        self.cpu_s().map(|cpu_s| cpu_s / (bytes / 1e9))
    }

    /// The same for 10⁶ datagrams delivered.
    pub(crate) fn cpu_s_per_million(&self) -> [f64; 3] {
        let delivered = self
            .account
            .sent_packets
            .saturating_sub(self.account.lost_packets);
        self.cpu_s().map(|cpu_s| cpu_s / (delivered as f64 / 1e6))
    }

    fn cpu_s(&self) -> [f64; 3] {
        let metered = &self.metered;
        [
            metered.client_cpu_s,
            metered.server_cpu_s,
            metered.machine_cpu_s,
        ]
    }
}
