// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether TCP's buffers are large enough for what had to be on its way, and who made it wait.

use linerate_model::output::{Cpu, Phase as Load, Protocol, Test};

use crate::calc::tcp_bound::bandwidth_delay_bytes;
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::{Record, Side};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let Some(test) = vantage.test.filter(|test| test.protocol == Protocol::Tcp) else {
        return;
    };
    used(vantage, test, facts);
    crowded(vantage, test, facts);
    waiting(vantage, facts);
    zero_windows(vantage, facts);
    if vantage.side == Some(Side::Receiver) {
        reach(vantage, test, facts);
    }
}

/// Two ends that share processors which are all in use keep each other waiting: TCP's stop-watches then
/// show whose turn it was, and a timer that comes late sends again what was not lost.
fn crowded(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let used = |cpu: Cpu| cpu.user + cpu.system + cpu.softirq + cpu.irq + cpu.steal;
    let ends = [test.cpu.local, test.cpu.remote].into_iter().flatten();
    let full = vantage.record.one_machine() && ends.map(used).any(|used| used > FULL);
    let source = "/proc/stat during the test";
    vantage.add(facts, "machine_full", full, "", source);
    let stall = if full { LONGEST_TURN } else { 0.0 };
    vantage.add(facts, "processor_stall_ratio", stall, "ratio", source);
}

fn used(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let streams = f64::from(test.streams.max(1));
    let rtt_s = |ns: i64| (ns > 0).then_some(ns as f64 / 1e9);
    let under_load = test.rtt_ns.and_then(|rtt| rtt_s(rtt.p50));
    if let (Some(rtt), Some(rate)) = (under_load, test.delivered_bits_per_second) {
        let bytes = bandwidth_delay_bytes(rate / streams, rtt);
        vantage.add(
            facts,
            "tcp_window_used_bytes",
            bytes,
            "bytes",
            "delivered rate, tcpi_rtt",
        );
    }
    let least = idle_rtt_s(vantage.record).or_else(|| rtt_s(test.rtt_ns?.min));
    if let (Some(rtt), Some(link)) = (least, vantage.link_bits_per_second()) {
        let bytes = bandwidth_delay_bytes(link, rtt);
        vantage.add(
            facts,
            "tcp_bdp_bytes",
            bytes,
            "bytes",
            "link speed, idle round trip",
        );
    }
}

fn idle_rtt_s(record: &Record) -> Option<f64> {
    let idle = record
        .run
        .latency
        .iter()
        .find(|latency| latency.phase == Load::Idle)?;
    Some(idle.rtt_ns?.p50 as f64 / 1e9)
}

/// The kernel's stop-watches: the first contains the two others (include/linux/tcp.h, `tcp_chrono`).
fn waiting(vantage: &Vantage<'_>, facts: &mut Facts) {
    let Some(test) = vantage.test.filter(|_| vantage.side == Some(Side::Sender)) else {
        return;
    };
    let us = |time: Option<u64>| time.map(|time| time as f64);
    let Some(busy) = us(test.busy_time_us).filter(|busy| *busy > 0.0) else {
        return;
    };
    for (fact, time) in [
        ("rwnd_limited_ratio", test.rwnd_limited_us),
        ("sndbuf_limited_ratio", test.sndbuf_limited_us),
    ] {
        if let Some(limited) = us(time) {
            vantage.add_to_host(facts, fact, limited / busy, "ratio", "TCP_INFO");
        }
    }
    if test.duration_s > 0.0 {
        let wall_us = test.duration_s * 1e6 * f64::from(test.streams.max(1));
        let nothing = (1.0 - busy / wall_us).max(0.0);
        vantage.add_to_host(facts, "app_limited_ratio", nothing, "ratio", "TCP_INFO");
    }
}

fn zero_windows(vantage: &Vantage<'_>, facts: &mut Facts) {
    let source = "/proc/net/netstat";
    let advertised = vantage.of_host(source, "TcpExtTCPToZeroWindowAdv");
    let span = vantage.host_counters().span_s(source);
    if let (Some(advertised), Some(span)) = (advertised, span) {
        vantage.add_to_host(
            facts,
            "zero_windows_per_second",
            advertised.value as f64 / span,
            "1/s",
            &advertised.source,
        );
    }
}

fn reach(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let text = vantage.host_set_up("sysctl", "net.ipv4.tcp_rmem");
    let max: Option<f64> = text.and_then(|text| text.split_whitespace().nth(2)?.parse().ok());
    let rate = test.delivered_bits_per_second.filter(|rate| *rate > 0.0);
    if let (Some(max), Some(rate)) = (max, rate) {
        let reach_ms = max / 2.0 * 8.0 / rate * 1e3;
        vantage.add_to_host(
            facts,
            "tcp_rmem_reach_ms",
            reach_ms,
            "ms",
            "net.ipv4.tcp_rmem, delivered rate",
        );
    }
}

/// Of all processors, from which on one has to wait for another.
const FULL: f64 = 0.93;
/// Of the time, for which one end of a full machine was seen to wait for the other without any fault.
const LONGEST_TURN: f64 = 0.52;
