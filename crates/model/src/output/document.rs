// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole document, and its general parts.

use serde::Serialize;

use crate::fields::Fields;

use super::SCHEMA;
use super::benchmark::Benchmarks;
use super::change::SettingChange;
use super::comparison::Comparison;
use super::cost::{Cost, CostFit, CostProfile};
use super::dataplane::Dataplane;
use super::experiment::Experiment;
use super::fact::Fact;
use super::findings::{CannotTell, Finding, Weight};
use super::forward::{Forward, ForwardResult, Trial};
use super::history::History;
use super::host::Host;
use super::lab_wire::LabWire;
use super::latency::Latency;
use super::ledger::LedgerEntry;
use super::matrix::{Cell, Matrix};
use super::moved::Moved;
use super::nic::NicCheck;
use super::test::Test;
use super::tuning::Tuning;
use super::verdict::{Knee, Verdict};
use crate::setting::Setting;

/// One document, printed by every command with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Output {
    /// [`SCHEMA`].
    pub schema: String,
    /// The command: `check`, `tcp`, `udp`, `sweep` …
    pub kind: String,
    /// The process's exit code.
    pub exit_code: u8,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command line.
    pub command: Vec<String>,
    /// RFC 3339, UTC.
    pub started: String,
    /// False if the wall clock was never set (before 2020).
    pub clock_trusted: bool,
    /// Wall time of the whole command, seconds.
    pub duration_s: f64,
    /// Not all that was asked for could be measured.
    pub partial: bool,
    /// Where the run is stored.
    pub run_dir: Option<String>,
    /// Local first.
    pub hosts: Vec<Host>,
    /// Every direction of every test.
    pub tests: Vec<Test>,
    /// Latency, by phase.
    pub latency: Vec<Latency>,
    /// One per direction (`check`).
    pub verdicts: Vec<Verdict>,
    /// The lab's user-space wire, by direction; empty without one.
    pub lab_wire: Vec<LabWire>,
    /// Highest rates without loss.
    pub knees: Vec<Knee>,
    /// CPU time of packets (`cost`).
    pub costs: Vec<Cost>,
    /// CPU time by packet and byte (`cost`).
    pub cost_fits: Vec<CostFit>,
    /// Where the processors were (`cost`).
    pub cost_profiles: Vec<CostProfile>,
    /// Parameters of a device measurement (`forward`).
    pub forward: Option<Forward>,
    /// Every trial of a device (`forward`).
    pub trials: Vec<Trial>,
    /// The highest rates of a device (`forward`).
    pub results: Vec<ForwardResult>,
    /// Figures of two configurations (`compare`, `ab`).
    pub comparison: Vec<Comparison>,
    /// The runs of the experiment (`ab`).
    pub experiment: Option<Experiment>,
    /// What was asked of a matrix (`matrix`, `compare` of two).
    pub matrix: Option<Matrix>,
    /// The cells of the matrix.
    pub cells: Vec<Cell>,
    /// Other benchmarks of a device (`forward`).
    pub benchmarks: Benchmarks,
    /// What an interface does right and wrong (`nic-check`).
    pub checks: Vec<NicCheck>,
    /// Stored runs (`history`).
    pub history: Option<History>,
    /// What forwarded between two interfaces (`dataplane`).
    pub dataplane: Option<Dataplane>,
    /// Changes of settings (`tune`, `dataplane`).
    pub changes: Vec<SettingChange>,
    /// Which changes were tried, and what became of each (`tune`).
    pub tuning: Option<Tuning>,
    /// What was not the same before and after a test.
    pub moved: Vec<Moved>,
    /// Whether ledger and findings were computed.
    pub explained: bool,
    /// Settings of the host (`inspect`).
    pub settings: Vec<Setting>,
    /// Where packets were lost.
    pub ledger: Vec<LedgerEntry>,
    /// Causes.
    pub findings: Vec<Finding>,
    /// What is abnormal in a pasted text and explained by no finding (`explain`).
    pub odd: Vec<Passage>,
    /// Why the causes of a pasted text are in this order, on request (`--facts`).
    pub weights: Vec<Weight>,
    /// Rules that lack evidence.
    pub cannot_tell: Vec<CannotTell>,
    /// All facts, on request (`--facts`).
    pub facts: Vec<Fact>,
    /// Parsed passages of a pasted text (`explain`).
    pub understood: Vec<Passage>,
    /// Ignored passages (`explain`).
    pub ignored: Vec<Passage>,
    /// What to run next, to learn more.
    pub next_commands: Vec<String>,
    /// The expectations of `--expect`.
    pub expectations: Vec<Expectation>,
    /// The error; `null` on success.
    pub error: Option<ErrorReport>,
}

impl Output {
    /// An empty document of a command.
    #[must_use]
    pub fn new(kind: &str, version: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            kind: kind.to_owned(),
            tool: Tool {
                version: version.to_owned(),
            },
            ..Self::default()
        }
    }
}

/// A passage of a pasted text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct Passage {
    /// First line, from 1.
    pub first_line: u64,
    /// Last line, included.
    pub last_line: u64,
    /// What it is, or why it was ignored.
    pub what: String,
}

/// The program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Tool {
    /// Semantic version.
    pub version: String,
}

/// An expectation, and whether it was met.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Fields)]
pub struct Expectation {
    /// As typed.
    pub expression: String,
    /// Whether it was met.
    pub met: bool,
    /// If not: the number that does not meet it, in bit/s, nanoseconds, a ratio or a count; `None` if it is unknown.
    pub value: Option<f64>,
    /// What the number is of, such as `udp up`.
    pub of: Option<String>,
}

/// An error for programs, with the same parts as the message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Fields)]
pub struct ErrorReport {
    /// What failed, on what.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to try.
    #[serde(rename = "try")]
    pub try_: String,
}
