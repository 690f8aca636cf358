// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate ab`: two configurations in blocks whose order a coin draws, until something is proven.

mod book;
mod child;
mod inner;
mod switch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use linerate_linux::random;
use linerate_linux::signal::Interrupt;
use linerate_method::experiment::{Experiment, Phase, Plan, Slot, Step, blocks};
use linerate_model::output::Expectation;
use linerate_model::units::Nanos;

use super::args::{AbArgs, LabFlags, LabShape};
use super::ground::Place;
use super::progress::Progress;
use super::session::{self, Session};
use crate::error::Failure;
use crate::exit::Exit;
use book::{Book, Entry};
use inner::{Inner, Ran};
use switch::Switch;

/// Runs the command.
pub(super) fn run(args: &AbArgs, options: BTreeMap<String, String>) -> Exit {
    let inner = match Inner::of(&args.measurement) {
        Ok(inner) => inner,
        Err(failure) => return session::refuse("ab", args.json, &failure),
    };
    let interrupt = match Interrupt::install() {
        Ok(interrupt) => interrupt,
        Err(error) => {
            let failure = Failure::measuring("catch signals", error);
            return session::refuse("ab", args.json, &failure);
        }
    };
    let no_lab = LabFlags {
        lab: false,
        shape: LabShape {
            fault: Vec::new(),
            topology: None,
            mtu: None,
        },
    };
    let flags = args.flags();
    let place = Place {
        kind: "ab",
        host: args.measurement.first().map(String::as_str),
        lab: &no_lab,
        ipv6: false,
        output: &flags,
        progress: Progress::Status,
        options,
    };
    let mut session = Session::begin(&place, interrupt, None);
    let ended = compared(args, &inner, &mut session);
    session.finish(ended)
}

fn compared(args: &AbArgs, inner: &Inner<'_>, session: &mut Session) -> Result<(), Failure> {
    let plan = Plan {
        aa_blocks: args.aa as usize,
        most_blocks: args.blocks as usize,
        margin: args.margin,
        seed: args.seed.unwrap_or_else(drawn_seed),
    };
    let mut trial = Trial {
        args,
        inner,
        runs: session
            .run_directory()
            .map(|directory| directory.join("runs")),
        experiment: Experiment::new(plan),
        book: Book::default(),
        switch: Switch::of(args),
        begun: Instant::now(),
        done: 0,
    };
    session.console.say(&trial.announcement());
    let ended = trial.carry_out(session);
    let restored = trial.restored(session);
    trial.conclude(session, &ended);
    ended.and(restored)
}

/// 32 bits, that a person can type again.
fn drawn_seed() -> u64 {
    let mut bytes = [0; 4];
    // Without the kernel's chance the order is that of the seed 1, and still printed.
    random::fill(&mut bytes).map_or(1, |()| u32::from_ne_bytes(bytes).into())
}

/// A comparison under way.
struct Trial<'a> {
    args: &'a AbArgs,
    inner: &'a Inner<'a>,
    /// Where each run is kept.
    runs: Option<PathBuf>,
    experiment: Experiment,
    book: Book,
    switch: Switch<'a>,
    begun: Instant,
    done: usize,
}

