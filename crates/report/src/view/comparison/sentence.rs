// SPDX-License-Identifier: MIT OR Apache-2.0
//! A comparison in a sentence, which agrees with the interval next to it.

use linerate_model::output::{Comparison, Judgement, Side};

use super::{Line, Tone, changes, interval, names, percent, probability, title, value};

/// The answer in a sentence.
#[must_use]
pub fn sentence(one: &Comparison) -> String {
    let (what, effect, margin) = (title(one), effect(one), percent(one.margin));
    let [_, after] = names(std::slice::from_ref(one));
    match one.verdict {
        Judgement::Better => format!("{after} is better: {what} {effect}{}", uncertain(one)),
        Judgement::Worse => format!("{after} is worse: {what} {effect}{}", uncertain(one)),
        Judgement::BetterButIrrelevant => format!(
            "{after} is better, but by less than the margin ({margin}): {what} {effect}{}{}",
            open_end(one).unwrap_or_default(),
            exceptions(one)
        ),
        Judgement::WorseButIrrelevant => format!(
            "{after} is worse, but by less than the margin ({margin}): {what} {effect}{}{}",
            open_end(one).unwrap_or_default(),
            exceptions(one)
        ),
        Judgement::Equivalent => format!(
            "{}: {what} {effect}; its 90 % interval is within {margin} of no change: keep the simpler one{}",
            alike(one, &margin),
            exceptions(one)
        ),
        Judgement::Inconclusive => format!("nothing is proven: {what} {}", unproven(one, &effect)),
    }
}

/// The ratio with its interval, and p.
pub(in crate::view) fn effect(one: &Comparison) -> String {
    let Some(ratio) = one.ratio else {
        return "is n/a".to_owned();
    };
    let interval = interval(one).map_or(String::new(), |text| format!(" (95 % interval {text})"));
    let p = one.p.map_or(String::new(), |p| {
        format!(", p = {}{}", probability(p), adjusted(one))
    });
    format!("{}{interval}{p}", changes(one, ratio))
}

/// The p adjusted for several figures.
fn adjusted(one: &Comparison) -> String {
    let more = one
        .p_adjusted
        .filter(|adjusted| one.p.is_some_and(|p| *adjusted > p));
    let of = if one.cell.is_some() {
        "cells"
    } else {
        "figures"
    };
    more.map_or(String::new(), |p| {
        format!(" ({} as one of several {of})", probability(p))
    })
}

/// For an effect that is proven, but perhaps below the margin.
fn uncertain(one: &Comparison) -> String {
    let bound = 1.0 + one.margin;
    let relevant = one
        .ci95
        .is_some_and(|[low, high]| low > bound || high < 1.0 / bound);
    match open_end(one) {
        Some(text) => text,
        None if relevant => String::new(),
        None => format!(
            "; the size of the effect is uncertain (margin {})",
            percent(one.margin)
        ),
    }
}

/// What "equivalent" means, next to an interval that may exclude no change.
fn alike(one: &Comparison, margin: &str) -> String {
    match excludes_no_change(one) {
        true => format!("a difference smaller than the margin ({margin}) in the typical run"),
        false => "no practical difference in the typical run".to_owned(),
    }
}

/// A direction that is proven next to an interval that contains both.
fn open_end(one: &Comparison) -> Option<String> {
    let open = one.ci95.is_some() && !excludes_no_change(one);
    open.then(|| {
        "; the direction is proven, but the interval includes no change: the size of the effect is unknown"
            .to_owned()
    })
}

fn excludes_no_change(one: &Comparison) -> bool {
    one.ci95.is_some_and(|[low, high]| low > 1.0 || high < 1.0)
}

/// Runs that do not belong to what a statement about the typical run says.
fn exceptions(one: &Comparison) -> String {
    let [before, after] = names(std::slice::from_ref(one));
    let side = |(name, side): (&str, &Side)| {
        let far = far_out(side, &one.unit)?;
        Some(format!("{far} of {name} {} far out", is_or_are(side)))
    };
    let sides = [(before, &one.before), (after, &one.after)];
    let sides: Vec<String> = sides.into_iter().filter_map(side).collect();
    match sides.is_empty() {
        true => String::new(),
        false => format!("; but {}", sides.join(", and ")),
    }
}

