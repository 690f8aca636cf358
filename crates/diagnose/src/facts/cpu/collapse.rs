// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a host receives less the more is offered to it, and how much less than it sends.

use crate::evidence::Evidence;
use linerate_model::map::Map;
use linerate_model::order::Gather as _;
use std::collections::BTreeSet;

use linerate_model::output::{Protocol, Role, Test};

use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::record::{Record, Side};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    let vantages = vantages(evidence);
    for host in vantages.iter().filter(|vantage| vantage.is_host_alone()) {
        let ratio = collapse(evidence.record, host.host);
        host.add(
            facts,
            "receive_collapse_ratio",
            ratio,
            "the tests' accounts",
        );
        let ratio = tcp_receive_of_send(evidence.record, host.host);
        host.add(
            facts,
            "tcp_receive_of_send_ratio",
            ratio,
            "the tests' delivered rates",
        );
        of_old_kernel(host, facts);
    }
}

/// What arrived when most was offered, of the most that ever arrived; of at least three rates offered with one payload. In a
/// trial of a fraction of a second one pause of the receiver would look the same.
fn collapse(record: &Record, host: Role) -> Option<f64> {
    let received = tests(record, Protocol::Udp, host, Side::Receiver);
    let mut by_payload: Map<u32, Vec<Load>> = Map::new();
    for test in received.filter(|test| test.duration_s == 0.0 || test.duration_s >= LONG_S) {
        if let Some(load) = Load::of(test, record.pasted) {
            // Of a text the payload is often only a quotient of rounded numbers.
            let payload = if record.pasted { 0 } else { test.payload_bytes };
            by_payload.entry(payload).or_default().push(load);
        }
    }
    let ratios = by_payload.values().filter_map(|loads| of_loads(loads));
    ratios.reduce(f64::min)
}

/// Rates of one test.
struct Load {
    requested: f64,
    offered: f64,
    delivered: f64,
}

impl Load {
    fn of(test: &Test, pasted: bool) -> Option<Self> {
        let requested = test.requested_bits_per_second;
        // What a sender could not offer did not come to its receiver. Of a text it is such a quotient, too.
        let counted = test.offered_bits_per_second;
        let offered = if pasted {
            requested.or(counted)
        } else {
            counted.or(requested)
        };
        Some(Self {
            requested: requested.or(counted)?,
            offered: offered?,
            delivered: test.delivered_bits_per_second?,
        })
    }
}

fn of_loads(loads: &[Load]) -> Option<f64> {
    let offered: BTreeSet<u64> = loads.iter().map(|load| load.offered as u64).gather();
    let highest = loads.iter().map(|load| load.offered).fold(0.0, f64::max);
    // Where the sender stays at its own limit, what was requested tells which load was the highest.
    let near = loads.iter().filter(|load| load.offered >= highest * NEAR);
    let most = near.max_by(|one, other| one.requested.total_cmp(&other.requested))?;
    let best = loads.iter().map(|load| load.delivered).fold(0.0, f64::max);
    (offered.len() >= 3 && best > 0.0).then(|| most.delivered / best)
}

/// The best TCP rate into the host of the best out of it.
fn tcp_receive_of_send(record: &Record, host: Role) -> Option<f64> {
    let best = |side| {
        let rates = tests(record, Protocol::Tcp, host, side);
        let rates = rates.filter_map(|test| test.delivered_bits_per_second);
        rates.filter(|rate| *rate > 0.0).reduce(f64::max)
    };
    Some(best(Side::Receiver)? / best(Side::Sender)?)
}

fn tests(
    record: &Record,
    protocol: Protocol,
    host: Role,
    side: Side,
) -> impl Iterator<Item = &Test> {
    let tests = record.tests();
    tests.filter(move |test| test.protocol == protocol && side.role(test) == host)
}

/// Of the i.MX kernels of the 3.0 series: whether the processor may wait in a state that the network
/// interrupt does not end (erratum ERR006687).
fn of_old_kernel(vantage: &Vantage<'_>, facts: &mut Facts) {
    let version = vantage.host_set_up("/proc/version", "version");
    let series = version.and_then(|version| version.split_whitespace().nth(2));
    let is_old = series.is_some_and(|series| series.starts_with("3.0."));
    // Serial port and frame buffer of an i.MX are called after it: ttymxc1, mxcfb0.
    let cmdline = vantage.host_set_up("/proc/cmdline", "cmdline");
    if let (true, Some(cmdline)) = (is_old, cmdline.filter(|cmdline| cmdline.contains("mxc"))) {
        let off = cmdline
            .split_whitespace()
            .any(|word| word == "enable_wait_mode=off");
        let mode = if off { "off" } else { "on" };
        vantage.add(facts, "wait_mode", mode, "/proc/cmdline, /proc/version");
    }
}

/// Offered loads of at least this share of the highest are one.
const NEAR: f64 = 0.95;
/// A trial that lasts long enough.
const LONG_S: f64 = 0.5;
