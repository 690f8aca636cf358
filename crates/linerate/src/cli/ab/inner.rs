// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measurement of both configurations: this program, one process per run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Parser;
use linerate_lab::LabToken;
use linerate_linux::signal::Interrupt;
use linerate_method::experiment::{Figure, figures};
use linerate_model::output::Output;

use super::child::{Reach, Running};
use super::switch;
use crate::cli::args::{Cli, Command as Measurement, ForwardArgs, LoadFlags, ServerFlags};
use crate::cli::forecast::{Ahead, Forecast};
use crate::cli::{check, misunderstood, settle, sweep};
use crate::exit::Exit;
use linerate_model::failure::Failure;

/// A measuring command.
#[derive(Debug)]
pub(in crate::cli) struct Inner<'a> {
    words: &'a [String],
    /// Whom it measures against, as a stored run has it: the option's name and its value.
    pub(in crate::cli) peer: (&'static str, String),
    /// Estimated duration of one run, seconds.
    pub(in crate::cli) estimate_s: Option<f64>,
}

/// What one run gave.
#[derive(Debug)]
pub(in crate::cli) struct Ran {
    pub(in crate::cli) figures: Vec<Figure>,
    /// The whole document.
    pub(in crate::cli) output: Output,
    /// Why it does not count, if it does not.
    pub(in crate::cli) unusable: Option<String>,
}

impl<'a> Inner<'a> {
    /// Understands the command before anything is changed.
    ///
    /// # Errors
    /// It is none that measures, or its flags are wrong.
    pub(in crate::cli) fn of(words: &'a [String]) -> Result<Self, Failure> {
        let kind = words.first().map(String::as_str).unwrap_or_default();
        let all = ["linerate"]
            .into_iter()
            .map(str::to_owned)
            .chain(words.iter().cloned());
        let mut cli = Cli::try_parse_from(all).map_err(|error| misunderstood(&error, kind))?;
        if let Some(server) = settle::server_of(&mut cli.command) {
            settle::reach(server)?;
        }
        let at = |server: &ServerFlags| ("host", server.host.clone().unwrap_or_default());
        let (peer, estimate_s, output) = match &cli.command {
            Measurement::Udp(args) => (at(&args.server), seconds(&args.load), &args.server.output),
            Measurement::Tcp(args) => (at(&args.server), seconds(&args.load), &args.server.output),
            Measurement::Check(args) => (
                at(&args.server),
                Some(check::seconds(args)),
                &args.server.output,
            ),
            Measurement::Sweep(args) => {
                (at(&args.server), sweep::seconds(args), &args.server.output)
            }
            Measurement::Forward(args) => (ports(args), None, &args.output),
            _ => return Err(no_measurement(kind)),
        };
        let repeats = matches!(&cli.command, Measurement::Check(args) if args.watch.is_some());
        if repeats {
            let why = "--watch repeats a measurement, and so does `ab`";
            return Err(Failure::usage(
                format!("measure with `{}`", words.join(" ")),
                why,
            ));
        }
        if output.document.json || output.json_stream || output.output.is_some() {
            let why = "-o and --json are set for each run";
            return Err(
                Failure::usage(format!("measure with `{}`", words.join(" ")), why)
                    .hint("-o and --json before the --"),
            );
        }
        Ok(Self {
            words,
            peer,
            estimate_s,
        })
    }

    /// One run, stored in a directory if there is one; `tick` is called meanwhile, and ends the run where it is false.
    ///
    /// # Errors
    /// The process could not be started, or the command line is one that it refuses.
    pub(in crate::cli) fn run(
        &self,
        store: Option<&Path>,
        token: Option<&LabToken>,
        interrupt: &Interrupt,
        tick: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Ran, Failure> {
        let what = || format!("measure with `{}`", self.words.join(" "));
        let program =
            crate::itself::program().map_err(|error| Failure::measuring(what(), error))?;
        let mut command = Command::new(program);
        command.args(self.words).arg("--json");
        if token.is_some() {
            LabToken::hand(token, &mut command);
        }
        let nowhere = PathBuf::from("/dev/null/none");
        command.arg("-o").arg(store.unwrap_or(&nowhere));
        let ended = Running::start(command, Reach::Process)
            .and_then(|running| running.finish(interrupt, tick))
            .map_err(|error| Failure::measuring(what(), error))?;
        // One that was ended before it could catch the signal has no document.
        if interrupt.requested().is_some() {
            return Err(switch::interrupted());
        }
        let output: Output = linerate_wire::json::read(&ended.stdout).map_err(|error| {
            let said = switch::complaint(&ended).unwrap_or_default();
            Failure::measuring(what(), format!("{}: {error}: {said}", ended.status))
                .hint("run the measurement alone")
        })?;
        if output.exit_code == Exit::Usage.code() {
            let why = output.error.unwrap_or_default();
            return Err(Failure::usage(what(), why.why).hint(why.try_));
        }
        Ok(judged(output))
    }
}

/// What is not whole or not valid does not count.
fn judged(output: Output) -> Ran {
    Ran {
        figures: figures(&output),
        unusable: unusable(&output),
        output,
    }
}

fn unusable(output: &Output) -> Option<String> {
    let invalid = output
        .tests
        .iter()
        .find_map(|test| test.invalid_reason.clone());
    match (&output.error, output.partial) {
        (Some(error), _) => Some(format!("{}: {}", error.what, error.why)),
        (None, true) => Some("it ended early".to_owned()),
        (None, false) if output.exit_code == Exit::Invalid.code() => {
            let only_results = output.tests.is_empty() && !output.results.is_empty();
            let why = match only_results {
                true => "all its rates are limited by the tester, not by the device",
                false => "its numbers are not valid",
            };
            Some(invalid.unwrap_or_else(|| why.to_owned()))
        }
        _ => None,
    }
}

/// With what begins and ends a test; an amount takes as long as it takes.
fn seconds(load: &LoadFlags) -> Option<f64> {
    if load.bytes.or(load.blockcount).is_some() {
        return None;
    }
    let ms = load.time.unwrap_or(10_000) + load.omit.unwrap_or_default();
    Some(test_s(&Forecast::here(), ms))
}

/// Seconds of a process that runs one test of this length.
pub(super) fn test_s(forecast: &Forecast, ms: u64) -> f64 {
    forecast.seconds(Ahead::of(1.0, ms) + Ahead::wait(CONTROL_MS))
}

fn ports(args: &ForwardArgs) -> (&'static str, String) {
    match args.lab {
        Some(kind) => ("lab", kind.to_string()),
        None => ("ports", args.ports.join(" ")),
    }
}

/// The process, and the idle control interval before the test.
const CONTROL_MS: u64 = 500;

fn no_measurement(kind: &str) -> Failure {
    Failure::usage(
        format!("use `{kind}` with ab"),
        "it is not a measuring command",
    )
    .hint("udp, tcp, sweep, check or forward after the --")
}
