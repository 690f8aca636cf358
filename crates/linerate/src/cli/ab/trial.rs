// SPDX-License-Identifier: MIT OR Apache-2.0
//! The comparison under way: what is set up and measured next. Whatever a run gave is stored before the
//! next one begins.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use linerate_method::experiment::{Experiment, Key, Phase, Plan, Slot, Step, blocks, recorded};
use linerate_model::output::{self, ExperimentRun, Restored};

use super::child;
use super::inner::{Inner, Ran};
use super::pace::Pace;
use super::question::{Question, Setup};
use super::steady::Steady;
use super::{messages, switch, verdict};
use crate::cli::session::Session;
use linerate_model::failure::{Failure, Kind};

/// A comparison under way.
pub(in crate::cli) struct Trial<'a, S> {
    question: &'a Question<'a>,
    inner: &'a Inner<'a>,
    /// Where each run is kept.
    runs: Option<PathBuf>,
    experiment: Experiment,
    /// What is stored of it.
    record: output::Experiment,
    setup: S,
    begun: Instant,
    pace: Pace,
    steady: Steady,
    /// Whether it warned that the requested rates are too low.
    warned: bool,
}

impl<'a, S: Setup> Trial<'a, S> {
    /// Tells what will be done; nothing is changed yet.
    pub(in crate::cli) fn begin(
        question: &'a Question<'a>,
        inner: &'a Inner<'a>,
        setup: S,
        plan: Plan,
        session: &mut Session,
    ) -> Self {
        let experiment = Experiment::new(plan);
        let settle_s = question.settle.as_secs_f64();
        let each_s = inner.estimate_s.map(|seconds| seconds + settle_s);
        let text = messages::announcement(&question.name, &experiment, each_s);
        session.console.say(&text);
        let directory = session.run_directory();
        Self {
            question,
            inner,
            runs: directory.map(|directory| directory.join(verdict::RUNS)),
            record: record(question, experiment.plan()),
            experiment,
            setup,
            begun: Instant::now(),
            pace: Pace::new(each_s),
            steady: Steady::default(),
            warned: false,
        }
    }

    /// Runs block by block, until the rule says that it is over.
    ///
    /// # Errors
    /// A command failed, no block could be finished, or the user interrupted.
    pub(in crate::cli) fn carry_out(&mut self, session: &mut Session) -> Result<(), Failure> {
        while let Step::Run(slot) = self.experiment.next() {
            let status = status(&self.experiment, self.pace, self.begun, slot);
            session.console.block(&status);
            self.set_up(slot, session)?;
            let ended = self.one_run(session, slot)?;
            if let Some(each_s) = self.pace.corrected() {
                let text = messages::corrected(&self.experiment, self.pace.done(), each_s);
                session.console.say(&text);
            }
            if let Some(reason) = ended {
                self.again(session, slot, reason)?;
            } else if slot.run == RUNS_OF_A_BLOCK {
                let texts = messages::block(&self.experiment, slot);
                texts.iter().for_each(|text| session.console.say(text));
            }
        }
        Ok(())
    }

