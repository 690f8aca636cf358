// SPDX-License-Identifier: MIT OR Apache-2.0
//! `run.json`, schema `linerate.run/1`: the plan and the measurements. It has no conclusions, so a later
//! version with better rules can judge an old run again.

use std::collections::BTreeMap;
use std::mem;

use serde::Serialize;

use crate::fields::Fields;

use crate::output::{
    Benchmarks, ErrorReport, Experiment, Forward, ForwardResult, Host, Knee, LabWire, Latency,
    Matrix, Moved, NicCheck, Output, SettingChange, Test, Tool, Tuning,
};
use crate::setting::Setting;

/// The schema that this version writes.
pub const SCHEMA: &str = "linerate.run/1";

/// One run, as stored. Written with `partial: true` when it starts and again when it ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command: `check`, `tcp` …
    pub kind: String,
    /// The command line.
    pub command: Vec<String>,
    /// RFC 3339, UTC.
    pub started: String,
    /// False if the wall clock was never set (before 2020).
    pub clock_trusted: bool,
    /// Wall time of the whole command, seconds; `null` until it ends.
    pub duration_s: Option<f64>,
    /// True until the plan is completed.
    pub partial: bool,
    /// The plan, flattened: option names and their values with defaults filled in.
    pub plan: BTreeMap<String, String>,
    /// The hosts as they described themselves.
    pub hosts: Vec<Host>,
    /// The settings of the hosts, as far as each end reports them.
    pub settings: Vec<Setting>,
    /// What was not the same before and after a test, without owners.
    pub moved: Vec<Moved>,
    /// Every direction of every test.
    pub tests: Vec<Test>,
    /// Latency by phase.
    pub latency: Vec<Latency>,
    /// The lab's user-space wire, by direction; empty without one.
    pub lab_wire: Vec<LabWire>,
    /// Each search for a highest rate, with the bracket from its trials.
    pub knees: Vec<Knee>,
    /// How a device under test was measured; its trials are in `trials.ndjson`.
    pub forward: Option<Forward>,
    /// The bounds from the trials of a device under test.
    pub results: Vec<ForwardResult>,
    /// Other benchmarks of a device under test.
    pub benchmarks: Benchmarks,
    /// What an interface does right and wrong (`nic-check`).
    pub checks: Vec<NicCheck>,
    /// The runs of two configurations (`ab`).
    pub experiment: Option<Experiment>,
    /// What was asked of a matrix (`matrix`); its runs are the lines of `runs.ndjson`.
    pub matrix: Option<Matrix>,
    /// What `tune` changed.
    pub changes: Vec<SettingChange>,
    /// What `tune` tried, and what it decided and did.
    pub tuning: Option<Tuning>,
    /// What ended the run early; `null` if nothing did.
    pub error: Option<ErrorReport>,
}

