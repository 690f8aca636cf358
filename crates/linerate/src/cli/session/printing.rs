// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a session: what is stored, and what is printed of it.

use linerate_model::failure::{Failure, Kind};
use linerate_model::output::{Comparison, Output};
use linerate_report::term::Style;

use super::Session;
use crate::cli::progress;
use crate::output::Form;
use crate::store::Location;

impl Session {
    /// Stores the run. A failure is reported and never fails the measurement.
    pub(super) fn keep(&mut self) {
        self.output.run_dir = self.store.location().run_dir();
        let location = self.store.finish(&mut self.output).clone();
        self.output.run_dir = location.run_dir();
        // The text already has a line for a stored run.
        match location {
            Location::NotStored { .. } => self.console.alert(&location.to_string()),
            Location::Stored(_) if self.console.form != Form::Text => {
                self.console.say(&location.to_string());
            }
            Location::Stored(_) => {}
        }
    }

    pub(super) fn print(&mut self, failure: Option<Failure>) -> std::io::Result<()> {
        match self.console.form {
            Form::Json => self.console.document(&self.output)?,
            Form::JsonStream => self.console.event("end", &self.output)?,
            Form::Text if measured_nothing(&self.output) && failure.is_some() => self.point(),
            Form::Text => {
                let look = Style {
                    rates: self.progress.rates(),
                    ..self.console.look
                };
                let text = progress::render(&self.output, look);
                self.console.result(&text)?;
            }
        }
        match failure {
            Some(failure) if failure.kind == Kind::Interrupted => {
                self.console
                    .alert(&interruption(&failure, measured_nothing(&self.output)));
            }
            Some(failure) => self.console.alert(&failure.to_string()),
            None => {}
        }
        Ok(())
    }

    /// The results could not be written; a stored run still has them.
    pub(super) fn unprinted(&self, error: std::io::Error) -> Failure {
        let what = format!("write the results to {}", crate::output::log::place());
        let failure = Failure::measuring(what, error);
        match &self.output.run_dir {
            Some(directory) => failure.hint(format!("linerate report {directory}")),
            None => failure,
        }
    }

    /// Where the runs of an experiment are from which nothing can be said.
    fn point(&mut self) {
        let runs = self.output.experiment.as_ref();
        if let (Some(directory), true) = (
            &self.output.run_dir,
            runs.is_some_and(|experiment| !experiment.runs.is_empty()),
        ) {
            let text = format!("results so far are stored in {directory}");
            self.console.say(&text);
        }
    }
}

/// The end of a run that the user ended is not an error.
fn interruption(failure: &Failure, nothing: bool) -> String {
    let what = match nothing {
        true => "nothing was measured",
        false => "the results are those up to then",
    };
    match failure.why.as_str() {
        "interrupted" => format!("interrupted: {what}"),
        why => format!("interrupted: {what}; {why}"),
    }
}

fn measured_nothing(output: &Output) -> bool {
    let blocks = |one: &Comparison| one.log_ratios.len() + one.aa_log_ratios.len();
    output.tests.is_empty()
        && output.results.is_empty()
        && output.benchmarks.is_empty()
        && output.cells.iter().all(|cell| cell.figures.is_empty())
        && output.checks.is_empty()
        && output.comparison.iter().all(|one| blocks(one) == 0)
        && output
            .tuning
            .as_ref()
            .is_none_or(|tuning| tuning.candidates.is_empty())
}
