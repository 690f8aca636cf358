// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a TCP test went over time: timeouts, round-trip times, new beginnings after pauses, transactions.

use crate::evidence::{Evidence, Source};
use linerate_model::output::{Interval, Protocol, Test};

use super::pacing::is_bbr;
use crate::facts::Facts;
use crate::facts::vantage::{Vantage, vantages};
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for vantage in vantages(evidence) {
        let host = vantage.as_host();
        match vantage.test {
            Some(test) if test.protocol == Protocol::Tcp && vantage.side == Some(Side::Sender) => {
                kernel(&host, facts);
                account(&host, test, facts);
            }
            None if vantage.interface.is_none() => {
                kernel(&host, facts);
                sysctls(&host, facts);
            }
            _ => {}
        }
    }
}

/// What the sending kernel's TCP counted. Its timeouts include those of SYNs, which carry nothing
/// (net/ipv4/tcp_timer.c tcp_retransmit_timer).
fn kernel(host: &Vantage<'_>, facts: &mut Facts) {
    let reorderings = REORDERINGS.map(|name| (NETSTAT, name));
    let reorderings = host.sum_of_host(reorderings);
    host.add_counted(facts, "tcp_reorderings", reorderings);
    let Some(timeouts) = host.of_host(NETSTAT, "TcpExtTCPTimeouts") else {
        return;
    };
    let opening = host.of_host(NETSTAT, "TcpExtTCPSynRetrans");
    let opening = opening.map_or(0, |opening| opening.value);
    let count = timeouts.value.saturating_sub(opening) as f64;
    host.add(facts, "tcp_timeouts", count, &timeouts.source);
    if let Some(test) = host.test.filter(|test| test.duration_s > 0.0) {
        let all = test.duration_s * f64::from(test.streams.max(1));
        let share = (count * TIMEOUT_S / all).min(1.0);
        host.add(facts, "timeout_share", share, &timeouts.source);
    }
}

fn account(host: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let mut add = |name, value: Option<f64>| host.add(facts, name, value, ACCOUNT);
    let rtt = test.rtt_ns.filter(|rtt| rtt.min > 0);
    add("rtt_ms", rtt.map(|rtt| rtt.p50 as f64 / 1e6));
    let inflation = rtt.map(|rtt| rtt.p50 as f64 / rtt.min as f64);
    add("rtt_inflation", inflation);
    add("cwnd_restarts", restarts(&test.intervals).map(f64::from));
    add("transaction_ms", transaction_ms(test));
    let congestion = test.congestion.as_deref();
    let slows = congestion.is_none_or(|name| !is_bbr(name) && !UNMOVED.contains(&name));
    host.add(facts, "slows_at_loss", slows, ACCOUNT);
    host.add(facts, "congestion_control", congestion, ACCOUNT);
}

fn sysctls(host: &Vantage<'_>, facts: &mut Facts) {
    for (name, key) in [
        ("congestion_control", "net.ipv4.tcp_congestion_control"),
        (
            "slow_start_after_idle",
            "net.ipv4.tcp_slow_start_after_idle",
        ),
    ] {
        let value = host.host_set_up("sysctl", key);
        host.add(facts, name, value, &format!("sysctl {key}"));
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

const ACCOUNT: &str = "the test's account";
const NETSTAT: Source = Source::Netstat;
const REORDERINGS: [&str; 3] = [
    "TcpExtTCPSACKReorder",
    "TcpExtTCPRenoReorder",
    "TcpExtTCPTSReorder",
];
/// Congestion controls that, as BBR does, measure the path and do not halve their rate at a loss.
const UNMOVED: &[&str] = &["dctcp", "nv", "lp", "cdg"];
/// The shortest retransmission timeout of Linux (include/net/tcp.h TCP_RTO_MIN), seconds.
const TIMEOUT_S: f64 = 0.2;
