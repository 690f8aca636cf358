// SPDX-License-Identifier: MIT OR Apache-2.0
//! What IP threw away on purpose: packet filter, tracked connections, neighbours, routes back.

use crate::evidence::{Evidence, Source};
use crate::facts::Facts;
use crate::facts::vantage::{Counted, Vantage, profiled, vantages};
use linerate_model::output::{Protocol, Test};
use linerate_model::record::Side;

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    for end in vantages(evidence) {
        let (drops, source) = output(&end).unzip();
        let source = source.unwrap_or_default();
        let rate = drops.and_then(|packets| refused_rate(&end, packets));
        let mut add = |name, value| end.as_host().add(facts, name, value, &source);
        add("output_filter_drops", drops);
        add("output_filter_bits_per_second", rate);
    }
    let ends = vantages(evidence).into_iter();
    for host in ends.filter(Vantage::is_host).map(Vantage::as_host) {
        let mut add = |name, counted| host.add_counted(facts, name, counted);
        add("netfilter_drops", netfilter(&host));
        let full = ["drop", "early_drop"].map(|name| (CONNTRACK, name));
        add("conntrack_drops", host.sum_of_host(full));
        let caches = [Source::ArpCache, Source::NdiscCache];
        let neighbours = |name| host.sum_of_host(caches.map(|cache| (cache, name)));
        add("neighbour_discards", neighbours("unresolved_discards"));
        add("neighbour_table_fulls", neighbours("table_fulls"));
        let route_back = host.of_host(Source::Netstat, "TcpExtIPReversePathFilter");
        add("rp_filter_drops", route_back);
        let source = "/proc/net/snmp IpInReceives, IpInDelivers";
        host.add(facts, "ip_layer_missing", missing_in_ip(&host), source);
        if let Some((entries, source)) = entries(&host) {
            host.add(facts, "conntrack_entries", entries, source);
        }
        let share = profiled(&host, FILTER);
        host.add(facts, "filter_cpu_share", share, "perf top");
        let most = host.host_set_up("sysctl", "net.netfilter.nf_conntrack_max");
        let most = most.and_then(|most| most.parse::<f64>().ok());
        let source = "sysctl net.netfilter.nf_conntrack_max";
        host.add(facts, "conntrack_max", most, source);
    }
}

/// The most that there were during a test; else what a reading of the count says.
fn entries(vantage: &Vantage<'_>) -> Option<(f64, &'static str)> {
    let counted = vantage.host_counters().levels(CONNTRACK, "entries");
    let counted = counted
        .into_iter()
        .max()
        .map(|most| (most as f64, CONNTRACK));
    let name = "net.netfilter.nf_conntrack_count";
    let read = || {
        Some((
            vantage.host_set_up("sysctl", name)?.parse().ok()?,
            "sysctl nf_conntrack_count",
        ))
    };
    counted.or_else(read)
}

/// Of the test's own packets where they are counted apart, else of all.
fn netfilter(vantage: &Vantage<'_>) -> Option<Counted> {
    [
        "skb:kfree_skb flow",
        "skb:kfree_skb flow received",
        "skb:kfree_skb",
    ]
    .iter()
    .find_map(|source| vantage.of_host(source, "NETFILTER_DROP"))
    .or_else(|| {
        // What the rules counted before the first reading may be years old.
        let rules = vantage.of_host("nft list ruleset", "drop.packets");
        rules.filter(|counted| !counted.since_boot)
    })
}

/// What a filter refused of a test's packets on their way out, by the kernel's reasons. `IpOutDiscards` alone does not
/// say so: it also counts datagrams longer than the MTU (net/ipv4/ip_output.c, `__ip_append_data`). A list of both
/// directions counts what came in, too: of it, at most what the send calls refused.
fn output(end: &Vantage<'_>) -> Option<(f64, String)> {
    let test = end.test.filter(|_| end.side == Some(Side::Sender))?;
    let freed = |list| end.of_host(list, "NETFILTER_DROP");
    let counted = freed(Source::DropsSent).or_else(|| {
        let both = freed(Source::Drops)?;
        let value = both.value.min(test.refused_packets?);
        Some(Counted { value, ..both })
    })?;
    Some((counted.value as f64, counted.source))
}

/// The payload that was refused so. TCP sends it again.
fn refused_rate(end: &Vantage<'_>, packets: f64) -> Option<f64> {
    let udp = |test: &&Test| test.protocol == Protocol::Udp && test.duration_s > 0.0;
    let test = end.test.filter(udp)?;
    Some(packets * f64::from(test.payload_bytes) * 8.0 / test.duration_s)
}

/// Taken in by IPv4 and neither given to a protocol, nor forwarded, nor counted as bad. Of a test only:
/// since the start of a machine the counters say nothing.
fn missing_in_ip(vantage: &Vantage<'_>) -> Option<f64> {
    vantage.test?;
    let count = |name| Some(vantage.of_host(Source::Snmp, name)?.value as f64);
    let accounted: f64 = ACCOUNTED.iter().filter_map(|name| count(name)).sum();
    let joined = count("IpReasmReqds").unwrap_or(0.0) - count("IpReasmOKs").unwrap_or(0.0);
    let route_back = vantage.of_host(Source::Netstat, "TcpExtIPReversePathFilter");
    let route_back = route_back.map_or(0.0, |counted| counted.value as f64);
    Some(
        (count("IpInReceives")? - count("IpInDelivers")? - accounted - joined - route_back)
            .max(0.0),
    )
}

/// What runs for each packet: the rules themselves (nftables, iptables), not what tracks connections.
const FILTER: &[&str] = &["nft_", "ipt_do_table", "ip6t_do_table", "ebt_do_table"];
const CONNTRACK: &str = Source::Conntrack.text();
const ACCOUNTED: &[&str] = &[
    "IpForwDatagrams",
    "IpInHdrErrors",
    "IpInAddrErrors",
    "IpInUnknownProtos",
    "IpInDiscards",
];
