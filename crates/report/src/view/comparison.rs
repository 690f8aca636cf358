// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two configurations compared: plots, every figure, the statistics that a reviewer asks for, and the answer.

use linerate_model::output::{Comparison, Difference, Experiment, Judgement, Output};
use linerate_model::units::format::{BIT_RATES, PACKET_RATES, TIMES, significant, with_unit};

use super::{Block, Column, Line, Table, Tone, effect_plot, role};

/// The answer in a sentence.
#[must_use]
pub fn sentence(one: &Comparison) -> String {
    let (what, effect, margin) = (title(one), effect(one), percent(one.margin));
    let after = if one.blocks.is_some() { "B" } else { "after" };
    match one.verdict {
        Judgement::Better => format!("{after} is better: {what} {effect}{}", uncertain(one)),
        Judgement::Worse => format!("{after} is worse: {what} {effect}{}", uncertain(one)),
        Judgement::BetterButIrrelevant => {
            format!("{after} is better, but by less than the margin ({margin}): {what} {effect}")
        }
        Judgement::WorseButIrrelevant => {
            format!("{after} is worse, but by less than the margin ({margin}): {what} {effect}")
        }
        Judgement::Equivalent => format!(
            "no practical difference: {what} {effect}; its 90 % interval is within {margin} of no change: keep the simpler one"
        ),
        Judgement::Inconclusive => format!("nothing is proven: {what} {}", unproven(one, &effect)),
    }
}

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let all = &output.comparison;
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = effect_plot::blocks(all);
    blocks.push(Block::Table(table(all)));
    let known = all.iter().filter(|one| one.primary && !is_alone(one));
    blocks.extend(known.map(statistics));
    blocks.extend(flows(all));
    blocks.extend(environment(all));
    blocks.push(answer(all, output.experiment.as_ref()));
    blocks
}

fn answer(all: &[Comparison], experiment: Option<&Experiment>) -> Block {
    let decisive = || all.iter().filter(|one| one.primary);
    let judged = decisive().filter(|one| !is_alone(one));
    let judged = judged.map(|one| Line::new(2, one.sentence.clone()).tone(tone(one.verdict)));
    let alone = decisive().find(|one| is_alone(one)).map(|one| {
        let (n, m, needed) = (one.before.n, one.after.n, one.needed.unwrap_or_default());
        let text = format!(
            "no result: {n} against {m} runs give no estimate of the variance; a proof needs {needed} against {needed}"
        );
        Line::new(2, text).tone(Tone::Warn)
    });
    let harmed = all
        .iter()
        .flat_map(|one| &one.guards)
        .filter(|guard| guard.worse);
    let harm = harmed.map(|guard| {
        let text = format!(
            "also, {} {} became worse by more than its margin",
            guard.metric, guard.name
        );
        Line::new(2, text).tone(Tone::Warn)
    });
    let others = all.len().saturating_sub(decisive().count());
    let helped = all
        .iter()
        .filter(|one| !one.primary && one.verdict == Judgement::Better)
        .map(|one| Line::new(2, helped(one, others)));
    let left = experiment.and_then(|experiment| experiment.restored.as_ref());
    let left = left.and_then(|restored| {
        let (command, why) = (&restored.command, restored.error.as_ref()?);
        let text = format!("the previous configuration was not restored: `{command}`: {why}");
        Some(Line::new(2, text).tone(Tone::Bad))
    });
    Block::Lines {
        heading: "answer".to_owned(),
        lines: judged
            .chain(alone)
            .chain(harm)
            .chain(helped)
            .chain(left)
            .collect(),
    }
}

/// A secondary figure that looks better.
fn helped(one: &Comparison, others: usize) -> String {
    let among = match others {
        0 | 1 => String::new(),
        others => format!(", one of {others} secondary figures"),
    };
    format!(
        "also, {} became better: {}{among}; `--metric {}` decides by it",
        title(one),
        effect(one),
        one.metric
    )
}