impl Trial<'_> {
    fn announcement(&self) -> String {
        let plan = self.experiment.plan();
        let each = self
            .inner
            .estimate_s
            .map(|seconds| seconds + self.args.settle as f64 / 1000.0);
        let time = match each {
            Some(each) => {
                let all = format_time(each * plan.most_runs() as f64);
                format!("about {} each: at most {all}", format_time(each))
            }
            None => "how long is known after the first".to_owned(),
        };
        format!(
            "ab: {} runs of A against A, then up to {} of A against B, {time}; order by seed {}",
            4 * plan.aa_blocks,
            4 * plan.most_blocks,
            plan.seed
        )
    }

    fn carry_out(&mut self, session: &mut Session) -> Result<(), Failure> {
        let mut spoilt = 0;
        while let Step::Run(slot) = self.experiment.next() {
            self.status(session, slot);
            self.switch.to(slot.setting(), &session.interrupt)?;
            match self.one_run(session, slot)? {
                None => spoilt = 0,
                Some(reason) if spoilt + 1 >= MOST_SPOILT => {
                    let what = format!("get a valid run in {MOST_SPOILT} attempts");
                    return Err(Failure::measuring(what, reason)
                        .hint("the measurement by itself; a longer --settle"));
                }
                Some(reason) => {
                    spoilt += 1;
                    session
                        .console
                        .say(&format!("this block is run again: {reason}"));
                }
            }
        }
        Ok(())
    }

    /// Why it does not count, if it does not.
    fn one_run(&mut self, session: &mut Session, slot: Slot) -> Result<Option<String>, Failure> {
        let name = self.name(slot);
        let directory = self.runs.as_ref().map(|runs| runs.join(&name));
        let ran = self.inner.run(directory.as_deref(), &session.interrupt)?;
        self.done += 1;
        let (figures, output) = match ran {
            Ran::Measured(figures, output) => (figures, output),
            Ran::Unusable(reason) => return Ok(Some(self.spoil(name, reason))),
        };
        if session.output.hosts.is_empty() {
            session.output.hosts.clone_from(&output.hosts);
        }
        let Some(figure) = self.book.decisive(&figures, self.args.metric.as_deref()) else {
            return match self.args.metric.as_deref() {
                Some(metric) if self.book.key.is_none() => Err(no_such_figure(metric, &figures)),
                _ => Ok(Some(
                    self.spoil(name, "it has not the figure that decides".to_owned()),
                )),
            };
        };
        if !self.experiment.report(figure.compared) {
            let reason = format!("{} is {}", figure.key.metric, figure.value);
            return Ok(Some(self.spoil(name, reason)));
        }
        self.book.take(slot, Entry { figures, directory });
        if slot.run == 4 {
            self.block_done(session, slot);
        }
        Ok(None)
    }

    fn spoil(&mut self, name: String, reason: String) -> String {
        self.experiment.spoil();
        self.book.spoil(name, reason.clone());
        reason
    }

    /// `007-ab-2-3-B`: the run, its block and place, and what was set up.
    fn name(&self, slot: Slot) -> String {
        let phase = match slot.phase {
            Phase::Noise => "aa",
            Phase::Question => "ab",
        };
        format!(
            "{:03}-{phase}-{}-{}-{:?}",
            self.done + 1,
            slot.block,
            slot.run,
            slot.setting()
        )
    }

    fn status(&self, session: &mut Session, slot: Slot) {
        let plan = self.experiment.plan();
        let (what, most) = match slot.phase {
            Phase::Noise => ("A against A", plan.aa_blocks),
            Phase::Question => ("A against B", plan.most_blocks),
        };
        let left = match self.done {
            0 => String::new(),
            done => {
                let each = self.begun.elapsed().as_secs_f64() / done as f64;
                let left = plan.most_runs().saturating_sub(done) as f64;
                format!(", at most {} left", format_time(each * left))
            }
        };
        let (block, run) = (slot.block, slot.run);
        session.console.status(&format!(
            "{what}: block {block} of {most}, run {run} of 4{left}"
        ));
    }

    fn block_done(&self, session: &mut Session, slot: Slot) {
        let last = |ratios: &[f64]| ratios.last().map_or(0.0, |ratio| 100.0 * ratio.exp_m1());
        let text = match slot.phase {
            Phase::Noise => format!(
                "A against A, block {}: {:+.2} %",
                slot.block,
                last(self.experiment.noise())
            ),
            Phase::Question => format!(
                "A against B, block {}: {:+.2} %",
                slot.block,
                last(self.experiment.blocks())
            ),
        };
        session.console.say(&text);
        let noise_is_known =
            slot.phase == Phase::Noise && slot.block == self.experiment.plan().aa_blocks;
        if let Some(effect) = self.experiment.minimal_effect().filter(|_| noise_is_known) {
            let text = format!(
                "with this noise an effect of {:.2} % will probably be found",
                100.0 * effect
            );
            session.console.say(&text);
        }
    }

    fn restored(&self, session: &mut Session) -> Result<(), Failure> {
        match self.switch.back() {
            Ok(Some(command)) => session.console.say(&format!("restored by `{command}`")),
            Ok(None) => {}
            Err(failure) => {
                session.console.alert(&failure.to_string());
                return Err(failure);
            }
        }
        Ok(())
    }

    fn conclude(&self, session: &mut Session, ended: &Result<(), Failure>) {
        let stopped = match (self.experiment.next(), ended) {
            (Step::Done(stop), _) => blocks::word(stop),
            (_, Err(failure)) if failure.exit == Exit::Interrupted => "interrupted",
            _ => "failed",
        };
        let labels = [self.args.a.as_str(), self.args.b.as_str()];
        session.output.comparison = self.book.comparisons(&self.experiment, labels, stopped);
        if let Some(what) = self.args.fail_if {
            let failed = session
                .output
                .comparison
                .iter()
                .any(|one| one.primary && what.is(one));
            session.output.expectations.push(Expectation {
                expression: format!("not {what}"),
                met: !failed,
            });
        }
    }
}

fn no_such_figure(metric: &str, figures: &[linerate_method::experiment::Figure]) -> Failure {
    let known: Vec<String> = figures
        .iter()
        .map(|figure| format!("{} {}", figure.key.metric, figure.key.name))
        .collect();
    Failure::usage(format!("compare {metric}"), "no run has that figure")
        .hint(format!("one of: {}", known.join("; ")))
}

fn format_time(seconds: f64) -> String {
    match seconds {
        short if short < 100.0 => Nanos((short * 1e9) as u64).to_string(),
        long => format!("{:.0} min", (long / 60.0).ceil()),
    }
}

/// Blocks that are run again before it is given up.
const MOST_SPOILT: u32 = 4;
