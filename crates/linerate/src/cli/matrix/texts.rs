// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages of a matrix while it runs.

use linerate_method::matrix::{Axes, DIRECTION, FAMILY, PROTOCOL, Progress, Slot, is_setting};
use linerate_model::cell_run::CellRun;
use linerate_model::output::{CellState, Matrix};
use linerate_report::figure_text;
use linerate_report::live::duration;

/// Before the first run: how many, and how long.
pub(super) fn announcement(matrix: &Matrix, progress: &Progress, each_s: Option<f64>) -> String {
    let (all, possible) = (progress.all(), progress.possible());
    let cells = match all - possible {
        0 if all == 1 => "one cell".to_owned(),
        0 => format!("{all} cells"),
        not => format!("{all} cells, of which {not} cannot be"),
    };
    let (left, done) = (progress.runs_left(), progress.runs_done());
    if left == 0 {
        return format!("{}: {cells}; all {done} runs are done", matrix.name);
    }
    let runs = match done {
        0 if matrix.rounds == 1 => format!("{left} runs in one round"),
        0 => format!("{left} runs in {} rounds", matrix.rounds),
        done => format!("{done} runs are done, {left} remain"),
    };
    let time = each_s.map_or_else(String::new, |each_s| {
        format!(
            ", about {} each: {}",
            duration(each_s),
            duration(each_s * left as f64)
        )
    });
    let grouped = match matrix.axes.iter().any(|axis| is_setting(&axis.name)) {
        true => ", those with the same settings together",
        false => "",
    };
    let (name, seed) = (&matrix.name, matrix.order_seed);
    format!("{name}: {cells}; {runs}{time}; order by seed {seed}{grouped}")
}

/// The time of all runs, where it was wrong.
pub(super) fn corrected(each_s: f64, left_s: f64) -> String {
    format!(
        "a run takes {}: about {} left",
        duration(each_s),
        duration(left_s)
    )
}

/// The run under way.
pub(super) fn status(
    number: usize,
    all: usize,
    slot: Slot,
    axes: &Axes,
    left_s: Option<f64>,
) -> String {
    let left = left_s.map_or_else(String::new, |left_s| {
        format!(", about {} left", duration(left_s))
    });
    let again = match slot.attempt {
        1 => String::new(),
        attempt => format!(", attempt {attempt}"),
    };
    let (round, cell) = (slot.round, label(axes));
    format!("run {number} of {all}, round {round}{again}{left}: {cell}")
}

/// A run that has ended.
pub(super) fn run(number: usize, all: usize, slot: Slot, axes: &Axes, run: &CellRun) -> String {
    let gave = match (&run.reason, run.state) {
        (Some(why), CellState::NotPossible) => {
            return format!("not possible: {}: {why}", label(axes));
        }
        (Some(why), CellState::Pending) => format!("does not count, is repeated: {why}"),
        (Some(why), _) => format!("failed: {why}"),
        (None, _) => figures(run),
    };
    let (round, cell) = (slot.round, label(axes));
    format!("run {number:>3} of {all:<3}  round {round}  {cell}  {gave}")
}

fn figures(run: &CellRun) -> String {
    let text = |name: &str, unit: &str| Some(figure_text(*run.values.get(name)?, unit));
    let rate = text("delivered_bits_per_second", "bit/s").unwrap_or_default();
    let lost = run.values.get("loss_ratio");
    let lost = lost.map(|ratio| format!("  lost {:.3} %", 100.0 * ratio));
    format!("{rate}{}", lost.unwrap_or_default())
}

/// A cell in a few words.
pub(super) fn label(axes: &Axes) -> String {
    let word = |(axis, value): (&String, &String)| match axis.as_str() {
        PROTOCOL | DIRECTION => value.clone(),
        FAMILY => format!("IPv{value}"),
        axis => format!("{axis}={value}"),
    };
    let words: Vec<String> = axes.iter().map(word).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Axis;

    fn matrix() -> Matrix {
        Matrix {
            name: "qfe".to_owned(),
            axes: vec![Axis {
                name: "size".to_owned(),
                values: ["64", "1448"].map(str::to_owned).into(),
            }],
            rounds: 6,
            order_seed: 7,
            ..Matrix::default()
        }
    }

    #[test]
    fn the_time_of_all_runs_is_told_beforehand() {
        let matrix = matrix();
        let said =
            |runs: &[CellRun]| announcement(&matrix, &Progress::new(&matrix, runs), Some(10.0));
        assert_eq!(
            said(&[]),
            "qfe: 2 cells; 12 runs in 6 rounds, about 10 s each: 2 min; order by seed 7"
        );
        let done = |cell| CellRun {
            cell,
            state: CellState::Done,
            ..CellRun::default()
        };
        assert_eq!(
            said(&[done(1), done(2), done(1)]),
            "qfe: 2 cells; 3 runs are done, 9 remain, about 10 s each: 90 s; order by seed 7"
        );
    }

    #[test]
    fn what_is_left_is_told_while_it_runs() {
        let slot = Slot {
            round: 2,
            cell: 1,
            attempt: 2,
        };
        let axes = [("size".to_owned(), "64".to_owned())].into();
        assert_eq!(
            status(5, 12, slot, &axes, Some(80.0)),
            "run 5 of 12, round 2, attempt 2, about 80 s left: size=64"
        );
        assert_eq!(
            corrected(20.0, 160.0),
            "a run takes 20 s: about 2 min 40 s left"
        );
    }
}
