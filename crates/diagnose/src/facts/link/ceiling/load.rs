// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a test offered, and what of it got past the wire.

use linerate_model::output::{Protocol, Test};

use crate::facts::Facts;

/// A rate in frames of Ethernet, without preamble and FCS, as `tc` counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Carried {
    /// Bits a second.
    pub(super) bits: f64,
    /// Packets a second.
    pub(super) packets: f64,
}

impl Carried {
    /// What arrived of a test, at least.
    pub(super) fn by(test: &Test) -> Option<Self> {
        Self::of_payload(test, test.delivered_bits_per_second?)
    }

    fn of_payload(test: &Test, bits_per_second: f64) -> Option<Self> {
        let payload_bytes = match test.protocol {
            Protocol::Udp => test.payload_bytes,
            Protocol::Tcp => test.mss_bytes.unwrap_or(MSS_BYTES),
        };
        let packets = bits_per_second / 8.0 / f64::from(payload_bytes);
        (payload_bytes > 0).then(|| Self {
            bits: packets * f64::from(payload_bytes + headers_bytes(test)) * 8.0,
            packets,
        })
    }

    pub(super) const fn max(self, other: Self) -> Self {
        Self {
            bits: self.bits.max(other.bits),
            packets: self.packets.max(other.packets),
        }
    }

    pub(super) fn times(self, share: f64) -> Self {
        Self {
            bits: self.bits * share,
            packets: self.packets * share,
        }
    }
}

fn headers_bytes(test: &Test) -> u32 {
    let protocol = match test.protocol {
        Protocol::Udp => UDP_BYTES,
        Protocol::Tcp => TCP_BYTES,
    };
    let ip = if test.af == 6 { IPV6_BYTES } else { IPV4_BYTES };
    ETHERNET_BYTES + ip + protocol
}

/// A UDP test whose losses on the wire are known.
pub(super) struct Load<'r> {
    pub(super) test: &'r Test,
    /// To the path.
    pub(super) offered: Carried,
    /// What was not lost on the wire.
    pub(super) passed: Carried,
}

impl<'r> Load<'r> {
    pub(super) fn of(test: &'r Test, facts: &Facts) -> Option<Self> {
        if test.protocol != Protocol::Udp {
            return None;
        }
        let sent = test.sent_packets.filter(|sent| *sent > 0)? as f64;
        let share = |packets: f64| (packets / sent).min(1.0);
        let all = Carried::of_payload(test, test.offered_bits_per_second?)?;
        let on_wire = lost_on_wire(test, facts)?;
        let passed = all
            .times(1.0 - share(on_wire))
            .times(in_time(test, on_wire));
        // What the lab's own wire lost never came to the path.
        let own = facts.of_test(&test.id, "lab_wire_drops").unwrap_or(0.0);
        let offered = all.times(1.0 - share(own));
        Some(Self {
            test,
            offered,
            passed,
        })
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.passed.packets < self.offered.packets * ABOVE
    }

    pub(super) fn loses_more_than(&self, share: f64) -> bool {
        self.passed.packets < self.offered.packets * (1.0 - share)
    }

    pub(super) fn is_far_above(&self) -> bool {
        self.passed.packets <= self.offered.packets * OVERLOADED
    }

    pub(super) fn is_of_another_size(&self, other: &Self) -> bool {
        let (one, other) = (self.test.payload_bytes, other.test.payload_bytes);
        one >= other * 2 || other >= one * 2
    }

    /// The same rate got through of different offers; or, where a busy machine sent unevenly and a short
    /// queue lost more for it, what got through hardly grew with the offer, and was lost all along. A path
    /// that loses for another reason passes in proportion; one that stops for a while loses in few rows.
    pub(super) fn is_level_with(&self, other: &Self) -> bool {
        let apart = self.test.id != other.test.id;
        let size = self.test.payload_bytes == other.test.payload_bytes;
        let offered = (other.offered.packets / self.offered.packets).ln();
        let passed = (other.passed.packets / self.passed.packets).ln();
        let same = offered.abs() > OFFERED_APART && passed.abs() < PASSED_APART;
        let growth = passed * offered.signum();
        let hardly = offered.abs() > OFFERED_FAR_APART && growth < offered.abs() * HARDLY;
        let rows = |load: &Self| load.test.loss_bursts.len();
        let all_along = rows(self).min(rows(other)) >= ROWS;
        apart && size && (same || (hardly && all_along))
    }
}

/// At most; `None` where the ledger does not know most of it for certain.
fn lost_on_wire(test: &Test, facts: &Facts) -> Option<f64> {
    let number = |name| facts.of_test(&test.id, name);
    let (most, least) = (number("lost_at_wire")?, number("least_lost_at_wire")?);
    (least >= most * CERTAIN).then_some(most)
}

/// The share that arrived while the sender sent, of what arrived: where the wire lost packets, a queue before it was
/// full, and delivered the rest later. What a slow reader holds up did pass.
fn in_time(test: &Test, lost_on_wire: f64) -> f64 {
    let share = || {
        let (lost, sent) = (test.lost_packets? as f64, test.sent_packets? as f64);
        let arrived = test.offered_bits_per_second? * (1.0 - lost / sent.max(1.0));
        let share = test.delivered_bits_per_second? / arrived;
        (lost > 0.0 && lost_on_wire >= lost * CERTAIN && share < LATE).then_some(share)
    };
    share().unwrap_or(1.0)
}

const ETHERNET_BYTES: u32 = 14;
const IPV4_BYTES: u32 = 20;
const IPV6_BYTES: u32 = 40;
const UDP_BYTES: u32 = 8;
/// With timestamps.
const TCP_BYTES: u32 = 32;
/// Over Ethernet and IPv4 with timestamps, where it is not known.
const MSS_BYTES: u32 = 1448;
/// The share that arrives in time, at most, where a queue was full: a pause at either edge hides a tenth.
const LATE: f64 = 0.9;
/// Of what the wire may have lost, the share that it lost for certain.
const CERTAIN: f64 = 0.5;
/// Offers whose ratio has a logarithm above this were different.
const OFFERED_APART: f64 = 0.13;
/// Rates whose ratio has a logarithm below this are one level.
const PASSED_APART: f64 = 0.05;
/// Offers that are far enough apart to tell a level from chance on an uneven machine.
const OFFERED_FAR_APART: f64 = 0.22;
/// What a level grows with the offer, at most; a loss in proportion grows by 1 (logarithms).
const HARDLY: f64 = 0.5;
/// Rows of losses of a test that lost all along.
const ROWS: usize = 20;
/// What passes of an offer above the ceiling, at most.
const ABOVE: f64 = 0.98;
/// What passes of an offer that is far above the ceiling, at most.
const OVERLOADED: f64 = 0.83;
