// SPDX-License-Identifier: MIT OR Apache-2.0
//! Record → ledger, facts, findings, and what to run next.

use linerate_model::output::{
    CannotTell, Cost, CostFit, CostProfile, Fact, Finding, ForwardResult, Knee, LedgerEntry, Moved,
    Output, Trial, Verdict,
};

use crate::collect;
use crate::cost;
use crate::dut::setup;
use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::ledger;
use crate::limit::Limits;
use crate::moved;
use crate::nic;
use crate::rules::{self, Rule};
use linerate_model::record::Record;

/// Everything that was concluded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// Where the packets of each test were lost.
    pub ledger: Vec<LedgerEntry>,
    /// Everything that is known.
    pub facts: Vec<Fact>,
    /// Every knee of the record with what limits it.
    pub knees: Vec<Knee>,
    /// What limits each direction; of a `check` only.
    pub verdicts: Vec<Verdict>,
    /// CPU time of packets by end and size; of a `cost` only.
    pub costs: Vec<Cost>,
    /// CPU time by packet and byte, likewise.
    pub cost_fits: Vec<CostFit>,
    /// Where the processors were, likewise.
    pub cost_profiles: Vec<CostProfile>,
    /// What was not the same before and after a test, with its likely owner.
    pub moved: Vec<Moved>,
    /// How a device in the middle forwards.
    pub device_setup: Vec<String>,
    /// Causes, what explains most first.
    pub findings: Vec<Finding>,
    /// Rules that lack their evidence, where there is something to explain.
    pub cannot_tell: Vec<CannotTell>,
    /// The commands that would tell them.
    pub next_commands: Vec<String>,
}

/// Explains a record by `rules`.
#[must_use]
pub fn explain(record: &Record, rules: &[Rule]) -> Explanation {
    let moved = moved::named(&record.run);
    let certain = moved::without(record);
    let mut explanation = of_certain(certain.as_ref().unwrap_or(record), rules);
    let commands = moved::watch_commands(&moved);
    extend_new(&mut explanation.next_commands, commands);
    Explanation {
        moved,
        ..explanation
    }
}

/// From a record of which every setting was the same during all tests.
fn of_certain(record: &Record, rules: &[Rule]) -> Explanation {
    let evidence = Evidence::of(record);
    let ledger = ledger::of(&evidence);
    let facts = Facts::of(&evidence, &ledger);
    let mut judged = rules::judge(rules, record, &ledger, &facts);
    judged.findings.extend(nic::findings(&record.run));
    let mut next_commands: Vec<String> = Vec::new();
    for command in judged.cannot_tell.iter().flat_map(|rule| &rule.missing) {
        if !next_commands.contains(command) {
            next_commands.push(command.clone());
        }
    }
    let named = judged.findings.iter().any(|finding| !finding.informational);
    if record.pasted && !named && next_commands.is_empty() {
        next_commands = collect::next(record);
    }
    if judged.cannot_tell.iter().any(|rule| rule.needs_token) {
        next_commands.push(WITH_A_TOKEN.to_owned());
    }
    if device_was_not_asked(record) {
        next_commands.push(ASK_THE_DEVICE.to_owned());
    }
    let limits = Limits::of(record, &ledger);
    let verdicts = match record.run.kind.as_str() {
        "check" => limits.verdicts(),
        _ => Vec::new(),
    };
    let ((costs, cost_fits), cost_profiles) = match record.run.kind.as_str() {
        "cost" => (cost::of(&evidence), cost::profiles(&evidence)),
        _ => Default::default(),
    };
    Explanation {
        knees: limits.knees(),
        verdicts,
        costs,
        cost_fits,
        cost_profiles,
        moved: Vec::new(),
        device_setup: setup::of(record),
        ledger,
        facts: facts.into_list(),
        findings: judged.findings,
        cannot_tell: judged.cannot_tell,
        next_commands,
    }
}

impl Explanation {
    /// Adds what was concluded to a document; with every fact, if asked.
    pub fn add_to(self, output: &mut Output, facts: bool) {
        output.explained = true;
        output.moved = self.moved;
        output.knees.extend(self.knees);
        output.verdicts.extend(self.verdicts);
        output.costs.extend(self.costs);
        output.cost_fits.extend(self.cost_fits);
        output.cost_profiles.extend(self.cost_profiles);
        output.ledger.extend(self.ledger);
        let forward = output.forward.as_mut();
        if let Some(device) = forward.and_then(|forward| forward.device.as_mut()) {
            device.setup = self.device_setup;
        }
        output.findings.extend(self.findings);
        extend_new(&mut output.cannot_tell, self.cannot_tell);
        if facts {
            output.facts.extend(self.facts);
        }
        extend_new(&mut output.next_commands, self.next_commands);
    }
}

fn extend_new<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// Whether a rate is the device's own and the device did not report.
fn device_was_not_asked(record: &Record) -> bool {
    let own = |result: &ForwardResult| !result.tester_limited && result.upper_fps.is_some();
    let reported = |trial: &Trial| trial.device.is_some();
    record.run.results.iter().any(own) && !record.trials.iter().any(reported)
}

const WITH_A_TOKEN: &str = "linerate check <peer> --token-file <file>   # the same file at `linerate serve`: then the peer reports its settings";
const ASK_THE_DEVICE: &str = "linerate forward <port> <port> --device ssh:<user>@<device>   # the same, with the counters of the device";
