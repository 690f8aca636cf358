// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole document, and what every command says of itself.

use serde::{Deserialize, Serialize};

use super::SCHEMA;
use super::benchmark::Benchmarks;
use super::comparison::Comparison;
use super::experiment::Experiment;
use super::fact::Fact;
use super::findings::{CannotTell, Finding};
use super::forward::{Forward, ForwardResult, Trial};
use super::history::History;
use super::host::Host;
use super::latency::Latency;
use super::ledger::LedgerEntry;
use super::test::Test;
use super::verdict::{Knee, Verdict};
use crate::setting::Setting;

/// One document, printed by every command with `--json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    /// [`SCHEMA`].
    pub schema: String,
    /// The command: `check`, `tcp`, `udp`, `sweep` …
    pub kind: String,
    /// The process's exit code.
    pub exit_code: u8,
    /// Which program wrote this.
    pub tool: Tool,
    /// The command line.
    pub command: Vec<String>,
    /// RFC 3339, UTC.
    pub started: String,
    /// False when the wall clock was never set (before 2020).
    pub clock_trusted: bool,
    /// Wall time of the whole command, seconds.
    pub duration_s: f64,
    /// The command ended before its plan.
    pub partial: bool,
    /// Where the run is stored.
    pub run_dir: Option<String>,
    /// Local first.
    pub hosts: Vec<Host>,
    /// Every direction of every test.
    pub tests: Vec<Test>,
    /// Latency, by phase.
    pub latency: Vec<Latency>,
    /// One a direction (`check`).
    pub verdicts: Vec<Verdict>,
    /// Highest rates without loss.
    pub knees: Vec<Knee>,
    /// How a device was measured (`forward`).
    pub forward: Option<Forward>,
    /// Every trial of a device (`forward`).
    pub trials: Vec<Trial>,
    /// The highest rates of a device (`forward`).
    pub results: Vec<ForwardResult>,
    /// Figures of two configurations (`compare`, `ab`).
    pub comparison: Vec<Comparison>,
    /// The runs behind it (`ab`).
    pub experiment: Option<Experiment>,
    /// What else was measured of a device (`forward`).
    pub benchmarks: Benchmarks,
    /// Stored runs (`history`).
    pub history: Option<History>,
    /// Whether ledger and findings were looked for at all.
    pub explained: bool,
    /// How the host is set up (`inspect`).
    pub settings: Vec<Setting>,
    /// Where packets were lost.
    pub ledger: Vec<LedgerEntry>,
    /// Causes.
    pub findings: Vec<Finding>,
    /// Rules without their evidence.
    pub cannot_tell: Vec<CannotTell>,
    /// Everything that is known, on request (`--facts`).
    pub facts: Vec<Fact>,
    /// What of a pasted text was understood (`explain`).
    pub understood: Vec<Passage>,
    /// What of a pasted text was not (`explain`).
    pub ignored: Vec<Passage>,
    /// What to run next, to tell more.
    pub next_commands: Vec<String>,
    /// What `--expect` asked.
    pub expectations: Vec<Expectation>,
    /// What went wrong; `null` on success.
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Passage {
    /// First line, from 1.
    pub first_line: u64,
    /// Last line, included.
    pub last_line: u64,
    /// What it is, or why it was not read.
    pub what: String,
}

/// The program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// Semantic version.
    pub version: String,
}

/// What `--expect` asked, and whether it was met.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expectation {
    /// As typed.
    pub expression: String,
    /// The answer.
    pub met: bool,
}

/// An error for machines; the same three sentences that a person reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorReport {
    /// What failed, on what.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to try.
    #[serde(rename = "try")]
    pub try_: String,
}
