// SPDX-License-Identifier: MIT OR Apache-2.0
//! The highest rates without loss: the bracket, how it was found and confirmed, and what limits it.

use linerate_model::output::{Confirmation, Knee, Limit, Output, Test};
use linerate_model::units::format::{BIT_RATES, PACKET_RATES, exact_percent, percent, with_unit};

use super::{Block, Line, way};

pub(super) fn block(output: &Output) -> Option<Block> {
    let mut tries: Vec<&str> = output.verdicts.iter().map(|it| it.try_.as_str()).collect();
    let mut lines = Vec::new();
    for knee in &output.knees {
        lines.push(Line::new(2, answer(output, knee)));
        lines.extend(constant(knee).map(|text| Line::new(4, text)));
        lines.push(Line::new(4, details(knee)));
        lines.extend(confirmation(knee).map(|text| Line::new(4, text)));
        if !knee.why.is_empty() {
            lines.push(Line::new(4, cause(output, knee)));
        }
        // Advice is given once; the verdict gives its own.
        if !knee.try_.is_empty() && !tries.contains(&knee.try_.as_str()) {
            tries.push(&knee.try_);
            lines.push(Line::new(4, format!("try: {}", knee.try_)));
        }
    }
    Block::lines(&title(output), lines)
}

/// The highest rates without their details.
pub(super) fn answers(output: &Output) -> Option<Block> {
    let line = |knee: &Knee| {
        let limit = match knee.limit {
            Limit::Unknown | Limit::Sender => String::new(),
            limit => format!("; limited by {}", self::limit(limit)),
        };
        Line::new(2, answer(output, knee) + &limit).hang(6)
    };
    Block::lines(&title(output), output.knees.iter().map(line))
}

fn title(output: &Output) -> String {
    match output.knees.iter().find_map(goal) {
        Some(goal) => format!("highest rate with {goal}: L4 goodput"),
        None => "highest rate without loss: L4 goodput".to_owned(),
    }
}

/// The loss that a search accepted; `None` for none.
pub(super) fn goal(knee: &Knee) -> Option<String> {
    let ratio = Some(knee.goal_loss_ratio).filter(|ratio| *ratio > 0.0)?;
    Some(format!("at most {} % lost", exact_percent(ratio)))
}

pub(super) fn answer(output: &Output, knee: &Knee) -> String {
    let rate = |rate: f64| with_unit(rate, BIT_RATES);
    let lower = |lossless: f64| match (met(knee), knee.limited_by.as_str()) {
        (LOSSLESS | GOAL_MET, "sender") => format!("≥ {} (sender-limited)", rate(lossless)),
        (met, _) => format!("{} ({met})", rate(lossless)),
    };
    let failed = match knee.goal_loss_ratio {
        0.0 => "lossy",
        _ => "above the goal",
    };
    let bracket = match (knee.lossless_bits_per_second, knee.lossy_bits_per_second) {
        (Some(lossless), Some(lossy)) if lossy <= lossless => {
            format!("{}; {} is {failed}", lower(lossless), rate(lossy))
        }
        (Some(lossless), Some(lossy)) => {
            format!("{} … {} ({failed})", lower(lossless), rate(lossy))
        }
        (Some(lossless), None) if met(knee) == NOT_CONFIRMED => lower(lossless),
        (Some(lossless), None) => format!("{}, {}", lower(lossless), seen(output, knee)),
        (None, Some(lossy)) => format!("none was found; {} is {failed}", rate(lossy)),
        (None, None) => format!("not found; {}", least(output, knee)),
    };
    format!("{}: {bracket}", way(knee.direction))
}

/// What the trials show at the lossless rate.
fn met(knee: &Knee) -> &'static str {
    let confirmed = knee
        .confirmation
        .as_ref()
        .is_none_or(Confirmation::is_confirmed);
    match (confirmed, knee.goal_loss_ratio) {
        (false, _) => NOT_CONFIRMED,
        (true, _) if is_of_short_trials(knee) => IN_ITS_TRIALS,
        (true, 0.0) => LOSSLESS,
        (true, _) => GOAL_MET,
    }
}

/// Whether losses do not grow with the rate, and may be more than the goal allows: then the rate is that of trials too
/// short to lose a packet.
fn is_of_short_trials(knee: &Knee) -> bool {
    knee.constant_loss
        .is_some_and(|constant| constant.upper95 > knee.goal_loss_ratio)
}

const NOT_CONFIRMED: &str = "not confirmed";
const IN_ITS_TRIALS: &str = "in its short trials only";
const LOSSLESS: &str = "lossless";
const GOAL_MET: &str = "goal met";

