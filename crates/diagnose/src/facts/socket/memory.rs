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
    udp(vantage, facts);
    tcp(vantage, facts);
    shortage(vantage, facts);
    if vantage.test.is_none() {
        set_up(vantage, facts);
    }
}

fn udp(vantage: &Vantage<'_>, facts: &mut Facts) {
    vantage.add_counted_to_host(
        facts,
        "udp_mem_errors",
        "datagrams",
        both(vantage, "MemErrors"),
    );
    filled(
        vantage,
        "UDP.mem",
        "net.ipv4.udp_mem",
        2,
        "udp_mem_ratio",
        facts,
    );
}

fn tcp(vantage: &Vantage<'_>, facts: &mut Facts) {
    filled(
        vantage,
        "TCP.mem",
        "net.ipv4.tcp_mem",
        1,
        "tcp_mem_ratio",
        facts,
    );
    let pressures = vantage.of_host(Source::Netstat, "TcpExtTCPMemoryPressures");
    vantage.add_counted_to_host(facts, "tcp_memory_pressures", "events", pressures);
    let pruned = sum(
        vantage,
        &[
            "TcpExtPruneCalled",
            "TcpExtRcvPruned",
            "TcpExtTCPRcvCollapsed",
        ],
    );
    vantage.add_counted_to_host(facts, "tcp_pruned", "events", pruned);
}

/// The fullest moment, of a limit in pages.
fn filled(
    vantage: &Vantage<'_>,
    gauge: &str,
    limit: &str,
    index: usize,
    name: &str,
    facts: &mut Facts,
) {
    let pages = vantage.host_counters().levels("/proc/net/sockstat", gauge);
    let limit_pages = triple(vantage, limit)
        .map(|three| three[index])
        .filter(|limit| *limit > 0);
    if let (Some(pages), Some(limit_pages)) = (pages.into_iter().max(), limit_pages) {
        let source = format!("/proc/net/sockstat {gauge}, {limit}");
        vantage.add_to_host(
            facts,
            name,
            pages as f64 / limit_pages as f64,
            "ratio",
            &source,
        );
    }
}

fn set_up(vantage: &Vantage<'_>, facts: &mut Facts) {
    let mut bytes = |name, key| {
        if let Some([_, _, max]) = triple(vantage, key) {
            vantage.add(facts, name, max as f64, "bytes", key);
        }
    };
    bytes("tcp_rmem_max_bytes", "net.ipv4.tcp_rmem");
    bytes("tcp_wmem_max_bytes", "net.ipv4.tcp_wmem");
    let Some(pages) = triple(vantage, TCP_MEM) else {
        return;
    };
    vantage.add(
        facts,
        "tcp_mem_pressure_pages",
        pages[1] as f64,
        "pages",
        TCP_MEM,
    );
    let set_by = if is_autosized(pages) {
        "kernel"
    } else {
        "admin"
    };
    vantage.add(
        facts,
        "tcp_mem_set_by",
        set_by,
        "",
        "net/ipv4/tcp.c tcp_init_mem",
    );
    if let Some(free) = started_with(vantage, pages).filter(|_| is_autosized(pages)) {
        let megabytes = (free * PAGE_BYTES) as f64 / 1e6;
        vantage.add(
            facts,
            "tcp_mem_from_megabytes",
            megabytes,
            "MB",
            "net/ipv4/tcp.c tcp_init_mem",
        );
    }
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

fn shortage(vantage: &Vantage<'_>, facts: &mut Facts) {
    let kilobytes = |key| {
        let text = vantage.host_set_up("/proc/meminfo", key)?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let available = kilobytes("MemAvailable")
        .or_else(|| Some(kilobytes("MemFree")? + kilobytes("Cached").unwrap_or(0.0)));
    if let (Some(available), Some(total), None) = (available, kilobytes("MemTotal"), vantage.test) {
        vantage.add(
            facts,
            "memory_available_ratio",
            available / total,
            "ratio",
            "/proc/meminfo",
        );
    }
    let dropped = vantage.of_host(Source::Netstat, "TcpExtPFMemallocDrop");
    let logged = logged(vantage).filter(|_| vantage.test.is_none());
    let failures = match (dropped, logged) {
        (Some(dropped), Some(logged)) if logged.value > dropped.value => Some(logged),
        (dropped, logged) => dropped.or(logged),
    };
    vantage.add_counted_to_host(facts, "allocation_failures", "events", failures);
}

/// Lines of the log in which the kernel had no memory at once.
fn logged(vantage: &Vantage<'_>) -> Option<Counted> {
    let settings = vantage.record.run.settings.iter();
    let logs = settings.filter(|setting| setting.host == vantage.host && setting.source == "dmesg");
    let lines = logs.flat_map(|setting| setting.values.values());
    let count = lines
        .filter(|line| line.contains("page allocation failure"))
        .count() as u64;
    (count > 0).then(|| Counted {
        value: count,
        since_boot: true,
        source: "dmesg".to_owned(),
    })
}

fn sum(vantage: &Vantage<'_>, names: &[&str]) -> Option<Counted> {
    let mut counted = names
        .iter()
        .filter_map(|name| vantage.of_host(Source::Netstat, name));
    let first = counted.next()?;
    Some(counted.fold(first, |sum, more| Counted {
        value: sum.value + more.value,
        source: format!("{}, {}", sum.source, more.source),
        ..sum
    }))
}

fn triple(vantage: &Vantage<'_>, key: &str) -> Option<[u64; 3]> {
    let numbers: Option<Vec<u64>> = vantage
        .host_set_up("sysctl", key)?
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect();
    numbers?.try_into().ok()
}

const TCP_MEM: &str = "net.ipv4.tcp_mem";
const PAGE_BYTES: u64 = 4096;
