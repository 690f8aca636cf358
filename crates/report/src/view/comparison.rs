// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two configurations compared: plots, every figure, the statistics that a reviewer asks for, and the answer.

mod guards;
mod names;
pub(super) mod sentence;

use linerate_model::output::{Comparison, Difference, Experiment, Guard, Judgement, Output};
use linerate_model::units::format::{self, BIT_RATES, PACKET_RATES, TIMES, significant, with_unit};

use super::{Block, Column, Line, Table, Tone, effect_plot, role};

pub(super) use names::names;
pub use sentence::sentence;

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let all = &output.comparison;
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = effect_plot::blocks(all);
    blocks.push(Block::Table(table(all, names(all))));
    let known = all.iter().filter(|one| one.primary && !is_alone(one));
    blocks.extend(known.map(statistics));
    blocks.extend(guards::block(all));
    blocks.extend(flows(all));
    blocks.extend(environment(all));
    blocks.push(answer(all, output.experiment.as_ref()));
    blocks
}

/// The plot, the figures, the answer: the statistics are left out.
pub(super) fn answer_blocks(output: &Output) -> Vec<Block> {
    let all = &output.comparison;
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = effect_plot::blocks(all);
    blocks.push(Block::Table(table(all, names(all))));
    blocks.extend(guards::block(all));
    blocks.extend(flows(all));
    blocks.extend(environment(all));
    blocks.push(answer(all, output.experiment.as_ref()));
    blocks
}

/// The sentences of the answer.
pub(super) fn decided(output: &Output) -> Vec<Line> {
    match answer(&output.comparison, output.experiment.as_ref()) {
        Block::Lines { lines, .. } => lines,
        Block::Drawing { .. } | Block::Table(_) => Vec::new(),
    }
}

fn answer(all: &[Comparison], experiment: Option<&Experiment>) -> Block {
    let decisive = || all.iter().filter(|one| one.primary);
    let judged = decisive().filter(|one| !is_alone(one));
    let judged = judged.map(|one| Line::new(2, one.sentence.clone()).tone(tone(one.verdict)));
    let alone = decisive().find(|one| is_alone(one)).map(too_few);
    let harmed = all.iter().flat_map(|one| &one.guards);
    let harmed = harmed.filter(|guard| guard.worse).map(harmed_too);
    let others = all.len().saturating_sub(decisive().count());
    let better = |one: &&Comparison| !one.primary && one.verdict == Judgement::Better;
    let helped = all.iter().filter(better);
    let helped = helped.map(|one| Line::new(2, helped_too(one, others)));
    let left = experiment.and_then(not_restored);
    let lines = judged.chain(alone).chain(harmed).chain(helped).chain(left);
    Block::Lines {
        heading: "answer".to_owned(),
        lines: lines.collect(),
    }
}

/// One run on a side proves nothing.
fn too_few(one: &Comparison) -> Line {
    let (n, m, needed) = (one.before.n, one.after.n, one.needed.unwrap_or_default());
    let text = format!(
        "no result: {n} against {m} runs give no estimate of the variance; a proof needs {needed} against {needed}"
    );
    Line::new(2, text).tone(Tone::Warn)
}

fn harmed_too(guard: &Guard) -> Line {
    let measured = guards::measured(guard);
    let text = format!("also, worse by more than the margin: {measured}");
    Line::new(2, text).tone(Tone::Warn)
}

fn not_restored(experiment: &Experiment) -> Option<Line> {
    let restored = experiment.restored.as_ref()?;
    let (command, why) = (&restored.command, restored.error.as_ref()?);
    let text = format!("the previous configuration was not restored: `{command}`: {why}");
    Some(Line::new(2, text).tone(Tone::Bad))
}

/// A secondary figure that looks better.
fn helped_too(one: &Comparison, others: usize) -> String {
    let among = match others {
        0 | 1 => String::new(),
        others => format!(", one of {others} secondary figures"),
    };
    format!(
        "also, {} became better: {}{among}; `--metric {}` decides by it",
        title(one),
        sentence::effect(one),
        one.metric
    )
}

/// One run on a side.
fn is_alone(one: &Comparison) -> bool {
    one.blocks.is_none() && (one.before.n < 2 || one.after.n < 2)
}

pub(super) fn title(one: &Comparison) -> String {
    format!("{} {}", one.metric, one.name).trim().to_owned()
}

/// The figures of `all`, whose sides have these names.
pub(super) fn table(all: &[Comparison], [before, after]: [&str; 2]) -> Table {
    let words = |name: &str, cell: &dyn Fn(&Comparison) -> String| {
        Column::words(name, all.iter().map(cell))
    };
    let numbers = |name: &str, unit: &str, cell: &dyn Fn(&Comparison) -> Option<String>| {
        Column::texts(name, unit, all.iter().map(cell))
    };
    let mut table = Table {
        heading: heading(all),
        keys: 1,
        columns: vec![
            words("figure", &|one| title(one)),
            words("verdict", &|one| word(one.verdict).to_owned()),
            words("effect", &|one| {
                one.ratio
                    .map_or("n/a".to_owned(), |ratio| changes(one, ratio))
            }),
            words(before, &|one| value(one.before.median, &one.unit)),
            words(after, &|one| value(one.after.median, &one.unit)),
            numbers("p", "", &|one| one.p_adjusted.or(one.p).map(probability)),
            words("95 % interval", &|one| {
                interval(one).unwrap_or("n/a".to_owned())
            }),
            words("runs", &|one| format!("{}/{}", one.before.n, one.after.n)),
        ],
        tones: all.iter().map(|one| tone(one.verdict)).collect(),
    };
    table.forget_unknown();
    table
}

