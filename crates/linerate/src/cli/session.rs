// SPDX-License-Identifier: MIT OR Apache-2.0
//! One measuring command from start to exit code: results are gathered in the document, which is
//! printed and stored at the end, also after an error.

mod ending;
mod faults;
mod part;
mod printing;
mod state;
mod watcher;
mod wire;

use std::mem;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Instant;

use linerate_change::Owner;
use linerate_diagnose::evidence::{Evidence, moved_counters};
use linerate_diagnose::explain::explain;
use linerate_diagnose::limit::line_rate;
use linerate_linux::netns::NetNs;
use linerate_linux::signal::{Interrupt, SIGTERM};
use linerate_linux::terminal::{Foreground, Keys};
use linerate_model::cell_run::CellRun;
use linerate_model::expect::Expect;
use linerate_model::output::{
    Benchmarks, ErrorReport, Experiment, ForwardResult, Host, LabWire, Matrix, NicCheck, Output,
    Phase, Role, Test, Trial,
};
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_model::sample::Sample;
use linerate_model::setting::Setting;
use linerate_report::Detail;
use linerate_report::live::duration;
use linerate_report::term::Style;
use linerate_wire::linerate::token::Secret;

use super::args::OutputFlags;
use super::document::{color, document, document_of};
use super::forecast::Ahead;
use super::live::Live;
use super::progress::{self, Progress};
use super::sample_log::SampleLog;
use super::site_rules;
use super::target::Target;
use crate::exit::Exit;
use crate::output::{Color, Console, Form, Surroundings};
use crate::panicked::AtPanic;
use crate::store::{self, Beginning, Location, Store};
use ending::exit_of;
use faults::{FAULT, without_faults};
use linerate_endpoint::{Observer, TestOutcome, TestPlan};
use linerate_lab::{LabToken, WireCounters};
use linerate_model::date::Date;
use linerate_model::failure::{Failure, Kind};
use state::State;
use watcher::Watcher;

/// A command that measures.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) output: Output,
    pub(super) console: Console,
    pub(super) interrupt: Interrupt,
    expect: Vec<Expect>,
    store: Store,
    /// The token that the server must prove to know; with it the server reports everything.
    pub(super) token: Option<Secret>,
    /// The lab's token, for processes that the session starts there.
    pub(super) lab_token: Option<LabToken>,
    samples: SampleLog,
    state: State,
    /// Of the lab's wire, if the session measures over one.
    pub(super) wire_counters: Option<WireCounters>,
    /// The lab's second host, if the session measures in one.
    pub(super) lab_peer: Option<NetNs>,
    /// In a lab: the process outside of it, which others see.
    pub(super) lab_owner: Option<Owner>,
    /// The lab's second host by its addresses, one per IP version; empty outside a lab.
    pub(super) lab_addresses: Vec<IpAddr>,
    /// The idle control interval before the first test.
    pub(super) first_control_ms: u64,
    progress: Progress,
    pub(super) live: Live,
    /// Held while `q` stops the test.
    keys: Option<(Keys, AtPanic)>,
    /// Whether background counters and settings of the hosts have been read.
    knows_hosts: bool,
    begun: Instant,
}

