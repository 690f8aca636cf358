// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix under way: the settings of the next cell, its run, a line for what it gave. Each run is stored before the next
//! one begins.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linerate_method::matrix::{self, ATTEMPTS, Axes, Progress, Slot};
use linerate_model::cell_run::CellRun;
use linerate_model::failure::{Failure, Kind, without_code};
use linerate_model::output::{Cell, CellState, Matrix};

use super::measurement::{self, Peer};
use super::request::{PlannedAxis, Request};
use super::settings::{Refusal, Settings};
use super::texts;
use crate::cli::ab::child;
use crate::cli::ab::inner::{Inner, Ran};
use crate::cli::ab::pace::Pace;
use crate::cli::ab::steady::Steady;
use crate::cli::ab::switch::interrupted;
use crate::cli::session::Session;

/// A matrix under way.
pub(super) struct Trial<'a> {
    pub(super) request: &'a Request,
    pub(super) matrix: Matrix,
    pub(super) progress: Progress,
    /// All so far.
    pub(super) runs: Vec<CellRun>,
    pub(super) settings: Settings<'a>,
    pub(super) peer: Peer,
    pub(super) pace: Pace,
    pub(super) begun: Instant,
    pub(super) steady: Steady,
    /// Where each run is kept.
    pub(super) directory: Option<PathBuf>,
    /// The last runs that could not be stored.
    pub(super) unstored: u32,
}

