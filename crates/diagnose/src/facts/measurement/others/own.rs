// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets that a test brings to the receiving interface beyond its datagrams: latency probes, and the
//! conversation of both ends.

use linerate_model::output::{Phase, Role, Test};
use linerate_model::sample::{self, Sample};

use crate::facts::vantage::Vantage;

/// The most packets of this program that arrived in the `span_s` seconds between the readings.
pub(super) fn packets(vantage: &Vantage<'_>, test: &Test, span_s: f64) -> u64 {
    if vantage.record.pasted {
        return CONVERSATION;
    }
    let own = [
        probes(vantage, span_s),
        reports(vantage, test),
        heartbeats(span_s),
    ];
    own.into_iter().fold(CONVERSATION, u64::saturating_add)
}

/// Each request has one reply. The document counts them for all tests of a phase together.
fn probes(vantage: &Vantage<'_>, span_s: f64) -> u64 {
    let phases = vantage.record.run.latency.iter();
    let loaded = phases.filter(|latency| latency.phase != Phase::Idle);
    let sent = loaded.fold(0_u64, |sum, latency| sum.saturating_add(latency.sent));
    sent.min((span_s * PROBES_PER_SECOND).ceil() as u64)
}

/// The peer reports its readings in segments to one end, and that end acknowledges each to the other.
fn reports(vantage: &Vantage<'_>, test: &Test) -> u64 {
    let of_peer = |sample: &&Sample| {
        sample.host == Role::Remote
            && sample.group.as_deref() == Some(test.group.as_str())
            && sample.phase == Some(sample::Phase::Load)
    };
    let samples = vantage.record.samples.iter().filter(of_peer);
    samples.map(|sample| 1 + bytes(sample) / MSS_BYTES).sum()
}

/// The length of a reading on its way, at most.
fn bytes(sample: &Sample) -> u64 {
    let names = sample.counters.keys().map(|name| name.len() as u64);
    READING_BYTES + names.map(|name| name + NUMBER_BYTES).sum::<u64>()
}

fn heartbeats(span_s: f64) -> u64 {
    (span_s * BEATS_PER_SECOND).ceil() as u64
}

/// A probe every 10 ms on average, and what a random schedule may add.
const PROBES_PER_SECOND: f64 = 120.0;
/// One a second from each end, each acknowledged.
const BEATS_PER_SECOND: f64 = 4.0;
/// Parameters, states, stream requests, acknowledgements, address resolution, results.
const CONVERSATION: u64 = 32;
/// The names and quotes around a reading, and around each of its values.
const READING_BYTES: u64 = 300;
const NUMBER_BYTES: u64 = 26;
/// The smallest segment over Ethernet that is still usual (IPv6, options, a tunnel).
const MSS_BYTES: u64 = 1200;
