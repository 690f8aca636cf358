// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two matrices of the same axes, cell by cell.

mod axis;
mod plan;

use linerate_method::matrix::packets;
use linerate_method::matrix::verdict::{self, Pair};
use linerate_model::failure::{Failure, Kind};
use linerate_model::output::{
    Axis, Cell, CellFigure, CellState, Comparison, Difference, Matrix, Output, RanOn,
};
use linerate_report::subject::Subject;
use linerate_report::{HOSTS_OF_RUNS, cell_name, matrix_sentence, sentence};

use crate::cli::args::CompareArgs;
use crate::cli::document::document;
use crate::cli::report::{both, subjects};

/// The document of two stored matrices, and why it proves nothing.
pub(super) fn read(args: &CompareArgs) -> Result<(Output, Option<Failure>), Failure> {
    let (subjects, _) = subjects::read(&args.matrices, &[])?;
    let output = match (subjects.as_slice(), &args.axis) {
        ([before, after], None) => compared([before, after], &args.metric, args.margin)?,
        ([subject], Some(axis)) => {
            let ([before, after], moved) = axis::split(subject, axis)?;
            let mut output = compared([&before, &after], &args.metric, args.margin)?;
            let first = output.comparison.iter_mut().take(1);
            first.for_each(|one| one.environment_diff.insert(0, moved.clone()));
            output
        }
        _ => {
            let why = "two matrices, or two values of an axis of one, are needed";
            return Err(Failure::usage("compare matrices", why)
                .hint("linerate compare A B; or linerate compare --axis NAME MATRIX"));
        }
    };
    let failure = too_few(&output.comparison, args.fail_if.is_some());
    Ok((output, failure))
}

/// Compares every figure that both have. Those named by `metric` decide, else the first; `margin` is theirs.
pub(in crate::cli) fn compared(
    subjects: [&Subject; 2],
    metric: &[String],
    margin: Option<f64>,
) -> Result<Output, Failure> {
    let [before, after] = [matrix(subjects[0])?, matrix(subjects[1])?];
    let sides = subjects.map(|subject| subject.output.cells.as_slice());
    let plans = plan::differences([before, after]);
    let moved = [other_axes(before, after)?, plans.clone()].concat();
    plan::check(&plans, sides[0])?;
    let figures = in_common(sides);
    let deciding = deciding(&figures, metric)?;
    let mut output = document("compare");
    for figure in &figures {
        let decides = deciding.contains(figure);
        let stated = margin.filter(|_| decides);
        let together = match decides {
            true => deciding.len(),
            false => figures.len() - deciding.len(),
        };
        let margin = stated.unwrap_or_else(|| verdict::margin(figure));
        let pairs = pairs(figure, sides, &plans, plan::duration_s(before));
        let mut all = judged(&pairs, before, |pairs| {
            verdict::compare(pairs, margin, together)
        });
        all.iter_mut().for_each(|one| one.primary = decides);
        output.comparison.extend(all);
    }
    // The deciding figures first.
    let (first, others): (Vec<_>, Vec<_>) =
        output.comparison.into_iter().partition(|one| one.primary);
    output.comparison = [first, others].concat();
    complete(&mut output.comparison, subjects, moved);
    output.matrix = Some(Matrix {
        rounds_done: before.rounds_done.min(after.rounds_done),
        ..before.clone()
    });
    output.cells = cells(sides, &plans);
    Ok(output)
}

fn matrix(subject: &Subject) -> Result<&Matrix, Failure> {
    subject.output.matrix.as_ref().ok_or_else(|| {
        let why = format!("{} is not a run of `matrix`", subject.label);
        Failure::usage("compare two matrices", why)
            .hint("runs of other commands: --before RUN ... --after RUN ...")
    })
}

