// SPDX-License-Identifier: MIT OR Apache-2.0
//! One line a direction, for scripts and tired eyes.

use linerate_model::output::{ForwardResult, Output, Protocol, Test};
use linerate_model::units::format::{PACKET_RATES, UNKNOWN, percent, with_unit};
use linerate_model::units::rate_unit::{RateUnit, rate_in};

use super::verdict;
use crate::view::{Block, Line, Tone, comparison, conclusions, cost, knees, relevant, way};

pub(in crate::view) fn blocks(output: &Output, unit: Option<RateUnit>) -> Vec<Block> {
    let mut lines: Vec<Line> = Vec::new();
    lines.extend(verdict::lines(output));
    if lines.is_empty() {
        lines.extend(
            output
                .knees
                .iter()
                .map(|knee| Line::new(0, knees::answer(output, knee))),
        );
    }
    lines.extend(cost::answers(output));
    lines.extend(output.results.iter().map(result));
    lines.extend(comparison::decided(output));
    if lines.is_empty() {
        lines.extend(relevant(output).into_iter().map(|one| test(one, unit)));
    }
    lines.iter_mut().for_each(|line| line.indent = 0);
    let all = [
        Block::lines("", lines),
        conclusions::invalid(output),
        conclusions::expectations(output),
    ];
    all.into_iter().flatten().collect()
}

fn test(test: &Test, unit: Option<RateUnit>) -> Line {
    let rate = test.delivered_bits_per_second;
    let rate = rate.map_or_else(|| UNKNOWN.to_owned(), |rate| rate_in(unit, rate));
    let lost = match (
        test.protocol,
        test.lost_packets,
        test.sent_packets,
        test.retransmits,
    ) {
        (Protocol::Udp, Some(lost), Some(sent), _) => {
            let ratio = percent(lost as f64 / sent.max(1) as f64);
            format!("  lost {lost} of {sent} ({ratio} %)")
        }
        (Protocol::Tcp, _, _, Some(again)) => format!("  retransmitted {again} segments"),
        _ => String::new(),
    };
    let tone = if test.valid { Tone::Plain } else { Tone::Bad };
    Line::new(0, format!("{:<4} {rate}{lost}", way(test.direction))).tone(tone)
}

fn result(result: &ForwardResult) -> Line {
    let rate = result.throughput_fps;
    let rate = rate.map_or_else(|| UNKNOWN.to_owned(), |rate| with_unit(rate, PACKET_RATES));
    let limited = if result.tester_limited {
        "  (the tester's limit)"
    } else {
        ""
    };
    let text = format!(
        "{:>5} bytes  {}  {}  {rate}{limited}",
        result.frame_bytes, result.direction, result.goal
    );
    Line::new(0, text)
}
