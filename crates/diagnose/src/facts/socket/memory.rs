// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that protocols may use, what they use, and whether the kernel ran short of it.

use super::buffer::both;
use crate::calc::tcp_memory::{Rules, TcpMemory, free_pages, is_autosized};
use crate::evidence::Source;
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage};

pub(super) fn collect(vantage: &Vantage<'_>, facts: &mut Facts) {
    if !vantage.is_host() {
        return;
    }
    let host = &vantage.as_host();
    let errors = both(host, "UdpMemErrors", "Udp6MemErrors");
    host.add_counted(facts, "udp_mem_errors", errors);
    let udp = filled(host, "UDP.mem", "net.ipv4.udp_mem", 2);
    let source = "/proc/net/sockstat UDP.mem, net.ipv4.udp_mem";
    host.add(facts, "udp_mem_ratio", udp, source);
    tcp(host, facts);
    shortage(host, facts);
    if host.test.is_none() {
        set_up(host, facts);
    }
}

fn tcp(host: &Vantage<'_>, facts: &mut Facts) {
    let tcp = filled(host, "TCP.mem", TCP_MEM, 1);
    let source = "/proc/net/sockstat TCP.mem, net.ipv4.tcp_mem";
    host.add(facts, "tcp_mem_ratio", tcp, source);
    let pressures = host.of_host(Source::Netstat, "TcpExtTCPMemoryPressures");
    host.add_counted(facts, "tcp_memory_pressures", pressures);
    let pruned = PRUNED.map(|name| (Source::Netstat, name));
    host.add_counted(facts, "tcp_pruned", host.sum_of_host(pruned));
}

/// The fullest moment, of a limit in pages.
fn filled(host: &Vantage<'_>, gauge: &str, limit: &str, index: usize) -> Option<f64> {
    let pages = host.counters().levels("/proc/net/sockstat", gauge);
    let limit_pages = triple(host, limit)?[index];
    let fullest = pages.into_iter().max().filter(|_| limit_pages > 0)?;
    Some(fullest as f64 / limit_pages as f64)
}

fn set_up(host: &Vantage<'_>, facts: &mut Facts) {
    for (name, key) in [
        ("tcp_rmem_max_bytes", "net.ipv4.tcp_rmem"),
        ("tcp_wmem_max_bytes", "net.ipv4.tcp_wmem"),
    ] {
        let bytes = triple(host, key).map(|[_, _, max]| max as f64);
        host.add(facts, name, bytes, key);
    }
    let Some(pages) = triple(host, TCP_MEM) else {
        return;
    };
    host.add(facts, "tcp_mem_pressure_pages", pages[1] as f64, TCP_MEM);
    let autosized = is_autosized(pages);
    let set_by = if autosized { "kernel" } else { "admin" };
    let source = "net/ipv4/tcp.c tcp_init_mem";
    host.add(facts, "tcp_mem_set_by", set_by, source);
    let free = started_with(host, pages).filter(|_| autosized);
    let megabytes = free.map(|pages| (pages * PAGE_BYTES) as f64 / 1e6);
    host.add(facts, "tcp_mem_from_megabytes", megabytes, source);
}

/// Free pages at the kernel's start: by the rules under which the largest receive buffer fits too.
fn started_with(vantage: &Vantage<'_>, tcp_mem: [u64; 3]) -> Option<u64> {
    let [_, _, receive_max] = triple(vantage, "net.ipv4.tcp_rmem")?;
    let fits = |rules| {
        let free = free_pages(rules, tcp_mem[1]);
        let expected = TcpMemory::of_free_pages(rules, free);
        (expected.receive_max_bytes.abs_diff(receive_max) < receive_max / 50).then_some(free)
    };
    fits(Rules::Eighth).or_else(|| fits(Rules::Sixteenth))
}

fn shortage(host: &Vantage<'_>, facts: &mut Facts) {
    let kilobytes = |key| {
        let text = host.host_set_up("/proc/meminfo", key)?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let available = kilobytes("MemAvailable")
        .or_else(|| Some(kilobytes("MemFree")? + kilobytes("Cached").unwrap_or(0.0)));
    let ratio = available.zip(kilobytes("MemTotal"));
    let ratio = ratio.filter(|_| host.test.is_none());
    let ratio = ratio.map(|(available, total)| available / total);
    host.add(facts, "memory_available_ratio", ratio, "/proc/meminfo");
    let dropped = host.of_host(Source::Netstat, "TcpExtPFMemallocDrop");
    let logged = logged(host).filter(|_| host.test.is_none());
    let failures = match (dropped, logged) {
        (Some(dropped), Some(logged)) if logged.value > dropped.value => Some(logged),
        (dropped, logged) => dropped.or(logged),
    };
    host.add_counted(facts, "allocation_failures", failures);
}

/// Lines of the log in which the kernel had no memory at once.
fn logged(host: &Vantage<'_>) -> Option<Counted> {
    let lines = host.logged(|line| line.contains("page allocation failure"))?;
    (lines > 0).then(|| Counted {
        value: lines as u64,
        since_boot: true,
        source: "dmesg".to_owned(),
    })
}

pub(super) fn triple(vantage: &Vantage<'_>, key: &str) -> Option<[u64; 3]> {
    let numbers: Option<Vec<u64>> = vantage
        .host_set_up("sysctl", key)?
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    numbers?.try_into().ok()
}

const TCP_MEM: &str = "net.ipv4.tcp_mem";
const PAGE_BYTES: u64 = 4096;
const PRUNED: [&str; 3] = [
    "TcpExtPruneCalled",
    "TcpExtRcvPruned",
    "TcpExtTCPRcvCollapsed",
];
