// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which cell runs next, from the runs so far.

use linerate_model::cell_run::CellRun;
use linerate_model::output::{Cell, CellState, Matrix};

use super::cells::product;
use super::order::{drawn, slow};
use super::possible::impossible;

/// A matrix under way.
#[derive(Debug, Clone)]
pub struct Progress {
    cells: Vec<Cell>,
    /// Of each cell.
    states: Vec<State>,
    slow: Vec<String>,
    seed: u64,
    rounds: u32,
    /// The cells of the round under way, the next one last.
    queue: Vec<u32>,
    round: u32,
    failed_in_a_row: u32,
}

/// What is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// [`Cell::id`].
    pub cell: u32,
    /// From 1.
    pub round: u32,
    /// From 1: a run that does not count is repeated.
    pub attempt: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Runs that count.
    done: u32,
    /// Of the next run.
    attempts: u32,
    /// Rounds without a run that counts.
    failures: u32,
    /// Nothing more is run.
    closed: bool,
}

impl Progress {
    /// Goes on after these runs. Only those that count matter: what failed, or what a device refused, is tried again.
    pub fn new(matrix: &Matrix, runs: &[CellRun]) -> Self {
        let cells = product(&matrix.axes);
        let mut states = vec![State::default(); cells.len()];
        for (cell, state) in cells.iter().zip(&mut states) {
            state.closed = impossible(&cell.axes).is_some();
        }
        for run in runs.iter().filter(|run| run.state == CellState::Done) {
            if let Some(state) = states.get_mut(index(run.cell)) {
                state.done += 1;
            }
        }
        let slow = slow(&matrix.axes).into_iter().map(str::to_owned);
        Self {
            slow: slow.collect(),
            seed: matrix.order_seed,
            rounds: matrix.rounds,
            queue: Vec::new(),
            round: 0,
            failed_in_a_row: 0,
            cells,
            states,
        }
    }

    /// The next run; `None` when all are done.
    pub fn next_run(&mut self) -> Option<Slot> {
        if self.queue.is_empty() {
            self.begin_round();
        }
        let cell = *self.queue.last()?;
        let attempts = self.states.get(index(cell))?.attempts;
        Some(Slot {
            cell,
            round: self.round,
            attempt: attempts + 1,
        })
    }

    /// The cell called `id`, without figures.
    pub fn cell(&self, id: u32) -> Option<&Cell> {
        self.cells.get(index(id))
    }

    /// The next run has ended: `Done` counts, `Pending` is repeated after the other cells of the round, `Failed` ends the
    /// cell's round, `NotPossible` the cell.
    pub fn ended(&mut self, state: CellState) {
        let next = self.queue.last().copied();
        let Some(one) = next.and_then(|cell| self.states.get_mut(index(cell))) else {
            return;
        };
        self.failed_in_a_row = match state {
            CellState::Pending | CellState::Failed => self.failed_in_a_row + 1,
            _ => 0,
        };
        one.attempts += 1;
        if state == CellState::Pending {
            // What spoiled it may be over by then.
            self.queue.rotate_right(1);
            return;
        }
        one.attempts = 0;
        match state {
            CellState::Done => one.done += 1,
            CellState::Failed => one.failures += 1,
            _ => one.closed = true,
        }
        one.closed |= one.failures == MOST_FAILURES;
        self.queue.pop();
    }

    /// Whether the last runs all failed: the reason is not in the cells.
    pub fn is_hopeless(&self) -> bool {
        self.failed_in_a_row >= MOST_IN_A_ROW
    }

    /// Runs to come, if each counts.
    pub fn runs_left(&self) -> usize {
        self.open().map(|one| self.rounds - one.done).sum::<u32>() as usize
    }

    /// Runs that count.
    pub fn runs_done(&self) -> usize {
        self.states.iter().map(|one| one.done).sum::<u32>() as usize
    }

    /// Cells that can be, as far as it is known.
    pub fn possible(&self) -> usize {
        let possible = |cell: &&Cell| impossible(&cell.axes).is_none();
        self.cells.iter().filter(possible).count()
    }

    /// All combinations.
    pub fn all(&self) -> usize {
        self.cells.len()
    }

    fn open(&self) -> impl Iterator<Item = &State> {
        let is_open = |one: &&State| !one.closed && one.done < self.rounds;
        self.states.iter().filter(is_open)
    }

    /// The cells that lack a run of the first round that is not complete. The order is that of all cells, so that it is the
    /// same however often the matrix was resumed.
    fn begin_round(&mut self) {
        let Some(least) = self.open().map(|one| one.done).min() else {
            return;
        };
        self.round = least + 1;
        let slow: Vec<&str> = self.slow.iter().map(String::as_str).collect();
        let mut order = drawn(&self.cells, &slow, self.seed, self.round);
        order.reverse();
        let lacks = |id: &u32| {
            let state = self.states.get(index(*id));
            state.is_some_and(|one| !one.closed && one.done < self.round)
        };
        order.retain(lacks);
        self.queue = order;
    }
}

