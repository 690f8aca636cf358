// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cells of a matrix over their runs.

use std::collections::BTreeMap;

use linerate_model::cell_run::CellRun;
use linerate_model::output::{Axis, Cell, CellFigure, CellState, Excluded, Matrix};

use super::figures::{ORDER, meaning};
use super::hosts::ran_on;
use super::possible::{impossible, note};
use super::progress::MOST_FAILURES;
use crate::experiment::margin::RATES;
use crate::stats::describe;

/// All combinations, with what these runs gave; `matrix` learns how many rounds are complete, and on which hosts.
pub fn cells(matrix: &mut Matrix, runs: &[CellRun]) -> Vec<Cell> {
    let mut of_cell: Vec<Vec<&CellRun>> = Vec::new();
    let mut cells = product(&matrix.axes);
    of_cell.resize(cells.len(), Vec::new());
    for run in runs {
        let at = (run.cell as usize).wrapping_sub(1);
        of_cell
            .iter_mut()
            .skip(at)
            .take(1)
            .for_each(|all| all.push(run));
    }
    let mut least = None::<u32>;
    for (cell, runs) in cells.iter_mut().zip(&of_cell) {
        let done = fill(cell, runs, matrix.rounds);
        if matches!(cell.state, CellState::Done | CellState::Pending) {
            least = Some(least.map_or(done, |least| least.min(done)));
        }
    }
    matrix.ran_on = ran_on(runs);
    matrix.rounds_done = least.unwrap_or(0).min(matrix.rounds);
    cells
}

/// The axes that make rows unless others are chosen: all but the last one with more than one value.
pub fn rows(axes: &[Axis]) -> Vec<String> {
    let across = axes.iter().rposition(|axis| axis.values.len() > 1);
    let across = across.filter(|_| axes.len() > 1);
    let others = axes.iter().enumerate();
    let others = others.filter(|(at, _)| Some(*at) != across);
    others.map(|(_, axis)| axis.name.clone()).collect()
}

/// Every combination, of at most [`super::MOST_CELLS`]; the last axis changes first.
pub(super) fn product(axes: &[Axis]) -> Vec<Cell> {
    let sizes = axes.iter().map(|axis| axis.values.len());
    let all = sizes.reduce(usize::saturating_mul).unwrap_or(0);
    let count = if all > super::MOST_CELLS { 0 } else { all };
    (0..count).map(|at| combination(axes, at)).collect()
}

fn combination(axes: &[Axis], at: usize) -> Cell {
    let mut rest = at;
    let mut values = BTreeMap::new();
    for axis in axes.iter().rev() {
        let count = axis.values.len().max(1);
        if let Some(value) = axis.values.get(rest % count) {
            values.insert(axis.name.clone(), value.clone());
        }
        rest /= count;
    }
    Cell {
        id: at as u32 + 1,
        axes: values,
        ..Cell::default()
    }
}

/// Takes in the runs of one cell; how many count.
fn fill(cell: &mut Cell, runs: &[&CellRun], rounds: u32) -> u32 {
    let (counting, others): (Vec<&CellRun>, Vec<&CellRun>) = runs
        .iter()
        .copied()
        .partition(|run| run.state == CellState::Done);
    cell.figures = figures(&counting);
    cell.run_ids = counting.iter().map(|run| run.run.clone()).collect();
    cell.excluded = others.iter().filter_map(|run| excluded(run)).collect();
    let why = impossible(&cell.axes);
    (cell.state, cell.reason) = match others.last() {
        _ if why.is_some() => (CellState::NotPossible, why),
        _ if counting.len() >= rounds as usize => (CellState::Done, None),
        Some(_) => unfinished(&others, runs.len()),
        None => (CellState::Pending, None),
    };
    let is_possible = cell.state != CellState::NotPossible;
    cell.note = note(&cell.axes).filter(|_| is_possible);
    counting.len() as u32
}

