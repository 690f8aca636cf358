// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether TCP's buffers are large enough for what had to be on its way, and who made it wait.

use linerate_model::output::{Phase as Load, Protocol, Test};

use super::memory;
use crate::calc::tcp_bound::bandwidth_delay_bytes;
use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::Vantage;
use linerate_model::record::{Record, Side};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    let Some(test) = vantage.test.filter(|test| test.protocol == Protocol::Tcp) else {
        return;
    };
    used(vantage, test, facts);
    crowded(vantage, test, facts);
    let host = vantage.as_host();
    if vantage.side == Some(Side::Sender) {
        waiting(&host, test, facts);
    }
    let counter = "TcpExtTCPToZeroWindowAdv";
    host.add_rate(facts, "zero_windows_per_second", Source::Netstat, counter);
    if vantage.side == Some(Side::Receiver) {
        reach(&host, test, facts);
    }
}

/// Two ends that share processors which are all in use keep each other waiting: TCP's stop-watches then
/// show whose turn it was, and a timer that comes late sends again what was not lost.
fn crowded(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let ends = [test.cpu.local, test.cpu.remote].into_iter().flatten();
    let full = vantage.record.one_machine() && ends.map(|cpu| cpu.busy()).any(|busy| busy > FULL);
    let source = "/proc/stat during the test";
    vantage.add(facts, "machine_full", full, source);
    let stall = if full { LONGEST_TURN } else { 0.0 };
    vantage.add(facts, "processor_stall_ratio", stall, source);
}

/// Most of the time the sender waited for a window that a setting of the receiver keeps small, as in rule S05b.
pub(super) fn capped(evidence: &Evidence<'_>, facts: &mut Facts) {
    let name = "receive_window_is_capped";
    facts.add_to_run(name, false, "no test");
    for test in evidence.record.tests() {
        let host = Vantage::end(evidence, test, Side::Receiver).as_host();
        let largest = memory::triple(&host, RMEM).map(|[_, _, largest]| largest);
        let waited = test.rwnd_limited_us.zip(test.busy_time_us);
        let waited = waited.is_some_and(|(limited, busy)| limited * 2 > busy);
        let capped = waited && largest.is_some_and(|bytes| bytes < SMALL_BYTES);
        facts.add_to_test(&test.id, name, capped, "TCP_INFO, net.ipv4.tcp_rmem");
    }
}

fn used(vantage: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let streams = f64::from(test.streams.max(1));
    let rtt_s = |ns: i64| (ns > 0).then_some(ns as f64 / 1e9);
    let under_load = test.rtt_ns.and_then(|rtt| rtt_s(rtt.p50));
    let bytes = under_load.zip(test.delivered_bits_per_second);
    let bytes = bytes.map(|(rtt, rate)| bandwidth_delay_bytes(rate / streams, rtt));
    let source = "delivered rate, tcpi_rtt";
    vantage.add(facts, "tcp_window_used_bytes", bytes, source);
    let used = bytes;
    let least = idle_rtt_s(vantage.record).or_else(|| rtt_s(test.rtt_ns?.min));
    let bytes = least.zip(vantage.link_bits_per_second());
    let bytes = bytes.map(|(rtt, link)| bandwidth_delay_bytes(link, rtt));
    let source = "link speed, idle round trip";
    vantage.add(facts, "tcp_bdp_bytes", bytes, source);
    proposed(vantage, used, bytes, facts);
}

/// The buffers with their smallest and first sizes as they are. Half of a buffer is window: it is in use, and what is in
/// use may be no more than a small buffer allows. Therefore never less than the kernel's own choice.
fn proposed(vantage: &Vantage<'_>, used: Option<f64>, needed: Option<f64>, facts: &mut Facts) {
    let wanted = used.map(|used| (used * WINDOWS).max(needed.unwrap_or(0.0) * LINKS));
    let wanted = wanted.map(|wanted| (wanted as u64).min(LARGEST_BYTES));
    for (name, key, usual_bytes) in [
        ("tcp_rmem_proposed", "net.ipv4.tcp_rmem", USUAL_RMEM_BYTES),
        ("tcp_wmem_proposed", "net.ipv4.tcp_wmem", USUAL_WMEM_BYTES),
    ] {
        let usual = kernels_choice(vantage, usual_bytes);
        let wanted = wanted.map(|wanted| wanted.max(usual.unwrap_or(0)));
        let wanted = wanted.and_then(|wanted| wanted.checked_next_multiple_of(ROUND_BYTES));
        let larger = || {
            let text = vantage.host_set_up("sysctl", key)?;
            let words: Vec<&str> = text.split_whitespace().collect();
            let [least, first, most] = words.as_slice() else {
                return None;
            };
            let wanted = wanted?;
            (wanted > most.parse().ok()?).then(|| format!("{least} {first} {wanted}"))
        };
        let source = format!("{key}, delivered rate, tcpi_rtt, link speed");
        vantage.add(facts, name, larger(), &source);
    }
}

