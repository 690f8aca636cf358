// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `--json` document, schema `linerate.output/1`.
//!
//! The names are a contract: add, never rename. Base units, numbers as numbers, `null` for
//! unknown. Rates are payload bits a second (L4 goodput) unless a name says otherwise; `delivered`
//! is the receiver's count. `docs/json.md` describes every name.

mod benchmark;
mod change;
mod comparison;
mod cost;
mod counters;
mod dataplane;
mod distribution;
mod document;
mod experiment;
mod fact;
mod findings;
mod forward;
mod history;
mod host;
mod lab_wire;
mod latency;
mod ledger;
mod matrix;
mod mode;
mod moved;
mod nic;
mod stream;
mod test;
mod trial_device;
mod tuning;
mod verdict;

pub use benchmark::{
    BackToBack, Benchmarks, DeviceLatency, LatencyStream, LossCurve, LossPoint, Recovery,
    RecoveryAttempt, Reset, ResetAttempt, Spread, Subject,
};
pub use change::{ChangeState, SettingChange};
pub use comparison::{Comparison, Difference, Excluded, Guard, GuardStatus, Judgement, Side};
pub use cost::{
    Bound, Cost, CostBasis, CostDirection, CostFit, CostFunction, CostProcessor, CostProfile,
    CostShare, Estimate, SamplingMissing,
};
pub use counters::{
    Cpu, CpuPair, EventsMissing, MovedCounter, StreamCpu, ThreadEvents, ThreadTime,
};
pub use dataplane::{Dataplane, DataplanePort, DataplaneVerdict};
pub use distribution::{Quantiles, Spacing};
pub use document::{ErrorReport, Expectation, Output, Passage, Tool};
pub use experiment::{Arm, Experiment, ExperimentFigure, ExperimentPhase, ExperimentRun, Restored};
pub use fact::{Fact, Value};
pub use findings::{CannotTell, Change, Check, Explains, Finding, Weight};
pub use forward::{
    Ceiling, Forward, ForwardResult, ForwardTest, Goal, Port, Trial, TrialDirection, TrialFlow,
    TrialPhase, Waits,
};
pub use history::{History, StoredFigure, StoredRun, Trend, TrendLevel, TrendPoint, Unreadable};
pub use host::{Host, Interface, LinkKind, Role, Withheld};
pub use lab_wire::LabWire;
pub use latency::{Latency, Phase};
pub use ledger::{Evidence, LedgerEntry, Stage, Unread};
pub use matrix::{Axis, Cell, CellFigure, CellState, Matrix, RanOn};
pub use mode::{IoMode, Mode};
pub use moved::{Moved, MovedKind};
pub use nic::{NicCheck, NicExample, NicState};
pub use stream::{Flow, Interval, LossBurst};
pub use test::{Arrived, Codepoint, Direction, Dscp, Ecn, Protocol, ReceiveBuffer, Test, Warning};
pub use trial_device::{DeviceInterrupt, DeviceProcessor, DeviceQueue, DeviceSource, TrialDevice};
pub use tuning::{ByHand, Candidate, CandidateState, Mechanism, MovedFact, Tuning, TuningEnd};
pub use verdict::{Confirmation, ConstantLoss, Knee, Limit, Verdict};

/// The schema that this version writes.
pub const SCHEMA: &str = "linerate.output/1";
