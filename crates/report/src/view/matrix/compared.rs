// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two matrices: the answer in a sentence, grids of verdicts, and the cells that are not the same.

use std::collections::BTreeMap;

use linerate_model::order::Gather as _;
use linerate_model::output::{Cell, Comparison, Judgement, Output};

use super::figure::titles;
use super::{Layout, Reasons};
use crate::view::comparison::{self, tone};
use crate::view::{Block, Line, Table, Tone};

/// How many cells are better, worse, equivalent, undecided, and all cells together: of the figures that decide, then of
/// the others.
pub(super) fn answer(output: &Output) -> Vec<Block> {
    let all = &output.comparison;
    let (mut deciding, mut others) = (Vec::new(), Vec::new());
    for metric in metrics(all) {
        let of: Vec<&Comparison> = all.iter().filter(|one| one.metric == metric).collect();
        let line = Line::new(2, counted(&of));
        match of.iter().any(|one| one.primary) {
            true => deciding.push(line.tone(tone(whole_verdict(&of)))),
            false => others.push(line),
        }
    }
    let blocks = [
        Block::lines("answer", deciding),
        Block::lines("", sides(all).into_iter().chain(mixed(all))),
        Block::lines("other figures", others),
    ];
    blocks.into_iter().flatten().collect()
}

/// Which matrix is A, and which is B.
fn sides(all: &[Comparison]) -> Option<Line> {
    let first = all.first()?;
    let [a, b] = [&first.before, &first.after].map(|side| side.label.as_str());
    let known = !a.is_empty() && !b.is_empty();
    known.then(|| Line::new(2, format!("A is {a}, B is {b}")))
}

/// Which of the two was continued on other hosts: its cells are of none of them.
fn mixed(all: &[Comparison]) -> Vec<Line> {
    let found = all.iter().take(1).flat_map(|one| &one.environment_diff);
    let line = |(name, hosts): (&str, &[String])| {
        let text = format!(
            "{name} mixes runs of {} hosts ({}): what differs may be the host",
            hosts.len(),
            hosts.join(" | ")
        );
        (hosts.len() > 1).then(|| Line::new(2, text).tone(Tone::Warn))
    };
    let both = found.filter(|one| one.what == HOSTS_OF_RUNS);
    both.flat_map(|one| [("A", one.before.as_slice()), ("B", one.after.as_slice())])
        .filter_map(line)
        .collect()
}

/// The sentence over all cells of one figure.
#[must_use]
pub fn matrix_sentence(all: &[Comparison], metric: &str) -> String {
    let of: Vec<&Comparison> = all.iter().filter(|one| one.metric == metric).collect();
    counted(&of)
}

fn counted(of: &[&Comparison]) -> String {
    let cells = || of.iter().filter(|one| one.cell.is_some());
    let count = |is: &[Judgement]| cells().filter(|one| is.contains(&one.verdict)).count();
    let better = count(&[Judgement::Better]);
    let worse = count(&[Judgement::Worse]);
    let small = count(&[
        Judgement::BetterButIrrelevant,
        Judgement::WorseButIrrelevant,
    ]);
    let alike = count(&[Judgement::Equivalent]) + small;
    let open = count(&[Judgement::Inconclusive]);
    let title = of.first().map_or("", |one| titles(&one.metric).0);
    let margin = of.first().map_or(0.0, |one| one.margin);
    let margin = comparison::percent(margin);
    let real = match small {
        0 => String::new(),
        small => format!(" (in {small} of them a smaller difference is proven)"),
    };
    let open = match open {
        0 => String::new(),
        open => format!(", not enough runs in {open}{}", needed(cells().copied())),
    };
    let counts = format!(
        "{title}: B is better in {better} of {} cells, worse in {worse}, equivalent within {margin} in {alike}{real}{open}",
        cells().count()
    );
    let whole = of.iter().find(|one| one.cell.is_none());
    let whole = whole.map_or(String::new(), |one| {
        format!("; over all cells B is {}: {}", word(one), effect(one))
    });
    counts + &whole
}

/// The effect with its interval, and the p that decides.
fn effect(one: &Comparison) -> String {
    let Some(ratio) = one.ratio else {
        return "n/a".to_owned();
    };
    let interval = comparison::interval(one).unwrap_or("n/a".to_owned());
    let p = one.p_adjusted.or(one.p).unwrap_or(1.0);
    format!(
        "{} (95 % interval {interval}), adjusted p = {}",
        comparison::changes(one, ratio),
        comparison::probability(p)
    )
}

/// How many runs would decide the undecided cells, from their spread and the margin: the fewest and the most.
fn needed<'c>(cells: impl Iterator<Item = &'c Comparison> + Clone) -> String {
    let open = cells.filter(|one| one.verdict == Judgement::Inconclusive);
    let needed: Vec<u32> = open.clone().filter_map(|one| one.needed).collect();
    let is_estimate = open.clone().all(has_spread);
    match (needed.iter().min(), needed.iter().max()) {
        (Some(least), _) if !is_estimate => format!(" (at least {least} a side are needed)"),
        (Some(least), Some(most)) if least == most => format!(" (about {least} a side would do)"),
        (Some(least), Some(most)) => format!(" (about {least} to {most} a side would do)"),
        _ => String::new(),
    }
}