/// The axes with one value on each side that is not the same: it is what differs. Any other difference is an error.
fn other_axes(before: &Matrix, after: &Matrix) -> Result<Vec<Difference>, Failure> {
    let wrong = |why: String| {
        Failure::usage("compare two matrices", why)
            .hint("both of the same axes and values; an axis of one value may have another one")
    };
    let names = |matrix: &Matrix| {
        let names: Vec<&str> = matrix.axes.iter().map(|axis| axis.name.as_str()).collect();
        names.join(", ")
    };
    let [ours, theirs] = [before, after].map(names);
    if ours != theirs {
        return Err(wrong(format!("A has the axes {ours}; B has {theirs}")));
    }
    let mut found = Vec::new();
    for (one, other) in before.axes.iter().zip(&after.axes) {
        if one.values == other.values {
            continue;
        }
        if one.values.len() != 1 || other.values.len() != 1 {
            let [ours, theirs] = [one, other].map(|axis: &Axis| axis.values.join(","));
            let name = &one.name;
            return Err(wrong(format!(
                "the axis {name} has {ours} in A and {theirs} in B"
            )));
        }
        found.push(Difference {
            what: one.name.clone(),
            before: one.values.clone(),
            after: other.values.clone(),
            ..Difference::default()
        });
    }
    Ok(found)
}

/// The names of the figures of A that B has, too.
fn in_common(sides: [&[Cell]; 2]) -> Vec<String> {
    let names = sides.map(|cells| {
        let mut names: Vec<&str> = Vec::new();
        for figure in cells.iter().flat_map(|cell| &cell.figures) {
            if !names.contains(&figure.name.as_str()) {
                names.push(&figure.name);
            }
        }
        names
    });
    let [ours, theirs] = names;
    let both = ours.into_iter().filter(|name| theirs.contains(name));
    both.map(str::to_owned).collect()
}

/// The figures that decide: those whose names begin with a requested word, else the first.
fn deciding(figures: &[String], metric: &[String]) -> Result<Vec<String>, Failure> {
    let named = |figure: &&String| {
        metric.iter().any(|word| {
            let word = if word == "throughput" {
                "delivered"
            } else {
                word
            };
            figure.starts_with(word)
        })
    };
    let chosen: Vec<String> = match metric.is_empty() {
        true => figures.iter().take(1).cloned().collect(),
        false => figures.iter().filter(named).cloned().collect(),
    };
    if chosen.is_empty() {
        let known = figures.join(", ");
        let what = format!("compare two matrices by {}", metric.join(", "));
        let hint = match known.is_empty() {
            true => "complete both first: linerate matrix --resume DIR".to_owned(),
            false => format!("--metric one of {known}"),
        };
        return Err(Failure::usage(
            what.trim_end_matches(" by "),
            "no cell of both has such a figure",
        )
        .hint(hint));
    }
    Ok(chosen)
}

/// A figure of the cells that have it on both sides and are comparable; the names are missing.
fn pairs<'c>(
    name: &str,
    [before, after]: [&'c [Cell]; 2],
    plans: &[Difference],
    duration_s: f64,
) -> Vec<(&'c Cell, Pair<'c>)> {
    let pair = |cell: &'c Cell| {
        let other = after.get(place(after, cell)?)?;
        let pair = Pair {
            cell: cell.id,
            name: "",
            sides: [figure(cell, name)?, figure(other, name)?],
            packets: [cell, other].map(|cell| packets(cell, duration_s)),
        };
        plan::incomparable(plans, cell)
            .is_none()
            .then_some((cell, pair))
    };
    before.iter().filter_map(pair).collect()
}

