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
use pasted::Pasted;

/// Runs the command. What was found is an answer, whatever it says: exit 0. Where nothing could be judged, what to
/// collect is printed, and the exit code is that of a command that could not measure.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    match explained(args) {
        Ok((output, Some(failure))) => unanswered(args, output, &failure),
        Ok((output, None)) => session::ended(
            "explain",
            args.document.json,
            args.document.print(&output, Detail::Causes),
        ),
        Err(failure) => session::refuse("explain", args.document.json, &failure),
    }
}

fn unanswered(args: &ExplainArgs, mut output: Output, failure: &Failure) -> Exit {
    let exit = Exit::from(failure.kind);
    if args.document.json {
        output.exit_code = exit.code();
        output.error = Some(session::report(failure));
    }
    match args.document.print(&output, Detail::Causes) {
        Ok(()) => session::refuse("explain", false, failure),
        Err(failure) => session::refuse("explain", false, &failure),
    }
}

/// The answer, and why it is none.
fn explained(args: &ExplainArgs) -> Result<(Output, Option<Failure>), Failure> {
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
    let spoke = !stored.is_empty() || !output.findings.is_empty() || !output.odd.is_empty();
    let text = inputs
        .pasted
        .filter(|text| !spoke && text.understood.is_empty());
    let nothing = text.map(|text| without_answer(args, &text));
    Ok((output, nothing))
}

/// No line of a text was output of a tool, a message or a symptom that is known.
fn without_answer(args: &ExplainArgs, text: &Pasted) -> Failure {
    let names: Vec<_> = args
        .what
        .iter()
        .map(|name| name.display().to_string())
        .collect();
    let whole = &text.joined.whole;
    let why = match whole.trim() {
        "" => "it has no text",
        _ if whole.contains(['\0', '\u{fffd}']) => "it is neither text nor a run",
        _ => "no line of it is output of a known tool, a known message or a known symptom",
    };
    Failure::measuring(format!("explain {}", names.join(" ")), why).hint(
        "the output of `ip -s -d link`, `ethtool -S eth0`, `nstat -az` and `dmesg` there; or the directory of a run",
    )
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
