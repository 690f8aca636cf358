// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a comparison asks: two configurations, how they are set up, and the measurement that decides.

use std::time::Duration;

use linerate_linux::signal::Interrupt;
use linerate_method::experiment::Arm;
use linerate_model::failure::Failure;
use linerate_model::output::Output;

use crate::cli::session::Session;
use crate::cli::values::compare::FailIf;
use crate::output::Console;

/// Two configurations in words, and what decides.
#[derive(Debug)]
pub(in crate::cli) struct Question<'a> {
    /// Who asks, for messages: `ab`.
    pub(in crate::cli) name: String,
    /// The command that sets up A.
    pub(in crate::cli) a: String,
    /// The command that sets up B.
    pub(in crate::cli) b: String,
    /// The command that restores.
    pub(in crate::cli) restore: String,
    /// The words of the measuring command.
    pub(in crate::cli) measurement: &'a [String],
    /// Wait between set-up and measurement.
    pub(in crate::cli) settle: Duration,
    /// The figure that decides; the first one if none is named.
    pub(in crate::cli) metric: Option<String>,
    /// The margin, if one is stated.
    pub(in crate::cli) margin: Option<f64>,
    /// What makes the exit code 1.
    pub(in crate::cli) fail_if: Option<FailIf>,
}

/// Sets up the configurations.
pub(in crate::cli) trait Setup {
    /// Sets up one, before each of its runs.
    ///
    /// # Errors
    /// It could not be set up, or the user interrupted.
    fn to(&mut self, arm: Arm, session: &mut Session) -> Result<(), Failure>;

    /// Restores what was there; by which command, and how that ended. Nothing where nothing has to be restored.
    fn back(
        &mut self,
        interrupt: &Interrupt,
        console: &mut Console,
    ) -> Option<(String, Result<(), Failure>)>;

    /// Takes in the document of a run with this configuration.
    ///
    /// # Errors
    /// The run calls for another configuration, which could not be set up.
    fn saw(&mut self, _arm: Arm, _run: &Output) -> Result<(), Failure> {
        Ok(())
    }

    /// Why the comparison ends at once, and what was set up is undone already. Called again and again during a run.
    fn alarm(&mut self) -> Option<String> {
        None
    }
}