/// One run on a side.
fn is_alone(one: &Comparison) -> bool {
    one.blocks.is_none() && (one.before.n < 2 || one.after.n < 2)
}

pub(super) fn title(one: &Comparison) -> String {
    format!("{} {}", one.metric, one.name).trim_end().to_owned()
}

fn table(all: &[Comparison]) -> Table {
    let words = |name: &str, cell: &dyn Fn(&Comparison) -> String| {
        Column::words(name, all.iter().map(cell))
    };
    let numbers = |name: &str, unit: &str, cell: &dyn Fn(&Comparison) -> Option<String>| {
        Column::texts(name, unit, all.iter().map(cell))
    };
    let [before, after] = names(all);
    let mut table = Table {
        heading: "figures: medians of runs".to_owned(),
        keys: 1,
        columns: vec![
            words("figure", &|one| title(one)),
            words("verdict", &|one| word(one.verdict).to_owned()),
            words("effect", &|one| {
                one.ratio
                    .map_or("n/a".to_owned(), |ratio| changes(one, ratio))
            }),
            words("95 % interval", &|one| {
                interval(one).unwrap_or("n/a".to_owned())
            }),
            numbers("p", "", &|one| one.p.map(probability)),
            words(before, &|one| value(one.before.median, &one.unit)),
            words(after, &|one| value(one.after.median, &one.unit)),
            words("runs", &|one| format!("{}/{}", one.before.n, one.after.n)),
        ],
        tones: all.iter().map(|one| tone(one.verdict)).collect(),
    };
    table.forget_unknown();
    table
}

pub(super) fn names(all: &[Comparison]) -> [&'static str; 2] {
    match all.iter().any(|one| one.blocks.is_some()) {
        true => ["A", "B"],
        false => ["before", "after"],
    }
}

/// The statistics of a primary figure.
fn statistics(one: &Comparison) -> Block {
    let mut lines = Vec::new();
    lines.extend(design(one));
    if let (Some(sigma), Some(p)) = (one.aa_sigma, one.aa_p) {
        let suspicious = p <= one.alpha;
        let text = format!(
            "A against A: standard deviation of blocks {}, p = {}{}",
            percent(sigma),
            probability(p),
            if suspicious {
                ": they differ, which happens by chance once in twenty; else something else changes with the runs"
            } else {
                ""
            },
        );
        lines.push(Line::new(2, text).tone(if suspicious { Tone::Warn } else { Tone::Plain }));
    } else if !one.aa_log_ratios.is_empty() {
        let ratios = one
            .aa_log_ratios
            .iter()
            .map(|ratio| changes(one, ratio.exp()));
        let ratios: Vec<String> = ratios.collect();
        let text = format!("A against A, by block: {}", ratios.join(", "));
        lines.push(Line::new(2, text));
    }
    if let Some(mde) = one.mde {
        let text = format!(
            "an effect below {} would probably have been missed",
            percent(mde)
        );
        lines.push(Line::new(2, text));
    }
    if one.blocks.is_some_and(|blocks| blocks > 0) {
        let text = format!(
            "proven by p <= {} at the last block, or by an e-value of 20 at any: p = {}, e-value {}",
            probability(one.alpha),
            one.p.map_or("n/a".to_owned(), probability),
            one.e_value.map_or("n/a".to_owned(), significant),
        );
        lines.push(Line::new(2, text));
    }
    if one.blocks != Some(0) {
        lines.extend(sides(one));
    }
    lines.extend(one.excluded.iter().map(|left| {
        Line::new(2, format!("left out: {}: {}", left.run, left.reason)).tone(Tone::Warn)
    }));
    Block::Lines {
        heading: format!("strength of evidence: {}", title(one)),
        lines,
    }
}