impl Trial<'_> {
    /// Runs cell by cell, until each has its runs.
    ///
    /// # Errors
    /// A setting could not be restored, cells failed, or the user interrupted.
    pub(super) fn carry_out(&mut self, session: &mut Session) -> Result<(), Failure> {
        let mut round = 0;
        while let Some(slot) = self.progress.next_run() {
            if slot.round != round {
                round = slot.round;
                session.matrix(&self.matrix);
            }
            let Some(cell) = self.progress.cell(slot.cell).cloned() else {
                break;
            };
            let run = self.one(slot, &cell, session)?;
            self.take(slot, &cell, run, session);
            self.check_stored(session)?;
            if self.progress.is_hopeless() {
                return Err(self.hopeless());
            }
        }
        Ok(())
    }

    /// A run that could not be stored is stored with a later one. When that fails for a while, the matrix ends: what
    /// follows would be lost with this process.
    fn check_stored(&mut self, session: &mut Session) -> Result<(), Failure> {
        let why = session.not_stored().filter(|_| self.directory.is_some());
        let Some(why) = why.map(without_code) else {
            self.unstored = 0;
            return Ok(());
        };
        self.unstored += 1;
        if self.unstored >= MOST_UNSTORED {
            let what = format!("store the last {} runs", self.unstored);
            let hint = "make room there: what is not stored then is measured again";
            return Err(Failure::measuring(what, why).hint(hint));
        }
        let text = format!("{why}; this run is stored with the next one, if there is room then");
        session.console.alert(&text);
        Ok(())
    }

    /// Restores the settings.
    ///
    /// # Errors
    /// What could not be restored.
    pub(super) fn restore(&mut self, session: &mut Session) -> Result<(), Failure> {
        self.settings.back(session)
    }

    /// What all of it says, in the document.
    pub(super) fn conclude(mut self, session: &mut Session) {
        session.output.cells = matrix::cells(&mut self.matrix, &self.runs);
        session.output.matrix = Some(self.matrix);
    }

    fn one(&mut self, slot: Slot, cell: &Cell, session: &mut Session) -> Result<CellRun, Failure> {
        let status = status(&self.progress, self.pace, self.begun, slot, &cell.axes);
        session.console.block(&[status]);
        let (state, reason) = match self.set_up(&cell.axes, session) {
            Ok(()) => return self.measured(slot, cell, session),
            Err(Refusal::Over(failure)) => return Err(failure),
            Err(Refusal::Impossible(why)) => (CellState::NotPossible, why),
            Err(Refusal::Failed(why)) => (failed(slot), why),
        };
        Ok(CellRun {
            cell: slot.cell,
            state,
            reason: Some(reason),
            ..CellRun::default()
        })
    }

    fn set_up(&mut self, axes: &Axes, session: &mut Session) -> Result<(), Refusal> {
        if !self.settings.bring(axes, session)? {
            return Ok(());
        }
        let settle = Duration::from_millis(self.request.settle_ms.unwrap_or_default());
        match child::pause(settle, &session.interrupt) {
            true => Ok(()),
            false => Err(Refusal::Over(interrupted())),
        }
    }

    /// One run, and whether it counts.
    fn measured(
        &mut self,
        slot: Slot,
        cell: &Cell,
        session: &mut Session,
    ) -> Result<CellRun, Failure> {
        let words = measurement::words(self.request, &cell.axes, &self.peer);
        let name = format!("r{:02}-c{:04}", slot.round, slot.cell);
        let directory = self.directory.as_ref().map(|runs| runs.join(&name));
        let ran = self.process(&words, directory.as_deref(), slot, cell, session);
        let mut run = CellRun {
            cell: slot.cell,
            run: name,
            ..CellRun::default()
        };
        match ran {
            Err(failure) if failure.kind == Kind::Interrupted => return Err(failure),
            Err(failure) => run.reason = Some(failure.why),
            Ok(mut ran) => {
                let stored = ran.output.run_dir.clone().map(PathBuf::from);
                let arm = self.arm(&cell.axes);
                let moved = self.steady.judge(arm, &mut ran, stored.as_deref());
                session.output.moved.extend(moved);
                if let Some(name) = stored.as_ref().and_then(|stored| stored.file_name()) {
                    run.run = name.to_string_lossy().into_owned();
                }
                run.values = matrix::values(&ran.output);
                run.hosts = matrix::hosts(&ran.output.hosts, self.has_drivers());
                let lacks = || run.values.is_empty().then(|| "it has no figure".to_owned());
                run.reason = ran.unusable.or_else(lacks);
            }
        }
        run.state = match run.reason {
            None => CellState::Done,
            Some(_) => failed(slot),
        };
        Ok(run)
    }

    /// Its process ends early if the settings harm a host.
    fn process(
        &mut self,
        words: &[String],
        directory: Option<&Path>,
        slot: Slot,
        cell: &Cell,
        session: &mut Session,
    ) -> Result<Ran, Failure> {
        let inner = Inner::of(words)?;
        let (mut drawn, mut raised) = (Duration::ZERO, None);
        let (progress, pace, begun) = (&self.progress, self.pace, self.begun);
        let (settings, console) = (&mut self.settings, &mut session.console);
        let mut tick = |since: Duration| {
            if since > drawn + REDRAWN {
                drawn = since;
                console.block(&[status(progress, pace, begun, slot, &cell.axes)]);
            }
            raised = settings.alarm();
            raised.is_none()
        };
        let token = session.lab_token.as_ref();
        let ran = inner.run(directory, token, &session.interrupt, &mut tick);
        match (ran, raised) {
            (Err(failure), _) if failure.kind == Kind::Interrupted => Err(failure),
            (_, Some(why)) => Err(Failure::measuring("measure", why)),
            (ran, None) => ran,
        }
    }

    /// Whether the driver is that of the host: commands may load another for a cell.
    fn has_drivers(&self) -> bool {
        !self.request.axes.iter().any(PlannedAxis::has_commands)
    }

    fn take(&mut self, slot: Slot, cell: &Cell, run: CellRun, session: &mut Session) {
        session.cell_run(&run);
        let number = self.progress.runs_done() + 1;
        self.progress.ended(run.state);
        let all = self.progress.runs_done() + self.progress.runs_left();
        let text = texts::run(number, all, slot, &cell.axes, &run);
        session.console.row(&text);
        if !run.run.is_empty() {
            session
                .console
                .detail_row(&format!("  in runs/{}", run.run));
            self.pace.ended(self.begun.elapsed().as_secs_f64());
        }
        let left = self.progress.runs_left() as f64;
        let long = |each_s: &f64| each_s * left >= LONG_S;
        if let Some(each_s) = self.pace.corrected().filter(long) {
            session
                .console
                .row(&texts::corrected(each_s, each_s * left));
        }
        self.runs.push(run);
    }

    /// Cells with the same settings are one configuration, whose state must stay.
    fn arm(&self, axes: &Axes) -> usize {
        let settings = self.matrix.axes.iter();
        let settings = settings.filter(|axis| matrix::is_setting(&axis.name));
        settings.fold(0, |arm, axis| {
            let at = axis
                .values
                .iter()
                .position(|value| axes.get(&axis.name) == Some(value));
            arm * axis.values.len() + at.unwrap_or(0)
        })
    }

    /// Cells that failed, as an error; what was measured stays.
    ///
    /// # Errors
    /// Their number, and why the first failed.
    pub(super) fn failures(&mut self) -> Result<(), Failure> {
        let cells = matrix::cells(&mut self.matrix, &self.runs);
        let failed: Vec<&Cell> = cells
            .iter()
            .filter(|cell| cell.state == CellState::Failed)
            .collect();
        let Some(first) = failed.first() else {
            return measured_any(&cells);
        };
        let what = format!("measure {} of {} cells", failed.len(), cells.len());
        let why = first.reason.clone().unwrap_or_default();
        let why = format!("{}: {why}", texts::label(&first.axes));
        Err(Failure::measuring(what, why).hint(self.resumption()))
    }

    fn hopeless(&self) -> Failure {
        let last = self.runs.iter().rev().find_map(|run| run.reason.clone());
        let why = format!("the last cells all failed: {}", last.unwrap_or_default());
        Failure::measuring("finish the matrix", why).hint(self.resumption())
    }

    /// How what is missing is measured.
    pub(super) fn resumption(&self) -> String {
        match self.directory.as_ref().and_then(|runs| runs.parent()) {
            Some(directory) => format!("linerate matrix --resume {}", directory.display()),
            None => "-o DIR, so that it can be resumed".to_owned(),
        }
    }
}

/// A matrix of which no cell can be measured has no result: it is planned wrong.
fn measured_any(cells: &[Cell]) -> Result<(), Failure> {
    let first = cells.first();
    let impossible = |cell: &Cell| cell.state == CellState::NotPossible;
    match first.filter(|_| cells.iter().all(impossible)) {
        None => Ok(()),
        Some(first) => {
            let why = first.reason.clone().unwrap_or_default();
            let what = format!("measure any of {} cells", cells.len());
            Err(Failure::measuring(what, why).hint("other axes or values"))
        }
    }
}

/// The run under way.
fn status(progress: &Progress, pace: Pace, begun: Instant, slot: Slot, axes: &Axes) -> String {
    let (done, left) = (progress.runs_done(), progress.runs_left());
    let left_s = pace.left_s(begun.elapsed().as_secs_f64(), left);
    texts::status(done + 1, done + left, slot, axes, left_s)
}

/// A run that does not count is repeated, a few times.
fn failed(slot: Slot) -> CellState {
    match slot.attempt < ATTEMPTS {
        true => CellState::Pending,
        false => CellState::Failed,
    }
}

/// A time that is worth a correction, seconds.
const LONG_S: f64 = 60.0;
/// A long measurement whose results would be lost by a crash is not continued.
const MOST_UNSTORED: u32 = 3;
const REDRAWN: Duration = Duration::from_millis(500);