/// The longer trial at the rate that was found: its result, or why it confirms nothing.
fn confirmation(knee: &Knee) -> Option<String> {
    let last = knee.confirmation.as_ref()?;
    let length = format!("{} s", (last.duration_s * 100.0).round() / 100.0);
    let rate = with_unit(last.offered_bits_per_second, BIT_RATES);
    let lost = lost(last);
    let trials = last.trials;
    Some(match last.outcome.as_str() {
        "confirmed" => match trials {
            _ if is_of_short_trials(knee) => format!("a trial of {length} at {rate}: {lost}"),
            1 => format!("confirmed by a trial of {length}: {lost}"),
            _ => format!(
                "confirmed by a trial of {length}: {lost}; {} before it did not confirm",
                trials - 1
            ),
        },
        "loss" if trials > 1 => {
            format!("not confirmed by {trials} trials of {length}, the last at {rate}: {lost}")
        }
        "loss" => format!("not confirmed by a trial of {length} at {rate}: {lost}"),
        "sender" => format!("not confirmed: in trials of {length} the sender offered only {rate}"),
        _ => format!("not confirmed: no trial of {length} was valid"),
    })
}

/// What a confirming trial lost, with the upper bound of its loss ratio.
fn lost(trial: &Confirmation) -> String {
    let (lost, sent) = (trial.lost_packets, trial.sent_packets);
    let ratio = match lost {
        0 => String::new(),
        lost => format!(" ({} %)", percent(lost as f64 / sent.max(1) as f64)),
    };
    let bound = trial.loss_ratio_upper95.map(bound);
    let bound = bound.map(|bound| format!(", loss {bound}"));
    format!("{lost} of {sent} lost{ratio}{}", bound.unwrap_or_default())
}

fn bound(upper95: f64) -> String {
    match upper95 {
        upper if upper < 1e-6 => format!("< {upper:.1e} (95 %)"),
        upper => format!("< {} % (95 %)", percent(upper)),
    }
}

