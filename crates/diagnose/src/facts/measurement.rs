// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the measurement itself can be trusted: the sender's schedule, run lengths, other traffic, captures, what differs between the ends.

mod account;
mod claim;
mod layer;
mod others;
mod sender;
mod start;
mod trust;

use crate::evidence::Evidence;

use super::known::names;
use super::vantage::vantages;
use super::{Facts, Known};

#[rustfmt::skip]
pub(super) const KNOWN: &[Known] = names! {
    "protocol" "" "the test's transport: udp, tcp" ""
    "payload_bytes" "bytes" "payload of a datagram, or the write size of a TCP program" ""
    "streams" "" "parallel streams in this direction" ""
    "duration_s" "s" "measured time" ""
    "requested_bits_per_second" "bit/s" "requested payload rate" ""
    "offered_bits_per_second" "bit/s" "payload rate that the sender handed to its kernel" ""
    "delivered_bits_per_second" "bit/s" "payload rate that the receiver counted" ""
    "offered_ratio" "ratio" "offered of requested" ""
    "met_request" "" "whether a rate was requested and arrived: then nothing limited the test" ""
    "lacking_bits_per_second" "bit/s" "payload rate that was requested and not offered, or that the link carries and TCP did not reach" ""
    "delivered_pps" "1/s" "datagrams received per second" ""
    "line_rate_bits_per_second" "bit/s" "line rate of the slower end's link, as payload rate" ""
    "line_rate_ratio" "ratio" "delivered of line rate" ""
    "link_kind" "" "what carries the test: wire, veth, tap, loopback" ""
    "over_loopback" "" "whether the test never leaves its host: there is no path" ""
    "over_tap" "" "whether a program, such as an emulator, takes the test's packets from a tap" ""
    "one_machine" "" "whether both ends are the same machine" ""
    "corrupt_packets" "packets" "received datagrams whose stamp is corrupt" ""
    "reordered_ratio" "ratio" "of the datagrams sent, those that arrived after a later one" ""
    "reorder_extent_max" "packets" "largest reordering extent" ""
    "duplicate_ratio" "ratio" "copies beyond the first, of the datagrams sent" ""
    "duplicate_packets" "packets" "copies beyond the first" ""
    "reordered_packets" "packets" "datagrams that arrived after a later one" ""
    "search_step" "" "whether the test is a trial of a search, which also tries rates that are too high" ""
    "above_knee" "" "whether the test is a trial of a search at more than the rate that met the goal: its losses were provoked" ""
    "stalled_mss_bytes" "bytes" "the segments with which the control connection stalled, where short ones got through" ""
    "claim" "" "whether the numbers are presented as a result: published, compared, or requested by hand" ""
    "repeat_spread" "ratio" "best result over the worst of tests with the same request, minus one" ""
    "sender_refused" "" "whether the sender's own kernel refused datagrams (ENOBUFS)" ""
    "sender_behind_ms" "ms" "how far the sender fell behind schedule, at most" ""
    "unsent_packets" "packets" "datagrams due at the requested rate that were not handed to the kernel" ""
    "numbers_contradict" "" "whether the test's own numbers contradict each other: more received than sent, a loss below 0 or above all, parts that do not add up" ""
    "report_lost" "" "whether a tool said that the peer refused it or that its report never came" ""
    "start_loss_share" "ratio" "of the losses whose time is known, those in the first twentieth of the test" ""
    "same_count_lost" "" "whether three or more tests of different rates lost the same number of packets" ""
    "foreign_packets" "packets" "packets received on the interface that belong neither to the test nor to its control connection and probes, at least" "ip -s link show dev {interface}   # before a test and after it, with what the test printed"
    "foreign_packet_ratio" "ratio" "packets received on the interface that do not belong to the test, of those that do" ""
    "foreign_packets_per_second" "1/s" "packets per second received on the interface that do not belong to the test" "ip -s link show dev {interface}   # before a test and after it, with what the test printed"
    "multicast_per_second" "1/s" "multicast packets per second received on the interface during the test" "ip -s -s link show dev {interface}   # before a test and after it, with what the test printed"
    "capture_sockets" "" "packet sockets that see this interface's traffic" "cat /proc/net/packet"
    "frequency_change_ratio" "ratio" "by how much the processors' mean frequency differs between two readings" "grep . /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq"
    "throttling_logged" "" "whether the kernel log reports thermal throttling" "dmesg | grep -i throttl"
    "environment_differences" "" "how many of kernel, command line and configuration differ between two readings" "cat /proc/version /proc/cmdline"
    "rate_layer" "" "what a reported rate counts, by its packets: payload, with-preamble" ""
};

pub(super) fn collect(evidence: &Evidence<'_>, facts: &mut Facts) {
    account::collect(evidence.record, facts);
    claim::collect(evidence.record, facts);
    layer::collect(evidence.record, facts);
    sender::collect(evidence.record, facts);
    start::collect(evidence.record, facts);
    trust::collect(evidence.record, facts);
    for place in vantages(evidence) {
        others::collect(&place, facts);
    }
}

#[cfg(test)]
mod tests;
