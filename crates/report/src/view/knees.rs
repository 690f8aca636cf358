// SPDX-License-Identifier: MIT OR Apache-2.0
//! The highest rates without loss: the bracket, how it was found, and what limits it.

use linerate_model::output::{Knee, Limit, Output, Test};
use linerate_model::units::format::{BIT_RATES, PACKET_RATES, percent, with_unit};

use super::{Block, Line, way};

pub(super) fn block(output: &Output) -> Option<Block> {
    let mut tries: Vec<&str> = output.verdicts.iter().map(|it| it.try_.as_str()).collect();
    let mut lines = Vec::new();
    for knee in &output.knees {
        lines.push(Line::new(2, answer(output, knee)));
        lines.extend(constant(knee).map(|text| Line::new(4, text)));
        lines.push(Line::new(4, details(knee)));
        if !knee.why.is_empty() {
            lines.push(Line::new(4, cause(output, knee)));
        }
        // Advice is given once; the verdict gives its own.
        if !knee.try_.is_empty() && !tries.contains(&knee.try_.as_str()) {
            tries.push(&knee.try_);
            lines.push(Line::new(4, format!("try: {}", knee.try_)));
        }
    }
    Block::lines("highest rate without loss: L4 goodput", lines)
}

fn answer(output: &Output, knee: &Knee) -> String {
    let rate = |rate: f64| with_unit(rate, BIT_RATES);
    let lower = |lossless: f64| match knee.limited_by.as_str() {
        "sender" => format!("≥ {} (sender-limited)", rate(lossless)),
        _ => format!("{} (lossless)", rate(lossless)),
    };
    let bracket = match (knee.lossless_bits_per_second, knee.lossy_bits_per_second) {
        (Some(lossless), Some(lossy)) => format!("{} … {} (lossy)", lower(lossless), rate(lossy)),
        (Some(lossless), None) => format!("{}, {}", lower(lossless), seen(output, knee)),
        (None, Some(lossy)) => format!("none was found; {} is lossy", rate(lossy)),
        (None, None) => format!("not found; {}", least(output, knee)),
    };
    let goal = if knee.goal_loss_ratio > 0.0 {
        format!(" (at most {} % lost)", percent(knee.goal_loss_ratio))
    } else {
        String::new()
    };
    format!("{}: {bracket}{goal}", way(knee.direction))
}

/// Where losses do not grow with the rate, the rate above is that of trials too short to lose a packet.
fn constant(knee: &Knee) -> Option<String> {
    let constant = knee.constant_loss?;
    Some(format!(
        "no knee: loss {} % at every rate (95 % interval {} … {} %), which does not grow with the rate; longer trials find a lower one",
        percent(constant.loss_ratio),
        percent(constant.lower95),
        percent(constant.upper95)
    ))
}

/// The reason is left out if a verdict has the same.
fn cause(output: &Output, knee: &Knee) -> String {
    let limit = limit(knee.limit);
    match output
        .verdicts
        .iter()
        .any(|verdict| verdict.why == knee.why)
    {
        true => format!("limited by {limit}"),
        false => format!("limited by {limit}: {}", knee.why),
    }
}

/// Trials with loss above the bracket, which prove nothing alone.
fn seen(output: &Output, knee: &Knee) -> String {
    let trials = knee.test_ids.iter().filter_map(|id| output.test(id));
    let lossy = trials.filter(|trial| trial.lost_packets > Some(0));
    let rates: Vec<_> = lossy
        .filter_map(|trial| trial.offered_bits_per_second)
        .collect();
    let above = |rate: &f64| Some(*rate) > knee.lossless_bits_per_second;
    match rates.iter().copied().filter(above).reduce(f64::min) {
        Some(rate) => format!("loss at {} not confirmed", with_unit(rate, BIT_RATES)),
        None if rates.is_empty() => "no loss was seen".to_owned(),
        None => "no loss was confirmed".to_owned(),
    }
}

/// The best trial of a search without an answer.
fn least(output: &Output, knee: &Knee) -> String {
    let trials = knee.test_ids.iter().filter_map(|id| output.test(id));
    let known = |trial: &Test| Some((trial.loss_ratio?, trial.offered_bits_per_second?));
    let better = |a: (f64, f64), b: (f64, f64)| match a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1))
    {
        std::cmp::Ordering::Greater => b,
        _ => a,
    };
    match trials.filter_map(known).reduce(better) {
        Some((loss, rate)) if loss > 0.0 => format!(
            "all trials lost some, the least {} % at {}",
            percent(loss),
            with_unit(rate, BIT_RATES)
        ),
        Some((_, rate)) => format!(
            "{} was carried without loss, but not confirmed",
            with_unit(rate, BIT_RATES)
        ),
        None => "no trial could be counted".to_owned(),
    }
}

fn details(knee: &Knee) -> String {
    let mut details = vec![format!("payload {} bytes", knee.payload_bytes)];
    details.extend(knee.lossless_pps.map(|pps| with_unit(pps, PACKET_RATES)));
    details.push(match knee.trials {
        1 => "1 trial".to_owned(),
        trials => format!("{trials} trials"),
    });
    let upper = knee
        .loss_ratio_upper95
        .filter(|_| knee.goal_loss_ratio == 0.0);
    details.extend(upper.map(|upper| format!("loss there < {} % (95 %)", percent(upper))));
    details.extend(ended_by(knee));
    details.join(", ")
}

/// Why a search stopped, other than for loss.
fn ended_by(knee: &Knee) -> Option<String> {
    match knee.limited_by.as_str() {
        "" | "loss" | "sender" => None,
        "range" if knee.limit == Limit::Link => None,
        "range" => Some("up to the end of the requested range".to_owned()),
        "trials" => Some("stopped: trial limit".to_owned()),
        other => Some(format!("ended by {other}")),
    }
}

/// What limits a rate, for people.
pub(super) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Link => "line rate",
        Limit::Path => "the path",
        Limit::ReceiverCpu => "the receiver's processor",
        Limit::ReceiverInterface => "the receiver's interface",
        Limit::ReceiverSocket => "the receiving socket's buffer",
        Limit::Sender => "the sender",
        Limit::SharedCpu => "the processors that both ends share",
        Limit::Unknown => "unknown: not visible in these counters",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(trials: &[(f64, f64)]) -> String {
        let trial = |(number, &(loss, rate)): (usize, &(f64, f64))| Test {
            id: format!("t{number}"),
            loss_ratio: Some(loss),
            offered_bits_per_second: Some(rate),
            ..Test::default()
        };
        let output = Output {
            tests: trials.iter().enumerate().map(trial).collect(),
            ..Output::default()
        };
        let knee = Knee {
            test_ids: output.tests.iter().map(|test| test.id.clone()).collect(),
            ..Knee::default()
        };
        answer(&output, &knee)
    }

    #[test]
    fn a_search_without_an_answer_says_what_it_saw() {
        assert_eq!(said(&[]), "up: not found; no trial could be counted");
        assert_eq!(
            said(&[(0.01, 3e9), (0.0002, 1e9), (0.0002, 2e9)]),
            "up: not found; all trials lost some, the least 0.0200 % at 2.000 Gbit/s"
        );
        assert_eq!(
            said(&[(0.01, 3e9), (0.0, 1e9)]),
            "up: not found; 1.000 Gbit/s was carried without loss, but not confirmed"
        );
    }
}