/// A cell that lacks runs, after some that do not count: it has failed only when no round tries it again.
fn unfinished(others: &[&CellRun], tried: usize) -> (CellState, Option<String>) {
    let failures = others.iter().filter(|run| run.state == CellState::Failed);
    let is_over = failures.count() >= MOST_FAILURES as usize;
    let refused = others
        .iter()
        .rfind(|run| run.state == CellState::NotPossible);
    let why = others.iter().rev().find_map(|run| run.reason.as_deref());
    let why = why.unwrap_or_default();
    let so_far = |when: &str| Some(format!("failed {} of {tried}{when}: {why}", others.len()));
    match refused {
        Some(refused) => (CellState::NotPossible, refused.reason.clone()),
        None if is_over => (CellState::Failed, so_far("")),
        None => (CellState::Pending, so_far(" so far")),
    }
}

fn excluded(run: &CellRun) -> Option<Excluded> {
    let reason = run.reason.clone()?;
    (!run.run.is_empty()).then(|| Excluded {
        run: run.run.clone(),
        reason,
    })
}

/// The figures that every run that counts has.
fn figures(runs: &[&CellRun]) -> Vec<CellFigure> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let known = ORDER.iter().copied();
    let others = first.values.keys().map(String::as_str);
    let names = known.chain(others.filter(|name| !ORDER.contains(name)));
    names.filter_map(|name| figure(name, runs)).collect()
}

fn figure(name: &str, runs: &[&CellRun]) -> Option<CellFigure> {
    let values: Option<Vec<f64>> = runs
        .iter()
        .map(|run| run.values.get(name).copied())
        .collect();
    let values = values?;
    let median = describe::median(&values)?;
    let (unit, higher_is_better) = meaning(name);
    let far_out = describe::far_out(&values, RATES * median.abs());
    Some(CellFigure {
        name: name.to_owned(),
        unit: unit.to_owned(),
        higher_is_better,
        n: values.len() as u32,
        median,
        ci95: median_interval(&values),
        outliers: far_out.into_iter().map(|at| at as u32).collect(),
        values,
    })
}