/// `2 of 24 runs (470.1 Mbit/s, 466.0 Mbit/s)`; `None` without any.
fn far_out(side: &Side, unit: &str) -> Option<String> {
    let values = side
        .far_out
        .iter()
        .filter_map(|at| side.values.get(*at as usize));
    let shown: Vec<String> = values
        .take(MOST_FAR)
        .map(|one| value(Some(*one), unit))
        .collect();
    let more = match side.far_out.len() > shown.len() {
        true => ", …",
        false => "",
    };
    let all = (side.far_out.len(), side.n);
    let text = || format!("{} of {} runs ({}{more})", all.0, all.1, shown.join(", "));
    (!shown.is_empty()).then(text)
}

fn is_or_are(side: &Side) -> &'static str {
    match side.far_out.len() {
        1 => "is",
        _ => "are",
    }
}

/// How often rare runs may occur: medians and means say nothing about them.
pub(super) fn rare(one: &Comparison) -> Vec<Line> {
    let [before, after] = names(std::slice::from_ref(one));
    let sides = [(before, &one.before), (after, &one.after)];
    let is_any = sides.iter().any(|(_, side)| !side.far_out.is_empty());
    let is_asked = !matches!(
        one.verdict,
        Judgement::Better | Judgement::Worse | Judgement::Inconclusive
    );
    let line = |(name, side): (&str, &Side)| {
        let most = percent(side.far_out_upper95?);
        let (found, tone) = match far_out(side, &one.unit) {
            Some(far) => (format!("{far} {} far out", is_or_are(side)), Tone::Warn),
            None => (format!("none of {} runs is far out", side.n), Tone::Plain),
        };
        let text = format!("{name}: {found}; up to {most} of all runs may be (95 %)");
        Some(Line::new(2, text).tone(tone))
    };
    let lines = sides.into_iter().filter_map(line);
    lines.filter(|_| is_any || is_asked).collect()
}

fn unproven(one: &Comparison, effect: &str) -> String {
    if let (Some(needed), Some(_)) = (one.needed, one.cell) {
        return match one.before.n.min(one.after.n) {
            0 | 1 => format!("{effect}; at least {needed} runs a side are needed"),
            _ => format!("{effect}; about {needed} runs a side would decide"),
        };
    }
    if let Some(needed) = one.needed {
        let (n, m) = (one.before.n, one.after.n);
        let smallest = one.smallest_p.map_or("n/a".to_owned(), probability);
        return match one.blocks {
            Some(0) => "was compared in no whole block of A against B".to_owned(),
            Some(1) => format!("in one block alone; a proof needs {needed}"),
            Some(blocks) => format!(
                "{effect}; {blocks} blocks cannot give a p below {smallest}: a proof needs {needed}"
            ),
            None => format!(
                "{effect}; {n} against {m} runs cannot give a p below {smallest}: a proof needs {needed} against {needed}"
            ),
        };
    }
    // The interval says more about the runs made.
    let missed = one.mde.filter(|_| one.ci95.is_none());
    let missed = missed.map_or(String::new(), |mde| {
        format!(
            "; an effect below {} would probably have been missed",
            percent(mde)
        )
    });
    format!("{effect}{}{missed}", despite(one))
}

/// Why an interval that excludes no change is no proof.
fn despite(one: &Comparison) -> String {
    let because = match one.p_adjusted {
        _ if !excludes_no_change(one) => return String::new(),
        None if one.blocks.is_some() => format!(
            "counts no early looks: a proof needs p <= {} at the last block, or an e-value of 20 in the direction of the mean",
            probability(one.alpha)
        ),
        Some(adjusted) if one.p.is_some_and(|p| p < adjusted) => format!(
            "counts this figure alone: among the others, p is {}",
            probability(adjusted)
        ),
        _ if one.p.is_some_and(|p| p <= one.alpha) => return String::new(),
        _ => format!("p is above {}", probability(one.alpha)),
    };
    format!("; its interval excludes no change, but {because}")
}

