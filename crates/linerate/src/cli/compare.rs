// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate compare`: two groups of stored runs, two settings of a table, or two matrices.

mod group;
pub(super) mod matrix;
mod table;

use linerate_method::experiment::{Key, Margins, environment, groups, guard};
use linerate_model::output::{Comparison, Output};
use linerate_report::sentence;

use super::args::CompareArgs;
use super::document::document;
use super::session;
use crate::exit::Exit;
use group::Group;
use linerate_model::failure::{Failure, Kind};

/// Runs the command.
pub(super) fn run(args: &CompareArgs) -> Exit {
    let answered = compared(args).and_then(|(output, failure)| {
        args.document
            .print(&output, session::detail(false, args.verbose))?;
        Ok((output, failure))
    });
    match answered {
        // The document says it, too.
        Ok((_, Some(failure))) if args.document.json => Exit::from(failure.kind),
        Ok((_, Some(failure))) => session::refuse("compare", false, &failure),
        Ok((output, None)) if output.exit_code != 0 => Exit::ExpectationFailed,
        Ok((_, None)) => Exit::Ok,
        Err(failure) => session::refuse("compare", args.document.json, &failure),
    }
}

/// The document, and why it proves nothing.
fn compared(args: &CompareArgs) -> Result<(Output, Option<Failure>), Failure> {
    if !args.matrices.is_empty() {
        let (mut output, failure) = matrix::read(args)?;
        conclude(args, &mut output, failure.as_ref());
        return Ok((output, failure));
    }
    let [before, after] = match &args.table {
        Some(file) => table::groups(file, &args.before, &args.after)?,
        None => [Group::read(&args.before)?, Group::read(&args.after)?],
    };
    let mut output = document("compare");
    output.comparison = figures(args, &before, &after)?;
    let failure = too_few(&output.comparison, args.fail_if.is_some());
    conclude(args, &mut output, failure.as_ref());
    Ok((output, failure))
}

/// Adds what was expected, the exit code, and why nothing is proven.
fn conclude(args: &CompareArgs, output: &mut Output, failure: Option<&Failure>) {
    if let Some(what) = args.fail_if {
        let expectation = what.expectation(&output.comparison);
        output.exit_code = u8::from(!expectation.met);
        output.expectations = vec![expectation];
    }
    if let Some(failure) = failure {
        output.exit_code = Exit::from(failure.kind).code();
        output.error = Some(session::report(failure));
    }
}

fn figures(args: &CompareArgs, before: &Group, after: &Group) -> Result<Vec<Comparison>, Failure> {
    let keys: Vec<&Key> = before.keys().filter(|key| after.has(key)).collect();
    if keys.is_empty() {
        return Err(nothing_in_common(before, after));
    }
    let asked = |key: &Key| args.metric.iter().any(|metric| key.is_named(metric));
    let chosen: Vec<&Key> = keys
        .iter()
        .copied()
        .filter(|key| args.metric.is_empty() || asked(key))
        .collect();
    if chosen.is_empty() {
        let known: Vec<String> = keys
            .iter()
            .map(|key| format!("{} {}", key.metric, key.name).trim_end().to_owned())
            .collect();
        return Err(Failure::usage(
            format!("compare {}", args.metric.join(", ")),
            "no run has this figure",
        )
        .hint(format!("one of: {}", known.join("; "))));
    }
    let decisive = if args.metric.is_empty() && args.table.is_none() {
        1
    } else {
        chosen.len()
    };
    let margins = Margins::new(args.margin, chosen.iter().copied().take(decisive));
    let compared = |key: &&Key| {
        let figures = [before.figures(key), after.figures(key)];
        groups::compare(key, figures[0], figures[1], margins.of(key))
    };
    let mut all: Vec<Comparison> = chosen.iter().map(compared).collect();
    settle(&mut all, decisive);
    complete(&mut all, before, after);
    Ok(all)
}

/// The first figures decide; each of the two sets shares one error of 5 %.
fn settle(all: &mut [Comparison], decisive: usize) {
    let (first, others) = all.split_at_mut(decisive);
    first.iter_mut().for_each(|one| one.primary = true);
    for set in [first, others] {
        groups::settle(&mut set.iter_mut().collect::<Vec<_>>());
    }
}

/// Adds names, environments, guards, and the sentence.
fn complete(all: &mut [Comparison], before: &Group, after: &Group) {
    let guards: Vec<_> = all.iter().filter(|one| !one.primary).map(guard).collect();
    for one in all.iter_mut() {
        (one.before.label, one.after.label) = (before.label.clone(), after.label.clone());
        (one.before.runs, one.after.runs) = (before.names.clone(), after.names.clone());
        one.sentence = sentence(one);
    }
    if let Some(first) = all.first_mut() {
        first.guards = guards;
        first.environment_diff = environment::differences(&before.runs(), &after.runs());
        first.excluded = [before, after]
            .iter()
            .flat_map(|group| group.excluded.clone())
            .collect();
    }
}

/// Refuses one run against one, and a check that could never fail.
fn too_few(all: &[Comparison], is_check: bool) -> Option<Failure> {
    let one = all.iter().find(|one| one.primary)?;
    let needed = one.needed?;
    let (n, m) = (one.before.n, one.after.n);
    let hint = format!(
        "use at least {needed} runs per side; or `linerate ab`, which makes and interleaves them"
    );
    let refuse =
        |what: String, why: &str| Failure::new(Kind::Invalid, what, why).hint(hint.clone());
    if n < 2 || m < 2 {
        let why = "one run is one observation: the variance between runs is unknown, and any difference may be chance";
        return Some(refuse(
            format!("draw a result from {n} against {m} runs"),
            why,
        ));
    }
    is_check.then(|| {
        let why = "this few runs can prove nothing at 5 %, so this check could never fail";
        refuse(format!("judge --fail-if by {n} against {m} runs"), why)
    })
}

fn nothing_in_common(before: &Group, after: &Group) -> Failure {
    let contents = |group: &Group| {
        let keys = group.keys();
        let names = keys.map(|key| format!("{} {}", key.metric, key.name).trim_end().to_owned());
        let left_out = group.excluded.iter();
        let left_out = left_out.map(|one| format!("{} left out: {}", one.run, one.reason));
        let all: Vec<String> = names.chain(left_out).collect();
        all.join("; ")
    };
    let why = format!(
        "the groups have no figure in common; before: {}; after: {}",
        contents(before),
        contents(after)
    );
    Failure::usage("compare the two groups", why)
        .hint("runs of the same test: the same command, direction and requested rate")
}
