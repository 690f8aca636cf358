// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate explain RUN|FILE…|-`: the record is read, everything else follows from it.

mod material;
mod texts;

use linerate_diagnose::explain::explain;
use linerate_model::output::Output;
use linerate_model::record::Record;
use linerate_model::run::Run;

use super::args::ExplainArgs;
use super::paper::{self, Paper};
use super::{session, site_rules};
use crate::exit::Exit;
use linerate_model::failure::Failure;
use material::Material;

/// Runs the command. What was found is an answer, whatever it says: exit 0.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    let paper = Paper {
        json: args.json,
        color: args.color,
        ascii: args.ascii,
    };
    match explained(args).and_then(|output| paper.print(&output)) {
        Ok(()) => Exit::Ok,
        Err(failure) => session::refuse("explain", args.json, &failure),
    }
}

fn explained(args: &ExplainArgs) -> Result<Output, Failure> {
    let rules = site_rules::with(args.rules.as_deref())?;
    let material = Material::read(&args.what)?;
    let mut output = document(&material.records);
    output.trials = material.trials;
    if args.facts {
        output.understood = material.understood;
        output.ignored = material.ignored;
    } else {
        output.ignored = material.left_out;
    }
    for record in &material.records {
        explain(record, &rules).add_to(&mut output, args.facts);
    }
    Ok(output)
}

/// What was measured, as the records have it.
fn document(records: &[Record]) -> Output {
    let mut output = paper::document("explain");
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
