// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a reported rate counts: the packets themselves, or what they take of the link as well.

use super::of_test;
use crate::calc::frame_rate::l1_bits_per_second;
use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    for test in record
        .run
        .tests
        .iter()
        .filter(|test| test.duration_s > 0.0 && test.payload_bytes > 0)
    {
        let (Some(rate), Some(packets)) = (test.delivered_bits_per_second, test.received_packets)
        else {
            continue;
        };
        let each_second = packets as f64 / test.duration_s;
        let bare = each_second * f64::from(test.payload_bytes) * 8.0;
        let close = |expected: f64| (rate / expected - 1.0).abs() < SAME;
        let layer = if close(bare) {
            "payload"
        } else if test.payload_bytes < TOLD_APART
            && close(l1_bits_per_second(each_second, test.payload_bytes))
        {
            "with-preamble"
        } else {
            continue;
        };
        facts.add(of_test(
            test,
            "rate_layer",
            layer,
            "",
            "rate, packets a second, bytes a packet",
        ));
    }
}

/// In longer packets 20 bytes more are within what tables round off.
const TOLD_APART: u32 = 600;
/// Tables are rounded to three digits or so.
const SAME: f64 = 0.01;