impl Run {
    /// The run of a command that begins now.
    #[must_use]
    pub fn begin(kind: &str, version: &str, command: &[String]) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            tool: Tool {
                version: version.to_owned(),
            },
            kind: kind.to_owned(),
            command: command.to_vec(),
            partial: true,
            ..Self::default()
        }
    }

    /// The run whose command printed `output`: everything that it measured, without its conclusions.
    #[must_use]
    pub fn of_document(output: &Output) -> Self {
        let mut run = Self::begin(&output.kind, &output.tool.version, &output.command);
        run.started.clone_from(&output.started);
        run.clock_trusted = output.clock_trusted;
        run.settings.clone_from(&output.settings);
        run.record(output);
        run
    }

    /// Copies the measurements of `output`, without its conclusions.
    pub fn record(&mut self, output: &Output) {
        self.duration_s = Some(output.duration_s);
        self.partial = output.partial;
        self.hosts.clone_from(&output.hosts);
        self.moved = output.moved.iter().map(Moved::as_measured).collect();
        self.tests.clone_from(&output.tests);
        self.latency.clone_from(&output.latency);
        self.lab_wire.clone_from(&output.lab_wire);
        self.knees = output.knees.iter().map(Knee::as_measured).collect();
        self.forward.clone_from(&output.forward);
        self.results.clone_from(&output.results);
        self.benchmarks.clone_from(&output.benchmarks);
        self.checks.clone_from(&output.checks);
        self.experiment.clone_from(&output.experiment);
        self.matrix.clone_from(&output.matrix);
        self.changes.clone_from(&output.changes);
        self.tuning.clone_from(&output.tuning);
        self.error.clone_from(&output.error);
    }

    /// The same without a copy of what is long: it is exchanged with that of `output`. Exchanged again, both are as before.
    pub fn exchange(&mut self, output: &mut Output) {
        self.duration_s = Some(output.duration_s);
        self.partial = output.partial;
        self.knees = output.knees.iter().map(Knee::as_measured).collect();
        self.moved = output.moved.iter().map(Moved::as_measured).collect();
        mem::swap(&mut self.hosts, &mut output.hosts);
        mem::swap(&mut self.tests, &mut output.tests);
        mem::swap(&mut self.latency, &mut output.latency);
        mem::swap(&mut self.lab_wire, &mut output.lab_wire);
        mem::swap(&mut self.forward, &mut output.forward);
        mem::swap(&mut self.results, &mut output.results);
        mem::swap(&mut self.benchmarks, &mut output.benchmarks);
        mem::swap(&mut self.checks, &mut output.checks);
        mem::swap(&mut self.experiment, &mut output.experiment);
        mem::swap(&mut self.matrix, &mut output.matrix);
        mem::swap(&mut self.changes, &mut output.changes);
        mem::swap(&mut self.tuning, &mut output.tuning);
        mem::swap(&mut self.error, &mut output.error);
    }

    /// Returns the document of the measurements, without conclusions.
    #[must_use]
    pub fn measured(&self) -> Output {
        Output {
            command: self.command.clone(),
            started: self.started.clone(),
            clock_trusted: self.clock_trusted,
            duration_s: self.duration_s.unwrap_or_default(),
            partial: self.partial,
            hosts: self.hosts.clone(),
            moved: self.moved.clone(),
            tests: self.tests.clone(),
            latency: self.latency.clone(),
            lab_wire: self.lab_wire.clone(),
            knees: self.knees.clone(),
            forward: self.forward.clone(),
            results: self.results.clone(),
            benchmarks: self.benchmarks.clone(),
            checks: self.checks.clone(),
            experiment: self.experiment.clone(),
            matrix: self.matrix.clone(),
            changes: self.changes.clone(),
            tuning: self.tuning.clone(),
            error: self.error.clone(),
            ..Output::new(&self.kind, &self.tool.version)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Limit, Verdict};

    #[test]
    fn a_run_begins_partial_and_takes_over_measurements_only() {
        let mut run = Run::begin("udp", "0.1.0", &["udp".to_owned(), "host".to_owned()]);
        assert!(run.partial);
        let output = Output {
            duration_s: 2.5,
            tests: vec![Test::default()],
            verdicts: vec![Verdict::default()],
            knees: vec![Knee {
                limited_by: "loss".to_owned(),
                limit: Limit::ReceiverSocket,
                why: "its buffer".to_owned(),
                try_: "a larger one".to_owned(),
                ..Knee::default()
            }],
            ..Output::new("udp", "0.1.0")
        };
        run.record(&output);
        assert!(!run.partial);
        let again = run.measured();
        let mut taken = run.clone();
        taken.record(&again);
        assert_eq!(taken, run, "what a run has of a document it gives back");
        assert_eq!(run.tests, output.tests);
        let (mut lent, mut given) = (Run::begin("udp", "0.1.0", &run.command), output.clone());
        let before = lent.clone();
        lent.exchange(&mut given);
        assert_eq!((&lent, given.tests.len()), (&run, 0), "as a copy");
        lent.exchange(&mut given);
        assert_eq!(given, output);
        assert_eq!((lent.tests, lent.hosts), (before.tests, before.hosts));
        let json = serde_json::to_value(&run).unwrap();
        assert_eq!(json["schema"], "linerate.run/1");
        assert!(json.get("verdicts").is_none());
        let knee = &json["knees"][0];
        assert_eq!(knee["limited_by"], "loss", "what ended the search");
        assert_eq!(
            (&knee["limit"], &knee["why"]),
            (&"unknown".into(), &"".into())
        );
        assert_eq!(knee["try"], "");
    }

    #[test]
    fn a_document_gives_its_run_the_settings_too() {
        let output = Output {
            started: "2026-11-22T17:00:00Z".to_owned(),
            clock_trusted: true,
            settings: vec![Setting::default()],
            tests: vec![Test::default()],
            ..Output::new("udp", "0.1.0")
        };
        let run = Run::of_document(&output);
        assert_eq!(run.settings, output.settings);
        assert_eq!(
            (&run.started, run.clock_trusted, run.tests.len()),
            (&output.started, true, 1)
        );
    }

    #[test]
    fn an_older_or_newer_record_still_reads() {
        let run: Run = serde_json::from_str(r#"{"schema":"linerate.run/1","novel":1}"#).unwrap();
        assert_eq!(run.schema, SCHEMA);
        assert!(run.tests.is_empty());
    }
}