fn judged(
    pairs: &[(&Cell, Pair<'_>)],
    matrix: &Matrix,
    compare: impl Fn(&[Pair<'_>]) -> Vec<Comparison>,
) -> Vec<Comparison> {
    let cells = pairs.iter().map(|(cell, _)| cell_name(matrix, cell));
    let names: Vec<String> = cells.collect();
    let named = pairs.iter().zip(&names);
    let named = named.map(|((_, pair), name)| Pair { name, ..*pair });
    compare(&named.collect::<Vec<_>>())
}

/// A figure of a cell that has runs.
fn figure<'c>(cell: &'c Cell, name: &str) -> Option<&'c CellFigure> {
    let mut figures = cell.figures.iter();
    figures.find(|figure| figure.name == name && figure.n > 0)
}

/// Where the cell of the same values is: mostly at the place that its id says.
fn place(cells: &[Cell], of: &Cell) -> Option<usize> {
    let at = (of.id as usize).checked_sub(1);
    at.filter(|at| cells.get(*at).is_some_and(|cell| cell.id == of.id))
        .or_else(|| cells.iter().position(|cell| cell.id == of.id))
}

/// Adds the sentences, and to the first entry what was compared and what else differs.
fn complete(all: &mut [Comparison], subjects: [&Subject; 2], moved: Vec<Difference>) {
    let whole: Vec<(usize, String)> = all
        .iter()
        .enumerate()
        .filter(|(_, one)| one.cell.is_none())
        .map(|(at, one)| (at, matrix_sentence(all, &one.metric)))
        .collect();
    all.iter_mut().for_each(|one| one.sentence = sentence(one));
    for (at, text) in whole {
        all[at].sentence = text;
    }
    if let Some(first) = all.first_mut() {
        first.environment_diff = hosts(subjects).into_iter().chain(moved).collect();
        first.environment_diff.extend(both::differences(subjects));
        for (side, subject) in [&mut first.before, &mut first.after]
            .into_iter()
            .zip(subjects)
        {
            side.label.clone_from(&subject.label);
            side.runs = subject.output.run_dir.iter().cloned().collect();
        }
    }
}

/// The hosts of the runs of each, if one was continued on others.
fn hosts(subjects: [&Subject; 2]) -> Option<Difference> {
    let [before, after] = subjects.map(|subject| {
        let matrix = subject.output.matrix.iter();
        let parts = matrix.flat_map(|matrix| &matrix.ran_on);
        let text = |part: &RanOn| format!("{} runs: {}", part.runs, part.hosts.join(", "));
        parts.map(text).collect::<Vec<_>>()
    });
    (!before.is_empty() || !after.is_empty()).then(|| Difference {
        what: HOSTS_OF_RUNS.to_owned(),
        before,
        after,
        ..Difference::default()
    })
}

/// The cells without figures; of two states the one that has none, and those that are not comparable.
fn cells([before, after]: [&[Cell]; 2], plans: &[Difference]) -> Vec<Cell> {
    let state = |cell: &Cell| {
        let other = place(after, cell).and_then(|at| after.get(at));
        let missing = other
            .filter(|_| cell.state == CellState::Done)
            .unwrap_or(cell);
        let apart = plan::incomparable(plans, cell).filter(|_| missing.state == CellState::Done);
        match apart {
            None => (missing.state, missing.reason.clone()),
            why => (CellState::NotComparable, why),
        }
    };
    let bare = |cell: &Cell| {
        let (state, reason) = state(cell);
        Cell {
            id: cell.id,
            axes: cell.axes.clone(),
            state,
            reason,
            ..Cell::default()
        }
    };
    before.iter().map(bare).collect()
}

/// Refuses one round against one, and a check that could never fail.
fn too_few(all: &[Comparison], is_check: bool) -> Option<Failure> {
    let decisive = || all.iter().filter(|one| one.primary);
    let Some(one) = decisive().next() else {
        let why = "no cell has a run with this figure in both matrices";
        let hint = "complete both first: linerate matrix --resume DIR";
        return Some(Failure::new(Kind::Invalid, "compare any cell", why).hint(hint));
    };
    let runs = |one: &Comparison| one.before.n.min(one.after.n);
    let (n, m) = (one.before.n, one.after.n);
    let needed = one.needed.unwrap_or(4);
    let refuse = |what: String, why: &str| {
        let hint =
            format!("at least {needed} rounds of each matrix: linerate matrix --rounds {needed}");
        Failure::new(Kind::Invalid, what, why).hint(hint)
    };
    if decisive().all(|one| runs(one) < 2) {
        let why = "one run is one observation: the variance between runs is unknown, and any difference may be chance";
        return Some(refuse(
            format!("draw a result from {n} against {m} rounds"),
            why,
        ));
    }
    let is_open = |one: &Comparison| one.smallest_p.is_none_or(|smallest| smallest > one.alpha);
    (is_check && decisive().all(is_open)).then(|| {
        let why = "this few rounds can prove nothing, so this check could never fail";
        refuse(format!("judge --fail-if by {n} against {m} rounds"), why)
    })
}