impl Session {
    /// Begins the document and the run of a command. On a `terminal`, keys are read.
    pub(super) fn begin(
        target: &Target<'_>,
        interrupt: Interrupt,
        terminal: Option<Foreground>,
    ) -> Self {
        let flags = target.output;
        let started = Date::at(linerate_linux::clock::wall_ns());
        let mut output = document_of(target.kind, &started);
        let mut plan = target.options.clone();
        plan.remove(FAULT);
        let beginning = Beginning {
            kind: target.kind,
            command: &without_faults(&output.command),
            peer: target.host.unwrap_or("lab"),
            plan,
            started,
        };
        let place = match (&flags.output, target.resumes) {
            (Some(directory), true) => store::Destination::Again(directory.clone()),
            (directory, _) => store::Destination::chosen(directory.as_deref()),
        };
        let mut store = Store::open(&place, &beginning);
        let begun = store.run();
        output.hosts.clone_from(&begun.hosts);
        output.moved.clone_from(&begun.moved);
        output.duration_s = begun.duration_s.unwrap_or_default();
        let console = console(flags);
        let keys = watch_keys(terminal, &console, &interrupt);
        Self {
            output,
            console,
            live: Live::new(keys.is_some()),
            keys,
            interrupt,
            expect: flags.expect.clone(),
            store,
            token: None,
            lab_token: None,
            samples: SampleLog::default(),
            state: State::default(),
            wire_counters: None,
            lab_peer: None,
            lab_owner: None,
            lab_addresses: Vec::new(),
            first_control_ms: CONTROL_MS,
            progress: target.progress,
            knows_hosts: false,
            begun: Instant::now(),
        }
    }

    /// Runs one test and takes in what it measured. The ids of its entries are returned.
    ///
    /// # Errors
    /// The test could not run or ended early, or the user interrupted it; what it measured until then
    /// is in the document.
    pub(super) fn run(&mut self, plan: &TestPlan) -> Result<Vec<String>, Failure> {
        let plan = &TestPlan {
            group: self.unused_group(plan),
            control_ms: self.control_ms(),
            settings: !self.knows_hosts,
            state: Some(self.state.known()),
            token: self.token.clone(),
            ..plan.clone()
        };
        let outcome = self.watched(plan, linerate_endpoint::run)?;
        self.knows_hosts = true;
        self.absorb(plan, outcome)
    }

    /// A step of this length begins next, with what follows it.
    pub(super) fn ahead(&mut self, step_ms: u64, later: Ahead) {
        if let Some(left_s) = self.live.step(step_ms, later) {
            let left = duration(left_s);
            self.console.row(&format!("about {left} left (corrected)"));
        }
    }

    /// The idle control interval before the next test.
    pub(super) fn control_ms(&self) -> u64 {
        if self.knows_hosts {
            0
        } else {
            self.first_control_ms
        }
    }

    /// Where the run is stored, if it is.
    pub(super) fn run_directory(&self) -> Option<PathBuf> {
        match self.store.location() {
            Location::Stored(directory) => Some(directory.clone()),
            Location::NotStored { .. } => None,
        }
    }

    /// Why nothing is stored, if that is so.
    pub(super) fn not_stored(&self) -> Option<&str> {
        match self.store.location() {
            Location::Stored(_) => None,
            Location::NotStored { why, .. } => Some(why),
        }
    }

    /// Takes in a trial of a device.
    pub(super) fn trial(&mut self, trial: &Trial) {
        self.store.trial(trial);
        // A reader of the stream that went away is found out at the end.
        let _ = self.console.event("trial", trial);
        self.console.detail_row(&progress::trial(trial));
        self.output.trials.push(trial.clone());
    }

    /// Takes in a device in the middle.
    pub(super) fn device(&mut self, host: Host, settings: &[Setting]) {
        self.meet(host);
        self.store.settings(settings);
    }