/// The order statistics between which the median lies with a probability of at least 95 %, whatever the distribution of the
/// runs: from the k-th to the k-th from the end, where at most one coin throw of forty gives fewer than k heads (Conover,
/// Practical Nonparametric Statistics, 3.2). `None` below 6 values.
fn median_interval(values: &[f64]) -> Option<[f64; 2]> {
    let sorted = describe::sorted(values);
    let n = sorted.len();
    // The probability of `heads` heads, and of at most as many.
    let (mut one, mut at_most, mut skipped) = (0.5_f64.powi(n as i32), 0.0, 0);
    for heads in 0..n / 2 {
        at_most += one;
        if at_most > 0.025 {
            break;
        }
        skipped = heads + 1;
        one *= (n - heads) as f64 / (heads + 1) as f64;
    }
    let first = skipped.checked_sub(1)?;
    Some([*sorted.get(first)?, *sorted.get(n.checked_sub(skipped)?)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::order::Gather as _;

    fn axis(name: &str, values: &[&str]) -> Axis {
        Axis {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }
    }

    fn matrix() -> Matrix {
        Matrix {
            axes: vec![axis("family", &["4", "6"]), axis("mtu", &["100", "1500"])],
            rounds: 2,
            ..Matrix::default()
        }
    }

    fn run(cell: u32, state: CellState, rate: f64) -> CellRun {
        let values = [("delivered_bits_per_second", rate), ("cpu_local", 0.5)];
        CellRun {
            cell,
            run: format!("{cell}-{rate}"),
            state,
            hosts: Vec::new(),
            reason: (state != CellState::Done).then(|| format!("why {rate}")),
            values: values
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .gather(),
        }
    }

    #[test]
    fn the_last_axis_changes_first() {
        let cells = product(&matrix().axes);
        let words: Vec<String> = cells
            .iter()
            .map(|cell| format!("{} {} {}", cell.id, cell.axes["family"], cell.axes["mtu"]))
            .collect();
        assert_eq!(words, ["1 4 100", "2 4 1500", "3 6 100", "4 6 1500"]);
        assert!(product(&[]).is_empty());
    }

    #[test]
    fn each_cell_is_done_failed_pending_or_not_possible() {
        use CellState::{Done, Failed, NotPossible, Pending};
        let runs = [
            run(1, Done, 10.0),
            run(1, Pending, 99.0),
            run(1, Done, 30.0),
            run(2, Done, 7.0),
            run(4, Done, 5.0),
            run(4, Failed, 0.0),
            run(4, Failed, 0.0),
            run(9, Done, 1.0),
        ];
        let mut matrix = matrix();
        let all = cells(&mut matrix, &runs);
        let states: Vec<CellState> = all.iter().map(|cell| cell.state).collect();
        assert_eq!(states, [Done, Pending, NotPossible, Failed]);
        assert_eq!(matrix.rounds_done, 1);
        let rate = &all[0].figures[0];
        assert_eq!((rate.median, rate.n, rate.ci95), (20.0, 2, None));
        assert_eq!(rate.values, [10.0, 30.0]);
        assert_eq!(all[0].run_ids, ["1-10", "1-30"]);
        assert_eq!(all[0].excluded[0].reason, "why 99");
        assert_eq!(all[3].reason.as_deref(), Some("failed 2 of 3: why 0"));
        assert_eq!(all[3].figures[0].values, [5.0], "what was measured stays");
        assert!(all[2].reason.as_deref().unwrap().contains("1280"));
    }

    #[test]
    fn a_cell_that_is_tried_again_has_not_failed_yet() {
        let runs = [run(1, CellState::Done, 1.0), run(1, CellState::Failed, 0.0)];
        let all = cells(&mut matrix(), &runs);
        assert_eq!(all[0].state, CellState::Pending);
        assert_eq!(
            all[0].reason.as_deref(),
            Some("failed 1 of 2 so far: why 0")
        );
    }

    #[test]
    fn a_failure_that_was_repaired_is_excluded_and_the_cell_done() {
        use CellState::{Done, Failed};
        let runs = [run(1, Failed, 0.0), run(1, Done, 1.0), run(1, Done, 2.0)];
        let all = cells(&mut matrix(), &runs);
        assert_eq!((all[0].state, all[0].reason.as_deref()), (Done, None));
        assert_eq!(all[0].excluded.len(), 1);
    }

    #[test]
    fn a_figure_that_one_run_lacks_is_left_out() {
        let mut other = run(1, CellState::Done, 2.0);
        other.values.remove("cpu_local");
        let all = cells(&mut matrix(), &[run(1, CellState::Done, 1.0), other]);
        assert_eq!(all[0].figures.len(), 1);
    }

    /// Tables of the binomial: n = 6 … 8 smallest and largest, 9 … 11 the second, 20 the sixth.
    #[test]
    fn the_interval_of_the_median() {
        let of = |n: u32| median_interval(&(1..=n).map(f64::from).collect::<Vec<_>>());
        assert_eq!((of(0), of(1), of(5)), (None, None, None));
        assert_eq!(of(6), Some([1.0, 6.0]));
        assert_eq!(of(8), Some([1.0, 8.0]));
        assert_eq!(of(9), Some([2.0, 8.0]));
        assert_eq!(of(20), Some([6.0, 15.0]));
    }

    #[test]
    fn the_last_axis_with_a_choice_makes_the_columns() {
        let axes = [
            axis("family", &["4", "6"]),
            axis("driver", &["a", "b"]),
            axis("mtu", &["1500"]),
        ];
        assert_eq!(rows(&axes), ["family", "mtu"]);
        assert_eq!(rows(&axes[..1]), ["family"]);
        assert_eq!(rows(&axes[2..]), ["mtu"]);
    }

    #[test]
    fn a_run_far_from_the_others_is_named() {
        let mut matrix = Matrix {
            rounds: 7,
            ..matrix()
        };
        let rates = [100.0, 101.0, 99.0, 40.0, 100.0, 100.5, 99.5];
        let runs = rates.map(|rate| run(1, CellState::Done, rate));
        let all = cells(&mut matrix, &runs);
        assert_eq!(all[0].figures[0].outliers, [3]);
    }
}
