// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line: flags in, exit code out.

mod ab;
mod agent;
mod args;
mod check;
mod compare;
mod completions;
mod cost;
mod dataplane;
mod doctor;
mod document;
mod explain;
mod forecast;
mod forward;
mod habits;
mod history;
mod inspect;
mod iperf2;
pub mod lab;
mod live;
mod man;
mod matrix;
mod nic_check;
mod plan;
mod progress;
mod regs;
mod report;
mod sample_log;
mod serve;
mod session;
mod settle;
mod site_rules;
mod sweep;
mod target;
mod trial;
mod tune;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::error::ErrorKind as ClapError;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::exit::Exit;
use crate::output::{Color, Surroundings, ascii};
use crate::panicked;
use args::{Cli, Command, ManArgs, TcpArgs, UdpArgs};
use linerate_endpoint::TestPlan;
use linerate_model::failure::Failure;
use linerate_model::order::Gather as _;
use linerate_model::units::rate_unit::RateUnit;
use linerate_report::term::Style;
use progress::Progress;
use target::Target;

/// Runs the command that the process was started with; the exit code.
pub fn main() -> u8 {
    panicked::ends_the_process();
    let words: Vec<OsString> = std::env::args_os().collect();
    let json = asks_for_json(&words);
    let words = match translated(words) {
        Ok(words) => words,
        Err(failure) => return session::refuse("", json, &failure).code(),
    };
    let look = Surroundings::read().look(Color::Auto, false);
    let understood = examples_last(Cli::command())
        .term_width(help_columns(look))
        .try_get_matches_from(&words)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, options(&matches))));
    match understood {
        Ok((mut cli, options)) => match settle::settle(&mut cli.command) {
            Ok(()) => run(&cli.command, options),
            Err(failure) => session::refuse(&kind(&words), json, &failure).code(),
        },
        Err(error) => refuse(&error, &words, look).code(),
    }
}

/// What a command is for comes first in its help, examples at the end.
fn examples_last(command: clap::Command) -> clap::Command {
    let text = |part: Option<&clap::builder::StyledStr>| part.map(ToString::to_string);
    let examples = text(command.get_before_long_help()).filter(|examples| !examples.is_empty());
    let after = text(command.get_after_long_help()).or_else(|| text(command.get_after_help()));
    let parts: Vec<String> = examples.into_iter().chain(after).collect();
    command
        .before_long_help(None::<&str>)
        .after_long_help(parts.join("\n\n"))
        .mut_subcommands(examples_last)
}

/// A name that is not UTF-8 is none of iperf3's words: such a command line is left as it is.
fn translated(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let texts: Option<Vec<String>> = words
        .iter()
        .map(|word| word.to_str().map(str::to_owned))
        .collect();
    let Some(texts) = texts else {
        return Ok(words);
    };
    let top = Cli::command();
    let commands: Vec<&str> = top.get_subcommands().map(clap::Command::get_name).collect();
    let own = habits::translated(&texts, &commands)?;
    Ok(own.into_iter().map(OsString::from).collect())
}

fn asks_for_json(words: &[OsString]) -> bool {
    words
        .iter()
        .any(|word| word == "--json" || word == "-j" || word == "-J")
}

/// The command's name, if the first word is one.
fn kind(words: &[OsString]) -> String {
    let word = words.get(1).map(|word| word.to_string_lossy());
    word.unwrap_or_default().into_owned()
}

/// Every option of the command with its value, defaults filled in, for the record.
fn options(matches: &ArgMatches) -> BTreeMap<String, String> {
    let Some((name, matches)) = matches.subcommand() else {
        return BTreeMap::new();
    };
    let top = Cli::command();
    let arguments = top
        .find_subcommand(name)
        .into_iter()
        .flat_map(clap::Command::get_arguments);
    let options = arguments.filter_map(|argument| {
        let id = argument.get_id().as_str();
        let values = matches.try_get_raw(id).ok()??;
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        Some((id.to_owned(), values.join(" ")))
    });
    options.gather()
}