    /// Takes in raw counters that explain nothing here: the trials have what they come to.
    pub(super) fn samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            self.store.sample(sample);
        }
    }

    /// When this host's counters were first and last read during the load of a group.
    pub(super) fn load_ns(&self, group: &str) -> Option<[u64; 2]> {
        let samples = self.samples.of_group(group);
        let is_load = |sample: &&Sample| {
            sample.host == Role::Local && sample.phase == Some(linerate_model::sample::Phase::Load)
        };
        let times = samples.iter().filter(is_load).map(|sample| sample.t_ns);
        Some([times.clone().min()?, times.max()?])
    }

    /// Takes in raw counters that something is concluded from.
    pub(super) fn took(&mut self, sample: &Sample) {
        self.store.sample(sample);
        self.samples.take(sample);
    }

    /// Takes in the result of a search.
    pub(super) fn found(&mut self, result: &ForwardResult) {
        let _ = self.console.event("result", result);
        self.console.row(&progress::found(result));
        self.output.results.push(result.clone());
        self.store.checkpoint(&mut self.output);
    }

    /// Takes in another benchmark of a device.
    pub(super) fn benchmark(&mut self, measured: &Benchmarks) {
        let _ = self.console.event("benchmark", measured);
        progress::benchmark(measured)
            .iter()
            .for_each(|text| self.console.row(text));
        self.output.benchmarks.extend(measured.clone());
        self.store.checkpoint(&mut self.output);
    }

    /// Takes in a property of an interface.
    pub(super) fn checked(&mut self, check: NicCheck) {
        let _ = self.console.event("check", &check);
        self.output.checks.push(check);
        self.store.checkpoint(&mut self.output);
    }

    /// Takes in what the lab's wire did on its own account.
    pub(super) fn lab_wire(&mut self, wire: Vec<LabWire>) {
        self.output.lab_wire = wire;
    }

    /// Takes in how far an experiment is.
    pub(super) fn experiment(&mut self, record: &Experiment) {
        self.output.experiment = Some(record.clone());
        self.store.checkpoint(&mut self.output);
    }

    /// Takes in what is asked of a matrix, and how far it is.
    pub(super) fn matrix(&mut self, matrix: &Matrix) {
        self.output.matrix = Some(matrix.clone());
        self.store.checkpoint(&mut self.output);
    }

    /// Takes in a run of a cell.
    pub(super) fn cell_run(&mut self, run: &CellRun) {
        self.store.cell_run(run);
    }

    /// Probes the latency of the path at rest. Against a stock server there is nothing to probe
    /// with.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub(super) fn idle(&mut self, plan: &TestPlan) -> Result<(), Failure> {
        let plan = &TestPlan {
            settings: !self.knows_hosts,
            state: Some(self.state.known()),
            token: self.token.clone(),
            ..plan.clone()
        };
        let mut outcome = self.watched(plan, linerate_endpoint::idle)?;
        self.knows_hosts = true;
        self.progress
            .rested(&mut self.console, plan, &outcome.latency);
        outcome
            .latency
            .iter_mut()
            .for_each(|latency| latency.phase = Phase::Idle);
        self.absorb(plan, outcome).map(|_| ())
    }

    fn watched(&mut self, plan: &TestPlan, run: Engine) -> Result<TestOutcome, Failure> {
        self.heed_interrupt()?;
        self.read_wire(plan);
        let outcome = self.observed(plan, run);
        self.read_wire(plan);
        outcome
    }

    fn observed(&mut self, plan: &TestPlan, run: Engine) -> Result<TestOutcome, Failure> {
        let mut watcher = Watcher {
            plan,
            console: &mut self.console,
            store: &mut self.store,
            samples: &mut self.samples,
            progress: self.progress,
            live: &mut self.live,
            state: &mut self.state,
        };
        run(plan, &mut watcher, &self.interrupt)
    }

    fn absorb(&mut self, plan: &TestPlan, outcome: TestOutcome) -> Result<Vec<String>, Failure> {
        let mut ids = Vec::new();
        outcome.hosts.into_iter().for_each(|host| self.meet(host));
        for mut test in self.with_counters(plan, outcome.tests) {
            test.id = self.unused_id(&test, plan);
            ids.push(test.id.clone());
            // A reader of the stream that went away is found out at the end.
            let _ = self.console.event("test", &test);
            self.progress.ended(&mut self.console, plan, &test);
            self.output.tests.push(test);
        }
        self.output.latency.extend(outcome.latency);
        self.output.moved.extend(self.state.take_moved());
        self.output.partial |= outcome.partial;
        self.store.checkpoint(&mut self.output);
        if let Some(text) = outcome.server_output {
            self.console.say(&format!("The server's report:\n{text}"));
        }
        match outcome.error {
            // After Ctrl-C any error counts as an interruption.
            Some(failure) if self.interrupt.requested().is_some() => Err(Failure {
                kind: Kind::Interrupted,
                ..failure
            }),
            Some(failure) => Err(failure),
            None => self.heed_interrupt().map(|()| ids),
        }
    }

    /// Sets the counters that increased during these tests, from the samples of both ends.
    fn with_counters(&self, plan: &TestPlan, tests: Vec<Test>) -> Vec<Test> {
        let samples = self.samples.of_group(&plan.group);
        if samples.is_empty() {
            return tests;
        }
        let run = Run {
            hosts: self.output.hosts.clone(),
            ..Run::default()
        };
        let record = Record::of_run(run, samples);
        let evidence = Evidence::of(&record);
        let counted = tests.into_iter().map(|test| Test {
            counters: moved_counters(&evidence, &test),
            ..test
        });
        counted.collect()
    }

    /// The last results of these entries.
    pub(super) fn tests(&self, ids: &[String]) -> impl Iterator<Item = &Test> {
        let named = |test: &&Test| ids.contains(&test.id);
        self.output.tests.iter().filter(named)
    }

    /// Prints and stores everything; the exit code.
    pub(super) fn finish(mut self, ended: Result<(), Failure>) -> Exit {
        drop(self.keys.take());
        if let Err(failure) = &ended {
            self.output.partial = true;
            self.output.error = Some(report(failure));
        }
        // One that was resumed has the time of its earlier parts.
        self.output.duration_s += self.begun.elapsed().as_secs_f64();
        let judge = |expect: &Expect| {
            expect.judge(&self.output, |test| line_rate(&self.output.hosts, test))
        };
        let judged: Vec<_> = self.expect.iter().map(judge).collect();
        self.output.expectations.extend(judged);
        // Each run of a comparison is explained on its own.
        if !["ab", "tune", "matrix"].contains(&self.output.kind.as_str()) {
            self.explain();
        }
        let exit = exit_of(&self.output, ended.as_ref().err());
        self.output.exit_code = exit.code();
        self.keep();
        let printed = self.print(ended.err());
        match printed {
            Ok(()) => exit,
            Err(error) => {
                let failure = self.unprinted(error);
                self.console.alert(&failure.to_string());
                Exit::from(failure.kind)
            }
        }
    }

    /// Ledger, limits and findings, from the record alone: `linerate explain` will say the same.
    fn explain(&mut self) {
        let mut run = mem::take(self.store.run());
        run.exchange(&mut self.output);
        let mut record = Record::of_run(run, mem::take(&mut self.samples).into_samples())
            .with_trials(&self.output.trials);
        let mut explanation = explain(
            &record,
            site_rules::built_in(|text| self.console.alert(text)),
        );
        explanation.facts = Vec::new();
        record.run.exchange(&mut self.output);
        *self.store.run() = record.run;
        self.output.knees.clear();
        explanation.add_to(&mut self.output, false);
    }

    fn heed_interrupt(&self) -> Result<(), Failure> {
        match self.interrupt.requested() {
            Some(_) => Err(Failure::interrupted("finish the measurement")),
            None => Ok(()),
        }
    }

    fn unused_id(&self, test: &Test, plan: &TestPlan) -> String {
        let base = format!("{}-{}", plan.name, progress::word(test.direction));
        let tests = &self.output.tests;
        unused(base, |id| tests.iter().any(|test| test.id == id))
    }

    /// The samples of a test are known by its group.
    fn unused_group(&self, plan: &TestPlan) -> String {
        let tests = &self.output.tests;
        let taken = |group: &str| tests.iter().any(|test| test.group == group);
        unused(plan.group.clone(), taken)
    }

    /// Merges the description of a host into the known one.
    fn meet(&mut self, host: Host) {
        let hosts = &mut self.output.hosts;
        match hosts.iter_mut().find(|known| known.role == host.role) {
            None if host.role == Role::Local => hosts.insert(0, host),
            None => hosts.push(host),
            Some(known) => {
                for interface in host.interfaces {
                    let mut seen = known.interfaces.iter();
                    if !seen.any(|seen| seen.name == interface.name) {
                        known.interfaces.push(interface);
                    }
                }
                known.agent |= host.agent;
            }
        }
    }
}