/// The loss at every rate, and what follows for the rate above.
fn constant(knee: &Knee) -> Option<String> {
    let constant = knee.constant_loss?;
    let consequence = match is_of_short_trials(knee) {
        false => "the goal accepts it",
        true => "longer trials find a lower one",
    };
    let highest = constant.highest_bits_per_second;
    let highest = highest.map(|rate| format!(" up to {}", with_unit(rate, BIT_RATES)));
    Some(format!(
        "no knee: loss {} % at every rate{} (95 % interval {} … {} %), which does not grow with the rate; {consequence}",
        percent(constant.loss_ratio),
        highest.unwrap_or_default(),
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
    let above_goal = |trial: &&Test| match knee.goal_loss_ratio {
        0.0 => true,
        goal => trial.loss_ratio.is_none_or(|loss| loss > goal),
    };
    let lossy = trials
        .filter(|trial| trial.lost_packets > Some(0))
        .filter(above_goal);
    let rates: Vec<_> = lossy
        .filter_map(|trial| trial.offered_bits_per_second)
        .collect();
    let above = |rate: &f64| Some(*rate) > knee.lossless_bits_per_second;
    match rates.iter().copied().filter(above).reduce(f64::min) {
        Some(rate) => format!("loss at {} not confirmed", with_unit(rate, BIT_RATES)),
        None if rates.is_empty() && knee.goal_loss_ratio > 0.0 => {
            "no higher loss was seen".to_owned()
        }
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
        .filter(|_| knee.goal_loss_ratio == 0.0 && knee.confirmation.is_none());
    details.extend(upper.map(|upper| format!("loss there {}", bound(upper))));
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
        "time" => Some("stopped: time limit".to_owned()),
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

    fn confirmed(goal_loss_ratio: f64, outcome: &str, lost: u64, trials: u32) -> String {
        text(searched(goal_loss_ratio, outcome, lost, trials))
    }

    fn searched(goal_loss_ratio: f64, outcome: &str, lost: u64, trials: u32) -> Knee {
        Knee {
            goal_loss_ratio,
            lossless_bits_per_second: Some(423e6),
            lossy_bits_per_second: Some(425e6),
            loss_ratio_upper95: Some(8.2e-5),
            limited_by: "loss".to_owned(),
            payload_bytes: 1448,
            trials: 9,
            confirmation: Some(Confirmation {
                outcome: outcome.to_owned(),
                duration_s: 1.0,
                offered_bits_per_second: 421e6,
                sent_packets: 36_516,
                lost_packets: lost,
                loss_ratio_upper95: Some(8.2e-5),
                trials,
                ..Confirmation::default()
            }),
            ..Knee::default()
        }
    }

    fn text(knee: Knee) -> String {
        let output = Output {
            knees: vec![knee],
            ..Output::default()
        };
        match block(&output).unwrap() {
            Block::Lines { heading, lines } => {
                let lines: Vec<String> = lines.into_iter().map(|line| line.text).collect();
                format!("{heading}\n{}", lines.join("\n"))
            }
            _ => panic!("lines"),
        }
    }

    #[test]
    fn a_rate_is_lossless_only_if_a_longer_trial_confirms_it() {
        for (goal, outcome, lost, trials, wanted) in [
            (
                0.0,
                "confirmed",
                0,
                1,
                "(lossless) … | confirmed by a trial of 1 s: 0 of 36516 lost, loss < 0.0082 % (95 %)",
            ),
            (
                0.0,
                "confirmed",
                0,
                2,
                "(95 %); 1 before it did not confirm",
            ),
            (
                0.005,
                "confirmed",
                20,
                1,
                "with at most 0.5 % lost: L4 | (goal met) … | (above the goal) | 20 of 36516 lost (0.0548 %), loss <",
            ),
            (
                0.0,
                "loss",
                3,
                3,
                "(not confirmed) … | not confirmed by 3 trials of 1 s, the last at 421.0 Mbit/s: 3 of 36516 lost (0.0082 %)",
            ),
            (
                0.0,
                "loss",
                3,
                1,
                "not confirmed by a trial of 1 s at 421.0 Mbit/s: 3 of",
            ),
            (
                0.0,
                "sender",
                0,
                3,
                "not confirmed: in trials of 1 s the sender offered only 421.0 Mbit/s",
            ),
            (
                0.0,
                "invalid",
                0,
                3,
                "not confirmed: no trial of 1 s was valid",
            ),
        ] {
            let said = confirmed(goal, outcome, lost, trials);
            for part in wanted.split(" | ") {
                assert!(said.contains(part), "{part}\n{said}");
            }
            let claims = said.contains("lossless") || said.contains("goal met");
            assert_eq!(claims, outcome == "confirmed", "{said}");
        }
    }

    /// A refuted rate is no lower bound, and what was lost at it is lossy.
    #[test]
    fn a_refuted_rate_is_not_what_the_sender_could_do_at_least() {
        let knee = |limited_by: &str, lossy| Knee {
            lossless_bits_per_second: Some(250e6),
            lossy_bits_per_second: lossy,
            limited_by: limited_by.to_owned(),
            confirmation: Some(Confirmation {
                outcome: "loss".to_owned(),
                ..Confirmation::default()
            }),
            ..Knee::default()
        };
        let answer = |limited_by, lossy| answer(&Output::default(), &knee(limited_by, lossy));
        assert_eq!(
            answer("loss", Some(247.5e6)),
            "up: 250.0 Mbit/s (not confirmed); 247.5 Mbit/s is lossy"
        );
        let ended = |limited_by| ended_by(&knee(limited_by, None));
        assert_eq!(ended("time").as_deref(), Some("stopped: time limit"));
        // An older record.
        assert_eq!(answer("sender", None), "up: 250.0 Mbit/s (not confirmed)");
    }

    #[test]
    fn a_rate_of_trials_too_short_to_lose_a_packet_is_not_lossless() {
        let mut knee = searched(0.0, "confirmed", 0, 1);
        knee.constant_loss = Some(linerate_model::output::ConstantLoss {
            loss_ratio: 1e-5,
            lower95: 5e-6,
            upper95: 2e-5,
            highest_bits_per_second: Some(940e6),
        });
        let said = text(knee.clone());
        for part in [
            "up: 423.0 Mbit/s (in its short trials only) … 425.0 Mbit/s (lossy)",
            "no knee: loss 0.0010 % at every rate up to 940.0 Mbit/s (95 % interval 0.0005 … 0.0020 %), which does not grow with the rate; longer trials find a lower one",
            "a trial of 1 s at 421.0 Mbit/s: 0 of 36516 lost",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
        assert!(
            !said.contains("confirmed") && !said.contains("lossless"),
            "{said}"
        );
        knee.goal_loss_ratio = 0.005;
        let accepted = text(knee);
        assert!(
            accepted.contains("(goal met)") && accepted.contains("the goal accepts it"),
            "{accepted}"
        );
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
