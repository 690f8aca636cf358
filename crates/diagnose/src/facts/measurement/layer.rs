// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a rate counts that another tool reported: the packets themselves, or what they take of the link as well.

use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    // Our own tests count payload.
    let reported = record.tests().filter(|_| record.pasted);
    for test in reported.filter(|test| test.duration_s > 0.0 && test.payload_bytes > 0) {
        let (Some(rate), Some(packets)) = (test.delivered_bits_per_second, test.received_packets)
        else {
            continue;
        };
        let each_second = packets as f64 / test.duration_s;
        let rate_with = |more: u32| each_second * f64::from(test.payload_bytes + more) * 8.0;
        let close = |expected: f64| (rate / expected - 1.0).abs() < SAME;
        let layer = if close(rate_with(0)) {
            "payload"
        } else if test.payload_bytes < TOLD_APART && close(rate_with(PREAMBLE_AND_GAP_BYTES)) {
            "with-preamble"
        } else {
            continue;
        };
        let source = "rate, packets a second, bytes a packet";
        facts.add_to_test(&test.id, "rate_layer", layer, source);
    }
}

/// Bytes on the wire in addition to each frame: preamble, delimiter, gap (IEEE 802.3 §3.1.1, §4.4.2).
const PREAMBLE_AND_GAP_BYTES: u32 = 20;
/// In longer packets 20 bytes more are within what tables round off.
const TOLD_APART: u32 = 600;
/// Tables are rounded to three digits or so.
const SAME: f64 = 0.01;