fn design(one: &Comparison) -> Option<Line> {
    let (blocks, planned) = (one.blocks?, one.blocks_planned?);
    let seed = one.order_seed.unwrap_or_default();
    let why = match one.stopped.as_deref() {
        Some("proven") => "stopped: proven",
        Some("equivalent") => "stopped: within the margin",
        Some("futile") => "stopped: no proof in sight",
        Some("all-blocks") => "completed",
        Some("interrupted") => "interrupted",
        _ => "ended early",
    };
    let text =
        format!("{blocks} of {planned} blocks of four runs, in random order (seed {seed}): {why}");
    Some(Line::new(2, text))
}

fn sides(one: &Comparison) -> Vec<Line> {
    let [before, after] = names(std::slice::from_ref(one));
    let side = |name: &str, side: &linerate_model::output::Side| {
        let label = match side.label.as_str() {
            "" => String::new(),
            label => format!(" `{label}`"),
        };
        let [low, high] = [side.min, side.max].map(|end| value(end, &one.unit));
        Line::new(
            2,
            format!("{name}{label}: {} runs from {low} to {high}", side.n),
        )
    };
    vec![side(before, &one.before), side(after, &one.after)]
}

/// The fairness among flows, for a figure of several.
fn flows(all: &[Comparison]) -> Option<Block> {
    let line = |one: &Comparison| {
        let fairness = |side: &linerate_model::output::Side| {
            let (spread, index) = (side.flow_spread?, side.flow_fairness?);
            Some(format!(
                "{} times (Jain's index {})",
                significant(spread),
                significant(index)
            ))
        };
        let (before, after) = (fairness(&one.before)?, fairness(&one.after)?);
        Some(Line::new(
            2,
            format!("{}: {before}, then {after}", title(one)),
        ))
    };
    let lines: Vec<Line> = all.iter().filter_map(line).collect();
    Block::lines("the fastest flow over the slowest", lines)
}

fn environment(all: &[Comparison]) -> Option<Block> {
    let found = &all.first()?.environment_diff;
    let names: Vec<String> = found.iter().take(MOST_NAMED).map(named).collect();
    let more = match found.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more (--json)"),
    };
    let drawn = all.iter().any(|one| one.blocks.is_some());
    let what = if drawn {
        "A and B differ in"
    } else {
        "also different"
    };
    let text = format!("{what}: {}{more}", names.join(", "));
    let mut lines = vec![Line::new(2, text)];
    if found.len() > 1 && !drawn {
        let text = "this comparison cannot tell which of them makes the difference";
        lines.push(Line::new(2, text).tone(Tone::Warn));
    }
    lines.extend(found.iter().take(MOST_SHOWN).map(|one| {
        let text = format!(
            "{}: {} -> {}",
            named(one),
            one.before.join(" | "),
            one.after.join(" | ")
        );
        Line::new(4, short(&text))
    }));
    (!found.is_empty()).then(|| Block::Lines {
        heading: "environment".to_owned(),
        lines,
    })
}

fn named(one: &Difference) -> String {
    let place = [one.host.map(role), one.interface.as_deref()];
    let place: Vec<&str> = place.into_iter().flatten().collect();
    match place.is_empty() {
        true => one.what.clone(),
        false => format!("{} ({})", one.what, place.join(" ")),
    }
}

fn short(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST).collect();
    start + "…"
}

/// The ratio with its interval, and p.
fn effect(one: &Comparison) -> String {
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
    more.map_or(String::new(), |p| {
        format!(" ({} as one of several figures)", probability(p))
    })
}

/// For an effect that is proven, but perhaps below the margin.
fn uncertain(one: &Comparison) -> String {
    let bound = 1.0 + one.margin;
    let relevant = one
        .ci95
        .is_some_and(|[low, high]| low > bound || high < 1.0 / bound);
    match relevant {
        true => String::new(),
        false => format!(
            "; the size of the effect is uncertain (margin {})",
            percent(one.margin)
        ),
    }
}