/// The p that decides is the adjusted one, where figures are judged together.
fn heading(all: &[Comparison]) -> String {
    let adjusted = match all.iter().any(|one| one.p_adjusted > one.p) {
        true => "; p is adjusted for figures that are judged together",
        false => "",
    };
    format!("figures: medians of runs{adjusted}")
}

/// The statistics of a primary figure.
fn statistics(one: &Comparison) -> Block {
    let had_blocks = one.blocks != Some(0);
    let left_out = one.excluded.iter().map(|left| {
        Line::new(2, format!("left out: {}: {}", left.run, left.reason)).tone(Tone::Warn)
    });
    let lines = design(one).into_iter().chain(before_against_before(one));
    let lines = lines.chain(power(one)).chain(proof(one));
    let sides = had_blocks.then(|| sides(one)).into_iter().flatten();
    Block::Lines {
        heading: format!("strength of evidence: {}", title(one)),
        lines: lines.chain(sides).chain(left_out).collect(),
    }
}

/// The runs of A against themselves, which show what else changes.
fn before_against_before(one: &Comparison) -> Option<Line> {
    let Some((sigma, p)) = one.aa_sigma.zip(one.aa_p) else {
        let ratios = one.aa_log_ratios.iter();
        let ratios: Vec<String> = ratios.map(|ratio| changes(one, ratio.exp())).collect();
        let text = format!("A against A, by block: {}", ratios.join(", "));
        return (!ratios.is_empty()).then(|| Line::new(2, text));
    };
    let (sigma, probability) = (percent(sigma), probability(p));
    let text = format!("A against A: standard deviation of blocks {sigma}, p = {probability}");
    Some(match p <= one.alpha {
        true => Line::new(2, format!("{text}{SUSPICIOUS}")).tone(Tone::Warn),
        false => Line::new(2, text),
    })
}

fn power(one: &Comparison) -> Option<Line> {
    let mde = percent(one.mde?);
    let text = format!("an effect below {mde} would probably have been missed");
    Some(Line::new(2, text))
}

fn proof(one: &Comparison) -> Option<Line> {
    one.blocks.filter(|blocks| *blocks > 0)?;
    let text = format!(
        "proven by p <= {} at the last block, or by an e-value of 20 at any, in the direction of the mean: p = {}, e-value {}",
        probability(one.alpha),
        one.p.map_or("n/a".to_owned(), probability),
        one.e_value.map_or("n/a".to_owned(), significant),
    );
    Some(Line::new(2, text))
}

const SUSPICIOUS: &str = ": they differ, which happens by chance once in twenty; else something else changes with the runs";

fn design(one: &Comparison) -> Option<Line> {
    let (blocks, planned) = (one.blocks?, one.blocks_planned?);
    let seed = one.order_seed.unwrap_or_default();
    let why = match one.stopped.as_deref() {
        Some("proven") => "stopped: proven",
        Some("equivalent") => "stopped: within the margin",
        Some("futile") => "stopped: a proof is out of reach",
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
            known if known.is_empty() || known == name => String::new(),
            label => format!(" `{label}`"),
        };
        let [low, high] = [side.min, side.max].map(|end| value(end, &one.unit));
        Line::new(
            2,
            format!("{name}{label}: {} runs from {low} to {high}", side.n),
        )
    };
    let lines = [side(before, &one.before), side(after, &one.after)];
    lines.into_iter().chain(sentence::rare(one)).collect()
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

pub(super) fn environment(all: &[Comparison]) -> Option<Block> {
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
    let shown = found.iter().take(MOST_SHOWN);
    lines.extend(shown.map(|one| Line::new(4, difference(one))));
    (!found.is_empty()).then(|| Block::Lines {
        heading: "environment".to_owned(),
        lines,
    })
}

/// What it was before, and after.
pub(crate) fn difference(one: &Difference) -> String {
    let [before, after] = [&one.before, &one.after].map(|values| values.join(" | "));
    short(&format!("{}: {before} -> {after}", named(one)))
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

pub(super) fn interval(one: &Comparison) -> Option<String> {
    let [low, high] = one.ci95?;
    Some(format!("{} … {}", changes(one, low), changes(one, high)))
}

pub(super) fn is_in_per_cent(one: &Comparison) -> bool {
    are_near_1(one.ratio.into_iter().chain(one.ci95.into_iter().flatten()))
}

fn are_near_1(mut ratios: impl Iterator<Item = f64>) -> bool {
    ratios.all(|ratio| ratio > 0.5 && ratio < 2.0)
}

/// A ratio in per cent while the estimate and its interval are near 1, else as a factor.
pub(super) fn changes(one: &Comparison, ratio: f64) -> String {
    change(is_in_per_cent(one), ratio)
}

fn change(in_per_cent: bool, ratio: f64) -> String {
    if !in_per_cent {
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
pub(super) fn percent(ratio: f64) -> String {
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

pub(super) fn probability(p: f64) -> String {
    match p {
        tiny if tiny < 0.0001 => "<0.0001".to_owned(),
        p => decimal(p),
    }
}

fn value(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| figure_text(value, unit))
}

/// A figure of a run with its unit.
#[must_use]
pub fn figure_text(value: f64, unit: &str) -> String {
    match unit {
        "bit/s" => with_unit(value, BIT_RATES),
        "frame/s" | "packet/s" => with_unit(value, PACKET_RATES),
        "ns" => with_unit(value, TIMES),
        "s" => with_unit(value * 1e9, TIMES),
        "ratio" => format!("{} %", format::percent(value)),
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
