// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a TCP test went over time: timeouts, round-trip times, new beginnings after pauses, transactions.

use crate::evidence::{Evidence, Source};
use linerate_model::output::{Interval, Protocol, Test};

use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, vantages};
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence) {
        match vantage.test {
            Some(test) if test.protocol == Protocol::Tcp && vantage.side == Some(Side::Sender) => {
                kernel(&vantage, facts);
                account(&vantage, test, facts);
            }
            None if vantage.interface.is_none() => {
                kernel(&vantage, facts);
                sysctls(&vantage, facts);
            }
            _ => {}
        }
    }
}

/// What the sending kernel's TCP counted.
fn kernel(vantage: &Vantage<'_>, facts: &mut Facts) {
    let reorderings = REORDERINGS
        .iter()
        .filter_map(|name| vantage.of_host(NETSTAT, name));
    let reorderings = reorderings.reduce(|one, other| Counted {
        value: one.value + other.value,
        source: format!("{}, {}", one.source, other.source),
        ..one
    });
    vantage.add_counted_to_host(facts, "tcp_reorderings", "events", reorderings);
    let Some(timeouts) = vantage.of_host(NETSTAT, "TcpExtTCPTimeouts") else {
        return;
    };
    let count = timeouts.value as f64;
    vantage.add_to_host(facts, "tcp_timeouts", count, "events", &timeouts.source);
    if let Some(test) = vantage.test.filter(|test| test.duration_s > 0.0) {
        let all = test.duration_s * f64::from(test.streams.max(1));
        let share = (count * TIMEOUT_S / all).min(1.0);
        vantage.add_to_host(facts, "timeout_share", share, "ratio", &timeouts.source);
    }
}

fn account(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let mut add = |name: &str, value: f64, unit: &str| {
        vantage.add_to_host(facts, name, value, unit, "the test's account");
    };
    if let Some(rtt) = test.rtt_ns.filter(|rtt| rtt.min > 0) {
        add("rtt_ms", rtt.p50 as f64 / 1e6, "ms");
        add("rtt_inflation", rtt.p50 as f64 / rtt.min as f64, "ratio");
    }
    if let Some(restarts) = restarts(&test.intervals) {
        add("cwnd_restarts", f64::from(restarts), "events");
    }
    if let Some(milliseconds) = transaction_ms(test) {
        add("transaction_ms", milliseconds, "ms");
    }
    let slows = test
        .congestion
        .as_deref()
        .is_none_or(|word| !UNMOVED.contains(&word));
    vantage.add_to_host(facts, "slows_at_loss", slows, "", "the test's account");
    if let Some(word) = &test.congestion {
        vantage.add_to_host(
            facts,
            "congestion_control",
            word.as_str(),
            "",
            "the test's account",
        );
    }
}

fn sysctls(vantage: &Vantage<'_>, facts: &mut Facts) {
    for (name, key) in [
        ("congestion_control", "net.ipv4.tcp_congestion_control"),
        (
            "slow_start_after_idle",
            "net.ipv4.tcp_slow_start_after_idle",
        ),
    ] {
        if let Some(value) = vantage.host_set_up("sysctl", key) {
            vantage.add_to_host(facts, name, value, "", &format!("sysctl {key}"));
        }
    }
}

/// A window that lost more than half over an interval in which nothing was sent and nothing was lost.
/// `None` if the window is not known.
fn restarts(intervals: &[Interval]) -> Option<u32> {
    intervals.iter().find_map(|interval| interval.cwnd_bytes)?;
    let mut restarts = 0;
    for row in intervals.windows(3) {
        let quiet = row[1]
            .sent_bits_per_second
            .or(row[1].received_bits_per_second)
            == Some(0.0);
        let lost = row[1].retransmits.unwrap_or(0) + row[2].retransmits.unwrap_or(0);
        let shrank = row[0].cwnd_bytes.zip(row[2].cwnd_bytes);
        if quiet && lost == 0 && shrank.is_some_and(|(before, after)| after * 2 < before) {
            restarts += 1;
        }
    }
    Some(restarts)
}

/// Of a test that a tool calls one of requests and responses.
fn transaction_ms(test: &Test) -> Option<f64> {
    let rate = test.delivered_bits_per_second.filter(|rate| *rate > 0.0)?;
    let asks = test.name.contains("_RR") && test.payload_bytes > 0;
    asks.then(|| f64::from(test.payload_bytes) * 8.0 / rate * 1e3)
}

const NETSTAT: &str = Source::Netstat.text();
const REORDERINGS: &[&str] = &[
    "TcpExtTCPSACKReorder",
    "TcpExtTCPRenoReorder",
    "TcpExtTCPTSReorder",
];
/// Congestion controls that measure the path and do not halve their rate at a loss.
const UNMOVED: &[&str] = &["bbr", "bbr2", "bbr3", "dctcp", "nv", "lp", "cdg"];
/// The shortest retransmission timeout of Linux (include/net/tcp.h TCP_RTO_MIN), seconds.
const TIMEOUT_S: f64 = 0.2;
