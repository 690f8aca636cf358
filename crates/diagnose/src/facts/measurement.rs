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
use linerate_model::output::{Fact, Test, Value};

use super::vantage::vantages;
use super::{Facts, Known, fact};

pub(super) const KNOWN: &[Known] = &[
    Known {
        name: "protocol",
        unit: "",
        means: "the test's transport: udp, tcp",
        tells: "",
    },
    Known {
        name: "payload_bytes",
        unit: "bytes",
        means: "payload of a datagram, or what TCP's program writes at once",
        tells: "",
    },
    Known {
        name: "streams",
        unit: "",
        means: "parallel streams in this direction",
        tells: "",
    },
    Known {
        name: "duration_s",
        unit: "s",
        means: "measured time",
        tells: "",
    },
    Known {
        name: "requested_bits_per_second",
        unit: "bit/s",
        means: "payload rate that was asked for",
        tells: "",
    },
    Known {
        name: "offered_bits_per_second",
        unit: "bit/s",
        means: "payload rate that the sender handed to its kernel",
        tells: "",
    },
    Known {
        name: "delivered_bits_per_second",
        unit: "bit/s",
        means: "payload rate that the receiver got",
        tells: "",
    },
    Known {
        name: "offered_ratio",
        unit: "ratio",
        means: "offered of requested",
        tells: "",
    },
    Known {
        name: "lacking_bits_per_second",
        unit: "bit/s",
        means: "payload rate that was asked for and never offered, or that the link has and TCP did not get",
        tells: "",
    },
    Known {
        name: "delivered_pps",
        unit: "1/s",
        means: "datagrams that arrived each second",
        tells: "",
    },
    Known {
        name: "line_rate_bits_per_second",
        unit: "bit/s",
        means: "payload rate that the slower end's link carries at most",
        tells: "",
    },
    Known {
        name: "line_rate_ratio",
        unit: "ratio",
        means: "delivered of line rate",
        tells: "",
    },
    Known {
        name: "link_kind",
        unit: "",
        means: "what carries the test: wire, veth, tap, loopback",
        tells: "",
    },
    Known {
        name: "one_machine",
        unit: "",
        means: "whether both ends are the same machine",
        tells: "",
    },
    Known {
        name: "corrupt_packets",
        unit: "packets",
        means: "datagrams that arrived with a stamp that does not check",
        tells: "",
    },
    Known {
        name: "reordered_ratio",
        unit: "ratio",
        means: "of the datagrams sent, those that arrived after a later one",
        tells: "",
    },
    Known {
        name: "reorder_extent_max",
        unit: "packets",
        means: "by how many places a datagram was overtaken at most",
        tells: "",
    },
    Known {
        name: "duplicate_ratio",
        unit: "ratio",
        means: "copies beyond the first, of the datagrams sent",
        tells: "",
    },
    Known {
        name: "duplicate_packets",
        unit: "packets",
        means: "copies beyond the first",
        tells: "",
    },
    Known {
        name: "reordered_packets",
        unit: "packets",
        means: "datagrams that arrived after a later one",
        tells: "",
    },
    Known {
        name: "search_step",
        unit: "",
        means: "whether the test is a step of a search, which looks for rates that cannot be had",
        tells: "",
    },
    Known {
        name: "claim",
        unit: "",
        means: "whether the numbers are put forward as a result: published, compared, or asked for by hand",
        tells: "",
    },
    Known {
        name: "repeat_spread",
        unit: "ratio",
        means: "of tests that asked for the same, the best result over the worst, less one",
        tells: "",
    },
    Known {
        name: "sender_refused",
        unit: "",
        means: "whether the sender's own kernel refused datagrams (ENOBUFS)",
        tells: "",
    },
    Known {
        name: "sender_behind_ms",
        unit: "ms",
        means: "the sender's largest lag behind its schedule",
        tells: "",
    },
    Known {
        name: "unsent_packets",
        unit: "packets",
        means: "datagrams that the asked rate called for and that were never handed to the kernel",
        tells: "",
    },
    Known {
        name: "numbers_contradict",
        unit: "",
        means: "whether the test's own numbers contradict each other: more received than sent, a loss below 0 or above all, parts that do not add up",
        tells: "",
    },
    Known {
        name: "report_lost",
        unit: "",
        means: "whether a tool said that the peer refused it or that its report never came",
        tells: "",
    },
    Known {
        name: "start_loss_share",
        unit: "ratio",
        means: "of the losses whose time is known, those in the first twentieth of the test",
        tells: "",
    },
    Known {
        name: "same_count_lost",
        unit: "",
        means: "whether three or more tests of different rates lost the same number of packets",
        tells: "",
    },
    Known {
        name: "foreign_packet_ratio",
        unit: "ratio",
        means: "packets that the receiving interface took and that are not of the test, of the test's own",
        tells: "",
    },
    Known {
        name: "foreign_packets_per_second",
        unit: "1/s",
        means: "packets that the receiving interface took each second and that are not of the test",
        tells: "ip -s link show dev {interface}   # before a test and after it, with what the test printed",
    },
    Known {
        name: "multicast_per_second",
        unit: "1/s",
        means: "multicast packets that the interface took each second of the test",
        tells: "ip -s -s link show dev {interface}   # before a test and after it, with what the test printed",
    },
    Known {
        name: "capture_sockets",
        unit: "",
        means: "packet sockets that see this interface's traffic",
        tells: "cat /proc/net/packet",
    },
    Known {
        name: "frequency_change_ratio",
        unit: "ratio",
        means: "by how much the processors' mean frequency differs between two readings",
        tells: "grep . /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq",
    },
    Known {
        name: "throttling_logged",
        unit: "",
        means: "whether the kernel's log says that a processor was slowed down for its heat",
        tells: "dmesg | grep -i throttl",
    },
    Known {
        name: "environment_differences",
        unit: "",
        means: "how many of kernel, command line and configuration differ between two readings",
        tells: "cat /proc/version /proc/cmdline",
    },
    Known {
        name: "rate_layer",
        unit: "",
        means: "what a reported rate counts, by its packets: payload, with-preamble",
        tells: "",
    },
];

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

/// A fact of one test.
fn of_test(test: &Test, name: &str, value: impl Into<Value>, unit: &str, source: &str) -> Fact {
    Fact {
        test_id: Some(test.id.clone()),
        ..fact(name, value, unit, source)
    }
}

#[cfg(test)]
mod tests;