fn run(command: &Command, options: BTreeMap<String, String>) -> u8 {
    let exit = match command {
        Command::Check(args) => check::run(args, options),
        Command::Tcp(args) => tcp(args, options),
        Command::Udp(args) => udp(args, options),
        Command::Sweep(args) => sweep::run(args, options),
        Command::Cost(args) => cost::run(args, options),
        Command::Forward(args) => forward::run(args, options),
        Command::Serve(args) => serve::run(args),
        Command::Agent(args) => agent::run(args),
        Command::NicCheck(args) => nic_check::run(args, options),
        Command::Inspect(args) => inspect::run(args),
        Command::Explain(args) => explain::run(args),
        Command::History(args) => history::run(args),
        Command::Report(args) => report::run(args),
        Command::Ab(args) => ab::run(args, options),
        Command::Compare(args) => compare::run(args),
        Command::Matrix(args) => matrix::run(args, options),
        Command::Tune(args) => tune::run(args, options),
        Command::Dataplane(args) => dataplane::run(args),
        Command::Lab(args) => return in_lab(args),
        Command::Regs(args) => regs::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => written(&completions::script(args.shell)),
        Command::Man(args) => manual(args),
    };
    exit.code()
}

fn tcp(args: &TcpArgs, options: BTreeMap<String, String>) -> Exit {
    let target = Target::server("tcp", &args.server, options);
    one_test(target, args.load.format, |host| plan::tcp(args, host))
}

fn udp(args: &UdpArgs, options: BTreeMap<String, String>) -> Exit {
    let target = Target::server("udp", &args.server, options);
    one_test(target, args.load.format, |host| plan::udp(args, host))
}

fn one_test(
    mut target: Target<'_>,
    rates: Option<RateUnit>,
    plan: impl Fn(&str) -> Result<TestPlan, Failure> + Sync,
) -> Exit {
    target.progress = Progress::Lines(rates);
    target.measure(|session, host| session.run(&plan(host)?).map(|_| ()))
}

fn in_lab(args: &lab::LabArgs) -> u8 {
    match lab::run(args) {
        Ok(code) => code,
        Err(failure) => session::refuse("lab", false, &failure).code(),
    }
}

fn manual(args: &ManArgs) -> Exit {
    let text = match &args.dir {
        Some(dir) => man::write_all(dir).map(|files| files.join("\n")),
        None => man::page(args.command.as_deref()),
    };
    match text {
        Ok(text) => written(&text),
        Err(failure) => session::refuse("man", false, &failure),
    }
}

fn written(text: &str) -> Exit {
    session::ended(
        "print",
        false,
        document::print(&linerate_model::printable::Printable::coloured(text)),
    )
}

/// Help and version go to stdout; a wrong command line is a failure like any other.
fn refuse(error: &clap::Error, words: &[OsString], look: Style) -> Exit {
    match error.kind() {
        ClapError::DisplayHelp | ClapError::DisplayVersion => {
            let text = error.render().to_string();
            written(&if look.ascii { ascii(&text) } else { text })
        }
        _ => {
            let kind = kind(words);
            session::refuse(&kind, asks_for_json(words), &misunderstood(error, &kind))
        }
    }
}

/// clap's sentence in the house form: flag, value and range are in its first paragraph.
fn misunderstood(error: &clap::Error, kind: &str) -> Failure {
    let text = error.render().to_string();
    let sentence: Vec<&str> = text
        .lines()
        .take_while(|line| !line.is_empty())
        .map(str::trim)
        .collect();
    let why = sentence.join(" ").trim_start_matches("error: ").to_owned();
    let why = if error.kind() == ClapError::DisplayHelpOnMissingArgumentOrSubcommand {
        "no command is given".to_owned()
    } else {
        why
    };
    let tip = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("tip: "));
    let page = match Cli::command().find_subcommand(kind) {
        Some(command) => format!("linerate {} --help", command.get_name()),
        None => "linerate --help".to_owned(),
    };
    let hint = tip.map_or_else(|| page.clone(), |tip| format!("{tip}      or      {page}"));
    Failure::usage("understand the command line", why).hint(hint)
}

/// An ellipsis becomes longer in ASCII.
fn help_columns(look: Style) -> usize {
    let longer = if look.ascii { 2 } else { 0 };
    look.width.min(HELP_COLUMNS) - longer
}

/// Longer lines are hard to read.
const HELP_COLUMNS: usize = 100;

#[cfg(test)]
mod tests;
