// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the measurement itself can be trusted: the sender's schedule, run lengths, other traffic, captures, what differs between the ends.

mod account;

use super::{Facts, Known};
use crate::record::Record;

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
];

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    account::collect(record, facts);
}
