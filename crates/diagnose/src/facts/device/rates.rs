// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates of several frame sizes: equal in frames, equal in bits, or a price for each of both.

use linerate_model::output::ForwardResult;

use crate::calc::packet_cost::{Cost, microseconds_per_packet};
use crate::facts::Facts;
use linerate_model::order;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let points = points(&record.run.results);
    facts.add_to_run("forward_sizes", points.len() as f64, SOURCE);
    let Some(highest) = points.iter().map(|(_, fps)| *fps).reduce(f64::max) else {
        return;
    };
    facts.add_to_run("forward_pps", highest, SOURCE);
    let cost = microseconds_per_packet(highest);
    facts.add_to_run("forward_packet_us", cost, SOURCE);
    if let Some(cost) = Cost::fit(&points).filter(|_| points.len() >= SIZES_FOR_A_LINE) {
        price(cost, &record.run.results, facts);
    }
    if !far_apart(&points) {
        return;
    }
    let flat = spread(points.iter().map(|(_, fps)| *fps)) <= ALIKE_FRAMES;
    facts.add_to_run("forward_pps_flat", flat, SOURCE);
    if let Some((layer, bits, apart)) = best_layer(&points) {
        let within = apart <= ALIKE_BITS || agree_within_bounds(&record.run.results, layer);
        facts.add_to_run("forward_bits_flat", within, SOURCE);
        facts.add_to_run("forward_bits_layer", layer, SOURCE);
        facts.add_to_run("forward_bits_per_second", bits, SOURCE);
    }
}

/// What each byte and each frame cost.
fn price(cost: Cost, results: &[ForwardResult], facts: &mut Facts) {
    facts.add_to_run("forward_fixed_us", cost.fixed_us, SOURCE);
    if cost.byte_us <= 0.0 {
        return;
    }
    let bits = 8e6 / cost.byte_us;
    facts.add_to_run("forward_byte_bits_per_second", bits, SOURCE);
    let line = |one: &ForwardResult| {
        let ratio = one.line_rate_ratio.filter(|ratio| *ratio > 0.0)?;
        Some(one.l1_bits_per_second? / ratio)
    };
    let line = results.iter().find_map(line);
    let ratio = line.map(|line| bits / line);
    facts.add_to_run("forward_byte_rate_of_line", ratio, SOURCE);
}

/// The results of the first goal and direction that are the device's own.
fn own(results: &[ForwardResult]) -> impl Iterator<Item = &ForwardResult> {
    let first = results.first();
    results.iter().filter(move |one| {
        first.is_some_and(|first| (&one.goal, &one.direction) == (&first.goal, &first.direction))
            && !one.tester_limited
            && one.upper_fps.is_some()
            && one.line_rate_ratio.is_none_or(|ratio| ratio < FULL)
    })
}

/// Whether one bit rate lies between the bounds of every size, within the tolerance. A search that ended early has no
/// bounds to speak of.
fn agree_within_bounds(results: &[ForwardResult], layer: &str) -> bool {
    let extra_bytes = LAYERS.iter().find(|(name, _)| *name == layer);
    let extra_bytes = extra_bytes.map_or(0.0, |(_, bytes)| *bytes);
    let (mut lower, mut upper) = (0.0_f64, f64::INFINITY);
    for one in own(results) {
        let (Some(least), Some(most)) = (one.lower_fps, one.upper_fps) else {
            return false;
        };
        if most > least * BOUNDED {
            return false;
        }
        let bits = (f64::from(one.frame_bytes) + extra_bytes) * 8.0;
        lower = lower.max(least * bits);
        upper = upper.min(most * bits);
    }
    lower <= upper * (1.0 + ALIKE_BITS)
}

/// Size and rate, the smallest size first.
fn points(results: &[ForwardResult]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = own(results)
        .filter_map(|one| Some((f64::from(one.frame_bytes), one.throughput_fps?)))
        .filter(|(_, fps)| *fps > 0.0)
        .collect();
    order::by(&mut points, |one, other| one.0.total_cmp(&other.0));
    points
}

fn far_apart(points: &[(f64, f64)]) -> bool {
    matches!((points.first(), points.last()), (Some(first), Some(last)) if last.0 >= 2.0 * first.0)
}

/// How far the highest is above the lowest.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = values.clone().fold(f64::MIN, f64::max);
    let least = values.fold(f64::MAX, f64::min);
    most / least - 1.0
}

/// The layer in whose bits the rates agree best, with their mean and how far they are apart.
fn best_layer(points: &[(f64, f64)]) -> Option<(&'static str, f64, f64)> {
    let rated = LAYERS.iter().map(|(name, beside_bytes)| {
        let bits = points
            .iter()
            .map(move |(bytes, fps)| (bytes + beside_bytes) * 8.0 * fps);
        let mean = bits.clone().sum::<f64>() / points.len() as f64;
        (*name, mean, spread(bits))
    });
    let rated: Vec<_> = rated.collect();
    let best = rated
        .iter()
        .min_by(|one, other| one.2.total_cmp(&other.2))?;
    // Sizes that are near each other tell no layer: then it is the usual one.
    let usual = rated
        .iter()
        .find(|one| one.0 == USUAL && one.2 <= best.2 + UNSURE);
    usual.or(Some(best)).copied()
}

const SOURCE: &str = "rates by frame size";
/// Bytes to add to a frame with FCS: preamble and gap; none; minus FCS; minus header and FCS.
const LAYERS: [(&str, f64); 4] = [
    ("the wire (L1)", 20.0),
    ("frames with FCS (L2)", 0.0),
    ("frames without FCS", -4.0),
    ("IP packets", -18.0),
];
/// Another layer has to be this much nearer to be preferred: the width of a search.
const UNSURE: f64 = 0.015;
const USUAL: &str = "frames with FCS (L2)";
/// Above this of the line rate, the line is full.
const FULL: f64 = 0.97;
const ALIKE_FRAMES: f64 = 0.1;
const ALIKE_BITS: f64 = 0.03;
/// Bounds of a search whose ratio is above this bound nothing.
const BOUNDED: f64 = 1.03;
const SIZES_FOR_A_LINE: usize = 4;