fn unproven(one: &Comparison, effect: &str) -> String {
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
    let missed = one.mde.map_or(String::new(), |mde| {
        format!(
            "; an effect below {} would probably have been missed",
            percent(mde)
        )
    });
    format!("{effect}{missed}")
}

pub(super) fn interval(one: &Comparison) -> Option<String> {
    let [low, high] = one.ci95?;
    Some(format!("{} … {}", changes(one, low), changes(one, high)))
}

pub(super) fn is_in_per_cent(one: &Comparison) -> bool {
    let mut all = one.ratio.into_iter().chain(one.ci95.into_iter().flatten());
    all.all(|ratio| ratio > 0.5 && ratio < 2.0)
}

/// A ratio in per cent while the estimate and its interval are near 1, else as a factor.
pub(super) fn changes(one: &Comparison, ratio: f64) -> String {
    if !is_in_per_cent(one) {
        let digits = if ratio < 1.0 {
            decimal(ratio)
        } else {
            significant(ratio)
        };
        return format!("× {digits}");
    }
    let percent = (ratio - 1.0) * 100.0;
    let sign = if percent < 0.0 { "-" } else { "+" };
    format!("{sign}{} %", decimal(percent.abs()))
}

/// A ratio minus 1 in per cent.
fn percent(ratio: f64) -> String {
    format!("{} %", decimal(100.0 * ratio))
}

/// Three significant digits, without trailing zeros.
fn decimal(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        large if large >= 100.0 => 0,
        large if large >= 10.0 => 1,
        one if one >= 1.0 => 2,
        small if small >= 0.1 => 3,
        small if small >= 0.001 => 4,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn probability(p: f64) -> String {
    match p {
        tiny if tiny < 0.0001 => "<0.0001".to_owned(),
        p => decimal(p),
    }
}

fn value(value: Option<f64>, unit: &str) -> String {
    let Some(value) = value else {
        return "n/a".to_owned();
    };
    match unit {
        "bit/s" => with_unit(value, BIT_RATES),
        "frame/s" => with_unit(value, PACKET_RATES),
        "ns" => with_unit(value, TIMES),
        "" if value.abs() < 1.0 => decimal(value),
        "" => significant(value),
        unit => format!("{} {unit}", significant(value)),
    }
}

pub(crate) fn tone(verdict: Judgement) -> Tone {
    match verdict {
        Judgement::Better => Tone::Good,
        Judgement::Worse => Tone::Bad,
        Judgement::Inconclusive => Tone::Warn,
        _ => Tone::Plain,
    }
}

fn word(verdict: Judgement) -> &'static str {
    match verdict {
        Judgement::Better => "better",
        Judgement::Worse => "worse",
        Judgement::Equivalent => "equivalent",
        Judgement::Inconclusive => "inconclusive",
        Judgement::BetterButIrrelevant => "better, irrelevant",
        Judgement::WorseButIrrelevant => "worse, irrelevant",
    }
}

const MOST_NAMED: usize = 12;
const MOST_SHOWN: usize = 6;
const LONGEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Side;

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
                "nothing is proven: throughput tcp down +0.93 % (95 % interval +0.73 % … +1.13 %), p = 0.0078; an effect below 2.3 % would probably have been missed",
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

    #[test]
    fn ratios_as_people_say_them() {
        let of = |low, ratio, high| {
            let one = Comparison {
                ratio: Some(ratio),
                ci95: Some([low, high]),
                ..Comparison::default()
            };
            format!("{}: {}", changes(&one, ratio), interval(&one).unwrap())
        };
        assert_eq!(of(0.84, 0.85, 1.00004), "-15 %: -16 % … +0.004 %");
        assert_eq!(of(1.8253, 2.107, 2.432), "× 2.107: × 1.825 … × 2.432");
        assert_eq!(of(0.664, 1.468, 3.246), "× 1.468: × 0.664 … × 3.246");
    }
}