/// Returns `base`, or the first of `base-2`, `base-3` … that is not taken.
fn unused(base: String, taken: impl Fn(&str) -> bool) -> String {
    let mut name = base.clone();
    let mut number = 1_u32;
    while taken(&name) {
        number += 1;
        name = format!("{base}-{number}");
    }
    name
}

/// `q` asks to stop as Ctrl-C does, where a person sees that it is running.
fn watch_keys(
    terminal: Option<Foreground>,
    console: &Console,
    interrupt: &Interrupt,
) -> Option<(Keys, AtPanic)> {
    let terminal = terminal.filter(|_| console.redraws())?;
    let interrupt = interrupt.clone();
    let keys = Keys::watch(terminal, move |key| {
        if key.eq_ignore_ascii_case(&b'q') {
            interrupt.request(SIGTERM);
        }
    })?;
    let restored = AtPanic::undo(keys.restorer());
    Some((keys, restored))
}

/// One of the engine's ways to measure.
type Engine = fn(&TestPlan, &mut dyn Observer, &Interrupt) -> Result<TestOutcome, Failure>;

/// Catches the signals that end a measurement.
///
/// # Errors
/// The kernel refuses a handler.
pub(super) fn interrupt() -> Result<Interrupt, Failure> {
    Interrupt::install().map_err(|error| Failure::measuring("catch signals", error))
}