fn index(id: u32) -> usize {
    (id as usize).wrapping_sub(1)
}

/// Of one run: a setting that another program changed, or a busy moment, spoils one.
pub const ATTEMPTS: u32 = 3;
/// Rounds that a cell may fail.
pub(super) const MOST_FAILURES: u32 = 2;
/// Of five cells.
const MOST_IN_A_ROW: u32 = 5 * ATTEMPTS;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::Axis;

    fn matrix(rounds: u32) -> Matrix {
        let axis = |name: &str, values: &[&str]| Axis {
            name: name.to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        Matrix {
            axes: vec![
                axis("family", &["4", "6"]),
                axis("mtu", &["100", "1500"]),
                axis("size", &["64", "1500"]),
            ],
            rounds,
            order_seed: 5,
            ..Matrix::default()
        }
    }

    fn run(cell: u32, state: CellState) -> CellRun {
        CellRun {
            cell,
            state,
            ..CellRun::default()
        }
    }

    fn slots(progress: &mut Progress, most: usize) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        while let Some(slot) = progress.next_run().filter(|_| all.len() < most) {
            all.push((slot.cell, slot.round));
            progress.ended(CellState::Done);
        }
        all
    }

    #[test]
    fn every_possible_cell_runs_once_in_each_round() {
        let mut progress = Progress::new(&matrix(3), &[]);
        assert_eq!((progress.all(), progress.possible()), (8, 6));
        assert_eq!(progress.runs_left(), 18);
        let all = slots(&mut progress, 100);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        let possible = [1, 2, 3, 4, 7, 8];
        let expected = possible
            .iter()
            .flat_map(|cell| (1..=3).map(|round| (*cell, round)));
        assert_eq!(sorted, expected.collect::<Vec<_>>());
        assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        assert_eq!((progress.runs_left(), progress.runs_done()), (0, 18));
    }

    /// However often it ends, the whole is the same.
    #[test]
    fn one_that_is_resumed_goes_on_as_it_would_have() {
        let whole = slots(&mut Progress::new(&matrix(3), &[]), 100);
        for ends in 0..whole.len() {
            let runs: Vec<CellRun> = whole[..ends]
                .iter()
                .map(|(cell, _)| run(*cell, CellState::Done))
                .collect();
            let rest = slots(&mut Progress::new(&matrix(3), &runs), 100);
            assert_eq!(rest, whole[ends..], "after {ends}");
        }
    }

    #[test]
    fn a_run_that_does_not_count_is_repeated_and_a_cell_that_fails_twice_is_given_up() {
        let mut progress = Progress::new(&matrix(3), &[]);
        let first = progress.next_run().unwrap();
        progress.ended(CellState::Pending);
        for _ in 1..progress.possible() {
            assert_ne!(progress.next_run().unwrap().cell, first.cell);
            progress.ended(CellState::Done);
        }
        let again = progress.next_run().unwrap();
        assert_eq!((again.cell, again.attempt, again.round), (first.cell, 2, 1));
        let mut failed = 0;
        while let Some(slot) = progress.next_run() {
            progress.ended(match slot.cell == first.cell {
                true => {
                    failed += 1;
                    CellState::Failed
                }
                false => CellState::Done,
            });
            assert!(!progress.is_hopeless());
        }
        assert_eq!((failed, progress.runs_done()), (2, 15));
        let resumed = Progress::new(&matrix(3), &[run(first.cell, CellState::Failed)]);
        assert_eq!(resumed.runs_left(), 18, "a failure does not count");
    }

    #[test]
    fn what_a_device_refuses_ends_the_cell_alone() {
        let mut progress = Progress::new(&matrix(2), &[]);
        let first = progress.next_run().unwrap().cell;
        progress.ended(CellState::NotPossible);
        assert_eq!(progress.runs_left(), 10);
        assert!(
            slots(&mut progress, 100)
                .iter()
                .all(|(cell, _)| *cell != first)
        );
    }

    #[test]
    fn when_all_fail_it_is_hopeless() {
        let mut progress = Progress::new(&matrix(2), &[]);
        let mut failed = 0;
        while !progress.is_hopeless() && progress.next_run().is_some() {
            progress.ended(CellState::Pending);
            failed += 1;
        }
        assert_eq!(failed, 15);
        assert_eq!(Progress::new(&Matrix::default(), &[]).all(), 0);
    }
}
