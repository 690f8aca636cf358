// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate explain RUN|FILE…|-`: the record is read, everything else follows from it.

mod material;
mod texts;

use std::io::ErrorKind;

use linerate_diagnose::record::Record;
use linerate_model::output::Output;
use linerate_model::run::Run;

use super::args::ExplainArgs;
use super::conclude::conclude;
use super::{cause, progress, session, site_rules};
use crate::date::Date;
use crate::error::Failure;
use crate::exit::Exit;
use crate::output::{self, Surroundings};
use material::Material;

/// Runs the command. What was found is an answer, whatever it says: exit 0.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    match explained(args).and_then(|output| print(&output, args)) {
        Ok(()) => Exit::Ok,
        Err(failure) => session::refuse("explain", args.json, &failure),
    }
}

fn explained(args: &ExplainArgs) -> Result<Output, Failure> {
    let rules = site_rules::with(args.rules.as_deref())?;
    let material = Material::read(&args.what)?;
    let mut output = document(&material.records);
    if args.facts {
        output.understood = material.understood;
        output.ignored = material.ignored;
    }
    for record in &material.records {
        conclude(&mut output, record, &rules, args.facts);
    }
    Ok(output)
}

/// What was measured, as the records have it.
fn document(records: &[Record]) -> Output {
    let mut output = Output::new("explain", env!("CARGO_PKG_VERSION"));
    output.command = std::env::args().collect();
    let started = Date::now();
    output.started = started.to_string();
    output.clock_trusted = started.trusted();
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
    for knee in &run.knees {
        let knee = cause::conclude(output, knee.as_measured());
        output.knees.push(knee);
    }
    output.error = output.error.take().or_else(|| run.error.clone());
}

fn print(output: &Output, args: &ExplainArgs) -> Result<(), Failure> {
    let look = Surroundings::read().look(session::color(args.color), args.ascii);
    let text = if args.json {
        linerate_report::json::document(output)
            .map_err(|error| Failure::measuring("write the document", error))?
    } else {
        progress::render(output, look)
    };
    match output::print(&text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::measuring("write the results to stdout", error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_model::output::{Knee, Limit, Test};

    /// The record tells what ended the search; who holds it back is found anew, by today's rules.
    #[test]
    fn a_stored_knee_is_concluded_anew() {
        let short = Test {
            id: "short".to_owned(),
            requested_bits_per_second: Some(600e6),
            offered_bits_per_second: Some(300e6),
            payload_bytes: 1448,
            duration_s: 1.0,
            valid: true,
            ..Test::default()
        };
        let knee = Knee {
            test_ids: vec!["short".to_owned()],
            limited_by: "sender".to_owned(),
            limit: Limit::Path,
            why: "what an older version thought".to_owned(),
            ..Knee::default()
        };
        let run = Run {
            tests: vec![short],
            knees: vec![knee],
            ..Run::default()
        };
        let mut output = Output::default();
        take(&mut output, &run);
        let knee = &output.knees[0];
        assert_eq!(knee.limit, Limit::Sender);
        assert!(
            knee.why.starts_with("asked for 600.0 Mbit/s"),
            "{}",
            knee.why
        );
    }
}