    fn set_up(&mut self, slot: Slot, session: &mut Session) -> Result<(), Failure> {
        self.setup.to(slot.setting(), session)?;
        let end = Instant::now() + self.question.settle;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if !child::pause(left.min(REDRAWN), &session.interrupt) {
                return Err(switch::interrupted());
            }
            match self.setup.alarm() {
                Some(why) => return Err(alarmed(slot, why)),
                None if left <= REDRAWN => return Ok(()),
                None => {}
            }
        }
    }

    /// Puts back what was there, if something was changed.
    ///
    /// # Errors
    /// The command failed; that is in the record, too.
    pub(in crate::cli) fn restore(&mut self, session: &mut Session) -> Result<(), Failure> {
        let Some((command, ended)) = self.setup.back(&session.interrupt, &mut session.console)
        else {
            return Ok(());
        };
        self.record.restored = Some(Restored {
            command: command.clone(),
            error: ended.as_ref().err().map(|failure| failure.why.clone()),
        });
        if ended.is_ok() {
            session.console.say(&format!("restored by `{command}`"));
        }
        ended
    }

    /// What all of it says, in the document.
    pub(in crate::cli) fn conclude(
        mut self,
        session: &mut Session,
        ended: &Result<(), Failure>,
    ) -> S {
        let stopped = match (self.experiment.next(), ended) {
            (Step::Done(stop), _) => blocks::word(stop),
            (_, Err(failure)) if failure.kind == Kind::Interrupted => "interrupted",
            _ => "failed",
        };
        self.record.stopped = Some(stopped.to_owned());
        if let Some(runs) = &self.runs {
            self.record.environment_diff = verdict::environment(&self.record, runs);
        }
        session.output.experiment = Some(self.record);
        verdict::conclude(&mut session.output, self.question.fail_if);
        self.setup
    }

    fn elapsed_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// One run. Its process ends early if the set-up raises an alarm.
    fn measured(
        &mut self,
        session: &mut Session,
        slot: Slot,
        directory: Option<&Path>,
    ) -> Result<Ran, Failure> {
        let (experiment, pace, begun) = (&self.experiment, self.pace, self.begun);
        let (setup, mut alarm, mut drawn) = (&mut self.setup, None, Duration::ZERO);
        let (interrupt, console) = (session.interrupt.clone(), &mut session.console);
        let mut tick = |since: Duration| {
            if since > drawn + REDRAWN {
                drawn = since;
                console.block(&status(experiment, pace, begun, slot));
            }
            alarm = setup.alarm();
            alarm.is_none()
        };
        let token = session.lab_token.as_ref();
        let ran = self.inner.run(directory, token, &interrupt, &mut tick);
        match (ran, alarm) {
            (Err(failure), _) if failure.kind == Kind::Interrupted => Err(failure),
            (_, Some(why)) => Err(alarmed(slot, why)),
            (ran, None) => ran,
        }
    }

    /// Why it does not count, if it does not. Whatever it gave is in the record.
    fn one_run(&mut self, session: &mut Session, slot: Slot) -> Result<Option<String>, Failure> {
        let number = self.pace.done() + 1;
        let mut run = recorded::begun(slot, name(number, slot));
        let directory = self.runs.as_ref().map(|runs| runs.join(&run.id));
        let ended = match self.measured(session, slot, directory.as_deref()) {
            Ok(mut ran) => {
                let arm = slot.setting() as usize;
                let moved = self.steady.judge(arm, &mut ran, directory.as_deref());
                session.output.moved.extend(moved);
                self.take(session, slot, &mut run, ran)
            }
            Err(failure) => {
                let directory = directory.filter(|directory| directory.exists());
                run.run_dir = directory.map(|directory| directory.display().to_string());
                run.invalid_reason = Some(failure.why.clone());
                Err(failure)
            }
        };
        let reason = run.invalid_reason.clone();
        self.pace.ended(self.elapsed_s());
        let deciding = recorded::deciding(&self.record)
            .or_else(|| recorded::named(&run, self.record.metric.as_deref()));
        let figure = deciding.and_then(|key| recorded::figure(&run, &key));
        let all = number + self.experiment.runs_left();
        session
            .console
            .row(&messages::run(&run, figure, number, all));
        self.record.take(run);
        session.experiment(&self.record);
        ended.map(|()| reason)
    }

    /// The figures of a run, and whether it counts.
    fn take(
        &mut self,
        session: &mut Session,
        slot: Slot,
        run: &mut ExperimentRun,
        ran: Ran,
    ) -> Result<(), Failure> {
        if session.output.hosts.is_empty() {
            session.output.hosts.clone_from(&ran.output.hosts);
        }
        run.run_dir.clone_from(&ran.output.run_dir);
        if messages::is_beyond(&ran.output) && !std::mem::replace(&mut self.warned, true) {
            session.console.say(messages::BEYOND);
        }
        run.figures = ran.figures.into_iter().map(Into::into).collect();
        self.setup.saw(slot.setting(), &ran.output)?;
        run.invalid_reason = ran.unusable;
        if run.invalid_reason.is_some() {
            self.experiment.discard_block();
            return Ok(());
        }
        let known = recorded::deciding(&self.record);
        let decides = known
            .clone()
            .or_else(|| recorded::named(run, self.record.metric.as_deref()));
        if let Some(key) = decides.as_ref().filter(|_| known.is_none()) {
            self.set_margin(key);
        }
        let Some(figure) = decides.and_then(|key| recorded::figure(run, &key)) else {
            run.invalid_reason = Some("it lacks the deciding figure".to_owned());
            self.experiment.discard_block();
            return match (&self.question.metric, known) {
                (Some(metric), None) => Err(no_such_figure(metric, run)),
                _ => Ok(()),
            };
        };
        if !self.experiment.report(figure.compared) {
            run.invalid_reason = Some(format!("{} is {}", figure.metric, figure.value));
        }
        Ok(())
    }

    /// Applies the margin of the deciding figure, which the first valid run shows, unless one is stated.
    fn set_margin(&mut self, deciding: &Key) {
        let margin = self.question.margin.unwrap_or(deciding.margin());
        self.experiment.set_margin(margin);
        self.record.margin = margin;
    }

    /// The block is run again, unless that never helps.
    fn again(&self, session: &mut Session, slot: Slot, reason: String) -> Result<(), Failure> {
        if !self.experiment.is_hopeless() {
            let text = format!("this block is run again: {reason}");
            session.console.say(&text);
            return Ok(());
        }
        let setting = slot.setting();
        let what = format!("finish a block: the last run of {setting:?} gave no result");
        let words = self.question.measurement.join(" ");
        let yields = |arm| messages::yield_of(&self.record, arm);
        let reason = format!(
            "{reason}; {}, {}",
            yields(output::Arm::A),
            yields(output::Arm::B)
        );
        Err(Failure::measuring(what, reason).hint(format!(
            "run `linerate {words}` alone with {setting:?} set up; use a longer --settle"
        )))
    }
}

