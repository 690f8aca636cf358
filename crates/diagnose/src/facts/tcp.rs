// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP: what it sent again and why, what that allows, its course over time, both directions together.

mod course;
mod directions;
mod ecn;
mod opening;
mod pacing;
mod path;
mod segments;

pub(crate) use pacing::{
    CARRIED_MORE, CONTROL_LIMITED, HELD_BACK, MostCarried, paces_itself, use_ratio,
};

use super::known::names;
use super::{Facts, Known};
use crate::evidence::Evidence;

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "retransmits" "segments" "retransmitted segments" "nstat -az TcpRetransSegs"
    "retransmit_ratio" "ratio" "retransmitted segments, of all sent" "nstat -az TcpRetransSegs TcpOutSegs"
    "needed_retransmit_ratio" "ratio" "retransmitted segments that the receiver did not have, of all sent" "nstat -az TcpRetransSegs TcpOutSegs TcpExtTCPDSACKRecv"
    "spurious_retransmits" "segments" "retransmitted segments that the receiver already had" "nstat -az TcpExtTCPDSACKRecv"
    "spurious_retransmit_ratio" "ratio" "of the retransmitted segments, those that the receiver already had" "nstat -az TcpExtTCPDSACKRecv"
    "tcp_reorderings" "events" "how often TCP detected reordering" "nstat -az 'TcpExtTCP*Reorder'"
    "tcp_timeouts" "events" "how often TCP's retransmission timer ran out on open connections" "nstat -az TcpExtTCPTimeouts TcpExtTCPSynRetrans"
    "listen_overflows" "connections" "handshakes that found the server's accept queue full" "nstat -az TcpExtListenOverflows"
    "timeout_share" "ratio" "share of the test's time spent in timeouts of 0.2 s each" "nstat -az TcpExtTCPTimeouts"
    "rtt_ms" "ms" "TCP's round-trip time, median of the samples" "ss -ti"
    "rtt_inflation" "ratio" "median round-trip time of the shortest" "ss -ti"
    "congestion_control" "" "congestion control in use at the sender" "sysctl net.ipv4.tcp_congestion_control"
    "slows_at_loss" "" "whether the congestion control treats each loss as congestion; yes where it is unknown" "sysctl net.ipv4.tcp_congestion_control"
    "mathis_bits_per_second" "bit/s" "rate that the loss allows for all streams together: MSS·√1.5/(RTT·√loss)" ""
    "udp_best_bits_per_second" "bit/s" "highest rate that UDP delivered in the same direction" ""
    "tcp_shortfall_bits_per_second" "bit/s" "by how much TCP stayed below what UDP, or else the link, carries in the same direction" ""
    "at_line_rate" "" "whether the test delivered 95 % or more of what the link carries; no where the link's speed is not known" "ethtool {interface}"
    "slow_start_after_idle" "" "whether TCP restarts in slow start after a pause: 1 or 0" "sysctl net.ipv4.tcp_slow_start_after_idle"
    "cwnd_restarts" "events" "how often the congestion window was less than half of what it was, after an interval without payload and without loss" "ss -ti"
    "loss_burst_packets" "packets" "datagrams lost in a row, on average" ""
    "speed_ratio" "ratio" "link speed of the sender's interface of that of the receiver's" "ethtool {interface}"
    "transaction_ms" "ms" "time of one request and its answer" ""
    "pacing_bits_per_second" "bit/s" "the rate at which the sender's congestion control let it send, all streams" "ss -ti"
    "pacing_use_ratio" "ratio" "what TCP delivered, of the rate at which its congestion control paced it" "ss -ti"
    "most_carried_ratio" "ratio" "the most that any test with as many streams delivered in this direction alone, of what this one did" "linerate udp <peer> -b 0"
    "carried_more_bits_per_second" "bit/s" "how much more that test delivered" "linerate udp <peer> -b 0"
    "ecn_negotiated" "" "whether all connections of the test negotiated ECN" "ss -ti"
    "ecn_bleached_ratio" "ratio" "of the packets sent as ECT, those that arrived as Not-ECT" "linerate udp <peer> --tos 2"
    "ecn_ce_ratio" "ratio" "of the packets that arrived, those that a queue on the path marked CE" "linerate udp <peer> --tos 2"
    "ip_ce_packets" "packets" "packets that arrived marked CE, of all traffic of the host" "nstat -az IpExtInCEPkts"
    "ip_ect0_packets" "packets" "packets that arrived as ECT(0), of all traffic of the host" "nstat -az IpExtInECT0Pkts"
    "both_ways" "" "whether payload went both ways at once" ""
    "alone_ratio" "ratio" "rate while payload went the other way too, of the rate alone" ""
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    segments::collect(evidence, facts);
    course::collect(evidence, facts);
    opening::collect(evidence, facts);
    path::collect(evidence, facts);
    directions::collect(evidence.record, facts);
    pacing::collect(evidence.record, facts);
    ecn::collect(evidence, facts);
}

#[cfg(test)]
mod tests;
