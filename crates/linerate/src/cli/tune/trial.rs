// SPDX-License-Identifier: MIT OR Apache-2.0
//! One trial of a campaign: two sets of candidates by the engine of `ab`, with a record of its own.

use std::path::PathBuf;
use std::time::Duration;

use linerate_linux::signal::Interrupt;
use linerate_method::experiment::{Arm, Plan};
use linerate_model::credible;
use linerate_model::failure::{Failure, Kind};
use linerate_model::output::{Comparison, Finding, Guard, Judgement, Mechanism, Output};

use super::measurement::Measurement;
use super::mechanism::Runs;
use super::stage::{Stage, Trouble};
use crate::cli::ab::inner::Inner;
use crate::cli::ab::question::{Question, Setup};
use crate::cli::ab::trial::Trial;
use crate::cli::args::{DocumentFlags, OutputFlags};
use crate::cli::session::Session;
use crate::output::Console;

/// What a trial asks.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    /// The directory of its record, and its name in messages.
    pub(super) name: String,
    /// The candidates of A.
    pub(super) a: Vec<usize>,
    /// Those of B.
    pub(super) b: Vec<usize>,
    /// What B has in addition, as a person would type it; and what undoes it.
    pub(super) commands: [String; 2],
    /// What decides.
    pub(super) measurement: &'a Measurement,
    /// The finding that B is to remove.
    pub(super) finding: Option<&'a Finding>,
    /// Metrics that it is expected to make worse.
    pub(super) tradeoffs: Vec<String>,
    /// Whether it decides how long packets may wait.
    pub(super) lets_wait: bool,
    /// How many runs.
    pub(super) plan: Plan,
    /// Wait between set-up and measurement.
    pub(super) settle: Duration,
    /// The margin, if one is stated.
    pub(super) margin: Option<f64>,
}

/// What a trial gave.
#[derive(Debug, Default)]
pub(super) struct Gave {
    /// The deciding figure, if there is one.
    pub(super) comparison: Option<Comparison>,
    /// The finding in its runs.
    pub(super) mechanism: Option<Mechanism>,
    /// Metrics that it was expected to make worse.
    pub(super) tradeoffs: Vec<String>,
    /// Whether it decides how long packets may wait.
    pub(super) lets_wait: bool,
    /// Where its record is.
    pub(super) run_dir: Option<String>,
    /// How many runs it had.
    pub(super) runs: usize,
}

impl Gave {
    /// Proven better by more than the margin, and nothing else proven worse by more than its own.
    pub(super) fn is_better(&self) -> bool {
        let better = |one: &Comparison| one.verdict == Judgement::Better;
        self.comparison.as_ref().is_some_and(better) && self.harm().is_none()
    }

    /// What became worse, which is evidence against the change.
    pub(super) fn harm(&self) -> Option<&Guard> {
        let one = self.comparison.as_ref()?;
        let speaks_against = |guard: &&Guard| {
            let is_expected = self.tradeoffs.contains(&guard.metric);
            let is_queueing = !self.lets_wait && is_queueing(guard, one);
            guard.worse && !is_expected && !is_queueing
        };
        one.guards.iter().find(speaks_against)
    }
}

/// A path that was not full has no queue; once it is, packets wait. A round-trip time that rises by no larger factor than the
/// rate is that.
fn is_queueing(guard: &Guard, one: &Comparison) -> bool {
    let is_time = guard.metric.starts_with("rtt");
    let is_rate = one.metric == "throughput";
    let is_paid_for = guard
        .ratio
        .zip(one.ratio)
        .is_some_and(|(waits, gains)| waits <= gains);
    is_time && is_rate && is_paid_for
}

impl Asked<'_> {
    /// Runs block by block until something is decided. Afterwards A is in force.
    ///
    /// # Errors
    /// A configuration could not be set up, no block could be finished, or the user interrupted.
    pub(super) fn carry_out(
        &self,
        stage: &mut Stage<'_>,
        session: &mut Session,
        in_lab: bool,
    ) -> Result<Gave, Failure> {
        let question = self.question();
        let inner = Inner::of(&self.measurement.words)?;
        let flags = flags(session, &self.name);
        let (option, peer) = &inner.peer;
        let options = [((*option).to_owned(), peer.clone())].into();
        let peer = if in_lab { "lab" } else { peer };
        let mut part = session.part("ab", peer, &flags, options);
        let arms = Arms {
            stage,
            a: &self.a,
            b: &self.b,
            runs: self.finding.map(Runs::about),
        };
        let mut trial = Trial::begin(&question, &inner, arms, self.plan, &mut part);
        let ended = trial.carry_out(&mut part);
        let restored = trial.restore(&mut part);
        let arms = trial.conclude(&mut part, &ended);
        let mechanism = arms.runs.as_ref().map(Runs::mechanism);
        let output = part.close(&ended);
        session.output.moved.extend_from_slice(&output.moved);
        credible::moved(&mut session.output.moved);
        ended.and(restored)?;
        Ok(Gave {
            tradeoffs: self.tradeoffs.clone(),
            lets_wait: self.lets_wait,
            ..gave(output, mechanism)
        })
    }

    fn question(&self) -> Question<'_> {
        let [b, restore] = &self.commands;
        Question {
            name: self.name.clone(),
            a: restore.clone(),
            b: b.clone(),
            restore: restore.clone(),
            measurement: &self.measurement.words,
            settle: self.settle,
            metric: self.measurement.metric.clone(),
            margin: self.margin,
            fail_if: None,
        }
    }
}

