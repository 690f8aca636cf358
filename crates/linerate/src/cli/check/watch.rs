// SPDX-License-Identifier: MIT OR Apache-2.0
//! `linerate check --watch`: the same check again and again, each a process of its own and a stored run.

mod past;

use std::ffi::OsString;
use std::process::Command;
use std::time::{Duration, Instant};

use linerate_linux::clock;
use linerate_linux::signal::Interrupt;
use linerate_model::date::Date;
use linerate_model::failure::Failure;
use linerate_model::output::Output;
use linerate_model::printable::Printable;
use linerate_report::watch;

use crate::cli::ab::child::{Reach, Running, pause};
use crate::cli::args::CheckArgs;
use crate::cli::session;
use crate::exit::Exit;
use crate::output::{Console, Surroundings, ascii};
use past::Past;

/// Checks every `interval_ms`, from start to start, until the user ends it, which is no failure between two
/// checks, or for a number of times: then the exit code is the first one that is not 0.
pub(super) fn run(args: &CheckArgs, interval_ms: u64) -> Exit {
    let watched = session::interrupt().and_then(|interrupt| {
        let mut console = session::console(&args.server.output);
        Watch {
            args,
            interrupt: &interrupt,
            console: &mut console,
            past: Past::default(),
        }
        .all(Duration::from_millis(interval_ms))
    });
    match watched {
        Ok(exit) => exit,
        Err(failure) => session::refuse("check", false, &failure),
    }
}

struct Watch<'w> {
    args: &'w CheckArgs,
    interrupt: &'w Interrupt,
    console: &'w mut Console,
    past: Past,
}

impl Watch<'_> {
    fn all(&mut self, interval: Duration) -> Result<Exit, Failure> {
        let mut exit = Exit::Ok;
        let mut number = 0;
        self.print(&watch::header())?;
        loop {
            let begun = Instant::now();
            number += 1;
            let Some(output) = self.check(number)? else {
                self.console.alert(
                    "interrupted within a check; what it measured is stored as a partial run",
                );
                return Ok(Exit::Interrupted);
            };
            self.report(&output)?;
            if exit == Exit::Ok {
                exit = exit_of(&output);
            }
            if self.args.count == Some(number) {
                return Ok(exit);
            }
            if !self.wait(interval.saturating_sub(begun.elapsed())) {
                return Ok(Exit::Ok);
            }
        }
    }

    /// The document of one check; `None` if the user interrupted it.
    fn check(&mut self, number: u32) -> Result<Option<Output>, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::measuring("run a check", error);
        let about = super::seconds(self.args);
        self.console
            .block(&[format!("check {number}: about {about:.0} s; Ctrl-C ends")]);
        let program = crate::itself::program().map_err(|error| failed(&error))?;
        let mut command = Command::new(program);
        command.args(words(std::env::args_os().skip(1)));
        let ended = Running::start(command, Reach::Process)
            .and_then(|running| running.finish(self.interrupt, &mut |_| true))
            .map_err(|error| failed(&error))?;
        if self.interrupt.requested().is_some() {
            return Ok(None);
        }
        let output: Output = linerate_wire::json::read(&ended.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&ended.stderr);
            failed(&format!("{}: {error}: {}", ended.status, said.trim()))
        })?;
        match &output.error {
            Some(error) if output.exit_code == Exit::Usage.code() => {
                let what = error.what.trim_start_matches("cannot ");
                Err(Failure::usage(what, &error.why).hint(&error.try_))
            }
            _ => Ok(Some(output)),
        }
    }

    /// Its row, and what is different from the runs before.
    fn report(&mut self, output: &Output) -> Result<(), Failure> {
        let surroundings = Surroundings::read();
        let columns = surroundings
            .stdout_terminal
            .then_some(self.console.look.width);
        let news = self.past.learn(output);
        self.print(&watch::row(output, self.past.last(), columns))?;
        news.iter().try_for_each(|line| self.print(line))
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        let text = match self.console.look.ascii {
            true => ascii(text),
            false => text.to_owned(),
        };
        let printed = self.console.result(&Printable::of(&text));
        printed.map_err(|error| Failure::measuring("write the results to stdout", error))
    }

    /// Whether the time passed without an interruption.
    fn wait(&mut self, length: Duration) -> bool {
        let at = clock::wall_ns() + u64::try_from(length.as_nanos()).unwrap_or_default();
        let at = Date::at(at).second().to_string().replace('T', " ");
        let at = at.get(11..19).unwrap_or_default();
        self.console
            .block(&[format!("next check at {at} UTC; Ctrl-C ends")]);
        let passed = pause(length, self.interrupt);
        self.console.block(&[String::new()]);
        passed
    }
}

fn exit_of(output: &Output) -> Exit {
    let mut all = Exit::ALL.into_iter().map(|(exit, _)| exit);
    let exit = all.find(|exit| exit.code() == output.exit_code);
    exit.unwrap_or(Exit::CouldNotMeasure)
}

/// The command line of one check: without the repetition, as a document.
fn words(all: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::new();
    let mut all = all.peekable();
    let mut flags = true;
    while let Some(word) = all.next() {
        let text = word.to_string_lossy().into_owned();
        flags &= text != "--";
        let (name, value) = text
            .split_once('=')
            .map_or((text.as_str(), None), |(name, value)| (name, Some(value)));
        if flags && REPETITION.contains(&name) {
            if value.is_none() {
                all.next();
            }
            continue;
        }
        kept.push(word);
    }
    let end = kept
        .iter()
        .position(|word| word == "--")
        .unwrap_or(kept.len());
    kept.insert(end, OsString::from("--json"));
    kept
}

const REPETITION: [&str; 2] = ["--watch", "--count"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_of_one_check_has_no_repetition() {
        for (line, once) in [
            ("check h2 --watch 10m", "check h2 --json"),
            (
                "check --watch=10m --count 3 h2 --quick",
                "check h2 --quick --json",
            ),
            ("h2 --count=3 --watch 1h -6", "h2 -6 --json"),
            ("check --watch 10m -- --count", "check --json -- --count"),
        ] {
            let words = words(line.split(' ').map(OsString::from));
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), once);
        }
    }
}
