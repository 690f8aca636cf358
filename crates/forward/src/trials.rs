// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trials of the record: numbered, reported, and repeated if the tester spoilt them.

use linerate_model::failure::Failure;

use crate::event::{Event, OnEvent};
use crate::tester::Tester;
use crate::trial::{self, TrialRequest, TrialRun};

/// The tester, and who is notified of its trials.
pub(crate) struct Trials<'t, 'p> {
    pub tester: &'t mut Tester<'p>,
    on_event: OnEvent<'t>,
    count: u32,
}

impl<'t, 'p> Trials<'t, 'p> {
    pub(crate) fn new(tester: &'t mut Tester<'p>, on_event: OnEvent<'t>) -> Self {
        Self {
            tester,
            on_event,
            count: 0,
        }
    }

    pub(crate) fn report(&mut self, event: Event<'_>) {
        (self.on_event)(event);
    }

    /// Runs a trial, lets `amend` correct it, numbers and reports it.
    ///
    /// # Errors
    /// As [`trial::run`].
    pub(crate) fn run(
        &mut self,
        request: &TrialRequest<'_>,
        amend: impl Fn(&mut TrialRun),
    ) -> Result<TrialRun, Failure> {
        let mut run = trial::run(self.tester, request)?;
        amend(&mut run);
        self.count += 1;
        run.trial.id = self.count;
        self.report(Event::Trial(&run.trial));
        Ok(run)
    }

    /// Runs a trial, and repeats it while it is spoilt and there are repeats left.
    ///
    /// # Errors
    /// As [`trial::run`].
    pub(crate) fn run_unspoilt(
        &mut self,
        request: &TrialRequest<'_>,
        repeats: &mut u32,
        is_spoilt: impl Fn(&TrialRun) -> bool,
    ) -> Result<TrialRun, Failure> {
        loop {
            let run = self.run(request, |_| {})?;
            if *repeats == 0 || !is_spoilt(&run) {
                return Ok(run);
            }
            *repeats -= 1;
        }
    }
}