fn gave(output: Output, mechanism: Option<Mechanism>) -> Gave {
    let mut all = output.comparison.into_iter();
    let runs = output.experiment.map_or(0, |one| one.runs.len());
    Gave {
        runs,
        comparison: all.find(|one| one.primary),
        mechanism,
        run_dir: output.run_dir,
        ..Gave::default()
    }
}

/// The record is in the directory of the campaign, or nowhere as that is.
fn flags(session: &Session, name: &str) -> OutputFlags {
    let place = session.run_directory();
    let place = place.map_or_else(
        || PathBuf::from("/dev/null/none"),
        |run| run.join("trials").join(name),
    );
    OutputFlags {
        document: DocumentFlags::plain(),
        json_stream: false,
        expect: Vec::new(),
        output: Some(place),
        quiet: session.console.is_quiet(),
        verbose: 0,
        logfile: None,
        timestamps: None,
    }
}

/// Two sets of candidates.
struct Arms<'s, 'h> {
    stage: &'s mut Stage<'h>,
    a: &'s [usize],
    b: &'s [usize],
    runs: Option<Runs>,
}

impl Setup for Arms<'_, '_> {
    fn to(&mut self, arm: Arm, _session: &mut Session) -> Result<(), Failure> {
        let set = match arm {
            Arm::A => self.a,
            Arm::B => self.b,
        };
        self.stage.bring(set).map_err(failure)
    }

    fn back(
        &mut self,
        _interrupt: &Interrupt,
        _console: &mut Console,
    ) -> Option<(String, Result<(), Failure>)> {
        // After an alarm nothing stays in force.
        let set: &[usize] = match self.stage.is_rolled_back() {
            true => &[],
            false => self.a,
        };
        let ended = self.stage.bring(set).map_err(failure);
        ended.is_err().then(|| (RESTORE.to_owned(), ended))
    }

    /// What cannot be measured with B may be cut off by it: B does not stay in force until the next run.
    fn saw(&mut self, arm: Arm, run: &Output) -> Result<(), Failure> {
        if let Some(runs) = &mut self.runs {
            runs.saw(arm, run);
        }
        let error = run.error.as_ref().filter(|_| arm == Arm::B);
        let why = error.map(|error| format!("{}: {}", error.what, error.why));
        let is_lost = why.is_some();
        self.stage.measured(why);
        match is_lost {
            true => self.stage.bring(self.a).map_err(failure),
            false => Ok(()),
        }
    }

    fn alarm(&mut self) -> Option<String> {
        self.stage.alarm()
    }
}

/// A setting that could be made once and cannot be made again, or not be undone.
pub(in crate::cli) fn failure(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Impossible(why) | Trouble::Lost(why) => {
            Failure::new(Kind::CouldNotMeasure, "change a setting", why).hint(RESTORE)
        }
        Trouble::Harmful(why) => Failure::measuring("leave the changes in force", why),
    }
}

const RESTORE: &str = "linerate tune restore";

#[cfg(test)]
mod tests {
    use super::*;

    fn gave(metric: &str, gain: f64, tradeoffs: &[&str]) -> Gave {
        let guard = Guard {
            metric: metric.to_owned(),
            ratio: Some(3.0),
            worse: true,
            ..Guard::default()
        };
        Gave {
            comparison: Some(Comparison {
                metric: "throughput".to_owned(),
                ratio: Some(gain),
                verdict: Judgement::Better,
                guards: vec![guard],
                ..Comparison::default()
            }),
            tradeoffs: tradeoffs.iter().map(|one| (*one).to_owned()).collect(),
            ..Gave::default()
        }
    }

    #[test]
    fn a_queue_of_a_fuller_path_is_no_harm() {
        assert!(gave("rtt-p99", 4.0, &[]).is_better());
        assert!(!gave("rtt-p99", 1.1, &[]).is_better());
        assert!(gave("rtt-p99", 1.1, &["rtt-p99"]).is_better());
        assert!(!gave("loss", 4.0, &["rtt-p99"]).is_better());
        let longer_queue = Gave {
            lets_wait: true,
            ..gave("rtt-p99", 4.0, &[])
        };
        assert!(!longer_queue.is_better());
    }
}