/// The exit code of a command without results to judge; a failure is reported.
pub(super) fn ended(kind: &str, json: bool, ended: Result<(), Failure>) -> Exit {
    match ended {
        Ok(()) => Exit::Ok,
        Err(failure) => refuse(kind, json, &failure),
    }
}

/// The document of a command that could not even begin.
pub(super) fn refuse(kind: &str, json: bool, failure: &Failure) -> Exit {
    if json {
        let mut output = document(kind);
        output.exit_code = Exit::from(failure.kind).code();
        output.error = Some(report(failure));
        let text = linerate_report::json::pretty(&output).unwrap_or_default();
        // The sentence below says the same.
        let _ = crate::output::print(&text);
    }
    say(&failure.to_string());
    Exit::from(failure.kind)
}

/// A sentence on stderr from a command without flags for its looks.
pub(super) fn say(text: &str) {
    let surroundings = Surroundings::read();
    let look = surroundings.look(Color::Auto, false);
    Console::new(Form::Text, look, &surroundings, false, 0).alert(text);
}

pub(super) fn report(failure: &Failure) -> ErrorReport {
    ErrorReport {
        what: format!("cannot {}", failure.what),
        why: failure.why.clone(),
        try_: failure.try_.clone().unwrap_or_default(),
    }
}

/// The answer, unless less or more is asked for.
pub(super) const fn detail(quiet: bool, verbose: u8) -> Detail {
    match (quiet, verbose) {
        (true, _) => Detail::Line,
        (false, 0) => Detail::Answer,
        (false, _) => Detail::Full,
    }
}

pub(super) fn console(flags: &OutputFlags) -> Console {
    let surroundings = Surroundings::read();
    let look = surroundings.look(color(flags.document.color), flags.document.ascii);
    let form = match (flags.document.json, flags.json_stream) {
        (true, _) => Form::Json,
        (_, true) => Form::JsonStream,
        _ => Form::Text,
    };
    let look = Style {
        detail: detail(flags.quiet, flags.verbose),
        ..look
    };
    let mut console = Console::new(form, look, &surroundings, flags.quiet, flags.verbose);
    console.stamp_lines(flags.timestamps.as_deref());
    console
}

/// The idle control interval before the first load of a run: long enough for a background of a
/// packet in some milliseconds to show.
const CONTROL_MS: u64 = 500;
