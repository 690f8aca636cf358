// SPDX-License-Identifier: MIT OR Apache-2.0
//! What limits packets rather than bits: cost for each packet, offloads, queueing, filters, forwarding, neighbours.

mod cost;
mod filters;
mod forwarding;
mod offloads;
mod queueing;

use super::known::names;
use super::{Facts, Known};
use crate::evidence::Evidence;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "packet_price_us" "µs" "time per packet at the highest packet rate of any size" ""
    "packet_cost_us" "µs" "time of one datagram at the rate that arrived" ""
    "packet_sizes" "" "datagram sizes whose highest rate was measured in this direction" "linerate sweep <peer>"
    "packet_rate_flat" "" "whether a size and another at least twice as large reach the same packets per second, within 10 %" "linerate sweep <peer>"
    "packet_fixed_us" "µs" "fixed time per packet, from a line through time and size" "linerate sweep <peer>"
    "packet_byte_ns" "ns" "time per byte, from the same line" "linerate sweep <peer>"
    "packet_bound_up_to_bytes" "bytes" "size up to which the fixed time is five times that of the bytes or more" "linerate sweep <peer>"
    "tso" "" "TCP segmentation offload: on, off; `off [fixed]`, `off [requested on]` where it cannot be switched" "ethtool -k {interface}"
    "gso" "" "generic segmentation offload, as tso" "ethtool -k {interface}"
    "gro" "" "generic receive offload, as tso" "ethtool -k {interface}"
    "lro" "" "large receive offload, as tso" "ethtool -k {interface}"
    "rx_bytes_per_packet" "bytes" "bytes of a packet as the interface received them, mean; far above the MTU where segments come joined" "ip -s link show {interface}"
    "segments_per_second" "1/s" "segments of the MSS that the delivered rate makes" ""
    "tx_checksumming" "" "whether the card computes checksums, as tso" "ethtool -k {interface}"
    "csum_errors" "packets" "packets that the protocol dropped because of their checksum" "nstat -az UdpInCsumErrors TcpInCsumErrors Udp6InCsumErrors"
    "csum_errors_short_only" "" "whether short datagrams had checksum errors and long ones none" "nstat -az UdpInCsumErrors"
    "csum_error_ratio" "ratio" "of the datagrams sent, those dropped because of their checksum" "nstat -az UdpInCsumErrors Udp6InCsumErrors"
    "ip_version" "" "4 or 6" ""
    "qdisc_drops" "packets" "packets that the interface's qdisc dropped" "tc -s qdisc show dev {interface}"
    "flow_limit_drops" "packets" "packets dropped by fq's limit per flow" "tc -s qdisc show dev {interface}"
    "qdisc_drop_ratio" "ratio" "of the packets that the qdisc took, those that it dropped" "tc -s qdisc show dev {interface}"
    "qdisc_overlimits" "events" "how often the root qdisc held a packet back, or dropped it, because of its rate" "tc -s qdisc show dev {interface}"
    "ingress_drops" "packets" "packets that traffic control dropped on arrival" "tc -s qdisc show dev {interface} ingress"
    "qdisc_requeue_ratio" "ratio" "of the packets that the qdisc sent, those that were requeued because the card was not ready" "tc -s qdisc show dev {interface}"
    "qdisc_kind" "" "root qdisc of the interface" "tc qdisc show dev {interface}"
    "refused_packets" "packets" "datagrams that the sender's own kernel refused" ""
    "output_filter_drops" "packets" "packets of the test that a filter of the sending host refused on their way out" "perf trace -e skb:kfree_skb"
    "output_filter_bits_per_second" "bit/s" "payload of the datagrams that a filter of the sending host refused" "perf trace -e skb:kfree_skb"
    "netfilter_drops" "packets" "packets that the packet filter dropped" "perf trace -e skb:kfree_skb"
    "ip_layer_missing" "packets" "packets that IP took in and neither delivered nor forwarded nor counted as bad" "nstat -az IpInReceives IpInDelivers"
    "conntrack_entries" "" "connections that the kernel tracks" "cat /proc/sys/net/netfilter/nf_conntrack_count"
    "conntrack_max" "" "limit of tracked connections" "sysctl net.netfilter.nf_conntrack_max"
    "conntrack_drops" "packets" "packets and connections dropped because the table of connections was full" "conntrack -S"
    "neighbour_discards" "packets" "packets dropped while the peer's hardware address was not known" "cat /proc/net/stat/arp_cache"
    "neighbour_table_fulls" "events" "how often the table of neighbours was full" "cat /proc/net/stat/arp_cache"
    "rp_filter_drops" "packets" "packets dropped by the reverse-path filter" "nstat -az TcpExtIPReversePathFilter"
    "forwarding" "" "whether this host forwards: 1 or 0" "sysctl net.ipv4.ip_forward"
    "forwarded_pps" "1/s" "packets per second that this host forwarded" "nstat -az IpForwDatagrams"
    "forwarded_share" "ratio" "of the packets that IP took in, those that it forwarded" "nstat -az IpInReceives IpForwDatagrams"
    "fragmentation_failures" "packets" "packets too long to be forwarded, which must not be fragmented" "nstat -az IpFragFails"
    "flowtable" "" "whether a flowtable is in use" "nft list flowtables"
    "filter_rules" "" "rules of the packet filter" "nft list ruleset"
    "filter_cpu_share" "ratio" "share of a processor's time spent in the packet filter" "perf top"
    "routed_of_bridged" "ratio" "rate when routed, of the rate when bridged, with the same number of flows" ""
    "bypass_of_kernel" "ratio" "rate past the kernel's stack, of the rate of a bridge in the kernel, with the same number of flows" ""
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    cost::collect(evidence.record, facts);
    offloads::collect(evidence, facts);
    queueing::collect(evidence, facts);
    filters::collect(evidence, facts);
    forwarding::collect(evidence, facts);
}

#[cfg(test)]
mod tests;