/// Runs named in a sentence.
const MOST_FAR: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn one(verdict: Judgement) -> Comparison {
        Comparison {
            name: "tcp down".to_owned(),
            metric: "throughput".to_owned(),
            unit: "bit/s".to_owned(),
            higher_is_better: true,
            primary: true,
            before: Side {
                n: 3,
                ..Side::default()
            },
            after: Side {
                n: 3,
                ..Side::default()
            },
            ratio: Some(1.0093),
            ci95: Some([1.0073, 1.0113]),
            margin: 0.02,
            p: Some(0.0078125),
            alpha: 0.05,
            mde: Some(0.023),
            verdict,
            ..Comparison::default()
        }
    }

    #[test]
    fn each_verdict_is_a_sentence() {
        for (verdict, expected) in [
            (
                Judgement::Better,
                "after is better: throughput tcp down +0.93 % (95 % interval +0.73 % … +1.13 %), p = 0.0078; the size of the effect is uncertain (margin 2 %)",
            ),
            (
                Judgement::BetterButIrrelevant,
                "after is better, but by less than the margin (2 %): throughput tcp down +0.93 % (95 % interval +0.73 % … +1.13 %), p = 0.0078",
            ),
            (
                Judgement::Inconclusive,
                "nothing is proven: throughput tcp down +0.93 % (95 % interval +0.73 % … +1.13 %), p = 0.0078",
            ),
        ] {
            assert_eq!(sentence(&one(verdict)), expected);
        }
    }

    #[test]
    fn too_few_runs_say_how_many_are_needed() {
        let few = Comparison {
            ratio: Some(48.85),
            ci95: None,
            p: Some(0.1),
            smallest_p: Some(0.1),
            needed: Some(4),
            ..one(Judgement::Inconclusive)
        };
        assert_eq!(
            sentence(&few),
            "nothing is proven: throughput tcp down × 48.85, p = 0.1; 3 against 3 runs cannot give a p below 0.1: a proof needs 4 against 4"
        );
    }

    /// The sentence of a verdict and the interval that it prints do not contradict each other.
    #[test]
    fn a_sentence_agrees_with_its_interval() {
        use Judgement::{
            Better, BetterButIrrelevant, Equivalent, Inconclusive, Worse, WorseButIrrelevant,
        };
        let verdicts = [
            Better,
            Worse,
            Equivalent,
            Inconclusive,
            BetterButIrrelevant,
            WorseButIrrelevant,
        ];
        for verdict in verdicts {
            for ci95 in [[0.98, 1.01], [1.0073, 1.0113], [0.9, 0.99], [1.0, 1.2]] {
                for blocks in [None, Some(8)] {
                    let compared = Comparison {
                        ci95: Some(ci95),
                        p_adjusted: blocks.map_or(Some(0.2), |_| None),
                        blocks,
                        ..one(verdict)
                    };
                    let said = sentence(&compared);
                    let excludes = ci95[0] > 1.0 || ci95[1] < 1.0;
                    let expected = match (verdict, excludes) {
                        (Equivalent, true) => "a difference smaller than the margin (2 %)",
                        (Equivalent, false) => "no practical difference in the typical run",
                        (Inconclusive, true) => "its interval excludes no change, but",
                        (Inconclusive, false) => "nothing is proven",
                        (_, false) => "the interval includes no change",
                        (_, true) => continue,
                    };
                    assert!(said.contains(expected), "{verdict:?} {ci95:?}: {said}");
                    assert!(
                        !excludes || !said.contains("no practical difference"),
                        "{said}"
                    );
                }
            }
        }
    }

    #[test]
    fn runs_that_collapse_are_named_next_to_equivalent() {
        let mut compared = Comparison {
            blocks: Some(12),
            ci95: Some([0.998, 1.001]),
            ..one(Judgement::Equivalent)
        };
        compared.after = Side {
            n: 24,
            values: vec![940e6, 470e6, 941e6, 466e6],
            far_out: vec![1, 3],
            far_out_upper95: Some(0.24),
            ..Side::default()
        };
        compared.before.far_out_upper95 = Some(0.12);
        let said = sentence(&compared);
        assert!(
            said.ends_with("keep the simpler one; but 2 of 24 runs (470.0 Mbit/s, 466.0 Mbit/s) of B are far out"),
            "{said}"
        );
        let lines: Vec<String> = rare(&compared).into_iter().map(|line| line.text).collect();
        assert_eq!(
            lines,
            [
                "A: none of 3 runs is far out; up to 12 % of all runs may be (95 %)",
                "B: 2 of 24 runs (470.0 Mbit/s, 466.0 Mbit/s) are far out; up to 24 % of all runs may be (95 %)"
            ]
        );
    }
}