/// The largest size that the kernel sets at boot: 1/128 of the memory, of which `tcp_mem[1]` is 1/16 in pages, at most
/// `usual_bytes` (net/ipv4/tcp.c, `tcp_init`). Only the first network namespace shows `tcp_mem`.
fn kernels_choice(vantage: &Vantage<'_>, usual_bytes: u64) -> Option<u64> {
    let number = |source, key, place| -> Option<u64> {
        let text = vantage.host_set_up(source, key)?;
        text.split_whitespace().nth(place)?.parse().ok()
    };
    let by_pages =
        number("sysctl", "net.ipv4.tcp_mem", 1).map(|pages| pages.saturating_mul(PAGE_BYTES / 8));
    let by_memory =
        || number("/proc/meminfo", "MemTotal", 0).map(|kib| kib.saturating_mul(1024 / 128));
    Some(by_pages.or_else(by_memory)?.min(usual_bytes))
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
fn waiting(host: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let us = |time: Option<u64>| time.map(|time| time as f64);
    let Some(busy) = us(test.busy_time_us).filter(|busy| *busy > 0.0) else {
        return;
    };
    for (name, time) in [
        ("rwnd_limited_ratio", test.rwnd_limited_us),
        ("sndbuf_limited_ratio", test.sndbuf_limited_us),
    ] {
        let ratio = us(time).map(|limited| limited / busy);
        host.add(facts, name, ratio, "TCP_INFO");
    }
    if test.duration_s > 0.0 {
        let wall_us = test.duration_s * 1e6 * f64::from(test.streams.max(1));
        let nothing = (1.0 - busy / wall_us).max(0.0);
        host.add(facts, "app_limited_ratio", nothing, "TCP_INFO");
    }
    let control = control_limited_ratio(test);
    host.add(facts, "control_limited_ratio", control, "TCP_INFO");
}

/// Of the test's time, that in which neither window nor buffer held the sender up, and it had something to send.
pub(crate) fn control_limited_ratio(test: &Test) -> Option<f64> {
    let us = |time: Option<u64>| time.map(|time| time as f64);
    let busy = us(test.busy_time_us).filter(|busy| *busy > 0.0)?;
    let held_up = us(test.rwnd_limited_us)? + us(test.sndbuf_limited_us)?;
    let wall_us = test.duration_s * 1e6 * f64::from(test.streams.max(1));
    let ratio = (wall_us > 0.0).then(|| (busy - held_up) / wall_us)?;
    Some(ratio.clamp(0.0, 1.0))
}

fn reach(host: &Vantage<'_>, test: &Test, facts: &mut Facts) {
    let text = host.host_set_up("sysctl", "net.ipv4.tcp_rmem");
    let max: Option<f64> = text.and_then(|text| text.split_whitespace().nth(2)?.parse().ok());
    let rate = test.delivered_bits_per_second.filter(|rate| *rate > 0.0);
    let reach_ms = max
        .zip(rate)
        .map(|(max, rate)| max / 2.0 * 8.0 / rate * 1e3);
    let source = "net.ipv4.tcp_rmem, delivered rate";
    host.add(facts, "tcp_rmem_reach_ms", reach_ms, source);
}

const RMEM: &str = "net.ipv4.tcp_rmem";
/// The window without scaling: a larger one is not a few segments.
const SMALL_BYTES: u64 = 65_536;
const WINDOWS: f64 = 3.0;
/// Of what fills the link.
const LINKS: f64 = 2.0;
/// No connection needs more, and these settings end at 2 GiB.
const LARGEST_BYTES: u64 = 1 << 30;
const ROUND_BYTES: u64 = 1 << 16;
const USUAL_RMEM_BYTES: u64 = 6 << 20;
const USUAL_WMEM_BYTES: u64 = 4 << 20;
const PAGE_BYTES: u64 = 4096;
/// Of all processors, from which on one has to wait for another.
const FULL: f64 = 0.93;
/// Of the time, for which one end of a full machine was seen to wait for the other without any fault.
const LONGEST_TURN: f64 = 0.52;