fn alarmed(slot: Slot, why: String) -> Failure {
    let setting = slot.setting();
    Failure::measuring(format!("measure with {setting:?} set up"), why)
}

/// The run under way.
fn status(experiment: &Experiment, pace: Pace, begun: Instant, slot: Slot) -> [String; 1] {
    let elapsed_s = begun.elapsed().as_secs_f64();
    let left_s = pace.left_s(elapsed_s, experiment.runs_left());
    [messages::status(experiment, slot, elapsed_s, left_s)]
}

/// What is known before the first run.
fn record(question: &Question<'_>, plan: &Plan) -> output::Experiment {
    output::Experiment {
        a: question.a.clone(),
        b: question.b.clone(),
        restore: question.restore.clone(),
        measurement: question.measurement.to_vec(),
        settle_s: question.settle.as_secs_f64(),
        order_seed: plan.seed,
        aa_blocks: plan.aa_blocks as u32,
        blocks_planned: plan.most_blocks as u32,
        margin: plan.margin,
        metric: question.metric.clone(),
        ..output::Experiment::default()
    }
}

/// `007-ab-2-3-B`: the run, its block and place, and what was set up.
fn name(number: usize, slot: Slot) -> String {
    let phase = match slot.phase {
        Phase::Noise => "aa",
        Phase::Question => "ab",
    };
    let (block, run, setting) = (slot.block, slot.run, slot.setting());
    format!("{number:03}-{phase}-{block}-{run}-{setting:?}")
}

fn no_such_figure(metric: &str, run: &ExperimentRun) -> Failure {
    let known: Vec<String> = run
        .figures
        .iter()
        .map(|figure| format!("{} {}", figure.metric, figure.name))
        .collect();
    Failure::usage(format!("compare {metric}"), "no run has this figure")
        .hint(format!("one of: {}", known.join("; ")))
}

const RUNS_OF_A_BLOCK: usize = 4;
const REDRAWN: Duration = Duration::from_millis(500);
