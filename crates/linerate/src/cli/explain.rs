// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate explain RUN|FILE…|-`: the record is read, everything else follows from it.

mod inputs;
mod pasted;
mod texts;

use linerate_diagnose::explain::explain;
use linerate_model::output::Output;
use linerate_model::record::Record;
use linerate_model::run::Run;
use linerate_report::Detail;

use super::args::ExplainArgs;
use super::document::document;
use super::{session, site_rules};
use crate::exit::Exit;
use inputs::Inputs;
use linerate_model::failure::Failure;

/// Runs the command. What was found is an answer, whatever it says: exit 0.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    session::ended(
        "explain",
        args.document.json,
        explained(args).and_then(|output| args.document.print(&output, Detail::Causes)),
    )
}

fn explained(args: &ExplainArgs) -> Result<Output, Failure> {
    let rules = site_rules::with(args.rules.as_deref())?;
    let inputs = Inputs::read(&args.what)?;
    let mut output = measured(&inputs.records);
    output.trials = inputs.trials;
    if args.facts {
        output.understood = inputs.understood;
        output.ignored = inputs.ignored;
    } else {
        output.ignored = inputs.left_out;
    }
    let (pasted, stored): (Vec<Record>, Vec<Record>) =
        inputs.records.into_iter().partition(|record| record.pasted);
    for record in &stored {
        explain(record, &rules).add_to(&mut output, args.facts);
    }
    let (mut facts, mut findings) = (Vec::new(), Vec::new());
    for record in &pasted {
        let mut explanation = explain(record, &rules);
        facts.extend_from_slice(&explanation.facts);
        findings.append(&mut explanation.findings);
        explanation.add_to(&mut output, args.facts);
    }
    if let Some(text) = &inputs.pasted {
        let conclusion = text.conclude(&pasted, &facts, &findings);
        let next = conclusion.next_commands();
        if !next.is_empty() {
            output.next_commands = next;
        }
        output.findings.extend(conclusion.findings);
        output.odd = conclusion.odd;
        output.weights = conclusion.weights;
        output.weights.retain(|_| args.facts);
    }
    Ok(output)
}

/// Returns the document of what was measured.
fn measured(records: &[Record]) -> Output {
    let mut output = document("explain");
    for record in records {
        take(&mut output, &record.run);
    }
    output
}

fn take(output: &mut Output, run: &Run) {
    output.duration_s += run.duration_s.unwrap_or(0.0);
    output.partial |= run.partial;
    for host in &run.hosts {
        if !output.hosts.contains(host) {
            output.hosts.push(host.clone());
        }
    }
    output.tests.extend_from_slice(&run.tests);
    output.latency.extend_from_slice(&run.latency);
    output.forward = output.forward.take().or_else(|| run.forward.clone());
    output.results.extend_from_slice(&run.results);
    output.benchmarks.clone_from(&run.benchmarks);
    output.error = output.error.take().or_else(|| run.error.clone());
}