/// One run has no spread, from which the number of runs could be estimated.
fn has_spread(one: &Comparison) -> bool {
    one.before.n.min(one.after.n) > 1
}

/// The verdict over all cells, or that of the only one.
fn whole_verdict(of: &[&Comparison]) -> Judgement {
    let whole = of.iter().find(|one| one.cell.is_none());
    whole
        .or(of.first())
        .map_or(Judgement::Inconclusive, |one| one.verdict)
}

fn word(one: &Comparison) -> &'static str {
    match one.verdict {
        Judgement::Better => "better",
        Judgement::Worse => "worse",
        Judgement::Equivalent => "equivalent",
        Judgement::BetterButIrrelevant => "better by less than the margin",
        Judgement::WorseButIrrelevant => "worse by less than the margin",
        Judgement::Inconclusive => "undecided",
    }
}

/// A grid of verdicts a figure: the primary ones, or all; then the cells that are not the same, and the environment.
pub(super) fn blocks(output: &Output, layout: &Layout<'_>, all: bool) -> Vec<Block> {
    let comparison = &output.comparison;
    let names = comparison::names(comparison);
    let reasons = Reasons::of(&output.cells);
    let mut blocks = Vec::new();
    for metric in metrics(comparison) {
        let of = || comparison.iter().filter(|one| one.metric == metric);
        if !all && !of().any(|one| one.primary) {
            continue;
        }
        let cells: BTreeMap<u32, &Comparison> =
            of().filter_map(|one| Some((one.cell?, one))).gather();
        let text = |cell: &Cell| match cells.get(&cell.id) {
            Some(one) => (verdict(one), tone(one.verdict)),
            None => (reasons.text(cell), Tone::Plain),
        };
        let heading = format!("{}: B against A", titles(metric).0);
        blocks.push(Block::Table(layout.table(heading, "not compared", &text)));
        blocks.extend(different(of(), names, all));
    }
    blocks.extend(reasons.block(layout, &output.cells));
    blocks.extend(comparison::environment(comparison));
    blocks
}

/// The verdict of a cell with its effect, or how many runs it needs.
fn verdict(one: &Comparison) -> String {
    let effect = one
        .ratio
        .map_or("n/a".to_owned(), |ratio| comparison::changes(one, ratio));
    match (one.verdict, one.needed) {
        (Judgement::Better, _) => format!("better {effect}"),
        (Judgement::Worse, _) => format!("worse {effect}"),
        (Judgement::Inconclusive, Some(runs)) => format!("needs {runs} runs {effect}"),
        (Judgement::Inconclusive, None) => format!("not enough runs {effect}"),
        _ => format!("equivalent {effect}"),
    }
}

/// The cells that are not the same, the most certain first: their medians, effects and intervals.
fn different<'c>(
    of: impl Iterator<Item = &'c Comparison>,
    names: [&str; 2],
    all: bool,
) -> Vec<Block> {
    let alike = |one: &&Comparison| one.verdict == Judgement::Equivalent;
    let named = |one: &Comparison| Comparison {
        metric: String::new(),
        ..one.clone()
    };
    let mut shown: Vec<Comparison> = of.filter(|one| !alike(one)).map(named).collect();
    let p = |one: &Comparison| one.p_adjusted.unwrap_or(1.0);
    linerate_model::order::by(&mut shown, |one, other| {
        one.cell
            .is_some()
            .cmp(&other.cell.is_some())
            .then(p(one).total_cmp(&p(other)))
    });
    let many = shown.len();
    if !all {
        shown.truncate(MOST);
    }
    let heading = "not equivalent: medians of runs; p is adjusted for all cells".to_owned();
    let rest = super::more(many, shown.len(), "cells");
    let table = (!shown.is_empty()).then(|| {
        let mut table = Table {
            heading,
            ..comparison::table(&shown, names)
        };
        let first = table.columns.iter_mut().take(1);
        first.for_each(|column| column.name = "cell".to_owned());
        Block::Table(table)
    });
    let rest = (!rest.is_empty()).then(|| Line::new(2, rest.trim_start().to_owned()));
    table.into_iter().chain(Block::lines("", rest)).collect()
}

/// The figures, in order.
fn metrics(all: &[Comparison]) -> Vec<&str> {
    let mut metrics: Vec<&str> = Vec::new();
    for one in all {
        if !metrics.contains(&one.metric.as_str()) {
            metrics.push(&one.metric);
        }
    }
    metrics
}

const MOST: usize = 12;
/// What differs between two matrices of which one has runs of several hosts.
pub const HOSTS_OF_RUNS: &str = "hosts of the runs";
